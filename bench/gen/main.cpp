// profd-bench-gen: writes profiles of one synthetic program, in several formats and any size.
#include <cstdio>
#include <exception>
#include <map>

#include <CLI/CLI.hpp>

#include "bench/gen/generate.h"

namespace profd::bench {
namespace {

int parse_and_run(int argc, char** argv) {
  GenerateOptions options;
  CLI::App app("Writes profiles of one synthetic program: same seed, same samples, in every format");
  app.add_option("--format", options.format)
      ->check(CLI::IsMember(
          {"pprof", "folded", "perf-script", "cpuprofile", "speedscope", "chrome-trace", "firefox"}))
      ->capture_default_str();
  const std::map<std::string, std::uint64_t> units = {
      {"B", 1}, {"KB", 1000}, {"MB", 1000'000}, {"GB", 1000'000'000}};
  app.add_option("--size", options.size, "size of the file before compression, such as 100MB")
      ->transform(CLI::AsNumberWithUnit(units));
  app.add_option("--samples", options.samples, "number of samples; with --size, whichever ends first");
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--run", options.run, "another run of the program: other samples");
  app.add_option("--packages", options.packages,
                 "size of the program; without it one that fits --size (30 at 1 MB, 1900 from 100 MB)");
  app.add_option("--metrics", options.n_metrics, "metrics in pprof")
      ->check(CLI::Range(2, 4))
      ->capture_default_str();
  app.add_flag("--gzip{1}", options.gzip_level,
               "compress; --gzip=6 for another level than that of Go's runtime (1)");
  app.add_flag("--stats", options.stats, "print what the samples hold as one JSON object");
  app.add_option("-o,--output", options.output, "file, or - for standard output")->required();
  CLI11_PARSE(app, argc, argv);
  if (options.size == 0 && options.samples == 0) {
    std::fprintf(stderr, "profd-bench-gen: give --size or --samples\n");
    return 2;
  }
  const auto generated = generate(options);
  if (!generated) {
    std::fprintf(stderr, "profd-bench-gen: cannot write %s\n", options.output.c_str());
    return 1;
  }
  if (options.stats) std::fprintf(options.output == "-" ? stderr : stdout, "%s\n", generated->stats.c_str());
  return 0;
}

}  // namespace
}  // namespace profd::bench

int main(int argc, char** argv) {
  try {
    return profd::bench::parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "profd-bench-gen: %s\n", error.what());
    return 1;
  } catch (...) {
    return 3;
  }
}
