#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "bench/gen/json_text.h"
#include "bench/gen/writer.h"

namespace profd::bench {
namespace {

// Chrome's trace events, one complete event a call in the order in which calls end, as most tracers write
// them. A stack lasts for its time on the CPU, on its thread's own clock; what the next stack of the thread
// shares with it from the root is one call. The durations of all root calls sum to metric 1.
class ChromeTraceWriter : public Writer {
 public:
  ChromeTraceWriter(const Program& program, Sink& sink) : program_(program), sink_(sink) {
    sink_.write(R"({"traceEvents":[)");
    sink_.write(R"({"args":{"name":"stored"},"cat":"__metadata","name":"process_name","ph":"M","pid":4100,)"
                R"("tid":0,"ts":0})");
  }

  void begin_pass(int) override {}
  std::uint64_t projected_size() const override { return sink_.bytes(); }

  void add(const Sample& sample) override {
    stack_.clear();
    for (const std::uint32_t index : sample.sites) {
      const Site& site = program_.sites[index];
      stack_.push_back(site.function);
      for (std::uint32_t i = site.n_inlined; i > 0; --i) stack_.push_back(site.inlined[i - 1]);
    }
    Thread& thread = threads_[sample.thread];
    std::size_t same = 0;
    while (same < std::min(stack_.size(), thread.open.size()) && thread.open[same].function == stack_[same])
      ++same;
    close(sample.thread, thread, same);
    for (std::size_t i = same; i < stack_.size(); ++i) thread.open.push_back({stack_[i], thread.now_us});
    thread.now_us += sample.cpu_ns / 1000;
  }

  void finish() override {
    for (auto& [id, thread] : threads_) close(id, thread, 0);
    sink_.write(R"(],"displayTimeUnit":"ms"})");
  }

 private:
  static constexpr std::uint64_t kStartUs = 181'000'000'000;
  struct Call {
    std::uint32_t function;
    std::uint64_t begin_us;
  };
  struct Thread {
    std::uint64_t now_us = kStartUs;
    std::vector<Call> open;
  };

  void close(std::uint32_t id, Thread& thread, std::size_t depth) {
    for (; thread.open.size() > depth; thread.open.pop_back()) {
      const Call& call = thread.open.back();
      text_.clear();
      fmt::format_to(std::back_inserter(text_), ",\n{{\"args\":{{}},\"cat\":\"stored\",\"dur\":{},\"name\":",
                     thread.now_us - call.begin_us);
      append_json_string(text_, program_.functions[call.function].name);
      fmt::format_to(std::back_inserter(text_), R"(,"ph":"X","pid":4100,"tid":{},"ts":{}}})", id,
                     call.begin_us);
      sink_.write(text_);
    }
  }

  const Program& program_;
  Sink& sink_;
  std::map<std::uint32_t, Thread> threads_;
  std::vector<std::uint32_t> stack_;
  std::string text_;
};

}  // namespace

std::unique_ptr<Writer> make_chrome_trace_writer(const Program& program, Sink& sink) {
  return std::make_unique<ChromeTraceWriter>(program, sink);
}

}  // namespace profd::bench
