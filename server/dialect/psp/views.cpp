// view/table, view/search, view/hotspots.
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "server/dialect/psp/names.h"
#include "server/dialect/psp/prepared.h"
#include "server/dialect/psp/psp_session.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/estimate.h"
#include "server/feature/names.h"
#include "server/feature/places.h"

namespace profd {
namespace {

using protocol::ResponseError;

constexpr std::uint32_t kMaxRows = 1000;

psp::HotFunction to_psp_place(const Place& place, const Whole& whole) {
  psp::HotFunction out;
  out.name = place.name;
  if (place.short_name != place.name) out.short_name = place.short_name;
  if (!place.file.empty()) out.file = place.file;
  if (place.line != 0) out.line = place.line;
  if (!place.module.empty()) out.module = place.module;
  if (!place.path.empty()) out.uri = uri_of_path(place.path);
  out.kind = to_psp(place.kind);
  out.self = to_amount(whole, place.self);
  out.total = to_amount(whole, place.total);
  return out;
}

psp::TableRemainder to_remainder(const Whole& whole, std::size_t count, const Value& amount,
                                 std::size_t offset) {
  psp::TableRemainder remainder;
  remainder.count = static_cast<std::int64_t>(count);
  remainder.amount = to_amount(whole, amount);
  remainder.offset = static_cast<std::uint32_t>(offset);
  remainder.text = fmt::format("{} more: {} · {}", format_count(static_cast<std::uint64_t>(count)),
                               whole.text(amount), whole.share_text(amount));
  return remainder;
}

// ---- tables

struct TableTask {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;
  ViewSpec spec;
  psp::TableParams params;
};

class TableWriter {
 public:
  TableWriter(const Prepared& view, const SourceMap& sources, psp::TableResult& out)
      : view_(view), sources_(sources), names_(*view.selection), out_(out) {}

  void row(Key key, const Value& self, const Value& total, bool children, Estimate estimate) {
    const Selection& selection = *view_.selection;
    const Profile& profile = *selection.profile;
    const KeyPlace place = key_place(profile, *selection.keys, key);
    auto& rows = out_.rows;
    rows.name.push_back(names_.row_of(key));
    rows.file.push_back(index_of(place.file, files_, out_.files));
    rows.line.push_back(place.line);
    rows.module.push_back(index_of(place.module, modules_, out_.modules));
    rows.self.push_back(to_psp(self));
    rows.total.push_back(to_psp(total));
    const bool self_estimated = (estimate & kSelfEstimated) != 0;
    const bool total_estimated = (estimate & kTotalEstimated) != 0;
    rows.self_text.push_back(marked(view_.whole.text(self), self_estimated));
    rows.total_text.push_back(marked(view_.whole.text(total), total_estimated));
    rows.self_share.push_back(marked(view_.whole.share_text(self), self_estimated));
    rows.total_share.push_back(marked(view_.whole.share_text(total), total_estimated));
    const std::uint32_t frame = selection.keys->example[key];
    const bool real = frame < profile.frames().size() && key < selection.keys->first_group();
    const bool inlined = real && profile.frames().inlined[frame] != 0;
    std::int32_t flags = inlined ? flag(psp::BoxFlag::inlined) : 0;
    if (sources_.file_of(place.file) != nullptr) flags |= flag(psp::BoxFlag::has_source);
    if (!real) flags |= flag(psp::BoxFlag::collapsed);
    if (self_estimated) flags |= flag(psp::BoxFlag::self_estimated);
    if (total_estimated) flags |= flag(psp::BoxFlag::total_estimated);
    if (estimate != kExact) out_.estimated = estimate_text(selection);
    rows.flags.push_back(static_cast<std::uint32_t>(flags));
    rows.kind.push_back(real ? to_psp(profile.frames().kind[frame]) : psp::FrameKind::unknown);
    rows.key.push_back(key);
    rows.children.push_back(children);
  }
  void finish() { std::move(names_).finish(out_.names, out_.labels); }

 private:
  static std::int32_t index_of(std::string_view text, std::unordered_map<std::string, std::int32_t>& known,
                               std::vector<std::string>& list) {
    if (text.empty()) return -1;
    const auto [found, fresh] = known.try_emplace(std::string(text), static_cast<std::int32_t>(list.size()));
    if (fresh) list.emplace_back(text);
    return found->second;
  }

  const Prepared& view_;
  const SourceMap& sources_;
  NameTable names_;
  psp::TableResult& out_;
  std::unordered_map<std::string, std::int32_t> files_, modules_;
};

Result<void> write_flat(Views& views, const TableTask& task, const Prepared& view, TableWriter& writer,
                        psp::TableResult& out, const StopToken& stop) {
  PROFD_TRY(const auto flat, views.flat(*task.open, task.spec, stop));
  TableRequest page;
  page.sort = task.params.sort == psp::TableSort::name    ? SortBy::name
              : task.params.sort == psp::TableSort::total ? SortBy::total
                                                          : SortBy::self;
  page.descending = task.params.descending;
  page.offset = task.params.offset;
  page.limit = std::min(task.params.limit, kMaxRows);
  TablePage rows;
  if (task.params.search && !task.params.search->empty()) {
    PROFD_TRY(const auto found, views.search(*task.open, task.spec, *task.params.search, stop));
    FlatView matching;
    for (std::size_t i = 0; i < flat->key.size(); ++i) {
      if (found->matches[flat->key[i]] == 0) continue;
      matching.add_row(*flat, i);
    }
    rows = page_of(*view.selection, matching, page);
    for (const std::uint32_t row : rows.rows)
      writer.row(matching.key[row], matching.self[row], matching.total[row], false,
                 matching.estimate_of(row));
  } else {
    rows = page_of(*view.selection, *flat, page);
    for (const std::uint32_t row : rows.rows)
      writer.row(flat->key[row], flat->self[row], flat->total[row], false, flat->estimate_of(row));
  }
  out.row_count = static_cast<std::int64_t>(rows.n_rows);
  if (rows.n_left_out > 0)
    out.remainder =
        to_remainder(view.whole, rows.n_left_out, rows.self_left_out, page.offset + rows.rows.size());
  return {};
}

Result<void> write_level(const TableTask& task, const Prepared& view, TableWriter& writer,
                         psp::TableResult& out, const StopToken& stop) {
  TreeRequest tree;
  tree.shape = task.spec.shape;
  tree.focus = view.focus;
  PROFD_TRY(tree.path, to_keys(task.params.expand.value_or(psp::BoxPath{}), *view.selection));
  tree.offset = task.params.offset;
  tree.limit = std::min(task.params.limit, kMaxRows);
  PROFD_TRY(const TreeLevel level, tree_level(*view.selection, tree, stop));
  for (std::size_t i = 0; i < level.key.size(); ++i)
    writer.row(level.key[i], level.child_self[i], level.child_total[i], level.has_children[i] != 0,
               level.child_estimate.empty() ? kExact : level.child_estimate[i]);
  out.row_count = static_cast<std::int64_t>(level.n_children);
  const std::size_t end = tree.offset + level.key.size();
  if (end < level.n_children)
    out.remainder = to_remainder(view.whole, level.n_children - end, level.total_left_out, end);
  return {};
}

Result<psp::TableResult> table(Views& views, const TableTask& task, const StopToken& stop) {
  PROFD_TRY(const Prepared view, prepare_view(views, *task.open, task.spec, stop));
  PROFD_TRY(const auto sources, views.sources(*task.open, task.workspace, stop));
  psp::TableResult out;
  out.profile = task.open->handle;
  out.revision = task.open->revision;
  const MetricInfo& metric = task.open->profile->metrics()[view.selection->metric.v];
  ViewSpec named = task.spec;
  named.metric = metric.name;
  out.spec = to_text(named);
  out.metric = metric.name;
  out.unit = to_psp_unit(metric.unit);
  out.total = to_amount(view.profile_whole, view.selection->profile_total);
  out.view_total = to_amount(view.whole, view.selection->total);
  out.offset = task.params.offset;
  TableWriter writer(view, *sources, out);
  if (task.spec.shape == Shape::flat) {
    PROFD_CHECK(write_flat(views, task, view, writer, out, stop));
  } else {
    PROFD_CHECK(write_level(task, view, writer, out, stop));
  }
  writer.finish();
  out.excluded = exclusion_of(*view.selection);
  // Further metrics of a flat view: the same keys in another selection.
  for (const std::string& name : task.params.metrics) {
    ViewSpec other = task.spec;
    other.metric = name;
    PROFD_TRY(const auto flat, views.flat(*task.open, other, stop));
    std::unordered_map<Key, std::size_t> row_of;
    for (std::size_t i = 0; i < flat->key.size(); ++i) row_of[flat->key[i]] = i;
    psp::MetricColumns columns;
    columns.metric = name;
    const std::string& unit = task.open->profile->metrics()[task.open->profile->find_metric(name)->v].unit;
    columns.unit = to_psp_unit(unit);
    for (const std::int64_t key : out.rows.key) {
      const auto found = row_of.find(static_cast<Key>(key));
      const bool known = found != row_of.end();
      columns.self.push_back(known ? std::optional(to_psp(flat->self[found->second])) : std::nullopt);
      columns.total.push_back(known ? std::optional(to_psp(flat->total[found->second])) : std::nullopt);
      columns.self_text.push_back(known ? format_value(flat->self[found->second], unit)
                                        : std::string(kUnknown));
      columns.total_text.push_back(known ? format_value(flat->total[found->second], unit)
                                         : std::string(kUnknown));
    }
    out.columns.push_back(std::move(columns));
  }
  return out;
}

// ---- search

Result<psp::SearchResult> search_view(Views& views, const OpenProfile& open,
                                      const WorkspaceSnapshot& workspace, const ViewSpec& spec,
                                      const std::string& pattern, std::uint32_t limit,
                                      const StopToken& stop) {
  PROFD_TRY(const SelectionPtr selection, views.selection(open, spec, stop));
  PROFD_TRY(const auto found, views.search(open, spec, pattern, stop));
  PROFD_TRY(const auto flat, views.flat(open, spec, stop));
  PROFD_TRY(const auto sources, views.sources(open, workspace, stop));
  const MetricInfo& metric = open.profile->metrics()[selection->metric.v];
  const Whole whole{selection->total, metric.unit};
  psp::SearchResult out;
  out.profile = open.handle;
  out.revision = open.revision;
  ViewSpec named = spec;
  named.metric = metric.name;
  out.spec = to_text(named);
  out.metric = metric.name;
  out.matched = to_amount(whole, found->matched);
  FlatView matching;
  for (std::size_t row = 0; row < flat->key.size(); ++row) {
    if (found->matches[flat->key[row]] == 0) continue;
    matching.add_row(*flat, row);
  }
  TableRequest first;
  first.sort = SortBy::total;
  first.limit = limit;
  for (const std::uint32_t row : page_of(*selection, matching, first).rows) {
    const Key key = matching.key[row];
    const KeyPlace at = key_place(*open.profile, *selection->keys, key);
    Place place;
    place.key = key;
    place.name = key_name(*open.profile, *selection->keys, key);
    place.short_name = short_name(place.name);
    place.file = at.file;
    place.module = at.module;
    place.line = at.line;
    if (const std::string* path = sources->file_of(at.file)) place.path = *path;
    place.self = matching.self[row];
    place.total = matching.total[row];
    out.matches.push_back(to_psp_place(place, whole));
  }
  const auto n_matches = static_cast<std::int64_t>(matching.key.size());
  out.functions = n_matches;
  out.excluded = exclusion_of(*selection);
  out.estimated = said(estimate_text(*selection));
  out.text = fmt::format(
      "{} {} {}: {} · {}", format_count(n_matches), n_matches == 1 ? to_text(spec.granularity) : "names",
      n_matches == 1 ? "matches" : "match", whole.text(found->matched), whole.share_text(found->matched));
  return out;
}

}  // namespace

void PspSession::bind_views(protocol::Binder& binder) {
  bind_flame(binder);
  binder.request<psp::TableRequest>([this](psp::TableParams params,
                                           protocol::Reply<psp::TableRequest> reply) {
    auto named = from_psp(params.spec, "params.spec");
    if (!named) return reply.error(named.error());
    const auto open = profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
    if (!open) return reply.error(open.error());
    for (std::size_t i = 0; i < params.metrics.size(); ++i)
      if (const auto id = metric(**open, params.metrics[i], fmt::format("params.metrics[{}]", i)); !id)
        return reply.error(id.error());
    if (!params.metrics.empty() && named->spec.shape != Shape::flat)
      return reply.error(invalid_params("params.metrics", "further metrics are listed for flat views only"));
    const bool quick = engine_.views().is_quick(**open, named->spec, Views::needs_of(named->spec.shape));
    const std::string panel = params.panel_id.value_or("");
    TableTask task{*open, workspace_.snapshot(), std::move(named->spec), std::move(params)};
    run<psp::TableRequest>(
        quick ? Lane::interactive : Lane::bulk, std::move(reply), (*open)->file->path,
        [&views = engine_.views(), task = std::move(task)](const StopToken& stop) {
          return table(views, task, stop);
        },
        panel);
  });

  binder.request<psp::SearchRequest>(
      [this](const psp::SearchParams& params, protocol::Reply<psp::SearchRequest> reply) {
        auto named = from_psp(params.spec, "params.spec");
        if (!named) return reply.error(named.error());
        const auto open = profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
        if (!open) return reply.error(open.error());
        const bool quick = engine_.views().is_quick(**open, named->spec, Views::kSelection | Views::kFlat);
        run<psp::SearchRequest>(
            quick ? Lane::interactive : Lane::bulk, std::move(reply), (*open)->file->path,
            [&views = engine_.views(), open = *open, workspace = workspace_.snapshot(), spec = named->spec,
             pattern = params.pattern, limit = std::min(params.limit, kMaxRows)](const StopToken& stop) {
              return search_view(views, *open, workspace, spec, pattern, limit, stop);
            },
            params.panel_id.value_or(""));
      });

  binder.request<psp::HotspotsRequest>([this](const psp::HotspotsParams& params,
                                              protocol::Reply<psp::HotspotsRequest> reply) {
    const auto open = profile(params.profile);
    if (!open) return reply.error(open.error());
    const auto id = metric(**open, params.metric.value_or(""), "params.metric");
    if (!id) return reply.error(id.error());
    const auto granularity = from_psp(params.granularity, "params.granularity");
    if (!granularity) return reply.error(granularity.error());
    auto filters = from_psp(params.filters, "params.filters");
    if (!filters) return reply.error(filters.error());
    PlacesRequest request;
    request.open = *open;
    request.workspace = workspace_.snapshot();
    request.spec.granularity = *granularity;
    request.spec.filters = std::move(*filters);
    request.spec.metric = (*open)->profile->metrics()[id->v].name;
    request.sort = params.sort == psp::TableSort::total ? SortBy::total : SortBy::self;
    request.limit = std::min(params.limit, kMaxRows);
    request.only_with_source = params.only_with_source;
    if (params.text_document) {
      auto path = path_of_uri(params.text_document->uri);
      if (!path) return reply.error(invalid_params("params.textDocument.uri", path.error().message));
      request.only_in = std::move(*path);
    }
    const bool quick = engine_.views().is_quick(**open, request.spec, Views::kSelection | Views::kFlat);
    run<psp::HotspotsRequest>(quick ? Lane::interactive : Lane::bulk, std::move(reply), (*open)->file->path,
                              [&views = engine_.views(), request = std::move(request)](
                                  const StopToken& stop) -> Result<psp::HotspotsResult> {
                                PROFD_TRY(const Places found, hot_places(views, request, stop));
                                psp::HotspotsResult out;
                                out.profile = request.open->handle;
                                out.revision = request.open->revision;
                                out.metric = request.spec.metric;
                                out.unit = to_psp_unit(found.whole.unit);
                                out.view_total = to_amount(found.whole, found.whole.total);
                                out.excluded = exclusion_of(*found.selection);
                                out.estimated = said(estimate_text(*found.selection));
                                for (const Place& place : found.places)
                                  out.places.push_back(to_psp_place(place, found.whole));
                                if (found.n_left_out > 0)
                                  out.remainder = to_remainder(found.whole, found.n_left_out,
                                                               found.self_left_out, found.places.size());
                                return out;
                              });
  });
}

}  // namespace profd
