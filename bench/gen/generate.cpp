#include "bench/gen/generate.h"

#include <limits>

#include "bench/gen/stats.h"
#include "bench/gen/writer.h"

namespace profd::bench {
namespace {

std::unique_ptr<Writer> make_writer(const GenerateOptions& options, const Program& program, Sink& sink) {
  if (options.format == "folded") return make_folded_writer(program, sink);
  if (options.format == "perf-script") return make_perf_script_writer(program, sink);
  if (options.format == "cpuprofile") return make_cpuprofile_writer(program, sink);
  if (options.format == "speedscope") return make_speedscope_writer(program, sink);
  if (options.format == "chrome-trace") return make_chrome_trace_writer(program, sink);
  if (options.format == "firefox") return make_firefox_writer(program, sink);
  return make_pprof_writer(program, sink, options.n_metrics);
}

}  // namespace

std::optional<Generated> generate(const GenerateOptions& options) {
  const Program program(options.seed,
                        options.packages > 0 ? options.packages : packages_of_profile(options.size));
  Sink sink(options.output, options.gzip_level);
  const auto writer = make_writer(options, program, sink);
  std::optional<Stats> stats;
  if (options.stats) stats.emplace(program);

  constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t n_samples = 0;
  for (int pass = 0; pass < writer->passes(); ++pass) {
    Walker walker(program, options.seed + options.run * 0x9e3779b97f4a7c15ull);
    writer->begin_pass(pass);
    // The first pass decides how many samples there are; a second repeats them.
    const std::uint64_t limit = pass > 0 ? n_samples : options.samples > 0 ? options.samples : kUnlimited;
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
  Generated generated{sink.bytes(), n_samples, {}};
  if (stats) generated.stats = stats->json(generated.bytes);
  if (!sink.close()) return std::nullopt;
  return generated;
}

}  // namespace profd::bench
