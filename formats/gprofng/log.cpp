#include "formats/gprofng/log.h"

#include <algorithm>

#include <fmt/format.h>

#include "formats/support/text_number.h"
#include "formats/support/xml.h"

namespace profd::gprofng {
namespace {

using Attributes = std::span<const XmlAttribute>;

// The files are fragments without a root, padded with blanks and NULs to whole blocks.
Result<void> parse_fragments(std::string_view text, ReadContext& context, XmlHandler& handler) {
  constexpr std::string_view kOpen = "<fragments>";
  text = text.substr(0, text.find('\0'));
  const std::string document = std::string(kOpen) + std::string(text) + "</fragments>";
  auto parsed = parse_xml(std::as_bytes(std::span(document)), context, handler);
  if (parsed || !parsed.error().offset) return parsed;
  Error error = std::move(parsed).error();
  error.offset = std::min<std::uint64_t>(*error.offset - std::min<std::uint64_t>(*error.offset, kOpen.size()),
                                         text.size());
  return tl::unexpected<Error>(std::move(error));
}

std::uint64_t hex(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::uint64_t out = 0;
  parse_hex(text, out);
  return out;
}

std::size_t size_of(std::string_view type) {
  if (type == "INT32" || type == "UINT32") return 4;
  if (type == "INT64" || type == "UINT64" || type == "VADDR" || type == "ADDRESS") return 8;
  return 0;
}

// "1875.468028584" -> nanoseconds, exactly.
std::optional<std::int64_t> seconds(std::string_view text) {
  const std::size_t dot = text.find('.');
  std::int64_t whole = 0;
  if (!parse_int(text.substr(0, dot), whole) || whole < 0 || whole > 9'000'000'000) return {};
  std::int64_t fraction = 0, digit = 100'000'000;
  if (dot != std::string_view::npos)
    for (const char c : text.substr(dot + 1)) {
      if (c < '0' || c > '9') return {};
      fraction += (c - '0') * digit;
      digit /= 10;
    }
  return whole * 1'000'000'000 + fraction;
}

class LogHandler final : public XmlHandler {
 public:
  Result<void> start(std::string_view name, Attributes attributes, std::uint64_t offset) override {
    text_.clear();
    process_text_ = name == "process" && attributes.empty();
    if (name == "experiment" && out.version.empty()) {
      out.version = attribute(attributes, "version");
      if (!out.version.starts_with("12."))
        return fail(ErrorCode::unsupported,
                    fmt::format("experiments of version {} are not read, only 12", out.version), offset);
    } else if (name == "system") {
      out.host = attribute(attributes, "hostname");
    } else if (name == "process") {
      parse_int(attribute(attributes, "pid"), out.pid);
      if (attribute(attributes, "wsize") == "32") out.is_32_bit = true;
    } else if (name == "event") {
      event_ = attribute(attributes, "kind");
      if (event_ == "run" && !out.start_ns) {
        out.start_ns = seconds(attribute(attributes, "tstamp"));
        std::int64_t epoch = 0;
        if (parse_int(attribute(attributes, "time"), epoch) && epoch > 0 && epoch < INT64_MAX / 2'000'000'000)
          out.epoch_s = epoch;
      }
    } else if (name == "profile") {
      ptimer_ = 0;
      parse_int(attribute(attributes, "ptimer"), ptimer_);
      first_ = out.packets.size();
      file_.clear();
    } else if (name == "profdata") {
      file_ = attribute(attributes, "fname").substr(0, kMaxName);  // every kind has it
      for (std::size_t i = first_; i < out.packets.size(); ++i) out.packets[i].file = file_;
    } else if (name == "profpckt") {
      // Each packet is compared with each kind.
      if (out.packets.size() == kMaxKinds)
        return fail(ErrorCode::limit, fmt::format("more than {} kinds of packets", kMaxKinds), offset);
      PacketKind packet;
      packet.file = file_;
      packet.ptimer_us = ptimer_;
      parse_uint(attribute(attributes, "kind"), packet.kind);
      out.packets.push_back(std::move(packet));
    } else if (name == "field" && !out.packets.empty()) {
      Field field;
      std::uint32_t at = 0;
      field.known = parse_uint(attribute(attributes, "offset"), at);
      field.offset = at;
      field.size = size_of(attribute(attributes, "type"));
      field.known = field.known && field.size > 0 && at < 4096;
      out.packets.back().fields.emplace_back(attribute(attributes, "name"), field);
    }
    return {};
  }
  Result<void> end(std::string_view name) override {
    if (name == "process" && process_text_ && !trim(text_).empty()) out.command = trim(text_);
    if (name == "event" && (event_ == "cwarn" || event_ == "cerror") && out.warnings.size() < 100)
      out.warnings.emplace_back(trim(text_));
    return {};
  }
  Result<void> text(std::string_view piece) override {
    if (text_.size() < 65536) text_ += piece;
    return {};
  }
  Log out;

 private:
  static constexpr std::size_t kMaxKinds = 1000, kMaxName = 255;

  std::string text_, event_, file_;
  bool process_text_ = false;
  std::int64_t ptimer_ = 0;
  std::size_t first_ = 0;
};

class MapHandler final : public XmlHandler {
 public:
  Result<void> start(std::string_view name, Attributes attributes, std::uint64_t) override {
    if (name != "event" || attribute(attributes, "kind") != "map") return {};
    Segment segment;
    segment.start = hex(attribute(attributes, "vaddr"));
    parse_uint(attribute(attributes, "size"), segment.size);
    segment.file_offset = hex(attribute(attributes, "foffset"));
    segment.name = attribute(attributes, "name");
    segment.function = attribute(attributes, "funcname");
    out.push_back(std::move(segment));
    return {};
  }
  Result<void> end(std::string_view) override { return {}; }
  std::vector<Segment> out;
};

}  // namespace

Field PacketKind::field(std::string_view name) const {
  for (const auto& [known, field] : fields)
    if (known == name) return field;
  return {};
}

bool is_log(std::string_view text) {
  return text.starts_with("<experiment version=\"");
}

Result<Log> read_log(std::string_view text, ReadContext& context) {
  LogHandler handler;
  PROFD_CHECK(parse_fragments(text, context, handler));
  if (handler.out.version.empty())
    return fail(ErrorCode::malformed, "log.xml names no version of the experiment", 0);
  return std::move(handler.out);
}

Result<std::vector<Segment>> read_map(std::string_view text, ReadContext& context) {
  MapHandler handler;
  PROFD_CHECK(parse_fragments(text, context, handler));
  return std::move(handler.out);
}

}  // namespace profd::gprofng
