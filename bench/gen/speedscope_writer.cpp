#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "bench/gen/json_text.h"
#include "bench/gen/writer.h"

namespace profd::bench {
namespace {

constexpr std::string_view kHead =
    R"({"version":"0.1.0","$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[)";

// One "sampled" profile in nanoseconds: the weights are metric 1. The frame table comes first in the file, as
// every exporter has it, so the first pass collects it.
class SpeedscopeWriter : public Writer {
 public:
  SpeedscopeWriter(const Program& program, Sink& sink) : program_(program), sink_(sink) {}

  int passes() const override { return 2; }
  std::uint64_t projected_size() const override {
    return kHead.size() + 200 + frames_.size() + stack_bytes_ + weights_.size();
  }

  void begin_pass(int pass) override {
    pass_ = pass;
    if (pass == 0) return;
    sink_.write(kHead);
    sink_.write(frames_);
    sink_.write(fmt::format(
        R"(]}},"profiles":[{{"type":"sampled","name":"stored","unit":"nanoseconds","startValue":0,)"
        R"("endValue":{},"samples":[)",
        total_));
    frames_.clear();
    first_ = true;
  }

  void add(const Sample& sample) override {
    stack_ = first_ ? "[" : ",\n[";
    first_ = false;
    for (const std::uint32_t index : sample.sites) {
      const Site& site = program_.sites[index];
      append_frame(site.function, site.lines[site.n_inlined]);
      for (std::uint32_t i = site.n_inlined; i > 0; --i) append_frame(site.inlined[i - 1], site.lines[i - 1]);
    }
    stack_.back() = ']';
    if (pass_ == 1) return sink_.write(stack_);
    stack_bytes_ += stack_.size();
    if (!weights_.empty()) weights_ += ',';
    fmt::format_to(std::back_inserter(weights_), "{}", sample.cpu_ns);
    total_ += sample.cpu_ns;
  }

  void finish() override {
    sink_.write(R"(],"weights":[)");
    sink_.write(weights_);
    sink_.write(R"(]}],"activeProfileIndex":0,"exporter":"profd-bench-gen"})");
  }

 private:
  void append_frame(std::uint32_t function, std::uint32_t line) {
    const auto [found, is_new] =
        ids_.try_emplace(std::uint64_t{function} << 32 | line, static_cast<std::uint32_t>(ids_.size()));
    if (is_new) {
      const Function& f = program_.functions[function];
      frames_ += found->second == 0 ? R"({"name":)" : R"(,{"name":)";
      append_json_string(frames_, f.name);
      frames_ += R"(,"file":)";
      append_json_string(frames_, program_.files[f.file]);
      fmt::format_to(std::back_inserter(frames_), R"(,"line":{}}})", line);
    }
    const fmt::format_int digits(found->second);
    stack_.append(digits.data(), digits.size());
    stack_ += ',';
  }

  const Program& program_;
  Sink& sink_;
  std::unordered_map<std::uint64_t, std::uint32_t> ids_;  // function and line -> frame
  std::string frames_, weights_, stack_;
  std::uint64_t stack_bytes_ = 0, total_ = 0;
  int pass_ = 0;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<Writer> make_speedscope_writer(const Program& program, Sink& sink) {
  return std::make_unique<SpeedscopeWriter>(program, sink);
}

}  // namespace profd::bench
