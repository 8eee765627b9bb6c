#include "server/feature/report_pages.h"

#include <array>
#include <utility>

#include "server/feature/changes.h"
#include "server/feature/source_lines.h"

namespace profd {
namespace {

constexpr std::size_t kPagePlaces = 50, kPageLines = 50, kPageCalls = 100, kPageRanges = 500;
constexpr std::size_t kPageHottest = 10, kPagePaths = 5;
constexpr std::array<std::string_view, 5> kPageWords = {"hotspots", "summary", "callers", "within",
                                                        "changes"};

ViewSpec spec_of(const PageRequest& request) {
  ViewSpec spec;
  spec.shape = Shape::flat;
  spec.filters = request.filters;
  return spec;
}

Result<ReportPage> hotspots(Views& views, const PageRequest& request, const StopToken& stop) {
  PlacesRequest places;
  places.open = request.open;
  places.workspace = request.workspace;
  places.spec = spec_of(request);
  places.limit = kPagePlaces;
  PROFD_TRY(const Places functions, hot_places(views, places, stop));
  places.spec.granularity = Granularity::line;
  places.limit = kPageLines;
  PROFD_TRY(const Places lines, hot_places(views, places, stop));
  return places_page(*request.open, functions, &lines);
}

Result<ReportPage> summary(Views& views, const PageRequest& request, const SourceMap& sources,
                           const StopToken& stop) {
  PROFD_TRY(const SelectionPtr selection, views.selection(*request.open, spec_of(request), stop));
  SummaryRequest what;
  what.n_hottest = kPageHottest;
  what.n_heaviest = kPagePaths;
  what.sources = request.workspace.files ? &sources : nullptr;
  PROFD_TRY(const Summary summary, summarize(*selection, request.open->loaded->report, what, stop));
  return summary_page(*request.open, summary, &sources);
}

Result<ReportPage> calls(Views& views, const PageRequest& request, const SourceMap& sources,
                         const StopToken& stop) {
  PROFD_TRY(const CallersAnswer callers,
            callers_answer(views, *request.open, request.function, request.filters, kPageCalls, stop));
  PROFD_TRY(const CallersAnswer callees,
            callees_answer(views, *request.open, request.function, request.filters, kPageCalls, stop));
  return callers_page(*request.open, request.function, callers, &callees, &sources);
}

Result<ReportPage> within(Views& views, const PageRequest& request, const StopToken& stop) {
  RangesRequest ranges;
  ranges.open = request.open;
  ranges.workspace = request.workspace;
  ranges.spec = spec_of(request);
  ranges.function = request.function;
  ranges.by_self = true;
  ranges.limit = kPageRanges;
  SourceLines lines(request.folders, stop);
  PROFD_TRY(const RangesAnswer answer,
            ranges_answer(
                views, ranges,
                [&](const std::string& path, std::uint32_t line) { return lines.line(path, line); }, stop));
  return within_page(*request.open, answer);
}

Result<ReportPage> changes(Views& views, const PageRequest& request, const SourceMap& sources,
                           const StopToken& stop) {
  const Composition* const composition = request.open->profile->composition();
  if (composition == nullptr || composition->kind != Composed::diff)
    return fail(ErrorCode::invalid,
                request.open->name + " is no comparison; compare it with another profile first");
  TableAnswerRequest table;
  table.open = request.open;
  table.workspace = request.workspace;
  table.spec = spec_of(request);
  const Profile& diff = *request.open->profile;
  const std::string metric = diff.metrics()[diff.default_metric().v].name;
  PROFD_TRY(table.spec.metric, larger_metric(diff, metric));
  table.by_change = ChangeOrder::size;
  table.changed_only = true;
  table.limit = kPagePlaces;
  PROFD_TRY(const TableAnswer answer, table_answer(views, table, stop));
  return changes_page(*request.open, metric, answer, &sources);
}

}  // namespace

std::string_view to_text(PageKind kind) {
  return kPageWords[static_cast<std::size_t>(kind)];
}

std::optional<PageKind> page_kind_of(std::string_view text) {
  for (std::size_t i = 0; i < kPageWords.size(); ++i)
    if (kPageWords[i] == text) return static_cast<PageKind>(i);
  return std::nullopt;
}

Result<ReportPage> report_page(Views& views, const PageRequest& request, const StopToken& stop) {
  PROFD_TRY(const auto sources, views.sources(*request.open, request.workspace, stop));
  switch (request.kind) {
    case PageKind::hotspots:
      return hotspots(views, request, stop);
    case PageKind::summary:
      return summary(views, request, *sources, stop);
    case PageKind::callers:
      return calls(views, request, *sources, stop);
    case PageKind::within:
      return within(views, request, stop);
    case PageKind::changes:
      return changes(views, request, *sources, stop);
  }
  return fail(ErrorCode::invalid, "no such page");
}

}  // namespace profd
