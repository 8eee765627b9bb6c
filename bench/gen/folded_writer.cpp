#include <fmt/format.h>

#include "bench/gen/writer.h"

namespace profd::bench {
namespace {

// `root;...;leaf COUNT`, one line a sample, inlined frames as frames; the count is metric 0.
class FoldedWriter : public Writer {
 public:
  FoldedWriter(const Program& program, Sink& sink) : program_(program), sink_(sink) {}

  void begin_pass(int) override {}
  std::uint64_t projected_size() const override { return sink_.bytes(); }
  void finish() override {}

  void add(const Sample& sample) override {
    line_.clear();
    for (const std::uint32_t index : sample.sites) {
      const Site& site = program_.sites[index];
      (line_ += program_.functions[site.function].name) += ';';
      for (std::uint32_t i = site.n_inlined; i > 0; --i)
        (line_ += program_.functions[site.inlined[i - 1]].name) += ';';
    }
    line_.back() = ' ';
    fmt::format_to(std::back_inserter(line_), "{}\n", sample.count);
    sink_.write(line_);
  }

 private:
  const Program& program_;
  Sink& sink_;
  std::string line_;
};

}  // namespace

std::unique_ptr<Writer> make_folded_writer(const Program& program, Sink& sink) {
  return std::make_unique<FoldedWriter>(program, sink);
}

}  // namespace profd::bench
