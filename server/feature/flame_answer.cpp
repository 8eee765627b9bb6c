#include "server/feature/flame_answer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "core/support/run_both.h"
#include "core/support/sums.h"
#include "core/view/match_marks.h"
#include "core/view/series.h"
#include "server/feature/estimate.h"
#include "server/feature/flame_colors.h"
#include "server/feature/name_table.h"
#include "server/feature/names.h"
#include "server/feature/series_answer.h"
#include "server/feature/text_index.h"

namespace profd {
namespace {

struct BoxWriter {
  const PreparedView& view;
  const FlameLayout& layout;
  const SourceMap* sources;  // null: nothing is marked
  const NodeTable* nodes;    // null: boxes are not numbered
  bool details;
  bool counts_calls;  // boxes say their own calls, and are as wide as those below them come to

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
    write_names();
    std::move(names).finish(out.names, out.labels, out.cuts);
  }

  // What boxes are coloured by, as in exported pictures, and where they are.
  void write_names() {
    const Profile& profile = *view.selection->profile;
    const KeyTable& keys = *view.selection->boxes->keys;
    TextIndex groups(out.groups), modules(out.modules), files(out.files);
    if (details) {
      out.named.module.emplace();
      out.named.file.emplace();
      out.named.line.emplace();
    }
    for (std::size_t row = 0; row < names.keys().size(); ++row) {
      const Key key = names.keys()[row];
      const KeyPlace place = key == kNone ? KeyPlace{} : key_place(profile, keys, key);
      // By file and module the name is a path, and a group is called like its filter.
      const bool of_function =
          keys.granularity != Granularity::file && keys.granularity != Granularity::module;
      const bool is_named = key != kNone && of_function && key < keys.first_group();
      const ColoredFrame frame{is_named ? std::string_view(names.name(row)) : "", place.module, place.file};
      out.named.group.push_back(key == kNone ? -1 : groups.index_of(color_group(frame)));
      if (!details) continue;
      out.named.module->push_back(modules.index_of(place.module));
      out.named.file->push_back(files.index_of(place.file));
      out.named.line->push_back(place.line);
    }
  }

  void reserve(std::size_t n) {
    auto& boxes = out.boxes;
    for (auto* column : {&boxes.depth, &boxes.name, &boxes.flags}) column->reserve(n);
    for (auto* column : {&boxes.x, &boxes.width, &boxes.self, &boxes.total}) column->reserve(n);
    boxes.text.reserve(n);
    boxes.kind.reserve(n);
    boxes.key.reserve(n);
    boxes.parent.reserve(n);
    if (details) {
      boxes.self_text.emplace().reserve(n);
      boxes.parent_share.emplace().reserve(n);
    }
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
    rest.text.push_back(marked(remainder_of(view.whole, layout.n_merged[i], layout.total[i], 0).text,
                               (estimate_of(i) & kTotalEstimated) != 0));
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
    const Estimate estimate = estimate_of(i);
    const bool total_estimated = (estimate & kTotalEstimated) != 0;
    if (parent >= 0 && !counts_calls && layout.total[i] == layout.total[layout.parent[i]] &&
        estimate == estimate_of(layout.parent[i]))
      boxes.text.push_back(boxes.text[static_cast<std::size_t>(parent)]);
    else if (counts_calls && !root)
      boxes.text.push_back(with_share(layout.self[i], (estimate & kSelfEstimated) != 0));
    else
      boxes.text.push_back(with_share(layout.total[i], total_estimated));
    boxes.flags.push_back((root ? 0 : flags_of(i, name)) | (layout.more[i] != 0 ? box_flag::kMore : 0) |
                          ((estimate & kSelfEstimated) != 0 ? box_flag::kSelfEstimated : 0) |
                          (total_estimated ? box_flag::kTotalEstimated : 0));
    boxes.kind.push_back(root ? std::nullopt : std::optional(layout.kind[i]));
    boxes.key.push_back(root ? -1 : static_cast<std::int64_t>(layout.key[i]));
    boxes.parent.push_back(parent);
    if (details) {
      boxes.self_text->push_back(with_share(layout.self[i], (estimate & kSelfEstimated) != 0));
      const bool share_estimated =
          total_estimated || (!root && (estimate_of(layout.parent[i]) & kTotalEstimated) != 0);
      boxes.parent_share->push_back(
          root ? "" : marked(format_share(layout.total[i], layout.total[layout.parent[i]]), share_estimated));
    }
    if (numbers != nullptr)
      boxes.node->push_back(
          root ? numbers->node(NodeTable::kNoParent, 0)
               : numbers->node((*boxes.node)[static_cast<std::size_t>(parent)], layout.key[i]));
  }

  [[nodiscard]] Estimate estimate_of(std::uint32_t i) const {
    return layout.estimate.empty() ? kExact : layout.estimate[i];
  }
  [[nodiscard]] std::string with_share(const Value& value, bool estimated) const {
    return marked(view.whole.text(value), estimated) + " · " +
           marked(view.whole.share_text(value), estimated);
  }

  // The column of another metric, for the same boxes.
  void write_colors(BoxColors colors) {
    out.boxes.color.emplace();
    out.boxes.color_text.emplace();
    for (std::uint32_t i = 0; i < layout.size(); ++i) {
      if (row_of_box[i] < 0) continue;
      out.boxes.color_text->push_back(std::move(colors.text[i]));
      out.boxes.color->push_back(std::move(colors.value[i]));
    }
    out.scale = std::move(colors.scale);
  }

  // Those of joined boxes are left out.
  template <class T>
  [[nodiscard]] std::vector<T> without_joined(const std::vector<T>& of_boxes) const {
    std::vector<T> rows;
    for (std::uint32_t i = 0; i < layout.size(); ++i)
      if (row_of_box[i] >= 0) rows.push_back(of_boxes[i]);
    return rows;
  }

  // Those of joined boxes are left out.
  void write_metric(const OpenProfile& open, const std::string& name, SidedNumbers numbers) {
    const auto drop_joined = [&](MetricNumbers& of) {
      for (auto* column : {&of.self, &of.total}) {
        std::size_t n = 0;
        for (std::uint32_t i = 0; i < layout.size(); ++i)
          if (row_of_box[i] >= 0) (*column)[n++] = std::move((*column)[i]);
        column->resize(n);
      }
    };
    drop_joined(numbers.now);
    if (numbers.before) drop_joined(*numbers.before);
    out.columns.push_back(metric_rows(open, name, std::move(numbers)));
  }

  // How the inputs lie at each box; what stands for no single path has no value.
  void write_spread(const Statistic& color, const KeySeries& series,
                    const std::vector<std::uint8_t>& measured) {
    const auto text = [&](double value) {
      return is_ratio(color) ? imbalance_text(value) : view.whole.text(Value{value});
    };
    BoxColors colors;
    for (std::uint32_t i = 0; i < layout.size(); ++i) {
      std::optional<double> value;
      if (row_of_box[i] >= 0) {
        const auto values = known_values(series.total_of(i), measured);
        if (const auto spread = spread_of(values)) value = value_of(color, *spread, values);
      }
      if (value) colors.scale.high = std::max(colors.scale.high, *value);
      if (!value && row_of_box[i] >= 0) ++colors.scale.n_without;
      colors.value.push_back(value ? std::optional(Value{*value}) : std::nullopt);
      colors.text.push_back(value ? text(*value) : std::string(kUnknown));
    }
    colors.scale.metric = to_text(color);
    colors.scale.by_root = true;
    colors.scale.low_text = text(0);
    colors.scale.high_text = text(colors.scale.high);
    write_colors(std::move(colors));
  }

  // Those of joined boxes are left out.
  void write_changes(BoxChanges all) {
    BoxChanges& changes = out.changes.emplace();
    for (std::uint32_t i = 0; i < layout.size(); ++i) {
      if (row_of_box[i] < 0) continue;
      changes.before.push_back(all.before[i]);
      changes.after.push_back(all.after[i]);
      changes.change.push_back(all.change[i]);
      changes.text.push_back(std::move(all.text[i]));
      changes.strength.push_back(all.strength[i]);
    }
  }

  // `name`: the row of its name, of which there are fewer than boxes.
  [[nodiscard]] std::uint32_t flags_of(std::uint32_t i, std::uint32_t name) {
    const Key key = layout.key[i];
    std::uint32_t flags = layout.inlined[i] != 0 ? box_flag::kInlined : 0;
    for (constexpr std::uint8_t kAsk = 2; has_source_of.size() <= name;) has_source_of.push_back(kAsk);
    if (has_source_of[name] > 1) has_source_of[name] = has_source(sources, *view.selection, key) ? 1 : 0;
    if (has_source_of[name] != 0) flags |= box_flag::kHasSource;
    if (key >= view.selection->boxes->keys->first_group()) flags |= box_flag::kCollapsed;
    // Bounded: stacks of an answer can be thousands deep, and this is asked for each box.
    int steps = 0;
    for (std::uint32_t up = layout.parent[i]; up != kNone && steps < 256; up = layout.parent[up], ++steps)
      if (layout.key[up] == key) return flags | box_flag::kRecursive;
    return flags;
  }
};

// Of both columns of a series.
constexpr std::size_t kMostSpreadNumbers = 16'000'000;

Result<void> color_by_spread(const FlameRequest& request, const PreparedView& view, const FlameLayout& layout,
                             BoxWriter& writer, const StopToken& stop) {
  const Composition* const composition = request.open->profile->composition();
  if (composition == nullptr || composition->kind != Composed::aggregate)
    return fail(ErrorCode::invalid, "how uneven values are is told of an aggregate alone");
  if (layout.size() * composition->inputs.size() * 2 > kMostSpreadNumbers)
    return fail(ErrorCode::limit, fmt::format("{} boxes of {} profiles are too many to be coloured by spread",
                                              layout.size(), composition->inputs.size()));
  const std::uint32_t of = composition->metrics[view.selection->metric().v].of;
  PROFD_TRY(const KeySeries series, series_of_boxes(*view.selection, of, request.spec.shape, view.focus,
                                                    {layout.parent, layout.key, layout.divided}, 0, stop));
  writer.write_spread(*request.color_spread, series, composition->of[of].values.measured);
  return {};
}

// `layout` as it was asked for, search included.
Result<FlameAnswer> write(Views& views, const FlameRequest& request, const PreparedView& view,
                          const FlameLayout& layout, const StopToken& stop) {
  PROFD_TRY(const auto sources, sources_in(views, *request.open, request.workspace, stop));
  std::shared_ptr<const NodeTable> nodes;
  if (request.number_nodes) {
    PROFD_TRY(nodes, views.nodes(*request.open, request.spec));
  }
  FlameAnswer out;
  out.head = head_of(*request.open, request.spec, view);
  out.zoom_total = amount_of(view.whole, layout.total_width);
  out.rows = layout.deepest;
  BoxWriter writer{view,
                   layout,
                   sources.get(),
                   nodes.get(),
                   request.details,
                   counts_calls(*view.selection->profile, view.selection->metric()),
                   out,
                   NameTable(*view.selection)};
  writer.write();
  if (request.color_spread) {
    PROFD_CHECK(color_by_spread(request, view, layout, writer, stop));
  } else if (!request.color_metric.empty()) {
    PROFD_TRY(BoxColors colors,
              box_colors(views, *request.open, request.spec, request.color_metric, view.focus, layout, stop));
    writer.write_colors(std::move(colors));
  }
  if (!request.highlights.empty()) {
    PROFD_TRY(const std::vector<std::uint32_t> highlights,
              highlights_of_boxes(views, *request.open, request.spec, request.highlights, request.sets.get(),
                                  layout, stop));
    out.boxes.highlights = writer.without_joined(highlights);
  }
  if (request.work && request.sets) {
    PROFD_TRY(BoxWork work, work_of_boxes(views, *request.open, request.spec, *request.sets, layout, stop));
    out.boxes.work = writer.without_joined(work.work);
    out.works = std::move(work.kinds);
  }
  for (const std::string& name : request.metrics) {
    PROFD_TRY(SidedNumbers numbers, metric_of_boxes(views, *request.open, request.spec, name, view.focus,
                                                    {layout.parent, layout.key, layout.divided},
                                                    BoxValuesWanted::totals_and_selves, stop));
    writer.write_metric(*request.open, name, std::move(numbers));
  }
  PROFD_TRY(out.sides, side_totals(views, *request.open, request.spec, view, stop));
  PROFD_TRY(auto changes, changes_of_boxes(views, *request.open, request.spec, view,
                                           {layout.parent, layout.key, layout.divided}, stop));
  if (changes) writer.write_changes(std::move(*changes));
  if (layout.truncated)
    out.truncated = fmt::format("only the {} widest boxes are shown; zoom in for more", layout.size());
  return out;
}

Value sum_of(const Value& a, const Value& b, bool saturated) {
  if (const auto* whole = std::get_if<std::int64_t>(&a))
    return add(*whole, std::get<std::int64_t>(b), saturated);
  return std::get<double>(a) + std::get<double>(b);
}

void add_search(const SearchResult& found, const PreparedView& view, const FlameLayout& layout,
                FlameAnswer& out) {
  auto& boxes = out.boxes;
  for (std::size_t row = 0; row < boxes.key.size(); ++row)
    if (boxes.key[row] >= 0 && found.matches[static_cast<std::size_t>(boxes.key[row])] != 0)
      boxes.flags[row] |= box_flag::kMatched;
  out.search =
      SearchShare{amount_of(view.whole, found.matched, found.estimated),
                  amount_of(view.whole, layout.matched_shown, view.selection->estimated), found.n_keys};
}

// What boxes match, and meanwhile what the layout will need is unfolded: neither needs the other.
Result<std::shared_ptr<const SearchResult>> find_matches(Views& views, FlameRequest& request,
                                                         const PreparedView& view, const StopToken& stop) {
  if (auto kept = views.kept_search(*request.open, request.spec, request.search)) return kept;
  Result<std::shared_ptr<const SearchResult>> found;
  Result<FlameLayout> unfolded;
  run_both(
      views.executor(), [&] { found = views.search(*request.open, request.spec, request.search, stop); },
      [&] { unfolded = flame_layout(views, request, view, stop); });
  if (found && !unfolded) return tl::unexpected<Error>(std::move(unfolded).error());
  return found;
}

// Bytes of a layout on the wire, about: an answer is at most 300 KB (bench/RESULTS.md), whatever names a
// profile has.
constexpr std::size_t kMostBytes = 270'000;

std::size_t digits(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    std::size_t n = *whole < 0 ? 2 : 1;
    for (std::uint64_t rest = *whole < 0 ? 0 - static_cast<std::uint64_t>(*whole)
                                         : static_cast<std::uint64_t>(*whole);
         rest >= 10; rest /= 10)
      ++n;
    return n;
  }
  return std::get<double>(value) == 0 ? 3 : 18;
}

// `at_most`: short names are taken to be as long as the whole ones, which saves making them.
std::size_t wire_bytes(const Selection& selection, const FlameLayout& layout, std::size_t n_metrics,
                       bool at_most) {
  // Texts, separators and the columns of small numbers, of a box and of a name; both numbers of a metric.
  constexpr std::size_t kPlainBox = 52, kName = 24, kChange = 90, kMetric = 60;
  const std::size_t per_box =
      kPlainBox + n_metrics * kMetric + (sides_of(*selection.profile, selection.metric()) ? kChange : 0);
  std::unordered_set<Key> keys;
  std::size_t bytes = 4096;  // what is the same for all: totals, sentences
  for (std::uint32_t i = 0; i < layout.size(); ++i) {
    bytes += per_box + digits(layout.x[i]) + digits(layout.width[i]) + digits(layout.total[i]);
    if (layout.n_merged[i] == 0) bytes += digits(layout.self[i]);
    const Key key = layout.key[i];
    if (key == kNoKey || !keys.insert(key).second) continue;
    const std::string name = key_name(*selection.profile, *selection.boxes->keys, key);
    bytes += kName + name.size() + (at_most ? name.size() : short_name(name).size());
  }
  return bytes;
}

// As flame_layout(), with as many boxes as an answer has room for.
Result<FlameLayout> layout_to_send(Views& views, FlameRequest& request, const PreparedView& view,
                                   const StopToken& stop) {
  PROFD_TRY(FlameLayout layout, flame_layout(views, request, view, stop));
  // As many as a request has that asks for no number fit with long names, too.
  const std::size_t n_metrics = request.metrics.size();
  if (n_metrics == 0 && layout.size() <= LayoutRequest().max_boxes) return layout;
  // Fewer boxes share less of their names: a few steps come close. The ancestors of a zoom are always there.
  for (int steps = 0; steps < 4; ++steps) {
    if (wire_bytes(*view.selection, layout, n_metrics, true) <= kMostBytes) break;
    const std::size_t bytes = wire_bytes(*view.selection, layout, n_metrics, false);
    if (bytes <= kMostBytes) break;
    request.layout.max_boxes = static_cast<std::uint32_t>(layout.size() * kMostBytes / bytes);
    PROFD_TRY(layout, layout_flame(*view.selection, request.layout, stop));
  }
  return layout;
}

}  // namespace

Result<FlameLayout> flame_layout(Views& views, FlameRequest& request, const PreparedView& view,
                                 const StopToken& stop) {
  request.layout.shape = request.spec.shape;
  request.layout.focus = view.focus;
  PROFD_TRY(request.layout.zoom, path_of(views, *request.open, request.spec, view, request.zoom, stop));
  return layout_flame(*view.selection, request.layout, stop);
}

Needs needs_of(const FlameRequest& request) {
  Needs needs = needs_of_shape(request.spec);
  for (const std::string& name : request.metrics)
    add_needs_of_metric(*request.open, request.spec, name, needs);
  if (request.color_metric.empty()) return needs;
  add_needs_of_metric(*request.open, request.spec, request.color_metric, needs);
  return needs;
}

Result<FlameAnswer> flame_answer(Views& views, FlameRequest request, const StopToken& stop) {
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  std::shared_ptr<const SearchResult> found;
  if (!request.search.empty()) {
    PROFD_TRY(found, find_matches(views, request, view, stop));
    request.layout.search = found.get();
  }
  PROFD_TRY(const FlameLayout layout, layout_to_send(views, request, view, stop));
  PROFD_TRY(FlameAnswer out, write(views, request, view, layout, stop));
  if (found) add_search(*found, view, layout, out);
  if (request.zoom.names) out.zoom_path.emplace(request.layout.zoom.begin(), request.layout.zoom.end());
  return out;
}

Result<HiddenMatches> hidden_matches(Views& views, FlameRequest request, const StopToken& stop) {
  if (request.search.empty()) return fail(ErrorCode::invalid, "there is no search to count matches of");
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  PROFD_TRY(const auto marks, views.match_marks(*request.open, request.spec, request.search, stop));
  request.layout.matches = marks.get();
  PROFD_TRY(const FlameLayout layout, layout_to_send(views, request, view, stop));
  HiddenMatches out;
  out.head = head_of(*request.open, request.spec, view);
  const bool estimated = view.selection->estimated;
  out.zoomed = amount_of(view.whole,
                         sum_of(layout.matched_shown, layout.matched_hidden, view.selection->sums->saturated),
                         estimated);
  out.shown = amount_of(view.whole, layout.matched_shown, estimated);
  out.hidden = amount_of(view.whole, layout.matched_hidden, estimated);
  for (std::uint32_t i = 0; i < layout.size(); ++i) {
    const Value& matched = layout.matched[i];
    if (layout.n_merged[i] == 0) {
      out.matched_below.push_back(matched);
      continue;
    }
    const std::uint64_t n = layout.n_matched[i];
    out.matched.push_back(n);
    out.matched_value.push_back(matched);
    out.matched_text.push_back(
        n == 0 ? ""
               : fmt::format("{} {}: {} · {}", format_count(n), n == 1 ? "matches" : "match",
                             marked(view.whole.text(matched), estimated), view.whole.share_text(matched)));
  }
  return out;
}

}  // namespace profd
