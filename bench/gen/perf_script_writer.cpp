#include <fmt/format.h>

#include "bench/gen/writer.h"

namespace profd::bench {
namespace {

// The text of `perf script` for the cpu-clock event, whose period is in ns: the periods sum to metric 1.
class PerfScriptWriter : public Writer {
 public:
  PerfScriptWriter(const Program& program, Sink& sink) : program_(program), sink_(sink) {}

  void begin_pass(int) override {}
  std::uint64_t projected_size() const override { return sink_.bytes(); }
  void finish() override {}

  void add(const Sample& sample) override {
    text_.clear();
    auto out = std::back_inserter(text_);
    constexpr std::uint64_t kStartNs = 52'117'004'113'000;
    const std::uint64_t time = kStartNs + sample.time_ns;
    fmt::format_to(out, "stored  4100/{} [{:03}] {}.{:06}: {:>10} cpu-clock:u: \n", sample.thread,
                   sample.thread % 8, time / 1'000'000'000, time / 1000 % 1'000'000, sample.cpu_ns);
    for (std::size_t i = sample.sites.size(); i > 0; --i) {
      const Site& site = program_.sites[sample.sites[i - 1]];
      const Function& function = program_.functions[site.function];
      const std::string& module = program_.modules[function.module].path;
      for (std::uint32_t k = 0; k < site.n_inlined; ++k)
        fmt::format_to(out, "\t{:16x} {} (inlined)\n", site.address,
                       program_.functions[site.inlined[k]].name);
      fmt::format_to(out, "\t{:16x} {}+0x{:x} ({})\n", site.address, function.name,
                     site.address - function.address, module);
    }
    text_ += '\n';
    sink_.write(text_);
  }

 private:
  const Program& program_;
  Sink& sink_;
  std::string text_;
};

}  // namespace

std::unique_ptr<Writer> make_perf_script_writer(const Program& program, Sink& sink) {
  return std::make_unique<PerfScriptWriter>(program, sink);
}

}  // namespace profd::bench
