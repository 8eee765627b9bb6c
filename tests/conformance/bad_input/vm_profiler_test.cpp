#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

const std::string kHead =
    "20 samples in the VM (25 samples in the entire program) 80.00% of total\n"
    "20 samples in generated vm code 100.0% of entire vm (80.00% of total)\n"
    "% of generated vm code (% of total) (samples) (cumulative)\n";
const std::string kRow = "100.0% (80.00%) Object>>at:put: (20) (100.0%)\n";

// "function@address" -> samples.
std::map<std::string, double> by_address(const Profile& profile) {
  std::map<std::string, double> out;
  const auto& samples = std::get<Column<std::int64_t>>(profile.self().values[0]);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const std::uint32_t frame = profile.tree().frame[profile.self().contexts[row]];
    if (samples[row] != 0)
      out[std::string(profile.function_name(profile.frames().function[frame])) + "@" +
          std::to_string(profile.frames().address[frame])] += static_cast<double>(samples[row]);
  }
  return out;
}

}  // namespace

TEST_CASE("vm-profiler: bad input is refused or counted") {
  check_bad_inputs(
      "vm-profiler",
      {
          {"another text", "hello\n", "error malformed: how many samples"},
          {"an address that is none", "{\"samples\":[{\"pc\":\"x\"}],\"cog\":[]}",
           "error malformed: no number"},
          {"a negative address", "{\"samples\":[{\"pc\":-1}],\"cog\":[]}", "error malformed: negative"},
          {"a negative count", "{\"samples\":[{\"pc\":1,\"count\":-1}],\"cog\":[]}",
           "error malformed: negative"},
          {"a map that is no pair", "{\"cog\":[{\"map\":[[1]]}]}", "error malformed: no pair"},
          {"a map that goes back", "{\"cog\":[{\"map\":[[5,1],[4,2]]}]}", "error malformed: ascend"},
          {"a total below the samples", "{\"samples\":[{\"pc\":1,\"count\":5}],\"cog\":[],\"total\":2}",
           "report total-differs"},
          {"moved code", "{\"samples\":[{\"pc\":1,\"count\":5}],\"cog\":[],\"compactions\":2}",
           "report code-moved"},
          {"fewer rows than samples", kHead + "50.00% (40.00%) f (10) (50.00%)\n", "report rows-missing"},
          {"more rows than samples", kHead + kRow + "5.00% (4.00%) g (1) (105.0%)\n", "report total-differs"},
          {"a row that is none", kHead + kRow + "what is this?\n", "report malformed-line"},
          {"ranges above their method", kHead + kRow + "100.0% 1->5 (30) (100.0%)\n",
           "report ranges-above-method"},
          {"a range without a method", kHead + "100.0% 1->5 (30) (100.0%)\n", "report ranges-above-method"},
          {"a table of nothing", kHead + kRow + "% of other vm code (% of total)\n",
           "report table-without-section"},
      });
}

TEST_CASE("vm-profiler: the report of the paper keeps its sums and ranges") {
  const ReadOutcome read =
      read_with("vm-profiler", read_bytes(reader_folder("vm-profiler") / "testdata" / "report.txt"));
  REQUIRE(read.error == "");
  const Profile& profile = *read.profiles[0];
  CHECK(total_of(profile, "samples") == 10332);
  CHECK(total_of(profile, "collections") == 123);
  CHECK(total_of(profile, "gc time") == Approx(36 + 1024.5 + 3));
  const auto self = self_by_function(profile, "samples");
  CHECK(self.at("Object>>at:put:") == 2744 + 279 + 137 + 390 + 160 + 312 + 145 + 568);
  CHECK(self.at("(outside the VM)") == 27);
  CHECK(self.at("moveFramesInth...toPage.isra.74") == 48);
  const auto ranges = by_address(profile);
  CHECK(ranges.at("Object>>at:put:@26") == 279);
  CHECK(ranges.at("Benchmark class>>run:@1") == 2000);
  for (const ReportRow& row : read.report.rows()) CHECK(row.kind == "code-moved");
  std::map<std::string, double> modules;
  const auto& samples = std::get<Column<std::int64_t>>(profile.self().values[0]);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const ModuleId module = profile.frames().module[profile.tree().frame[profile.self().contexts[row]]];
    modules[module.valid() ? std::string(profile.strings()[profile.modules().name[module.v]]) : ""] +=
        static_cast<double>(samples[row]);
  }
  CHECK(modules.at("generated vm code") == 10007);
  CHECK(modules.at("vanilla vm code") == 298);
  CHECK(modules.at("GC") == 0);
}

TEST_CASE("vm-profiler: raw samples go to the bytecodes that the map says") {
  const ReadOutcome read =
      read_with("vm-profiler", read_bytes(reader_folder("vm-profiler") / "testdata" / "raw.json"));
  REQUIRE(read.error == "");
  CHECK(total_of(*read.profiles[0], "samples") == 130);
  CHECK(by_address(*read.profiles[0]) == std::map<std::string, double>{{"Object>>at:put:@1", 4},
                                                                       {"Object>>at:put:@26", 12},
                                                                       {"Object>>at:put:@29", 20},
                                                                       {"Object>>at:put:@32", 5},
                                                                       {"ClosedPIC #value:@0", 7},
                                                                       {"ceSend@0", 4},
                                                                       {"interpret@0", 36},
                                                                       {"BitBlt@0", 8},
                                                                       {"(outside the VM)@0", 34}});
}
