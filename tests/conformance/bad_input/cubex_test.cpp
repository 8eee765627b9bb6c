#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/conformance/tar_bytes.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string anchor(const std::string& program, const std::string& dtype = "DOUBLE") {
  return "<cube version=\"4.4\"><metrics><metric id=\"0\" "
         "type=\"INCLUSIVE\"><uniq_name>time</uniq_name><dtype>" +
         dtype +
         "</dtype><uom>sec</uom></metric></metrics><program><region id=\"0\"><name>main</name></region>" +
         program +
         "</program><system><locationgroup><location><name>t</name></location></locationgroup></system></"
         "cube>";
}
const std::string kNode = "<cnode id=\"0\" calleeId=\"0\"/>";
const std::string kIndex("CUBEX.INDEX\1\0\0\0\0\0\1\1\0\0\0\0\0\0\0", 26);
const std::string kData = "CUBEX.DATA" + std::string("\0\0\0\0\0\0\xf0\x3f", 8);

std::string two_metrics(std::string xml) {
  const std::size_t begin = xml.find("<metric "), end = xml.find("</metrics>");
  return xml.insert(end, xml.substr(begin, end - begin));
}

std::string u64(std::uint64_t value) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}
// The same eight bytes, compressed, `n` times.
std::string packed_rows(std::uint64_t n) {
  const std::string stream("\x78\x9c\x63\x60\x00\x81\x0f\xf6\x00\x02\x27\x01\x30", 13);
  std::string out = "ZCUBEX.DATA" + u64(n);
  for (std::uint64_t i = 0; i < n; ++i) out += u64(0) + u64(0) + u64(stream.size());
  return out + stream;
}

std::string report(const std::string& xml, const std::string& index = kIndex,
                   const std::string& data = kData) {
  return tar_bytes({{"0.index", index}, {"0.data", data}, {"anchor.xml", xml}});
}

}  // namespace

TEST_CASE("cubex: bad input is refused or counted") {
  std::string huge = kIndex;
  huge[18] = huge[19] = huge[20] = '\x7f';
  check_bad_inputs(
      "cubex",
      {
          {"anchor.xml alone", anchor(kNode), "error not_found: .cubex archive"},
          {"other XML", "<html/>", "error malformed: no Cube report"},
          {"version 3", report("<cube version=\"3.0\"/>"), "error unsupported: version 3.0"},
          {"no location", report("<cube version=\"4.0\"/>"), "error malformed: no location"},
          {"XML cut off", report(anchor(kNode).substr(0, 200)), "error truncated: inside an element"},
          {"no data", tar_bytes({{"anchor.xml", anchor(kNode)}}), "error malformed: no metric of the report"},
          {"no index", tar_bytes({{"0.data", kData}, {"anchor.xml", anchor(kNode)}}),
           "error not_found: 0.index"},
          {"an index that is none", report(anchor(kNode), "hello"), "error malformed: does not begin as one"},
          {"an index cut off", report(anchor(kNode), kIndex.substr(0, 24)), "error truncated: ends before"},
          {"an index of billions", report(anchor(kNode), huge), "error truncated: ends before"},
          {"an index out of range", report(anchor("")), "error malformed: call node 0 of 0"},
          {"data that is none", report(anchor(kNode), kIndex, "hello"),
           "error malformed: does not begin as data"},
          {"data cut off", report(anchor(kNode), kIndex, kData.substr(0, 12)),
           "error truncated: 8 are needed"},
          {"compressed rows of nothing",
           report(anchor(kNode), kIndex, "ZCUBEX.DATA" + std::string(8, '\x7f')),
           "error truncated: compressed rows"},
          {"compressed rows that are one and the same", report(anchor(kNode), kIndex, packed_rows(2)),
           "error malformed: overlap"},
          {"two metrics of one id", report(two_metrics(anchor(kNode))), "error malformed: two metrics"},
          {"a region that is not there", report(anchor("<cnode id=\"0\" calleeId=\"7\"/>")),
           "report unknown-region"},
          {"a value that is no number",
           report(anchor(kNode), kIndex, "CUBEX.DATA" + std::string("\0\0\0\0\0\0\xf8\x7f", 8)),
           "report value-not-finite"},
          {"an undefined integer",
           report(anchor(kNode, "UINT64"), kIndex, "CUBEX.DATA" + std::string(8, '\xff')),
           "report value-too-large"},
          {"parameters", report(anchor("<cnode id=\"0\" calleeId=\"0\"><parameter/></cnode>")),
           "report parameter"},
      });
}
