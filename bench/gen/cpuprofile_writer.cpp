#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "bench/gen/json_text.h"
#include "bench/gen/writer.h"

namespace profd::bench {
namespace {

// V8's .cpuprofile: a tree of functions (inlined ones are nodes like any other), a node id per sample, and
// time deltas in microseconds that sum to metric 1. The tree is kept in memory; 24 bytes a node.
class CpuProfileWriter : public Writer {
 public:
  CpuProfileWriter(const Program& program, Sink& sink) : program_(program), sink_(sink) {
    nodes_.push_back({kNone, kNone, kNone, 0});
  }

  void begin_pass(int) override {}
  std::uint64_t projected_size() const override {
    return 200 + node_bytes_ + samples_.size() + deltas_.size();
  }

  void add(const Sample& sample) override {
    std::uint32_t node = 0;
    for (const std::uint32_t index : sample.sites) {
      const Site& site = program_.sites[index];
      node = child(node, site.function);
      for (std::uint32_t i = site.n_inlined; i > 0; --i) node = child(node, site.inlined[i - 1]);
    }
    ++nodes_[node].hits;
    fmt::format_to(std::back_inserter(samples_), "{},", node + 1);
    // A delta is the time before its sample: the first is zero, the last sample lasts until endTime.
    fmt::format_to(std::back_inserter(deltas_), "{},", last_us_);
    last_us_ = sample.cpu_ns / 1000;
    total_us_ += last_us_;
  }

  void finish() override {
    sink_.write(R"({"nodes":[)");
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) write_node(i);
    if (!samples_.empty()) {
      samples_.pop_back();
      deltas_.pop_back();
    }
    sink_.write(fmt::format(R"(],"startTime":{},"endTime":{},"samples":[)", kStartUs, kStartUs + total_us_));
    sink_.write(samples_);
    sink_.write(R"(],"timeDeltas":[)");
    sink_.write(deltas_);
    sink_.write("]}");
  }

 private:
  static constexpr std::uint64_t kStartUs = 181'000'000'000;
  struct Node {
    std::uint32_t function, first_child, next_sibling, hits;
  };

  std::uint32_t child(std::uint32_t parent, std::uint32_t function) {
    const auto id = static_cast<std::uint32_t>(nodes_.size());
    const auto [found, is_new] = children_.try_emplace(std::uint64_t{parent} << 32 | function, id);
    if (is_new) {
      nodes_.push_back({function, kNone, nodes_[parent].first_child, 0});
      nodes_[parent].first_child = id;
      const Function& f = program_.functions[function];
      node_bytes_ += 128 + f.name.size() + program_.files[f.file].size();
    }
    return found->second;
  }

  void write_node(std::uint32_t id) {
    const Node& node = nodes_[id];
    text_.clear();
    if (id > 0) text_ += ',';
    auto out = std::back_inserter(text_);
    fmt::format_to(out, R"({{"id":{},"callFrame":{{"functionName":)", id + 1);
    if (id == 0) {
      text_ += R"_("(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1})_";
    } else {
      const Function& f = program_.functions[node.function];
      append_json_string(text_, f.name);
      fmt::format_to(out, R"(,"scriptId":"{}","url":)", f.file + 1);
      append_json_string(text_, program_.files[f.file]);
      fmt::format_to(out, R"(,"lineNumber":{},"columnNumber":{}}})", f.start_line - 1, f.start_line % 40);
    }
    fmt::format_to(out, R"(,"hitCount":{})", node.hits);
    if (node.first_child != kNone) {
      text_ += R"(,"children":[)";
      for (std::uint32_t c = node.first_child; c != kNone; c = nodes_[c].next_sibling)
        fmt::format_to(out, "{},", c + 1);
      text_.back() = ']';
    }
    text_ += '}';
    sink_.write(text_);
  }

  const Program& program_;
  Sink& sink_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // parent and function -> node
  std::string samples_, deltas_, text_;
  std::uint64_t node_bytes_ = 0, last_us_ = 0, total_us_ = 0;
};

}  // namespace

std::unique_ptr<Writer> make_cpuprofile_writer(const Program& program, Sink& sink) {
  return std::make_unique<CpuProfileWriter>(program, sink);
}

}  // namespace profd::bench
