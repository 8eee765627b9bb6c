// .NET traces against the event counts of PerfView's baselines (nettrace/expected), and against an
// independent walk.
#include <fstream>
#include <map>
#include <sstream>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// "Provider/Event, count, <Event …": counts of all lines.
std::map<std::string, double> baseline(const std::filesystem::path& path) {
  std::map<std::string, double> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(", ");
    if (first == std::string::npos) continue;
    std::string name = line.substr(0, first);
    if (name.starts_with("\xEF\xBB\xBF")) name = name.substr(3);
    out[name] = std::stod(line.substr(first + 2));
  }
  return out;
}

}  // namespace

TEST_CASE("nettrace corpus: events are as many as PerfView counts") {
  if (warn_without_corpus()) return;
  const std::string name = "eventpipe-dotnetcore3.0-win-x64-objver4";
  const auto expected = baseline(*corpus() / "nettrace/expected" / (name + ".baseline.txt"));
  REQUIRE(expected.size() > 30);
  const auto opened = open_hidden(read_bytes(*corpus() / "nettrace" / (name + ".nettrace.zip")));
  REQUIRE(opened);
  REQUIRE(opened->profiles.size() == 2);
  const Profile& samples = *opened->profiles[0];
  CHECK(as_double(samples.total(*samples.find_metric("samples"))) ==
        expected.at("Microsoft-DotNETCore-SampleProfiler/Thread/Sample"));
  double n_events = 0;
  for (const auto& [event, n] : expected) {
    // What names methods and modules is no measurement.
    const bool naming = event.find("Rundown") != std::string::npos ||
                        event.find("SampleProfiler") != std::string::npos ||
                        event.find("Method/LoadVerbose") != std::string::npos ||
                        event.find("Loader/ModuleLoad") != std::string::npos;
    if (!naming) n_events += n;
  }
  const Profile& events = *opened->profiles[1];
  CHECK(as_double(events.total(*events.find_metric("events"))) == n_events);
  // The sum of AllocationAmount64, by a script.
  CHECK(as_double(events.total(*events.find_metric("alloc_space"))) == 4235066536.0);
}

TEST_CASE("nettrace corpus: methods are found by their addresses") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "nettrace/only_managed_samples.nettrace.zip"));
  REQUIRE(opened);
  const Profile& profile = *opened->profiles[0];
  const auto self = self_by_function(profile, *profile.find_metric("samples"));
  REQUIRE(self.size() >= 2);
  CHECK(self[0] == std::pair<std::string, double>("NoNativeStacks.Program.FindByte", 5004));
  CHECK(self[1] == std::pair<std::string, double>("NoNativeStacks.Program.InnerLoop", 2419));
}
