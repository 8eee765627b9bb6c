#include "formats/support/xml.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include <expat.h>
#include <fmt/format.h>

namespace profd {
namespace {

constexpr std::size_t kChunk = 1u << 20;

struct Parsing {
  XML_Parser parser;
  XmlHandler& handler;
  std::uint32_t max_depth;
  std::uint32_t depth = 0;
  bool rooted = false;
  std::vector<XmlAttribute> attributes;
  std::optional<Error> error;

  std::uint64_t offset() const {
    return static_cast<std::uint64_t>(std::max<XML_Index>(XML_GetCurrentByteIndex(parser), 0));
  }

  void stop(Error failed) {
    if (!failed.offset) failed.offset = offset();
    error = std::move(failed);
    XML_StopParser(parser, XML_FALSE);
  }
  void check(Result<void> done) {
    if (!done) stop(std::move(done).error());
  }
};

Parsing& parsing(void* user) {
  return *static_cast<Parsing*>(user);
}

void on_start(void* user, const XML_Char* name, const XML_Char** pairs) {
  Parsing& in = parsing(user);
  if (in.error) return;
  in.rooted = true;
  if (++in.depth > in.max_depth)
    return in.stop({ErrorCode::limit,
                    fmt::format("elements are nested more than {} deep (limit nesting)", in.max_depth),
                    in.offset(),
                    {}});
  in.attributes.clear();
  for (; pairs[0] != nullptr; pairs += 2) in.attributes.push_back({pairs[0], pairs[1]});
  in.check(in.handler.start(name, in.attributes, in.offset()));
}

void on_end(void* user, const XML_Char* name) {
  Parsing& in = parsing(user);
  if (in.error) return;
  --in.depth;
  in.check(in.handler.end(name));
}

void on_text(void* user, const XML_Char* text, int size) {
  Parsing& in = parsing(user);
  if (!in.error) in.check(in.handler.text({text, static_cast<std::size_t>(size)}));
}

// Documents that define entities of their own are refused: no profiler writes them, and they are how XML is
// made to explode.
void on_entity(void* user, const XML_Char*, int, const XML_Char*, int, const XML_Char*, const XML_Char*,
               const XML_Char*, const XML_Char*) {
  Parsing& in = parsing(user);
  if (!in.error)
    in.stop({ErrorCode::unsupported, "the document defines entities, which is not read", in.offset(), {}});
}

bool ends_early(XML_Error code) {
  return code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_UNCLOSED_TOKEN ||
         code == XML_ERROR_UNCLOSED_CDATA_SECTION || code == XML_ERROR_PARTIAL_CHAR;
}

}  // namespace

std::string_view attribute(std::span<const XmlAttribute> attributes, std::string_view name) {
  for (const XmlAttribute& entry : attributes)
    if (entry.name == name) return entry.value;
  return {};
}

Result<void> parse_xml(std::span<const std::byte> bytes, ReadContext& context, XmlHandler& handler) {
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, void (*)(XML_Parser)> parser(
      XML_ParserCreate(nullptr), XML_ParserFree);
  if (!parser) return fail(ErrorCode::internal, "no memory for the XML parser");
  Parsing in{parser.get(), handler, context.limits.nesting, 0, false, {}, {}};
  XML_SetUserData(parser.get(), &in);
  XML_SetElementHandler(parser.get(), on_start, on_end);
  XML_SetCharacterDataHandler(parser.get(), on_text);
  XML_SetEntityDeclHandler(parser.get(), on_entity);
  std::size_t at = 0;
  while (true) {
    PROFD_CHECK(context.stop.status());
    const std::size_t n = std::min(kChunk, bytes.size() - at);
    const bool last = at + n == bytes.size();
    const XML_Status status =
        XML_Parse(parser.get(), reinterpret_cast<const char*>(bytes.data() + at), static_cast<int>(n), last);
    if (in.error) return tl::unexpected<Error>(std::move(*in.error));
    if (status != XML_STATUS_OK) {
      const XML_Error code = XML_GetErrorCode(parser.get());
      const bool early = last && (ends_early(code) || in.offset() >= bytes.size());
      if (early && in.rooted && context.partial) {
        context.report.add("truncated", Severity::loss,
                           "The XML ends inside an element; what came before was read.", in.offset());
        return {};
      }
      return fail(early ? ErrorCode::truncated : ErrorCode::malformed,
                  early ? "the XML ends inside an element"
                        : fmt::format("not well-formed XML: {}", XML_ErrorString(code)),
                  in.offset());
    }
    at += n;
    if (context.progress) context.progress(at, bytes.size());
    if (last) return {};
  }
}

std::string_view xml_root(std::string_view prefix) {
  if (prefix.starts_with("\xEF\xBB\xBF")) prefix.remove_prefix(3);
  const auto after = [&](std::string_view end) {
    const std::size_t at = prefix.find(end);
    prefix = at == std::string_view::npos ? std::string_view() : prefix.substr(at + end.size());
  };
  while (true) {
    const std::size_t begin = prefix.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos || prefix[begin] != '<') return {};
    prefix.remove_prefix(begin + 1);
    if (prefix.starts_with('?'))
      after("?>");
    else if (prefix.starts_with("!--"))
      after("-->");
    else if (prefix.starts_with('!'))
      after(prefix.substr(0, prefix.find('>')).find('[') != std::string_view::npos ? "]>" : ">");
    else
      return prefix.substr(0, prefix.find_first_of(" \t\r\n/>"));
  }
}

}  // namespace profd
