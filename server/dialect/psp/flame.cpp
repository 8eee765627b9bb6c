// view/flameGraph.
#include <cmath>

#include <fmt/format.h>

#include "core/layout/flame_values.h"
#include "core/support/run_both.h"
#include "server/dialect/psp/names.h"
#include "server/dialect/psp/prepared.h"
#include "server/dialect/psp/psp_session.h"
#include "server/feature/estimate.h"
#include "server/feature/text.h"

namespace profd {
namespace {

struct FlameRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;
  ViewSpec spec;
  LayoutRequest layout;
  std::vector<std::int64_t> zoom;    // keys from the root
  std::optional<std::int64_t> node;  // instead of `zoom`: of the column of an earlier answer
  std::string color_metric;          // "" none
  std::string search;
};

struct BoxWriter {
  const Prepared& view;
  const FlameLayout& layout;
  const SourceMap& sources;
  const NodeTable& nodes;

  psp::FlameGraphResult& out;
  NameTable names;
  std::vector<std::int32_t> row_of_box{};     // remainder boxes: -1
  std::vector<std::uint8_t> has_source_of{};  // by row of `names`

  void write() {
    row_of_box.assign(layout.size(), -1);
    reserve(layout.size());
    NodeTable::Writer numbers(nodes);
    for (std::uint32_t i = 0; i < layout.size(); ++i) {
      if (layout.n_merged[i] > 0)
        write_remainder(i);
      else
        write_box(i, numbers);
    }
    std::move(names).finish(out.names, out.labels);
  }

  void reserve(std::size_t n) {
    auto& boxes = out.boxes;
    boxes.node.emplace();
    boxes.node->reserve(n);
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
    rest.x.push_back(to_psp(layout.x[i]));
    rest.width.push_back(to_psp(layout.width[i]));
    rest.count.push_back(layout.n_merged[i]);
    rest.parent.push_back(parent_row(i));
    rest.text.push_back(fmt::format("{} more: {} · {}", format_count(std::uint64_t{layout.n_merged[i]}),
                                    view.whole.text(layout.total[i]),
                                    view.whole.share_text(layout.total[i])));
  }

  void write_box(std::uint32_t i, NodeTable::Writer& numbers) {
    auto& boxes = out.boxes;
    const bool root = layout.key[i] == kNoKey;
    const std::int32_t parent = parent_row(i);
    row_of_box[i] = static_cast<std::int32_t>(boxes.depth.size());
    const std::uint32_t name = root ? names.row_of_text("all") : names.row_of(layout.key[i]);
    boxes.depth.push_back(layout.depth[i]);
    boxes.x.push_back(to_psp(layout.x[i]));
    boxes.width.push_back(to_psp(layout.width[i]));
    boxes.name.push_back(name);
    boxes.self.push_back(to_psp(layout.self[i]));
    boxes.total.push_back(to_psp(layout.total[i]));
    // Where one function calls one other, which is most of the time, both say the same.
    if (parent >= 0 && layout.total[i] == layout.total[layout.parent[i]])
      boxes.text.push_back(boxes.text[static_cast<std::size_t>(parent)]);
    else
      boxes.text.push_back(view.whole.text(layout.total[i]) + " · " + view.whole.share_text(layout.total[i]));
    boxes.flags.push_back(static_cast<std::uint32_t>(root ? 0 : flags_of(i, name)));
    boxes.kind.push_back(root ? psp::FrameKind::unknown : to_psp(layout.kind[i]));
    boxes.key.push_back(root ? -1 : static_cast<std::int64_t>(layout.key[i]));
    boxes.parent.push_back(parent);
    boxes.node->push_back(root
                              ? numbers.node(NodeTable::kNoParent, 0)
                              : numbers.node((*boxes.node)[static_cast<std::size_t>(parent)], layout.key[i]));
  }

  // The column of another metric, for the same boxes.
  void write_colors(const std::vector<Value>& values, const std::string& unit) {
    out.boxes.color.emplace();
    out.boxes.color_text.emplace();
    for (std::uint32_t i = 0; i < layout.size(); ++i) {
      if (row_of_box[i] < 0) continue;
      const bool known = std::isfinite(as_double(values[i]));
      out.boxes.color->push_back(known ? std::optional(to_psp(values[i])) : std::nullopt);
      out.boxes.color_text->push_back(known ? format_value(values[i], unit) : std::string(kUnknown));
    }
  }

  // `name`: the row of its name, of which there are fewer than boxes.
  [[nodiscard]] std::int32_t flags_of(std::uint32_t i, std::uint32_t name) {
    const Key key = layout.key[i];
    std::int32_t flags = layout.inlined[i] != 0 ? flag(psp::BoxFlag::inlined) : 0;
    for (constexpr std::uint8_t kAsk = 2; has_source_of.size() <= name;) has_source_of.push_back(kAsk);
    if (has_source_of[name] > 1) has_source_of[name] = has_source(sources, *view.selection, key) ? 1 : 0;
    if (has_source_of[name] != 0) flags |= flag(psp::BoxFlag::has_source);
    if (key >= view.selection->keys->first_group()) flags |= flag(psp::BoxFlag::collapsed);
    // Bounded: stacks of an answer can be thousands deep, and this is asked for each box.
    int steps = 0;
    for (std::uint32_t up = layout.parent[i]; up != kNone && steps < 256; up = layout.parent[up], ++steps)
      if (layout.key[up] == key) return flags | flag(psp::BoxFlag::recursive);
    return flags;
  }
};

Result<std::vector<Key>> zoom_path(const FlameRequest& request, const NodeTable& nodes,
                                   const Selection& selection) {
  if (!request.node) return to_keys(request.zoom, selection);
  auto path = nodes.path_of(*request.node);
  if (!path)
    return fail(ErrorCode::not_found,
                fmt::format("node {} is not known any more; zoom by the path of keys", *request.node));
  return std::move(*path);
}

// Everything but what a search says.
Result<psp::FlameGraphResult> draw(Views& views, FlameRequest& request, const Prepared& view,
                                   const StopToken& stop) {
  PROFD_TRY(const auto sources, views.sources(*request.open, request.workspace, stop));
  PROFD_TRY(const auto nodes, views.nodes(*request.open, request.spec));
  request.layout.focus = view.focus;
  PROFD_TRY(request.layout.zoom, zoom_path(request, *nodes, *view.selection));
  PROFD_TRY(const FlameLayout layout, layout_flame(*view.selection, request.layout, stop));

  psp::FlameGraphResult out;
  out.profile = request.open->handle;
  out.revision = request.open->revision;
  const MetricInfo& metric = request.open->profile->metrics()[view.selection->metric.v];
  ViewSpec named = request.spec;
  named.metric = metric.name;
  out.spec = to_text(named);
  out.metric = metric.name;
  out.unit = to_psp_unit(metric.unit);
  out.total = to_amount(view.profile_whole, view.selection->profile_total);
  out.view_total = to_amount(view.whole, view.selection->total);
  out.zoom_total = to_amount(view.whole, layout.total_width);
  out.rows = layout.deepest;
  BoxWriter writer{view, layout, *sources, *nodes, out, NameTable(*view.selection)};
  writer.write();
  if (!request.color_metric.empty()) {
    ViewSpec other = request.spec;
    other.metric = request.color_metric;
    PROFD_TRY(const SelectionPtr colors, views.selection(*request.open, other, stop));
    PROFD_TRY(const auto values, values_of_boxes(*colors, request.layout, layout, stop));
    writer.write_colors(values, request.open->profile->metrics()[colors->metric.v].unit);
  }
  out.excluded = exclusion_of(*view.selection);
  out.estimated = said(estimate_text(*view.selection));
  if (layout.truncated) {
    psp::Truncation cut;
    cut.by_boxes = true;
    cut.text = fmt::format("only the {} widest boxes are shown; zoom in for more", layout.size());
    out.truncated = std::move(cut);
  }
  return out;
}

void add_search(const SearchResult& found, const Whole& whole, psp::FlameGraphResult& out) {
  auto& boxes = out.boxes;
  for (std::size_t row = 0; row < boxes.key.size(); ++row)
    if (boxes.key[row] >= 0 && found.matches[static_cast<std::size_t>(boxes.key[row])] != 0)
      boxes.flags[row] |= static_cast<std::uint32_t>(flag(psp::BoxFlag::matched));
  psp::SearchShare share;
  share.amount = to_amount(whole, found.matched);
  share.names = static_cast<std::int64_t>(found.n_keys);
  out.search = std::move(share);
}

Result<psp::FlameGraphResult> flame_graph(Views& views, FlameRequest request, const StopToken& stop) {
  PROFD_TRY(const Prepared view, prepare_view(views, *request.open, request.spec, stop));
  if (request.search.empty()) return draw(views, request, view, stop);
  // Neither needs the other until the end.
  Result<std::shared_ptr<const SearchResult>> found;
  Result<psp::FlameGraphResult> out;
  run_both(
      views.executor(), [&] { found = views.search(*request.open, request.spec, request.search, stop); },
      [&] { out = draw(views, request, view, stop); });
  if (!found) return tl::unexpected<Error>(std::move(found).error());
  if (out) add_search(**found, view.whole, *out);
  return out;
}

}  // namespace

void PspSession::bind_flame(protocol::Binder& binder) {
  binder.request<psp::FlameGraphRequest>([this](psp::FlameGraphParams params,
                                                protocol::Reply<psp::FlameGraphRequest> reply) {
    auto named = from_psp(params.spec, "params.spec");
    if (!named) return reply.error(named.error());
    if (named->spec.shape == Shape::flat)
      return reply.error(
          invalid_params("params.spec.shape", "a flat view has no flame graph; ask for view/table"));
    const auto open = profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
    if (!open) return reply.error(open.error());
    FlameRequest request;
    request.open = *open;
    request.workspace = workspace_.snapshot();
    request.spec = std::move(named->spec);
    request.layout.shape = request.spec.shape;
    request.layout.viewport_px = params.viewport.width;
    request.layout.min_width_px = params.viewport.min_width;
    request.layout.max_boxes = params.viewport.max_boxes;
    request.layout.max_depth = params.viewport.max_depth.value_or(0);
    request.layout.order = params.order == psp::BoxOrder::weight ? SiblingOrder::weight : SiblingOrder::name;
    if (params.zoom) {
      if (const auto* path = std::get_if<std::vector<std::int64_t>>(&*params.zoom))
        request.zoom = *path;
      else
        request.node = std::get<std::int64_t>(*params.zoom);
    }
    bool quick = engine_.views().is_quick(**open, request.spec, Views::needs_of(request.spec.shape));
    if (params.color_metric) {
      const auto id = metric(**open, *params.color_metric, "params.colorMetric");
      if (!id) return reply.error(id.error());
      request.color_metric = (*open)->profile->metrics()[id->v].name;
      ViewSpec colors = request.spec;
      colors.metric = request.color_metric;
      quick = quick && engine_.views().is_quick(**open, colors, Views::needs_of(colors.shape));
    }
    request.search = params.search.value_or("");
    run<psp::FlameGraphRequest>(
        quick ? Lane::interactive : Lane::bulk, std::move(reply), (*open)->file->path,
        [&views = engine_.views(), request = std::move(request)](const StopToken& stop) mutable {
          return flame_graph(views, std::move(request), stop);
        },
        params.panel_id.value_or(""));
  });
}

}  // namespace profd
