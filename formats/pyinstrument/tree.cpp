#include "formats/pyinstrument/tree.h"

#include <cmath>

#include <fmt/format.h>

#include "formats/pyinstrument/frame_info.h"

namespace profd::pyinstrument {
namespace {

struct Node {
  std::uint32_t parent = kNone;
  FrameId frame;
  bool self = false;  // stands for time of the frame above
  bool timed = false;
  std::int64_t ns = 0;
  double seconds = 0;
  std::uint64_t offset = 0;
};

// A node whose object is being read.
struct Open {
  std::uint32_t node;
  std::string function, file, class_name;
  FrameInfo info;
  bool in_children = false;
};

class TreeReader {
 public:
  TreeReader(JsonCursor& in, ReadContext& context, ProfileBuilder& builder)
      : in_(in), context_(context), builder_(builder) {}

  Result<void> run() {
    PROFD_CHECK(read_nodes());
    add();
    return {};
  }

 private:
  Result<void> read_nodes() {
    open();
    while (!open_.empty() && in_.ok()) {
      if (nodes_.size() % 4096 == 0) PROFD_CHECK(context_.stop.status());
      if (open_.back().in_children) {
        if (in_.next_element())
          open();
        else
          open_.back().in_children = false;
        continue;
      }
      std::string_view key;
      if (in_.next_key(key))
        member(key);
      else
        close();
    }
    return in_.status();
  }

  void open() {
    Node node;
    node.parent = open_.empty() ? kNone : open_.back().node;
    node.offset = in_.offset();
    Open frame;
    frame.node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(node);
    open_.push_back(std::move(frame));
    in_.begin_object();
    if (nodes_.size() > kNone - 2) in_.fail_at(node.offset, ErrorCode::limit, "too many frames");
  }

  void member(std::string_view key) {
    Open& frame = open_.back();
    Node& node = nodes_[frame.node];
    const JsonKind kind = in_.kind();
    if (key == "children" && kind == JsonKind::array) {
      in_.begin_array();
      frame.in_children = true;
    } else if (key == "time") {
      const JsonNumber number = in_.number();
      node.timed = in_.ok();
      node.seconds = number.value;
      if (in_.ok() && (!std::isfinite(node.seconds) || std::abs(node.seconds) > 9e9))
        return in_.fail_at(node.offset, ErrorCode::malformed, "the time of a frame is out of range");
      if (node.timed && !scaled_decimal(number.text, 9, node.ns)) fractional_ = true;
    } else if (key == "function" && kind == JsonKind::string) {
      frame.function = in_.string();
    } else if (key == "file_path" && kind == JsonKind::string) {
      frame.file = in_.string();
    } else if (key == "class_name" && kind == JsonKind::string) {
      frame.class_name = in_.string();
    } else if (key == "line_no" && kind == JsonKind::number) {
      const JsonNumber number = in_.number();
      frame.info.first_line = number.is_integer ? number.integer : 0;
    } else if (key == "identifier" && kind == JsonKind::string) {
      const FrameInfo info = parse_frame_info(in_.string());
      frame.function = info.function;
      frame.file = info.file;
      frame.info.first_line = info.first_line;
    } else if (key == "attributes" && kind == JsonKind::object) {
      attributes(frame);
    } else {
      in_.skip();
    }
  }

  // "l12": 0.25, "cStack": 0.25: each with the time that it held. Several lines of a frame cannot be told
  // apart in what they called, so then the frame has none.
  void attributes(Open& frame) {
    std::string_view key;
    std::size_t n_lines = 0;
    for (in_.begin_object(); in_.next_key(key);) {
      if (key.starts_with('c')) frame.class_name = key.substr(1);
      if (key.starts_with('l')) {
        ++n_lines;
        apply_attribute(key, frame.info);
      }
      in_.skip();
    }
    if (n_lines > 1) {
      frame.info.line = 0;
      ++n_merged_lines_;
    }
  }

  void close() {
    Open& frame = open_.back();
    Node& node = nodes_[frame.node];
    if (in_.ok() && !node.timed)
      return in_.fail_at(node.offset, ErrorCode::malformed, "the frame has no time");
    frame.info.function = frame.function;
    frame.info.file = frame.file;
    frame.info.class_name = frame.class_name;
    node.self = is_self(frame.function) && node.parent != kNone;
    if (!node.self) node.frame = make_frame(frame.info, builder_);
    open_.pop_back();
  }

  // Times are inclusive: what a frame's children took is not its own.
  void add() {
    const MetricId metric = builder_.add_metric("time", "nanoseconds", fractional_);
    std::vector<ContextId> contexts(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      const ContextId parent = node.parent == kNone ? kRootContext : contexts[node.parent];
      contexts[i] = node.self ? parent : builder_.context(parent, node.frame);
    }
    if (fractional_) {
      std::vector<double> self(nodes_.size(), 0);
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        self[i] += nodes_[i].seconds * 1e9;
        if (nodes_[i].parent != kNone) self[nodes_[i].parent] -= nodes_[i].seconds * 1e9;
      }
      add_all<double>(metric, contexts, self);
    } else {
      std::vector<std::int64_t> self(nodes_.size(), 0);
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        n_overflows_ += __builtin_add_overflow(self[i], nodes_[i].ns, &self[i]);
        if (nodes_[i].parent != kNone)
          n_overflows_ +=
              __builtin_sub_overflow(self[nodes_[i].parent], nodes_[i].ns, &self[nodes_[i].parent]);
      }
      add_all<std::int64_t>(metric, contexts, self);
    }
    if (n_merged_lines_ > 0)
      context_.report.add("several-lines", Severity::loss,
                          "Frames that ran on several lines have none: what they called is not divided.",
                          std::nullopt, n_merged_lines_);
    if (n_overflows_ > 0)
      context_.report.add("times-overflow", Severity::loss, "Times do not fit 64 bits.", std::nullopt,
                          n_overflows_);
  }

  template <class T>
  void add_all(MetricId metric, const std::vector<ContextId>& contexts, const std::vector<T>& self) {
    std::uint64_t n_negative = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      n_negative += self[i] < 0;
      builder_.add_self(contexts[i], metric, self[i]);
    }
    if (n_negative > 0)
      context_.report.add(
          "rounded-time", Severity::info,
          "Times in the file are rounded: children of these frames took more than they did; the "
          "difference is kept as negative self time.",
          std::nullopt, n_negative);
  }

  JsonCursor& in_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::vector<Node> nodes_;
  std::vector<Open> open_;
  bool fractional_ = false;
  std::uint64_t n_merged_lines_ = 0, n_overflows_ = 0;
};

}  // namespace

Result<void> read_tree(JsonCursor& in, ReadContext& context, ProfileBuilder& builder) {
  return TreeReader(in, context, builder).run();
}

}  // namespace profd::pyinstrument
