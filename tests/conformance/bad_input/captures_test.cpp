// Sysprof, xctrace and Android method traces.
#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string le(std::uint64_t value, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}
std::string frame(int type, const std::string& body, int size = -1) {
  const std::size_t whole = 24 + body.size();
  return le(size >= 0 ? static_cast<std::uint64_t>(size) : whole, 2) + le(0, 2) + le(7, 4) + le(5, 8) +
         le(static_cast<std::uint64_t>(type), 1) + le(0, 7) + body;
}
std::string capture(const std::string& frames) {
  std::string head = le(0xFDCA975E, 4) + le(0x101, 4);
  head.resize(256, '\0');
  return head + frames;
}

}  // namespace

TEST_CASE("sysprof: bad input is refused or counted") {
  const std::string sample = frame(2, le(1, 2) + le(0, 2) + le(7, 4) + le(0x1000, 8));
  const std::string node = "<node id=\"1\"><object>1</object><parent>0</parent><self>3</self></node>";
  const auto xml = [](const std::string& nodes) {
    return "<profile><call_tree>1</call_tree><objects><object "
           "id=\"1\"><name>\"a\"</name></object></objects><nodes>" +
           nodes + "</nodes></profile>";
  };
  check_bad_inputs(
      "sysprof",
      {
          {"a header alone", le(0xFDCA975E, 4) + le(1, 4), "error truncated: the header"},
          {"a newer version", capture("").replace(4, 1, "\x09"), "error unsupported: version 9"},
          {"no samples", capture(""), "error unsupported: neither samples"},
          {"a frame shorter than its head", capture(frame(2, "", 3)),
           "error malformed: shorter than its head"},
          {"a frame beyond the end", capture(sample + frame(2, "", 999)), "error truncated: inside a frame"},
          {"a sample of more addresses than bytes", capture(sample + frame(2, le(500, 2) + le(0, 6))),
           "report malformed-frame"},
          {"names without an end", capture(sample + frame(7, le(1, 4) + le(1, 8) + "abc")),
           "report malformed-frame"},
          {"a map that ends early", capture(sample + frame(3, "abc")), "report malformed-frame"},
          {"a mark that ends early", capture(sample + frame(10, "abc")), "report malformed-frame"},
          {"more counters than bytes", capture(sample + frame(8, le(60000, 2) + le(0, 6))),
           "report malformed-frame"},
          {"more values than bytes", capture(sample + frame(9, le(60000, 2) + le(0, 6))),
           "report malformed-frame"},
          {"a value of no counter",
           capture(sample + frame(9, le(1, 2) + le(0, 6) + le(3, 4) + std::string(92, '\0'))),
           "report unknown-counter"},
          {"an unknown frame", capture(sample + frame(99, "abc")), "report unknown-frame"},
          {"XML without nodes", xml(""), "error malformed: no nodes"},
          {"XML: a ring of parents",
           xml("<node id=\"1\"><object>1</object><parent>2</parent></node>"
               "<node id=\"2\"><object>1</object><parent>1</parent></node>"),
           "error malformed: each other's parents"},
          {"XML: an unknown object", xml("<node id=\"1\"><object>9</object></node>"),
           "error malformed: object is not"},
          {"XML: an unknown parent", xml("<node id=\"1\"><object>1</object><parent>9</parent></node>"),
           "error malformed: parent is not"},
          {"XML: two nodes of one id", xml(node + node), "error malformed: one id"},
          {"XML: a number that is none", xml("<node id=\"1\"><self>x</self></node>"),
           "error malformed: no number"},
          {"XML: a node without an id", xml("<node><self>1</self></node>"), "error malformed: no id"},
          {"XML that is cut", xml(node).substr(0, 150), "error truncated: "},
      });
}

TEST_CASE("xctrace: bad input is refused or counted") {
  const auto table = [](const std::string& rows) {
    return "<trace-query-result><node>" + rows + "</node></trace-query-result>";
  };
  const std::string row =
      "<row><weight id=\"1\">5</weight><backtrace id=\"2\"><frame id=\"3\" name=\"a\"/></backtrace></row>";
  check_bad_inputs(
      "xctrace",
      {
          {"no backtraces", table("<row><weight id=\"1\">5</weight></row>"), "error unsupported: no row"},
          {"an id that is no number", table("<row><weight id=\"x\">5</weight></row>"),
           "error malformed: an id"},
          {"a ref that is no number", table("<row><weight ref=\"x\"/></row>"), "error malformed: a ref"},
          {"a ref to nothing", table(row + "<row><weight ref=\"9\"/><backtrace ref=\"2\"/></row>"),
           "report missing-ref"},
          {"a row without a weight", table(row + "<row><backtrace ref=\"2\"/></row>"), "report no-weight"},
          {"a row without a backtrace", table(row + "<row><weight ref=\"1\"/></row>"), "report no-backtrace"},
          {"XML that is cut", table(row).substr(0, 60), "error truncated: "},
          {"no XML", "<trace-query-result><<", "error malformed: "},
      });
}

TEST_CASE("android-art-trace: bad input is refused or counted") {
  const std::string head = "*version\n3\nclock=wall\n*threads\n7\tmain\n*methods\n0x10\tA\tb\t()V\n*end\n";
  const auto data = [](int version, int size, const std::string& records) {
    return "SLOW" + le(static_cast<std::uint64_t>(version), 2) + le(32, 2) + le(0, 8) +
           le(static_cast<std::uint64_t>(size), 2) + std::string(14, '\0') + records;
  };
  const auto record = [](std::uint64_t word, std::uint64_t time) {
    return le(7, 2) + le(word, 4) + le(time, 4);
  };
  check_bad_inputs(
      "android-art-trace",
      {
          {"no end of the sections", "*version\n3\n", "error truncated: no *end"},
          {"an unknown section", "*version\n3\n*what\n", "error malformed: a section"},
          {"text before the sections", "hello\n*end\n", "error malformed: *version"},
          {"a method that is none", "*version\n*methods\nx\n*end\n", "error malformed: a method"},
          {"a thread that is none", "*version\n*threads\nx\n*end\n", "error malformed: a thread"},
          {"no records", head, "error truncated: the header"},
          {"records of another kind", head + std::string(40, 'x'), "error malformed: SLOW"},
          {"a newer version", head + data(9, 10, ""), "error unsupported: version 9"},
          {"records shorter than their fields", head + data(3, 4, ""), "error malformed: shorter"},
          {"a record that is cut", head + data(3, 10, "abc"), "error truncated: inside a record"},
          {"a method that is not listed", head + data(3, 10, record(0x20, 1)), "report unknown-method"},
          {"a method that was not entered", head + data(3, 10, record(0x11, 1)), "report end-without-begin"},
          {"a method that is not left", head + data(3, 10, record(0x10, 1)), "report open-call"},
          {"time that runs backwards", head + data(3, 10, record(0x10, 9) + record(0x11, 1)),
           "report time-backwards"},
      });
}
