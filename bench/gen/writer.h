#pragma once

#include <cstdint>
#include <memory>

#include "bench/gen/sink.h"
#include "bench/gen/walker.h"

namespace profd::bench {

// Writes one format. A writer with two passes is given the same samples twice and writes in the second:
// its format puts tables first that only the samples can fill.
class Writer {
 public:
  virtual ~Writer() = default;

  virtual int passes() const { return 1; }
  virtual void begin_pass(int pass) = 0;
  virtual void add(const Sample& sample) = 0;
  // What the finished file would weigh, before compression, if no sample followed.
  virtual std::uint64_t projected_size() const = 0;
  virtual void finish() = 0;
};

std::unique_ptr<Writer> make_pprof_writer(const Program& program, Sink& sink, int n_metrics);
std::unique_ptr<Writer> make_folded_writer(const Program& program, Sink& sink);
std::unique_ptr<Writer> make_perf_script_writer(const Program& program, Sink& sink);
std::unique_ptr<Writer> make_cpuprofile_writer(const Program& program, Sink& sink);
std::unique_ptr<Writer> make_speedscope_writer(const Program& program, Sink& sink);
std::unique_ptr<Writer> make_chrome_trace_writer(const Program& program, Sink& sink);
std::unique_ptr<Writer> make_firefox_writer(const Program& program, Sink& sink);

}  // namespace profd::bench
