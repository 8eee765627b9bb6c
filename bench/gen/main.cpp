// profd-bench-gen: writes profiles of one synthetic program, in several formats and any size.
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "bench/gen/stats.h"
#include "bench/gen/writer.h"

namespace profd::bench {
namespace {

struct Options {
  std::string format = "pprof", output;
  std::uint64_t size = 0, samples = 0, seed = 1;
  int gzip_level = 0, n_metrics = 4;
  bool stats = false;
};

std::unique_ptr<Writer> make_writer(const Options& options, const Program& program, Sink& sink) {
  if (options.format == "folded") return make_folded_writer(program, sink);
  if (options.format == "perf-script") return make_perf_script_writer(program, sink);
  if (options.format == "cpuprofile") return make_cpuprofile_writer(program, sink);
  if (options.format == "speedscope") return make_speedscope_writer(program, sink);
  return make_pprof_writer(program, sink, options.n_metrics);
}

int run(const Options& options) {
  const Program program(options.seed);
  Sink sink(options.output, options.gzip_level);
  const auto writer = make_writer(options, program, sink);
  std::optional<Stats> stats;
  if (options.stats) stats.emplace(program);

  std::uint64_t n_samples = 0;
  for (int pass = 0; pass < writer->passes(); ++pass) {
    Walker walker(program, options.seed);
    writer->begin_pass(pass);
    // The first pass decides how many samples there are; a second repeats them.
    const std::uint64_t limit = pass > 0              ? n_samples
                                : options.samples > 0 ? options.samples
                                                      : std::numeric_limits<std::uint64_t>::max();
    for (std::uint64_t i = 0; i < limit; ++i) {
      if (pass == 0 && options.size > 0 && writer->projected_size() >= options.size) break;
      const Sample& sample = walker.next();
      writer->add(sample);
      if (pass > 0) continue;
      ++n_samples;
      if (stats) stats->add(sample);
    }
  }
  writer->finish();
  const std::uint64_t bytes = sink.bytes();
  if (!sink.close()) {
    std::fprintf(stderr, "profd-bench-gen: cannot write %s\n", options.output.c_str());
    return 1;
  }
  if (stats) std::fprintf(options.output == "-" ? stderr : stdout, "%s\n", stats->json(bytes).c_str());
  return 0;
}

}  // namespace
}  // namespace profd::bench

int main(int argc, char** argv) {
  profd::bench::Options options;
  CLI::App app("Writes profiles of one synthetic program: same seed, same samples, in every format");
  app.add_option("--format", options.format)
      ->check(CLI::IsMember({"pprof", "folded", "perf-script", "cpuprofile", "speedscope"}))
      ->capture_default_str();
  const std::map<std::string, std::uint64_t> units = {
      {"B", 1}, {"KB", 1000}, {"MB", 1000'000}, {"GB", 1000'000'000}};
  app.add_option("--size", options.size, "size of the file before compression, such as 100MB")
      ->transform(CLI::AsNumberWithUnit(units));
  app.add_option("--samples", options.samples, "number of samples; with --size, whichever ends first");
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--metrics", options.n_metrics, "metrics in pprof")
      ->check(CLI::Range(2, 4))
      ->capture_default_str();
  app.add_flag("--gzip{1}", options.gzip_level,
               "compress; --gzip=6 for another level than Go's runtime takes (1)");
  app.add_flag("--stats", options.stats, "print what the samples hold as one JSON object");
  app.add_option("-o,--output", options.output, "file, or - for standard output")->required();
  CLI11_PARSE(app, argc, argv);
  if (options.size == 0 && options.samples == 0) {
    std::fprintf(stderr, "profd-bench-gen: give --size or --samples\n");
    return 2;
  }
  return profd::bench::run(options);
}
