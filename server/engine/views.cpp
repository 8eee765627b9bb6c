#include "server/engine/views.h"

#include <algorithm>

#include "core/layout/flame.h"
#include "core/source/whole_functions.h"
#include "core/view/by_path.h"
#include "core/view/key_memo.h"
#include "core/view/match_marks.h"
#include "server/engine/input_profile.h"

namespace profd {
namespace {

bool needs_above(const ViewSpec& spec) {
  return spec.shape == Shape::bottom_up || spec.shape == Shape::callers;
}

// The boxes of a screen: what is unfolded for them is there for the request that wants them.
Result<FlameLayout> lay_out(const Selection& selection, Shape shape, const StopToken& stop) {
  LayoutRequest request;
  request.shape = shape;
  request.viewport_px = 1600;
  return layout_flame(selection, request, stop);
}

// Metrics that are evaluated by path have rows of their own, which know nothing of the others.
ViewSpec with_all_metrics(const OpenProfile& open, const ViewSpec& spec) {
  const MetricId metric =
      spec.metric.empty() ? open.metric : open.profile->find_metric(spec.metric).value_or(open.metric);
  ViewSpec out = spec;
  if (is_by_path(*open.profile, metric))
    out.metric = open.profile->metrics()[open.profile->composition()->metrics[metric.v].after.v].name;
  return out;
}

}  // namespace

ViewKey Views::key_of(const OpenProfile& open, const ViewSpec& spec, const char* kind,
                      const std::string& more) {
  ViewSpec plain = spec;
  plain.shape = Shape::flat;
  plain.focus.clear();
  if (plain.metric.empty()) plain.metric = open.metric_info().name;
  return {open.view_id, kind + open.formulas + key_text(plain) + more};
}

Result<SelectionPtr> Views::selection(const OpenProfile& open, const ViewSpec& spec, const StopToken& stop) {
  return cache_.get<Selection>(
      key_of(open, spec, "select "), stop, [&](const StopToken& token) -> Result<SelectionPtr> {
        ViewSpec full = spec;
        if (full.metric.empty()) full.metric = open.metric_info().name;
        return select(open.profile, full, token, PartsOf(cache_, open.view_id, open.formulas), executor_);
      });
}

Result<std::shared_ptr<const FlatView>> Views::flat(const OpenProfile& open, const ViewSpec& spec,
                                                    const StopToken& stop) {
  return cache_.get<FlatView>(key_of(open, spec, "flat "), stop,
                              [&](const StopToken& token) -> Result<std::shared_ptr<const FlatView>> {
                                PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
                                return shared(flat_view(*selected, token));
                              });
}

Result<KeyValues> Views::key_values(const OpenProfile& open, const ViewSpec& spec, std::span<const Key> keys,
                                    const StopToken& stop) {
  PROFD_TRY(const SelectionPtr selected, selection(open, spec, stop));
  if (const auto table = cache_.peek<FlatView>(key_of(open, spec, "flat ")))
    return values_of_keys(*selected, *table, keys);
  StopToken token = stop;
  PROFD_TRY(const auto index, selected->boxes->memo->key_index(*selected->boxes, false, token));
  // What a source states of whole functions is in the table alone.
  if (index && !selected->stated && has_few_contexts(*selected, *index, keys))
    return values_of_keys(*selected, *index, keys, token);
  PROFD_TRY(const auto table, flat(open, spec, stop));
  return values_of_keys(*selected, *table, keys);
}

Result<std::shared_ptr<const SearchResult>> Views::search(const OpenProfile& open, const ViewSpec& spec,
                                                          const std::string& pattern, const StopToken& stop) {
  return cache_.get<SearchResult>(search_key(open, spec, pattern), stop,
                                  [&](const StopToken& token) -> Result<std::shared_ptr<const SearchResult>> {
                                    PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
                                    return shared(profd::search(*selected, pattern, token, executor_));
                                  });
}

Result<std::shared_ptr<const MatchMarks>> Views::match_marks(const OpenProfile& open, const ViewSpec& spec,
                                                             const std::string& pattern,
                                                             const StopToken& stop) {
  return cache_.get<MatchMarks>(
      key_of(open, spec, needs_above(spec) ? "marks above " : "marks ", "\n" + pattern), stop,
      [&](const StopToken& token) -> Result<std::shared_ptr<const MatchMarks>> {
        PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
        PROFD_TRY(auto found, search(open, spec, pattern, token));
        return shared(mark_matches(*selected, std::move(found), needs_above(spec), token, executor_));
      });
}

std::shared_ptr<const SearchResult> Views::kept_search(const OpenProfile& open, const ViewSpec& spec,
                                                       const std::string& pattern) {
  return cache_.peek<SearchResult>(search_key(open, spec, pattern));
}

Result<std::shared_ptr<const LineIndex>> Views::line_index(const OpenProfile& open, const ViewSpec& asked,
                                                           const StopToken& stop) {
  const ViewSpec spec = with_all_metrics(open, asked);
  return cache_.get<LineIndex>(key_of(open, spec, "line index "), stop,
                               [&](const StopToken& token) -> Result<std::shared_ptr<const LineIndex>> {
                                 PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
                                 return shared(make_line_index(*selected, token, executor_));
                               });
}

Result<std::shared_ptr<const LineValues>> Views::lines(const OpenProfile& open, const ViewSpec& asked,
                                                       const std::vector<StringId>& files,
                                                       const StopToken& stop) {
  const ViewSpec spec = with_all_metrics(open, asked);
  return cache_.get<LineValues>(lines_key(open, spec, files), stop,
                                [&](const StopToken& token) -> Result<std::shared_ptr<const LineValues>> {
                                  PROFD_TRY(const auto index, line_index(open, spec, token));
                                  PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
                                  PROFD_TRY(LineValues values,
                                            annotate_lines(*selected, *index, files, token));
                                  PROFD_CHECK(add_functions(values, open, spec, *selected, files, token));
                                  return shared(Result<LineValues>(std::move(values)));
                                });
}

Result<void> Views::add_functions(LineValues& lines, const OpenProfile& open, const ViewSpec& spec,
                                  const Selection& selected, const std::vector<StringId>& files,
                                  const StopToken& stop) {
  const auto functions = whole_functions(*open.profile, *selected.boxes->keys, files, lines.line);
  if (functions.empty()) return {};
  std::vector<std::shared_ptr<const FlatView>> tables;
  for (const MetricInfo& metric : open.profile->metrics()) {
    ViewSpec of_metric = spec;
    of_metric.metric = metric.name;
    PROFD_TRY(auto table, flat(open, of_metric, stop));
    tables.push_back(std::move(table));
  }
  add_whole_functions(lines, functions, tables);
  return {};
}

Result<std::shared_ptr<const FrameSelfs>> Views::frame_selfs(const OpenProfile& open, const ViewSpec& spec,
                                                             const StopToken& stop) {
  return cache_.get<FrameSelfs>(key_of(open, spec, "frame selfs "), stop,
                                [&](const StopToken& token) -> Result<std::shared_ptr<const FrameSelfs>> {
                                  PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
                                  return shared(selfs_by_frame(*selected, token));
                                });
}

Result<std::shared_ptr<const SourceMap>> Views::sources(const OpenProfile& open,
                                                        const WorkspaceSnapshot& workspace,
                                                        const StopToken& stop) {
  return cache_.get<SourceMap>(sources_key(open, workspace), stop, [&](const StopToken& token) {
    return make_source_map(open.profile, workspace, token);
  });
}

ViewKey Views::file_key(const OpenProfile& open, const WorkspaceSnapshot& workspace, const std::string& path,
                        const Document* document, LinesOf side) {
  const std::int64_t written = written_at(open, path, document, side).value_or(0);
  return {open.view_id, (side == LinesOf::before ? "file before " : "file ") + workspace.key + " " +
                            std::to_string(written) + (document != nullptr ? " open " : " ") + path};
}

Result<std::shared_ptr<const SourceFile>> Views::source_file(const OpenProfile& open,
                                                             const WorkspaceSnapshot& workspace,
                                                             const std::string& path,
                                                             const Document* document, const StopToken& stop,
                                                             LinesOf side) {
  PROFD_TRY(const auto map, sources(open, workspace, stop));
  return cache_.get<SourceFile>(
      file_key(open, workspace, path, document, side), stop,
      [&](const StopToken& token) { return make_source_file(open, *map, path, document, side, token); });
}

bool Views::is_small(const OpenProfile& open) {
  constexpr std::size_t kSmall = 200'000;
  const SampleTable* samples = open.profile->samples();
  return open.profile->tree().size() + (samples != nullptr ? samples->size() : 0) < kSmall;
}

ViewKey Views::search_key(const OpenProfile& open, const ViewSpec& spec, const std::string& pattern) {
  return key_of(open, spec, "search ", "\n" + pattern);
}

ViewKey Views::lines_key(const OpenProfile& open, const ViewSpec& spec, const std::vector<StringId>& files) {
  std::string text = "\n";
  for (const StringId file : files) text += " " + std::to_string(file.v);
  return key_of(open, spec, "lines ", text);
}

ViewKey Views::sources_key(const OpenProfile& open, const WorkspaceSnapshot& workspace) {
  return {open.view_id, "sources " + workspace.key};
}

bool Views::file_is_quick(const OpenProfile& open, const ViewSpec& spec, const WorkspaceSnapshot& workspace,
                          const std::string& path, const Document* document) const {
  // When a file that is not open was written only the file system knows, which is asked by workers.
  if (document == nullptr) return false;
  const bool is_diff = sides_of(*open.profile, open.metric).has_value();
  for (const LinesOf side : {LinesOf::after, LinesOf::before})
    if ((side == LinesOf::after || is_diff) &&
        changed_since(open, written_at(open, path, document, side), side) &&
        !cache_.peek<SourceFile>(file_key(open, workspace, path, document, side)))
      return false;
  if (is_small(open)) return true;
  const auto made = cache_.peek<SourceMap>(sources_key(open, workspace));
  if (!made) return true;  // not known yet; one spelling is what most files have
  const auto found = made->by_path.find(path);
  if (found == made->by_path.end() || found->second.size() < 2) return true;
  return cache_.peek<LineValues>(lines_key(open, with_all_metrics(open, spec), found->second)) != nullptr;
}

Result<std::shared_ptr<const NeighbourTable>> Views::neighbour_table(const OpenProfile& open,
                                                                     const ViewSpec& spec,
                                                                     const StopToken& stop) {
  return cache_.get<NeighbourTable>(
      key_of(open, spec, "neighbours "), stop,
      [&](const StopToken& token) -> Result<std::shared_ptr<const NeighbourTable>> {
        PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
        return shared(make_neighbour_table(*selected, token));
      });
}

Result<Neighbours> Views::neighbours(const OpenProfile& open, const ViewSpec& spec, Key key, std::size_t n,
                                     const StopToken& stop) {
  const auto table = cache_.peek<NeighbourTable>(key_of(open, spec, "neighbours "));
  if (table && table->usable) return neighbours_in(*table, key, n);
  PROFD_TRY(const SelectionPtr selected, selection(open, spec, stop));
  return neighbours_of(*selected, key, n, stop);
}

Result<std::shared_ptr<const Noise>> Views::noise(const OpenProfile& open, const ViewSpec& spec,
                                                  const StopToken& stop) {
  return cache_.get<Noise>(key_of(open, spec, "noise "), stop,
                           [&](const StopToken& token) -> Result<std::shared_ptr<const Noise>> {
                             PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
                             return shared(judge_noise(*selected, token));
                           });
}

Result<std::shared_ptr<const MovedCosts>> Views::moved(const OpenProfile& open, const ViewSpec& spec,
                                                       const StopToken& stop) {
  PROFD_TRY(const auto judged, noise(open, spec, stop));
  return cache_.get<MovedCosts>(key_of(open, spec, "moved "), stop,
                                [&](const StopToken& token) -> Result<std::shared_ptr<const MovedCosts>> {
                                  PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
                                  return shared(moved_costs(*selected, *judged, token));
                                });
}

Result<std::shared_ptr<const NodeTable>> Views::nodes(const OpenProfile& open, const ViewSpec& spec) {
  ViewSpec of_shape = spec;
  of_shape.metric = open.profile->metrics().front().name;  // zooming survives another metric
  const ViewKey key{open.view_id, "nodes " + key_text(of_shape)};
  const auto make = [&](const StopToken&) -> Result<std::shared_ptr<const NodeTable>> {
    return std::make_shared<const NodeTable>(next_node_);
  };
  return cache_.get<NodeTable>(key, StopToken{}, make);
}

bool Views::has(const OpenProfile& open, std::span<const Need> needs) const {
  if (is_small(open)) return true;
  return std::all_of(needs.begin(), needs.end(), [&](const Need& need) {
    const auto selection_is_there = [&] {
      return cache_.peek<Selection>(key_of(open, need.spec, "select "));
    };
    switch (need.part) {
      case Part::selection:
      case Part::layout:
        return selection_is_there() != nullptr;
      case Part::one_function: {
        const SelectionPtr made = selection_is_there();
        return made != nullptr && made->boxes->memo->has_key_index();
      }
      case Part::flat:
        return cache_.peek<FlatView>(key_of(open, need.spec, "flat ")) != nullptr;
      case Part::lines:
        return cache_.peek<LineIndex>(key_of(open, with_all_metrics(open, need.spec), "line index ")) !=
               nullptr;
      case Part::neighbours:
        return cache_.peek<NeighbourTable>(key_of(open, need.spec, "neighbours ")) != nullptr;
    }
    return false;
  });
}

Result<void> Views::make(const OpenProfile& open, const Need& need, const StopToken& stop) {
  const auto made = [](const auto& result) -> Result<void> {
    if (!result) return tl::unexpected<Error>(result.error());
    return {};
  };
  switch (need.part) {
    case Part::selection:
      return made(selection(open, need.spec, stop));
    case Part::layout: {
      PROFD_TRY(const SelectionPtr selected, selection(open, need.spec, stop));
      return made(lay_out(*selected, need.spec.shape, stop));
    }
    case Part::one_function: {
      PROFD_TRY(const SelectionPtr selected, selection(open, need.spec, stop));
      PROFD_CHECK(warm_up(*selected, stop));
      PROFD_CHECK(made(lay_out(*selected, Shape::bottom_up, stop)));
      prepare_search(*selected, executor_);
      // Asked again so that the cache counts what the selection has grown to.
      return made(selection(open, need.spec, stop));
    }
    case Part::flat:
      return made(flat(open, need.spec, stop));
    case Part::lines:
      return made(line_index(open, need.spec, stop));
    case Part::neighbours:
      return made(neighbour_table(open, need.spec, stop));
  }
  return {};
}

void Views::drop(std::uint64_t view_id) {
  cache_.drop(view_id);
  for (std::size_t input = 0; input < kMaxKeptInputs; ++input) cache_.drop(view_id_of_input(view_id, input));
}

}  // namespace profd
