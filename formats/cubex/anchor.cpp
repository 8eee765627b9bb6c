#include "formats/cubex/anchor.h"

#include <algorithm>
#include <initializer_list>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/support/text_number.h"
#include "formats/support/xml.h"

namespace profd::cubex {
namespace {

using Attributes = std::span<const XmlAttribute>;

struct Region {
  FunctionId function;
  ModuleId module;
};

void set_kind(Metric& metric) {
  const std::string_view type = metric.dtype;
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), type) != names.end();
  };
  const auto set = [&](ValueKind kind, std::size_t size) {
    metric.kind = kind;
    metric.size = size;
  };
  if (is({"DOUBLE", "FLOAT"})) return set(ValueKind::real, 8);
  if (is({"UINT64", "UNSIGNED INTEGER"})) return set(ValueKind::unsigned_integer, 8);
  if (is({"INT64", "INTEGER"})) return set(ValueKind::signed_integer, 8);
  if (is({"UINT32"})) return set(ValueKind::unsigned_integer, 4);
  if (is({"INT32", "INT"})) return set(ValueKind::signed_integer, 4);
  if (is({"UINT16"})) return set(ValueKind::unsigned_integer, 2);
  if (is({"INT16", "SHORT INT"})) return set(ValueKind::signed_integer, 2);
  if (is({"UINT8", "CHAR"})) return set(ValueKind::unsigned_integer, 1);
  if (is({"INT8"})) return set(ValueKind::signed_integer, 1);
}

class Handler final : public XmlHandler {
 public:
  Handler(ReadContext& context, ProfileBuilder& builder) : context_(context), builder_(builder) {}

  Result<void> start(std::string_view name, Attributes attributes, std::uint64_t offset) override {
    if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    rooted_ = rooted_ || name == "cube";
    if (!rooted_) return fail(ErrorCode::malformed, "anchor.xml is no Cube report", offset);
    text_.clear();
    if (name == "cube") {
      const std::string_view version = attribute(attributes, "version");
      if (!version.starts_with("4."))
        return fail(ErrorCode::unsupported, fmt::format("Cube version {} is not read, only 4", version),
                    offset);
    } else if (name == "attr" && attribute(attributes, "key") == "Creator") {
      out.creator = attribute(attributes, "value");
    } else if (name == "metric") {
      Metric metric;
      metric.id = attribute(attributes, "id");
      metric.type = attribute(attributes, "type");
      metric.inclusive = metric.type == "INCLUSIVE";
      metric.derived = metric.type.find("DERIVED") != std::string::npos;
      open_metrics_.push_back(out.metrics.size());
      out.metrics.push_back(std::move(metric));
    } else if (name == "region") {
      in_region_ = true;
      region_ = {};
      region_.id = attribute(attributes, "id");
      region_.file = attribute(attributes, "mod");
      std::uint32_t line = 0;
      if (parse_uint(attribute(attributes, "begin"), line) && line != kNone) region_.line = line;
    } else if (name == "cnode") {
      return call_node(attributes, offset);
    } else if (name == "parameter") {
      ++n_parameters_;
    } else if (name == "locationgroup" || name == "process") {
      group_ = {};
      in_group_ = true;
    } else if (name == "location" || name == "thread") {
      location_ = {};
      in_location_ = true;
    }
    return {};
  }

  Result<void> text(std::string_view piece) override {
    if (text_.size() + piece.size() <= kMaxText) text_ += piece;
    return {};
  }

  Result<void> end(std::string_view name) override {
    const std::string_view value = trim(text_);
    if (!open_metrics_.empty()) {
      Metric& metric = out.metrics[open_metrics_.back()];
      if (name == "uniq_name") metric.name = value;
      if (name == "disp_name" && metric.name.empty()) metric.name = value;
      if (name == "uom") metric.unit = value == "occ" || value == "#" ? "count" : std::string(value);
      if (name == "dtype") metric.dtype = value;
      if (name == "metric") {
        set_kind(metric);
        open_metrics_.pop_back();
      }
    } else if (in_region_) {
      if (name == "name") region_.name = value;
      if (name == "mangled_name") region_.mangled = value;
      if (name == "region") add_region();
    } else if (in_location_) {
      if (name == "name") location_.name = value;
      if (name == "rank") parse_int(value, location_.thread);
      if (name == "location" || name == "thread") {
        in_location_ = false;
        location_.process = group_.name;
        location_.rank = group_.thread;
        out.locations.push_back(location_);
      }
    } else if (in_group_) {
      if (name == "name") group_.name = value;
      if (name == "rank") parse_int(value, group_.thread);
      if (name == "locationgroup" || name == "process") in_group_ = false;
    }
    if (name == "cnode" && !open_nodes_.empty()) open_nodes_.pop_back();
    text_.clear();
    return {};
  }

  void report() {
    if (n_parameters_ > 0)
      context_.report.add("parameter", Severity::loss, "Call nodes have parameters, which are not shown.",
                          std::nullopt, n_parameters_);
    if (n_unknown_ > 0)
      context_.report.add("unknown-region", Severity::loss,
                          "Call nodes name a region that is not in the report; they are shown as (unknown).",
                          std::nullopt, n_unknown_);
  }

  Anchor out;

 private:
  static constexpr std::size_t kMaxText = 1u << 20;

  void add_region() {
    in_region_ = false;
    Region region;
    FunctionSpec function;
    function.name = builder_.string(region_.name.empty() ? std::string_view("(unknown)") : region_.name);
    if (!region_.mangled.empty() && region_.mangled != region_.name)
      function.system_name = builder_.string(region_.mangled);
    function.start_line = region_.line;
    // "mod" is a source file, or the name of a library: MPI, THREADS.
    if (region_.file.find_first_of("./") != std::string::npos)
      function.file = builder_.string(region_.file);
    else if (!region_.file.empty())
      region.module = builder_.module({region_.file});
    region.function = builder_.function(function);
    regions_[region_.id] = region;
  }

  Result<void> call_node(Attributes attributes, std::uint64_t offset) {
    if (out.nodes.size() >= kNone - 1)
      return fail(ErrorCode::limit, "more call nodes than 32-bit ids", offset);
    CallNode node;
    node.parent = open_nodes_.empty() ? kNone : open_nodes_.back();
    FrameSpec frame;
    const auto region = regions_.find(std::string(attribute(attributes, "calleeId")));
    if (region != regions_.end()) {
      frame.function = region->second.function;
      frame.module = region->second.module;
    } else {
      ++n_unknown_;
      frame.function = builder_.function("(unknown)");
    }
    const ContextId above = node.parent == kNone ? kRootContext : out.nodes[node.parent].context;
    node.context = builder_.context(above, builder_.frame(frame));
    open_nodes_.push_back(static_cast<std::uint32_t>(out.nodes.size()));
    out.nodes.push_back(node);
    return {};
  }

  struct OpenRegion {
    std::string id, name, mangled, file;
    std::uint32_t line = 0;
  };

  ReadContext& context_;
  ProfileBuilder& builder_;
  bool rooted_ = false, in_region_ = false, in_group_ = false, in_location_ = false;
  std::string text_;
  std::vector<std::size_t> open_metrics_;
  std::vector<std::uint32_t> open_nodes_;
  OpenRegion region_;
  Location group_, location_;
  std::unordered_map<std::string, Region> regions_;
  std::uint64_t n_parameters_ = 0, n_unknown_ = 0;
};

}  // namespace

std::vector<std::uint32_t> Anchor::wide_order() const {
  // Children of every node, in document order.
  const auto n = static_cast<std::uint32_t>(nodes.size());
  std::vector<std::uint32_t> first(n + std::size_t{2}, 0), children(n), order;
  const auto slot = [&](std::uint32_t row) { return nodes[row].parent == kNone ? 0 : nodes[row].parent + 1; };
  for (std::uint32_t row = 0; row < n; ++row) ++first[slot(row) + std::size_t{1}];
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
  for (std::uint32_t row = 0; row < n; ++row) children[fill[slot(row)]++] = row;
  order.reserve(n);
  const auto take = [&](std::uint32_t of) {
    order.insert(order.end(), children.begin() + first[of], children.begin() + first[of + std::size_t{1}]);
  };
  take(0);
  // "Descend into each child in order" visits nodes in preorder, which is the order of the rows.
  for (std::uint32_t row = 0; row < n; ++row) take(row + 1);
  return order;
}

Result<Anchor> read_anchor(std::span<const std::byte> xml, ReadContext& context, ProfileBuilder& builder) {
  Handler handler(context, builder);
  const std::uint32_t nesting = context.limits.nesting;
  context.limits.nesting = std::max(nesting, std::min(context.limits.stack_depth, 300'000u));
  Result<void> parsed = parse_xml(xml, context, handler);
  context.limits.nesting = nesting;
  if (!parsed) return tl::unexpected<Error>(std::move(parsed).error());
  handler.report();
  return std::move(handler.out);
}

}  // namespace profd::cubex
