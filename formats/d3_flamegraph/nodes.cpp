#include "formats/d3_flamegraph/nodes.h"

#include <fmt/format.h>

#include "core/support/id.h"

namespace profd::d3 {
namespace {

class Reading {
 public:
  Reading(JsonCursor& in, ReadContext& context, ProfileBuilder& builder)
      : in_(in), context_(context), builder_(builder) {}

  Result<Nodes> run() {
    if (in_.kind() == JsonKind::array) {
      for (in_.begin_array(); in_.next_element();) PROFD_CHECK(read_tree());
    } else {
      PROFD_CHECK(read_tree());
    }
    PROFD_CHECK(in_.finish());
    if (nodes_.size() == 0) return fail(ErrorCode::malformed, "the file has no frames");
    return std::move(nodes_);
  }

 private:
  struct Open {
    std::uint32_t node;
    bool in_children;
  };

  // Trees are as deep as stacks are: no recursion.
  Result<void> read_tree() {
    PROFD_CHECK(begin_node(kNone));
    std::string_view key;
    while (!open_.empty() && in_.ok()) {
      if (context_.stop.check()) return context_.stop.status();
      Open& top = open_.back();
      if (top.in_children) {
        const std::uint32_t parent = top.node;
        if (in_.next_element())
          PROFD_CHECK(begin_node(parent));
        else
          open_.back().in_children = false;
      } else if (!in_.next_key(key)) {
        open_.pop_back();
      } else {
        read_field(key, top);
      }
    }
    return in_.status();
  }

  Result<void> begin_node(std::uint32_t parent) {
    if (open_.size() > context_.limits.stack_depth)
      return fail(
          ErrorCode::limit,
          fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
          in_.offset());
    if (nodes_.size() >= kNone - 1)
      return fail(ErrorCode::limit, "more than 4,294,967,294 frames", in_.offset());
    open_.push_back({static_cast<std::uint32_t>(nodes_.size()), false});
    nodes_.parent.push_back(parent);
    nodes_.name.push_back(StringId{0u});
    nodes_.kind.push_back(StringId{0u});
    nodes_.value.push_back(0);
    nodes_.delta.push_back(0);
    nodes_.whole_value.push_back(0);
    nodes_.whole_delta.push_back(0);
    nodes_.has_value.push_back(0);
    nodes_.offset.push_back(in_.offset());
    in_.begin_object();
    return {};
  }

  void read_field(std::string_view key, Open& top) {
    const JsonKind kind = in_.kind();
    const std::uint32_t node = top.node;
    if ((key == "children" || key == "c") && kind == JsonKind::array) {
      in_.begin_array();
      top.in_children = true;
    } else if ((key == "name" || key == "n") && kind == JsonKind::string) {
      nodes_.name[node] = builder_.string(in_.string());
    } else if ((key == "value" || key == "v") && kind == JsonKind::number) {
      const JsonNumber number = in_.number();
      nodes_.has_value[node] = 1;
      if (number.value < 0) {
        ++nodes_.n_negative;
        return;
      }
      nodes_.value[node] = number.value;
      nodes_.whole_value[node] = number.integer;
      nodes_.fractional |= !number.is_integer;
    } else if ((key == "delta" || key == "d") && kind == JsonKind::number) {
      const JsonNumber number = in_.number();
      nodes_.delta[node] = number.value;
      nodes_.whole_delta[node] = number.integer;
      nodes_.fractional |= !number.is_integer;
      nodes_.has_delta = true;
    } else if ((key == "libtype" || key == "l") && kind == JsonKind::string) {
      nodes_.kind[node] = builder_.string(in_.string());
    } else {
      nodes_.n_other_keys += kind != JsonKind::null;
      in_.skip();
    }
  }

  JsonCursor& in_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  Nodes nodes_;
  std::vector<Open> open_;
};

}  // namespace

Result<Nodes> read_nodes(JsonCursor& in, ReadContext& context, ProfileBuilder& builder) {
  return Reading(in, context, builder).run();
}

}  // namespace profd::d3
