#include "formats/sysprof/xml_tree.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/support/text_number.h"
#include "formats/support/xml.h"

namespace profd::sysprof {
namespace {

struct Node {
  std::uint64_t id = 0, object = 0, parent = 0;
  std::int64_t self = 0;
};

class Handler final : public XmlHandler {
 public:
  Handler(ReadContext& context, ProfileBuilder& builder) : context_(context), builder_(builder) {}

  Result<void> start(std::string_view name, std::span<const XmlAttribute> attributes,
                     std::uint64_t offset) override {
    text_.clear();
    if (name == "object" || name == "node") {
      // <object> also stands inside of nodes, where it is a number.
      if (in_node_ && name == "object") return {};
      std::uint64_t id;
      if (!parse_uint(attribute(attributes, "id"), id) || id == 0)
        return fail(ErrorCode::malformed, "an object or node has no id", offset);
      if (name == "node") {
        in_node_ = true;
        node_ = {};
        node_.id = id;
      } else {
        in_object_ = true;
        object_ = id;
      }
    }
    return {};
  }

  Result<void> text(std::string_view text) override {
    if (text_.size() < 65536) text_ += text;
    return {};
  }

  Result<void> end(std::string_view name) override {
    const std::string_view text = trim(text_);
    if (in_node_) {
      if (name == "node") {
        in_node_ = false;
        nodes_.push_back(node_);
        if (nodes_.size() % 4096 == 0) PROFD_CHECK(context_.stop.status());
      } else if (name == "object" || name == "parent" || name == "self") {
        std::uint64_t value;
        if (!parse_uint(text, value) || value > INT64_MAX)
          return fail(ErrorCode::malformed, fmt::format("<{}> of a node is no number", name));
        if (name == "object") node_.object = value;
        if (name == "parent") node_.parent = value;
        if (name == "self") node_.self = static_cast<std::int64_t>(value);
      }
    } else if (in_object_) {
      if (name == "name") {
        std::string_view quoted = text;
        if (quoted.size() >= 2 && quoted.front() == '"' && quoted.back() == '"')
          quoted = quoted.substr(1, quoted.size() - 2);
        frames_[object_] = make_frame(quoted);
      } else if (name == "object") {
        in_object_ = false;
      }
    } else if (name == "size") {
      std::uint64_t size;
      if (parse_uint(text, size)) size_ = size;
    }
    text_.clear();
    return {};
  }

  Result<void> build() {
    builder_.info().producer = "Sysprof";
    builder_.add_metric("samples", "count");
    if (nodes_.empty()) return fail(ErrorCode::malformed, "the call tree has no nodes", 0);
    std::unordered_map<std::uint64_t, std::uint32_t> rows;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i)
      if (!rows.emplace(nodes_[i].id, i).second) return fail(ErrorCode::malformed, "two nodes have one id");
    // A parent may come later than its children.
    std::vector<ContextId> contexts(nodes_.size());
    std::vector<std::uint32_t> path;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      path.clear();
      std::uint32_t at = i;
      ContextId context = kRootContext;
      for (;;) {
        if (contexts[at].valid()) {
          context = contexts[at];
          break;
        }
        if (path.size() >= std::min<std::size_t>(nodes_.size(), context_.limits.stack_depth))
          return fail(ErrorCode::malformed, "nodes are each other's parents, or too deep");
        path.push_back(at);
        if (nodes_[at].parent == 0) break;
        const auto parent = rows.find(nodes_[at].parent);
        if (parent == rows.end()) return fail(ErrorCode::malformed, "a node's parent is not in the file");
        at = parent->second;
      }
      for (; !path.empty(); path.pop_back()) {
        const auto frame = frames_.find(nodes_[path.back()].object);
        if (frame == frames_.end()) return fail(ErrorCode::malformed, "a node's object is not in the file");
        context = contexts[path.back()] = builder_.context(context, frame->second);
      }
      if (nodes_[i].self > 0) builder_.add_self(contexts[i], MetricId{0u}, nodes_[i].self);
      total_ += static_cast<std::uint64_t>(nodes_[i].self);
    }
    builder_.set_n_samples(total_);
    if (size_ != 0 && size_ != total_)
      context_.report.add("size-differs", Severity::info,
                          fmt::format("the file states {} samples, its nodes have {}", size_, total_));
    return {};
  }

 private:
  // "[find]" is a process, "In file /lib/x.so" and "??? [/bin/x]" code without a name, "in kernel" or "- -
  // kernel - -" the kernel.
  FrameId make_frame(std::string_view name) {
    FrameSpec frame;
    FunctionSpec function{.name = builder_.string(name)};
    const bool unknown = name.starts_with("??? [") && name.ends_with(']');
    if (unknown || name.starts_with("In file ")) {
      const std::string_view module = unknown ? name.substr(5, name.size() - 6) : name.substr(8);
      frame.module = builder_.module({.name = module});
      function.name = builder_.string(fmt::format("[{}]", module.substr(module.rfind('/') + 1)));
      function.unresolved = true;
    } else if (name == "in kernel" || name == "In kernel" ||
               name.find("kernel - -") != std::string_view::npos) {
      frame.kind = FrameKind::kernel;
    }
    frame.function = builder_.function(function);
    return builder_.frame(frame);
  }

  ReadContext& context_;
  ProfileBuilder& builder_;
  std::string text_;
  bool in_node_ = false, in_object_ = false;
  std::uint64_t object_ = 0, size_ = 0, total_ = 0;
  Node node_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, FrameId> frames_;
};

}  // namespace

Result<void> read_xml_tree(const ByteSource& source, ReadContext& context, ProfileBuilder& builder) {
  Handler handler(context, builder);
  PROFD_CHECK(parse_xml(source.bytes(), context, handler));
  return handler.build();
}

}  // namespace profd::sysprof
