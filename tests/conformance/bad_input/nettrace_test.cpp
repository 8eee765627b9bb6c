#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// The bytes with `from` replaced once; fails the test when it is not there.
std::string with(std::string bytes, const std::string& from, const std::string& to) {
  const std::size_t at = bytes.find(from);
  REQUIRE(at != std::string::npos);
  return bytes.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("nettrace: bad input is refused or counted") {
  const std::string good = read_bytes(reader_folder("nettrace") / "testdata" / "minimal.nettrace");
  const std::string magic("Nettrace\x14\0\0\0!FastSerialization.1", 32);
  const std::size_t trace_end = good.find("MetadataBlock");
  REQUIRE(trace_end != std::string::npos);
  check_bad_inputs(
      "nettrace",
      {
          {"another magic", "NettracX", "error malformed: does not begin"},
          {"version 6", std::string("Nettrace\0\0\0\0\6\0\0\0\0\0\0\0", 20), "error unsupported: version 6"},
          {"another serializer", with(good, "Serialization.1", "Serialization.2"),
           "error malformed: serializer"},
          {"only the magic", "Nettrace", "error truncated: serializer"},
          {"nothing behind the name", magic, "error truncated: first block"},
          {"no events", magic + '\1', "error malformed: nothing was measured"},
          {"a tag nobody knows", magic + std::string(40, '\x7f'), "error malformed: as blocks do"},
          {"a block of another kind", with(good, "StackBlock", "StuckBlock"), "report unknown-block"},
          {"no descriptions of events", with(good, "MetadataBlock", "MetedataBlock"),
           "error malformed: nothing was measured"},
          {"stacks that are not there", with(good, "StackBlock", "StuckBlock"), "report missing-stack"},
          {"no names of methods",
           with(good, std::string("R\0u\0n\0d\0o\0w\0n\0", 14), std::string("R\0u\0n\0d\0o\0w\0m\0", 14)),
           "report unknown-address"},
          {"cut before the methods", good.substr(0, good.size() - 500), "report truncated"},
          {"cut in the first block", good.substr(0, trace_end), "error malformed: nothing was measured"},
      });
}
