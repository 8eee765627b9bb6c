// Proton, the profiler of Triton: trees of scopes and kernels as JSON, in the form that Hatchet calls
// literal.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "formats/support/json_cursor.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".hatchet"};
constexpr ReaderNotes kNotes{
    .versions = "the tree form of Proton of Triton 3",
    .keeps = "scopes and kernels, time, counts, bytes and flops; devices as labels",
    .recording = "proton -n app app.py",
    .verified = "sums over the JSON of two published profiles: time, counts, bytes, flops",
};
constexpr std::size_t kMostMetrics = 64;  // a column each, for every node

class ProtonReading {
 public:
  ProtonReading(const ByteSource& source, ReadContext& context, ProfileBuilder& builder)
      : text_(decode_text(source)),
        context_(context),
        builder_(builder),
        in_(text_.text, context.limits.nesting, text_.offset) {}

  Result<void> run() {
    builder_.info().producer = "Proton";
    for (in_.begin_array(); in_.next_element();) {
      PROFD_CHECK(context_.stop.status());
      read_tree();
    }
    PROFD_CHECK(in_.finish());
    if (!any_frame_) return fail(ErrorCode::malformed, "no element of the list is a tree with a frame");
    return build();
  }

 private:
  struct Node {
    std::uint32_t parent;
    bool has_frame = false;
    StringId name{0u};
    std::size_t first_value = 0, n_values = 0;  // rows of values_
    LabelSetId labels{0u};
    std::uint64_t at = 0;
  };
  struct MetricValue {
    std::uint32_t metric;
    double value;
    std::int64_t integer;
  };
  struct Metric {
    std::string name, unit;
    bool fractional = false;
  };

  // An object and all below it. Children may stand before what they are the children of.
  void read_tree() {
    std::vector<std::uint32_t> open;
    const auto enter = [&] {
      nodes_.push_back({.parent = open.empty() ? kNone : open.back(), .at = in_.offset()});
      open.push_back(static_cast<std::uint32_t>(nodes_.size() - 1));
      in_.begin_object();
    };
    enter();
    bool in_children = false;
    std::string_view key;
    while (!open.empty() && in_.ok()) {
      if (in_children) {
        if (in_.next_element()) enter();
        in_children = false;
      } else if (!in_.next_key(key)) {
        open.pop_back();
        in_children = !open.empty();
      } else if (key == "children") {
        in_.begin_array();
        in_children = true;
      } else if (key == "frame") {
        read_frame(nodes_[open.back()]);
      } else if (key == "metrics") {
        read_metrics(nodes_[open.back()]);
      } else {
        in_.skip();
      }
    }
  }

  void read_frame(Node& node) {
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      if (key != "name") {
        in_.skip();
        continue;
      }
      node.name = builder_.string(in_.string());
      node.has_frame = any_frame_ = true;
    }
  }

  void read_metrics(Node& node) {
    node.first_value = values_.size();
    node.n_values = 0;
    std::vector<Label> labels;
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      const JsonKind kind = in_.kind();
      if (kind == JsonKind::string) {
        const StringId name = builder_.string(key);
        labels.push_back({.key = name, .text = builder_.string(in_.string())});
      } else if (kind == JsonKind::number) {
        const std::uint32_t metric = metric_of(key);
        const JsonNumber number = in_.number();
        if (metric == kNone || !in_.ok()) continue;
        std::int64_t whole = number.integer;
        if (!number.is_integer) {
          const bool fits = std::abs(number.value) < 9e15 && number.value == std::trunc(number.value);
          if (fits) whole = static_cast<std::int64_t>(number.value);
          metrics_[metric].fractional |= !fits;
        }
        values_.push_back({metric, number.value, whole});
        ++node.n_values;
      } else {
        if (kind != JsonKind::null) ++n_other_;
        in_.skip();
      }
    }
    if (in_.ok()) node.labels = builder_.label_set(labels);
  }

  // "time (ns)" has its unit in its name.
  std::uint32_t metric_of(std::string_view key) {
    for (std::uint32_t i = 0; i < keys_.size(); ++i)
      if (keys_[i] == key) return i;
    if (keys_.size() == kMostMetrics) {
      ++n_too_many_;
      return kNone;
    }
    keys_.emplace_back(key);
    Metric metric{std::string(key), key == "bytes" ? "bytes" : "count"};
    const std::size_t paren = key.rfind(" (");
    if (paren != std::string_view::npos && key.ends_with(')')) {
      const std::string_view unit = key.substr(paren + 2, key.size() - paren - 3);
      metric.name = key.substr(0, paren);
      metric.unit = unit == "ns" ? "nanoseconds" : unit;
    }
    metrics_.push_back(std::move(metric));
    return static_cast<std::uint32_t>(keys_.size() - 1);
  }

  Result<void> build() {
    // Time first, which is what is looked for.
    std::vector<std::uint32_t> order(metrics_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_partition(order.begin(), order.end(),
                          [&](std::uint32_t i) { return metrics_[i].name == "time"; });
    std::vector<std::uint32_t> column(metrics_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      const Metric& metric = metrics_[order[i]];
      column[order[i]] = builder_.add_metric(metric.name, metric.unit, metric.fractional).v;
    }
    std::vector<Value> values;
    std::vector<ContextId> contexts(nodes_.size());
    std::uint64_t n_samples = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      const bool top = node.parent == kNone;
      const ContextId below = top ? kRootContext : contexts[node.parent];
      if (!node.has_frame && !top)
        return fail(ErrorCode::malformed, "a node of the tree has no frame", node.at);
      if (top && (!node.has_frame || builder_.text(node.name) == "ROOT")) {
        contexts[i] = kRootContext;
      } else {
        const std::string name(builder_.text(node.name));
        contexts[i] = builder_.context(
            below, builder_.frame({.function = builder_.function(name.empty() ? "(unnamed)" : name)}));
      }
      bool any = false;
      values.assign(metrics_.size(), Value{});
      for (std::size_t m = 0; m < metrics_.size(); ++m)
        values[column[m]] = metrics_[m].fractional ? Value(0.0) : Value(std::int64_t{0});
      for (std::size_t v = node.first_value; v < node.first_value + node.n_values; ++v) {
        const MetricValue& value = values_[v];
        any |= value.value != 0;
        values[column[value.metric]] =
            metrics_[value.metric].fractional ? Value(value.value) : Value(value.integer);
      }
      if (!any) continue;
      SampleContext where;
      where.labels = node.labels;
      builder_.add_sample(contexts[i], std::span<const Value>(values), where);
      ++n_samples;
    }
    builder_.set_n_samples(n_samples);
    report(n_samples);
    return {};
  }

  void report(std::uint64_t n_samples) {
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         std::uint64_t n) {
      if (n > 0) context_.report.add(kind, severity, message, std::nullopt, n);
    };
    row("other-metric", Severity::loss, "Metrics that are neither numbers nor texts were left out.",
        n_other_);
    row("too-many-metrics", Severity::loss, "Metrics beyond 64 were left out.", n_too_many_);
    row("invalid-text", Severity::info, "Texts that are no UTF-8 were repaired.", in_.n_repaired());
    if (n_samples == 0) context_.report.add("no-values", Severity::info, "The trees have no values.");
  }

  DecodedText text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  JsonCursor in_;
  std::vector<Node> nodes_;
  std::vector<MetricValue> values_;
  std::vector<std::string> keys_;
  std::vector<Metric> metrics_;
  bool any_frame_ = false;
  std::uint64_t n_other_ = 0, n_too_many_ = 0;
};

// A text in quotes, then a colon, then what the value begins with.
bool has_member(std::string_view text, std::string_view key, char value) {
  const std::string quoted = fmt::format("\"{}\"", key);
  for (std::size_t at = text.find(quoted); at != std::string_view::npos; at = text.find(quoted, at + 1)) {
    std::size_t next = text.find_first_not_of(" \n\r\t", at + quoted.size());
    if (next == std::string_view::npos || text[next] != ':') continue;
    next = text.find_first_not_of(" \n\r\t", next + 1);
    if (next != std::string_view::npos && text[next] == value) return true;
  }
  return false;
}

class ProtonReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "proton", "Proton / Hatchet tree", kExtensions, 445, "Proton (Triton), Hatchet's literal form", 1,
        kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = sniff_text(prefix);
    const std::size_t first = text.find_first_not_of(" \n\r\t");
    if (first == std::string_view::npos || text[first] != '[') return Confidence::no;
    const std::size_t second = text.find_first_not_of(" \n\r\t", first + 1);
    if (second == std::string_view::npos || text[second] != '{') return Confidence::no;
    if (!has_member(text, "frame", '{') || !has_member(text, "children", '[')) return Confidence::no;
    return has_member(text, "metrics", '{') ? Confidence::certain : Confidence::maybe;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    return ProtonReading(source, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_proton_reader() {
  return std::make_unique<ProtonReader>();
}

}  // namespace profd
