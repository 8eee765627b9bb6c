#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace profd::bench {

struct GenerateOptions {
  // pprof, folded, perf-script, cpuprofile, speedscope, chrome-trace, firefox
  std::string format = "pprof";
  std::string output;         // a path, or "-"
  std::uint64_t size = 0;     // bytes before compression; 0: no limit
  std::uint64_t samples = 0;  // 0: no limit; one of the two is set
  std::uint64_t seed = 1;
  std::uint64_t run = 0;       // other samples of the same program
  std::uint32_t packages = 0;  // of the program; 0: as many as fit a profile of this size
  int gzip_level = 0;
  int n_metrics = 4;  // pprof only
  bool stats = false;
};

struct Generated {
  std::uint64_t bytes;  // before compression
  std::uint64_t samples;
  std::string stats;  // one JSON object when asked for
};

// Writes one profile, streaming. Nothing when the output cannot be written.
std::optional<Generated> generate(const GenerateOptions& options);

}  // namespace profd::bench
