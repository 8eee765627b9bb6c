#include "server/feature/flame_answer.h"

#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "core/layout/flame_values.h"
#include "core/support/run_both.h"
#include "server/feature/name_table.h"

namespace profd {
namespace {

struct BoxWriter {
  const PreparedView& view;
  const FlameLayout& layout;
  const SourceMap* sources;  // null: nothing is marked
  const NodeTable* nodes;    // null: boxes are not numbered

  FlameAnswer& out;
  NameTable names;
  std::vector<std::int32_t> row_of_box{};     // remainder boxes: -1
  std::vector<std::uint8_t> has_source_of{};  // by row of `names`

  void write() {
    row_of_box.assign(layout.size(), -1);
    reserve(layout.size());
    std::optional<NodeTable::Writer> numbers;
    if (nodes != nullptr) {
      numbers.emplace(*nodes);
      out.boxes.node.emplace().reserve(layout.size());
    }
    for (std::uint32_t i = 0; i < layout.size(); ++i) {
      if (layout.n_merged[i] > 0)
        write_remainder(i);
      else
        write_box(i, numbers ? &*numbers : nullptr);
    }
    std::move(names).finish(out.names, out.labels);
  }

  void reserve(std::size_t n) {
    auto& boxes = out.boxes;
    for (auto* column : {&boxes.depth, &boxes.name, &boxes.flags}) column->reserve(n);
    for (auto* column : {&boxes.x, &boxes.width, &boxes.self, &boxes.total}) column->reserve(n);
    boxes.text.reserve(n);
    boxes.kind.reserve(n);
    boxes.key.reserve(n);
    boxes.parent.reserve(n);
  }

  [[nodiscard]] std::int32_t parent_row(std::uint32_t i) const {
    return layout.parent[i] == kNone ? -1 : row_of_box[layout.parent[i]];
  }

  void write_remainder(std::uint32_t i) {
    auto& rest = out.remainder;
    rest.depth.push_back(layout.depth[i]);
    rest.x.push_back(layout.x[i]);
    rest.width.push_back(layout.width[i]);
    rest.count.push_back(layout.n_merged[i]);
    rest.parent.push_back(parent_row(i));
    rest.text.push_back(remainder_of(view.whole, layout.n_merged[i], layout.total[i], 0).text);
  }

  void write_box(std::uint32_t i, NodeTable::Writer* numbers) {
    auto& boxes = out.boxes;
    const bool root = layout.key[i] == kNoKey;
    const std::int32_t parent = parent_row(i);
    row_of_box[i] = static_cast<std::int32_t>(boxes.depth.size());
    const std::uint32_t name = root ? names.row_of_text("all") : names.row_of(layout.key[i]);
    boxes.depth.push_back(layout.depth[i]);
    boxes.x.push_back(layout.x[i]);
    boxes.width.push_back(layout.width[i]);
    boxes.name.push_back(name);
    boxes.self.push_back(layout.self[i]);
    boxes.total.push_back(layout.total[i]);
    // Where one function calls one other, which is most of the time, both say the same.
    if (parent >= 0 && layout.total[i] == layout.total[layout.parent[i]])
      boxes.text.push_back(boxes.text[static_cast<std::size_t>(parent)]);
    else
      boxes.text.push_back(view.whole.text(layout.total[i]) + " · " + view.whole.share_text(layout.total[i]));
    boxes.flags.push_back(root ? 0 : flags_of(i, name));
    boxes.kind.push_back(root ? std::nullopt : std::optional(layout.kind[i]));
    boxes.key.push_back(root ? -1 : static_cast<std::int64_t>(layout.key[i]));
    boxes.parent.push_back(parent);
    if (numbers != nullptr)
      boxes.node->push_back(
          root ? numbers->node(NodeTable::kNoParent, 0)
               : numbers->node((*boxes.node)[static_cast<std::size_t>(parent)], layout.key[i]));
  }

  // The column of another metric, for the same boxes.
  void write_colors(const std::vector<Value>& values, const std::string& unit) {
    out.boxes.color.emplace();
    out.boxes.color_text.emplace();
    for (std::uint32_t i = 0; i < layout.size(); ++i) {
      if (row_of_box[i] < 0) continue;
      const bool known = std::isfinite(as_double(values[i]));
      out.boxes.color->push_back(known ? std::optional(values[i]) : std::nullopt);
      out.boxes.color_text->push_back(known ? format_value(values[i], unit) : std::string(kUnknown));
    }
  }

  // `name`: the row of its name, of which there are fewer than boxes.
  [[nodiscard]] std::uint32_t flags_of(std::uint32_t i, std::uint32_t name) {
    const Key key = layout.key[i];
    std::uint32_t flags = layout.inlined[i] != 0 ? box_flag::kInlined : 0;
    for (constexpr std::uint8_t kAsk = 2; has_source_of.size() <= name;) has_source_of.push_back(kAsk);
    if (has_source_of[name] > 1) has_source_of[name] = has_source(sources, *view.selection, key) ? 1 : 0;
    if (has_source_of[name] != 0) flags |= box_flag::kHasSource;
    if (key >= view.selection->keys->first_group()) flags |= box_flag::kCollapsed;
    // Bounded: stacks of an answer can be thousands deep, and this is asked for each box.
    int steps = 0;
    for (std::uint32_t up = layout.parent[i]; up != kNone && steps < 256; up = layout.parent[up], ++steps)
      if (layout.key[up] == key) return flags | box_flag::kRecursive;
    return flags;
  }
};

Result<std::vector<Key>> zoom_path(Views& views, const FlameRequest& request, const Selection& selection) {
  if (!request.node) return to_keys(request.zoom, selection);
  PROFD_TRY(const auto nodes, views.nodes(*request.open, request.spec));
  auto path = nodes->path_of(*request.node);
  if (!path)
    return fail(ErrorCode::not_found,
                fmt::format("node {} is not known any more; zoom by the path of keys", *request.node));
  return std::move(*path);
}

// Everything but what a search says.
Result<FlameAnswer> draw(Views& views, FlameRequest& request, const PreparedView& view,
                         const StopToken& stop) {
  PROFD_TRY(const auto sources, sources_in(views, *request.open, request.workspace, stop));
  PROFD_TRY(const FlameLayout layout, flame_layout(views, request, view, stop));
  std::shared_ptr<const NodeTable> nodes;
  if (request.number_nodes) {
    PROFD_TRY(nodes, views.nodes(*request.open, request.spec));
  }
  FlameAnswer out;
  out.head = head_of(*request.open, request.spec, view);
  out.zoom_total = amount_of(view.whole, layout.total_width);
  out.rows = layout.deepest;
  BoxWriter writer{view, layout, sources.get(), nodes.get(), out, NameTable(*view.selection)};
  writer.write();
  if (!request.color_metric.empty()) {
    ViewSpec other = request.spec;
    other.metric = request.color_metric;
    PROFD_TRY(const SelectionPtr colors, views.selection(*request.open, other, stop));
    PROFD_TRY(const auto values, values_of_boxes(*colors, request.layout, layout, stop));
    writer.write_colors(values, request.open->profile->metrics()[colors->metric.v].unit);
  }
  if (layout.truncated)
    out.truncated = fmt::format("only the {} widest boxes are shown; zoom in for more", layout.size());
  return out;
}

void add_search(const SearchResult& found, const Whole& whole, FlameAnswer& out) {
  auto& boxes = out.boxes;
  for (std::size_t row = 0; row < boxes.key.size(); ++row)
    if (boxes.key[row] >= 0 && found.matches[static_cast<std::size_t>(boxes.key[row])] != 0)
      boxes.flags[row] |= box_flag::kMatched;
  out.search = SearchShare{amount_of(whole, found.matched), found.n_keys};
}

}  // namespace

Result<FlameLayout> flame_layout(Views& views, FlameRequest& request, const PreparedView& view,
                                 const StopToken& stop) {
  request.layout.shape = request.spec.shape;
  request.layout.focus = view.focus;
  PROFD_TRY(request.layout.zoom, zoom_path(views, request, *view.selection));
  return layout_flame(*view.selection, request.layout, stop);
}

Result<FlameAnswer> flame_answer(Views& views, FlameRequest request, const StopToken& stop) {
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  if (request.search.empty()) return draw(views, request, view, stop);
  // Neither needs the other until the end.
  Result<std::shared_ptr<const SearchResult>> found;
  Result<FlameAnswer> out;
  run_both(
      views.executor(), [&] { found = views.search(*request.open, request.spec, request.search, stop); },
      [&] { out = draw(views, request, view, stop); });
  if (!found) return tl::unexpected<Error>(std::move(found).error());
  if (out) add_search(**found, view.whole, *out);
  return out;
}

}  // namespace profd
