#include "formats/support/xml.h"

#include <string>

#include <fmt/format.h>

#include "tests/support/catch.h"

using namespace profd;

namespace {

// Writes what it is told, so that a test can compare.
class Echo final : public XmlHandler {
 public:
  Result<void> start(std::string_view name, std::span<const XmlAttribute> attributes,
                     std::uint64_t) override {
    out += fmt::format("<{}", name);
    for (const XmlAttribute& entry : attributes) out += fmt::format(" {}={}", entry.name, entry.value);
    out += ">";
    if (name == "stop") return fail(ErrorCode::malformed, "stopped");
    return {};
  }
  Result<void> end(std::string_view name) override {
    out += fmt::format("</{}>", name);
    return {};
  }
  Result<void> text(std::string_view text) override {
    out += text;
    return {};
  }
  std::string out;
};

Result<std::string> echo(const std::string& xml, bool partial = false) {
  SerialExecutor executor;
  ImportReport report;
  ReadLimits limits;
  limits.nesting = 8;
  ReadContext context{limits, executor, {}, report};
  context.partial = partial;
  Echo handler;
  const auto done = parse_xml(std::as_bytes(std::span(xml.data(), xml.size())), context, handler);
  if (!done) return tl::unexpected<Error>(done.error());
  if (partial) CHECK(report.has_losses());
  return handler.out;
}

}  // namespace

TEST_CASE("elements, attributes, entities and CDATA come through") {
  CHECK(echo("<?xml version='1.0'?><!-- c --><a x='1&lt;2'>t&amp;u<b/><![CDATA[<raw>]]></a>") ==
        "<a x=1<2>t&u<b></b><raw></a>");
  const std::string latin = "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9</a>";
  CHECK(echo(latin) == "<a>\xC3\xA9</a>");
}

TEST_CASE("bad XML is refused with its place") {
  struct Row {
    std::string xml;
    ErrorCode code;
  };
  std::string deep;
  for (int i = 0; i < 9; ++i) deep += "<a>";
  const std::string bomb = "<!DOCTYPE a [<!ENTITY x 'xxxxxxxxxx'><!ENTITY y '&x;&x;&x;&x;'>]><a>&y;</a>";
  for (const Row& row :
       {Row{"<a><b></a>", ErrorCode::malformed}, Row{"<a>", ErrorCode::truncated},
        Row{"<a", ErrorCode::truncated}, Row{"", ErrorCode::truncated}, Row{deep, ErrorCode::limit},
        Row{bomb, ErrorCode::unsupported}, Row{"<a><stop/></a>", ErrorCode::malformed},
        Row{"<a>\xFF\xFE</a>", ErrorCode::malformed}}) {
    INFO(row.xml);
    const auto done = echo(row.xml);
    REQUIRE_FALSE(done);
    CHECK(done.error().code == row.code);
    CHECK(done.error().offset.value_or(row.xml.size() + 1) <= row.xml.size());
  }
}

TEST_CASE("what came before the end of a cut XML can be had") {
  CHECK(echo("<a><b/>text<c", true) == "<a><b></b>text");
}

TEST_CASE("the outermost element is known from the beginning") {
  CHECK(xml_root(
            "\xEF\xBB\xBF<?xml version=\"1.0\"?>\n<!-- <no> -->\n<!DOCTYPE svg PUBLIC \"x\">\n<svg x='1'>") ==
        "svg");
  CHECK(xml_root("<!DOCTYPE HPCToolkitExperiment [\n<!ELEMENT a (b)>\n]>\n<HPCToolkitExperiment>") ==
        "HPCToolkitExperiment");
  CHECK(xml_root("<a/>") == "a");
  CHECK(xml_root("main;a 3\n").empty());
  CHECK(xml_root("<!-- never ends").empty());
}
