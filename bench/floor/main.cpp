// profd-bench-floor: what reading a gzip'd pprof file costs at the least, on one thread. One JSON object a
// row.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/resource.h>

#include "bench/floor/gunzip.h"
#include "bench/floor/walk.h"

namespace profd::bench {
namespace {

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void measure(std::string_view work, std::string_view with, int runs, std::size_t bytes,
             const std::function<void()>& run) {
  std::vector<double> wall, cpu;
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double cpu_start = cpu_seconds();
    run();
    cpu.push_back(cpu_seconds() - cpu_start);
    wall.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::puts(fmt::format(R"({{"work":"{}","with":"{}","wall_s":{:.5f},"cpu_s":{:.5f},"runs":{},"bytes":{}}})",
                        work, with, median(wall), median(cpu), runs, bytes)
                .c_str());
}

int run(const std::string& path, int runs) {
  std::ifstream file(path, std::ios::binary);
  const std::string gzip{std::istreambuf_iterator<char>(file), {}};
  const std::size_t size = stated_size(gzip);
  if (!file || size == 0) {
    std::fprintf(stderr, "profd-bench-floor: %s is no gzip file\n", path.c_str());
    return 1;
  }
  bool ok = true;
  for (const Inflater& inflater : inflaters())
    measure("gunzip", inflater.name, runs, size, [&] {
      Pages out(size);
      ok &= inflater.inflate(gzip, out);
    });
  Pages content(size);
  ok &= inflaters()[1].inflate(gzip, content);
  if (!ok) {
    std::fprintf(stderr, "profd-bench-floor: %s does not inflate\n", path.c_str());
    return 1;
  }
  const std::string_view pprof(content.data(), size);
  WalkResult walked{}, stored{};
  measure("walk varints", "protozero", runs, size, [&] { walked = walk_varints(pprof); });
  measure("columns", "protozero", runs, size, [&] { stored = fill_columns(pprof); });
  if (walked.samples != stored.samples || walked.references != stored.references ||
      walked.value_sum != stored.value_sum) {
    std::fprintf(stderr, "profd-bench-floor: the walk and the columns disagree\n");
    return 3;
  }
  return 0;
}

int parse_and_run(int argc, char** argv) {
  std::string path;
  int runs = 5;
  CLI::App app("What reading a gzip'd pprof file costs at the least, on one thread");
  app.add_option("file", path, "a gzip'd pprof file")->required();
  app.add_option("--runs", runs, "medians are taken over this many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return run(path, runs);
}

}  // namespace
}  // namespace profd::bench

int main(int argc, char** argv) {
  try {
    return profd::bench::parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "profd-bench-floor: %s\n", error.what());
    return 1;
  } catch (...) {
    return 3;
  }
}
