#include "core/view/selection.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/view/by_path.h"
#include "core/view/filters.h"
#include "core/view/memo.h"
#include "core/view/resolve.h"
#include "core/view/spec_words.h"
#include "core/view/time_set.h"

namespace profd {
namespace {

Result<void> check_filter(const Filter& filter) {
  if (filter.by == FilterBy::recursion) {
    if (filter.op == FilterOp::collapse) return {};
    return fail(ErrorCode::invalid, "recursion can only be collapsed");
  }
  if (filter.by == FilterBy::mine && filter.op != FilterOp::collapse)
    return fail(ErrorCode::invalid, "`mine` stands alone: what is not yours is folded");
  if (!filters_rows(filter) && (filters_samples(filter) || filter.by == FilterBy::fragment ||
                                filter.by == FilterBy::path || filter.by == FilterBy::work))
    return fail(
        ErrorCode::invalid,
        fmt::format("{} takes a function, module, file, package, code or kind; threads, labels, times, "
                    "markers, fragments, paths and work can only be kept or dropped",
                    word_of(kOpWords, filter.op)));
  if (filter.by == FilterBy::time) return check_window(filter);
  return {};
}

std::vector<Filter> filters_that(const std::vector<Filter>& filters, bool filter_rows) {
  std::vector<Filter> out;
  std::copy_if(filters.begin(), filters.end(), std::back_inserter(out),
               [&](const Filter& filter) { return filters_rows(filter) == filter_rows; });
  return out;
}

std::string text_of(const std::vector<Filter>& filters) {
  std::string text;
  for (const Filter& filter : filters) text += " | " + key_text(filter);
  return text;
}

Result<MetricId> metric_of(const Profile& profile, const ViewSpec& spec) {
  if (profile.metrics().empty()) return fail(ErrorCode::invalid, "the profile has no metrics");
  if (spec.metric.empty()) return profile.default_metric();
  return resolve_metric(profile, spec.metric);
}

// Costs that are negative or do not fit are no shares of anything.
bool can_divide(const Selection& selection) {
  if (!selection.stated || !selection.stated->has_calls || selection.sums->negative ||
      selection.sums->saturated)
    return false;
  const auto& calls = selection.stated->callee;
  return std::any_of(calls.begin(), calls.end(), [](const auto& call) { return call.known; });
}

// A view by function of all there is has its values by path already.
bool has_values_by_path(const Selection& selection) {
  return selection.profile->functions_by_path() && selection.rows->filters.empty() &&
         selection.boxes->filters.empty() && selection.boxes->keys->granularity == Granularity::function;
}

// Of the boxes of the selection: these rows and sums are no other's.
Result<void> evaluate_by_path(Selection& selection, MetricId metric, const PartsOf& kept, StopToken stop) {
  const auto sums_of = [&](const Rows& rows) -> Result<std::pair<RowsPtr, SumsPtr>> {
    PROFD_TRY(RowsPtr evaluated, rows_by_path(rows, *selection.boxes, metric, stop));
    PROFD_TRY(SumsPtr sums, sum_up(*evaluated, metric, stop));
    return std::pair(std::move(evaluated), std::move(sums));
  };
  PROFD_TRY(auto of_view, sums_of(*selection.rows));
  auto sums = std::make_shared<Sums>(*of_view.second);
  sums->profile_total = sums->total;
  if (!selection.rows->filters.empty()) {
    PROFD_TRY(const RowsPtr all,
              kept.get<Rows>(kept.key_of_values("rows"), stop, [&](const StopToken& token) {
                return make_rows(selection.profile, {}, token);
              }));
    PROFD_TRY(const auto of_all, sums_of(*all));
    sums->profile_total = of_all.second->total;
  }
  selection.rows = std::move(of_view.first);
  selection.sums = std::move(sums);
  return {};
}

Result<void> take_stated(Selection& selection, bool proven, StopToken stop) {
  selection.estimated = selection.profile->contexts_estimated();
  if (!selection.estimated || !selection.rows->filters.empty() || !selection.boxes->plain()) return {};
  PROFD_TRY(selection.stated, make_stated_view(*selection.profile, *selection.boxes->keys, selection.metric(),
                                               std::move(stop)));
  selection.divided = !proven && can_divide(selection);
  return {};
}

}  // namespace

std::vector<std::string> Selection::warnings() const {
  std::vector<std::string> all = rows->warnings;
  all.insert(all.end(), boxes->warnings.begin(), boxes->warnings.end());
  return all;
}

std::size_t Selection::memory() const {
  return sizeof(Selection) + (stated ? stated->memory() : 0) + memo->memory();
}

Result<SelectionPtr> select(const ProfilePtr& profile, const ViewSpec& spec, StopToken stop,
                            const PartsOf& kept, Executor& executor) {
  if (spec.filters.size() > kMaxFilters)
    return fail(ErrorCode::limit, fmt::format("a view has at most {} filters", kMaxFilters));
  for (const Filter& filter : spec.filters) PROFD_CHECK(check_filter(filter));

  auto selection = std::make_shared<Selection>();
  selection->profile = profile;
  selection->memo = std::make_shared<ViewMemo>();
  PROFD_TRY(const std::vector<Filter> filters, with_whole_names(*profile, spec.filters));
  const std::vector<Filter> of_rows = filters_that(filters, true), of_boxes = filters_that(filters, false);
  PROFD_TRY(const MetricId metric, metric_of(*profile, spec));
  const ViewKey boxes_key = kept.key("boxes " + std::string(to_text(spec.granularity)) + text_of(of_boxes));
  const ViewKey rows_key = kept.key_of_values("rows" + text_of(of_rows));
  const ViewKey sums_key = kept.key_of_values(fmt::format("sums {}{}", metric.v, text_of(of_rows)));
  selection->parts = {boxes_key, rows_key, sums_key};

  PROFD_TRY(selection->rows, kept.get<Rows>(rows_key, stop, [&](const StopToken& token) {
    return make_rows(profile, of_rows, token);
  }));
  // Names need no values, sums need no names. Of a small profile both are done before a thread is awake.
  constexpr std::size_t kWorthSharing = 1u << 17;
  SerialExecutor alone;
  const bool share = profile->tree().size() + profile->frames().size() >= kWorthSharing;
  Result<BoxesPtr> boxes;
  Result<SumsPtr> sums;
  (share ? executor : alone).run(2, [&](std::size_t task) {
    if (task == 0)
      boxes = kept.get<Boxes>(boxes_key, stop, [&](const StopToken& token) {
        return make_boxes(profile, spec.granularity, of_boxes, kept, token);
      });
    else
      sums = kept.get<Sums>(sums_key, stop,
                            [&](const StopToken& token) { return sum_up(*selection->rows, metric, token); });
  });
  PROFD_TRY(selection->sums, std::move(sums));
  PROFD_TRY(selection->boxes, std::move(boxes));
  if (is_by_path(*profile, metric) && !has_values_by_path(*selection))
    PROFD_CHECK(evaluate_by_path(*selection, metric, kept, stop));
  PROFD_CHECK(take_stated(*selection, spec.proven, stop));
  return SelectionPtr(std::move(selection));
}

Result<SelectionPtr> with_keys(const SelectionPtr& selection, std::shared_ptr<const KeyTable> keys,
                               StopToken stop) {
  if (selection->boxes->keys == keys) return selection;
  auto out = std::make_shared<Selection>(*selection);
  out->memo = std::make_shared<ViewMemo>();
  out->stated = nullptr;
  out->parts.clear();  // its boxes are its own
  PROFD_TRY(out->boxes, boxes_with_keys(*selection->boxes, std::move(keys), stop));
  if (selection->stated) PROFD_CHECK(take_stated(*out, !selection->divided, std::move(stop)));
  return SelectionPtr(std::move(out));
}

}  // namespace profd
