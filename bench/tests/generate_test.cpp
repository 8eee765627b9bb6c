#include "bench/gen/generate.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <string>

#include <nlohmann/json.hpp>
#include <stdlib.h>
#include <unistd.h>

#include "bench/floor/walk.h"
#include "tests/support/catch.h"

namespace {

using nlohmann::json;
using profd::bench::generate;
using profd::bench::GenerateOptions;

struct TemporaryFile {
  std::filesystem::path path;
  TemporaryFile() {
    std::string pattern = (std::filesystem::temp_directory_path() / "profd-bench-XXXXXX").string();
    const int fd = mkstemp(pattern.data());
    REQUIRE(fd >= 0);
    close(fd);
    path = pattern;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
};

std::string written(GenerateOptions options) {
  const TemporaryFile file;
  options.output = file.path.string();
  const auto generated = generate(options);
  REQUIRE(generated);
  std::ifstream in(file.path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (options.gzip_level == 0) REQUIRE(generated->bytes == bytes.size());
  return bytes;
}

GenerateOptions samples_of(std::string format, std::uint64_t n, std::uint64_t seed = 1) {
  GenerateOptions options;
  options.format = std::move(format);
  options.samples = n;
  options.seed = seed;
  return options;
}

json stats_of(GenerateOptions options) {
  options.output = "/dev/null";
  options.stats = true;
  const auto generated = generate(options);
  REQUIRE(generated);
  return json::parse(generated->stats);
}

}  // namespace

TEST_CASE("a seed gives the same bytes in every format, another seed gives others") {
  for (const char* format :
       {"pprof", "folded", "perf-script", "cpuprofile", "speedscope", "chrome-trace", "firefox"}) {
    CAPTURE(format);
    const std::string first = written(samples_of(format, 300));
    CHECK(first == written(samples_of(format, 300)));
    CHECK(first != written(samples_of(format, 300, 2)));
  }
}

TEST_CASE("a file of 1 MB is of that size and holds a realistic profile") {
  GenerateOptions options;
  options.size = 1'000'000;
  const json stats = stats_of(options);
  const auto between = [&](const char* key, double low, double high) {
    CAPTURE(key, stats[key].get<double>());
    return stats[key].get<double>() >= low && stats[key].get<double>() <= high;
  };
  CHECK(between("bytes", 999'000, 1'010'000));
  CHECK(between("samples", 12'000, 16'000));
  CHECK(between("mean_depth", 28, 35));
  CHECK(between("max_depth", 200, 330));
  CHECK(between("locations", 1'500, 3'000));
  CHECK(between("contexts_by_location", 70'000, 120'000));
  CHECK(between("recursive_samples", 500, 3'500));
  CHECK(stats["frames"] > stats["frame_references"]);
}

TEST_CASE("every format tells the totals of the same samples") {
  constexpr std::uint64_t kSamples = 400;
  static const json stats = stats_of(samples_of("pprof", kSamples));
  const std::uint64_t count = stats["total_samples"], cpu_ns = stats["total_cpu_ns"];

  SECTION("pprof") {
    const auto walked = profd::bench::walk_varints(written(samples_of("pprof", kSamples)));
    CHECK(walked.samples == kSamples);
    CHECK(walked.references == stats["frame_references"]);
    const std::uint64_t allocs = stats["total_allocs"], bytes = stats["total_alloc_bytes"];
    CHECK(walked.value_sum == count + cpu_ns + allocs + bytes);
  }
  SECTION("folded") {
    const std::string text = written(samples_of("folded", kSamples));
    std::uint64_t sum = 0;
    for (std::size_t line = 0, end; (end = text.find('\n', line)) != std::string::npos; line = end + 1)
      sum += std::stoull(text.substr(text.rfind(' ', end)));
    CHECK(sum == count);
  }
  SECTION("perf-script") {
    const std::string text = written(samples_of("perf-script", kSamples));
    std::uint64_t sum = 0;
    for (std::size_t event = 0; (event = text.find(" cpu-clock:u:", event)) != std::string::npos; ++event)
      sum += std::stoull(text.substr(text.rfind(':', event) + 1));
    CHECK(sum == cpu_ns);
  }
  SECTION("cpuprofile") {
    const json profile = json::parse(written(samples_of("cpuprofile", kSamples)));
    CHECK(profile["samples"].size() == kSamples);
    CHECK((profile["endTime"].get<std::uint64_t>() - profile["startTime"].get<std::uint64_t>()) * 1000 ==
          cpu_ns);
    CHECK(profile["nodes"].size() == stats["contexts_by_function"].get<std::uint64_t>() + 1);
  }
  SECTION("speedscope") {
    const json profile = json::parse(written(samples_of("speedscope", kSamples)))["profiles"][0];
    const auto& weights = profile["weights"];
    CHECK(std::accumulate(weights.begin(), weights.end(), std::uint64_t{0},
                          [](std::uint64_t sum, const json& weight) {
                            return sum + weight.get<std::uint64_t>();
                          }) == cpu_ns);
    std::uint64_t frames = 0;
    for (const auto& stack : profile["samples"]) frames += stack.size();
    CHECK(frames == stats["frames"]);
  }
  SECTION("chrome-trace") {
    const json events = json::parse(written(samples_of("chrome-trace", kSamples)))["traceEvents"];
    // Calls of a thread end in order: the last one ends with the thread's clock, which began like all others.
    std::map<std::uint64_t, std::uint64_t> first, last;
    for (const json& event : events) {
      if (event["ph"] != "X") continue;
      const std::uint64_t thread = event["tid"], begin = event["ts"],
                          end = begin + event["dur"].get<std::uint64_t>();
      first[thread] = std::min(first.try_emplace(thread, begin).first->second, begin);
      last[thread] = end;
    }
    std::uint64_t sum = 0;
    for (const auto& [thread, end] : last) sum += (end - first[thread]) * 1000;
    CHECK(sum == cpu_ns);
  }
  SECTION("firefox") {
    const json thread = json::parse(written(samples_of("firefox", kSamples)))["threads"][0];
    const auto& weights = thread["samples"]["weight"];
    std::uint64_t sum = 0;
    for (const json& weight : weights) sum += weight.get<std::uint64_t>();
    CHECK(sum == count);
    for (const char* table : {"samples", "stackTable", "frameTable", "funcTable"}) {
      CAPTURE(table);
      for (const auto& [name, column] : thread[table].items()) {
        CAPTURE(name);
        if (column.is_array()) CHECK(column.size() == thread[table]["length"]);
      }
    }
  }
}

TEST_CASE("a path that cannot be written is refused") {
  GenerateOptions options = samples_of("folded", 1);
  options.output = "/nonexistent-folder/x";
  CHECK_FALSE(generate(options));
}
