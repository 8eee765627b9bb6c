#include "core/view/selection.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/support/near_miss.h"
#include "core/view/filters.h"
#include "core/view/key_memo.h"
#include "core/view/memo.h"
#include "core/view/resolve.h"
#include "core/view/sweep.h"

namespace profd {
namespace {

bool filters_samples(const Filter& filter) {
  return filter.by == FilterBy::thread || filter.by == FilterBy::label || filter.by == FilterBy::time;
}
bool filters_rows(const Filter& filter) {
  return filter.op == FilterOp::keep || filter.op == FilterOp::drop;
}

std::string_view word(FilterOp op) {
  switch (op) {
    case FilterOp::keep:
      return "keep";
    case FilterOp::drop:
      return "drop";
    case FilterOp::hide:
      return "hide";
    case FilterOp::collapse:
      return "collapse";
  }
  return "";
}

Result<void> check_filter(const Filter& filter) {
  if (filter.by == FilterBy::recursion) {
    if (filter.op == FilterOp::collapse) return {};
    return fail(ErrorCode::invalid, "recursion can only be collapsed");
  }
  if (filter.by == FilterBy::mine && filter.op != FilterOp::collapse)
    return fail(ErrorCode::invalid, "`mine` stands alone: what is not yours is folded");
  if (!filters_rows(filter) && (filters_samples(filter) || filter.by == FilterBy::fragment))
    return fail(
        ErrorCode::invalid,
        fmt::format("{} takes a function, module, file or package; threads, labels, times and fragments can "
                    "only be kept or dropped",
                    word(filter.op)));
  if (filter.by == FilterBy::time && filter.from_ns && filter.to_ns && *filter.from_ns > *filter.to_ns)
    return fail(ErrorCode::invalid, "the time window ends before it begins");
  return {};
}

template <class T>
Column<T> take(const Column<T>& values, const std::vector<std::uint32_t>& rows) {
  std::vector<T> out;
  out.reserve(rows.size());
  for (std::uint32_t row : rows) out.push_back(values[row]);
  return Column<T>(std::move(out));
}

SelfTable take_rows(const SelfTable& self, const std::vector<std::uint32_t>& rows) {
  SelfTable out;
  out.contexts = take(self.contexts, rows);
  for (const ValueColumn& values : self.values)
    out.values.push_back(std::visit([&](const auto& v) -> ValueColumn { return take(v, rows); }, values));
  return out;
}

// Rows of samples that passed, in order of context.
std::vector<std::uint32_t> ordered_rows(const SampleTable& samples, const std::vector<std::uint8_t>& passed,
                                        std::size_t n_contexts) {
  std::vector<std::uint32_t> rows;
  bool sorted = true;
  for (std::uint32_t i = 0; i < passed.size(); ++i) {
    if (passed[i] == 0) continue;
    sorted = sorted && (rows.empty() || samples.context[rows.back()] <= samples.context[i]);
    rows.push_back(i);
  }
  if (sorted) return rows;
  if (rows.size() < n_contexts / 8) {
    std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      return samples.context[a] < samples.context[b];
    });
    return rows;
  }
  std::vector<std::uint32_t> start(n_contexts + 1, 0), order(rows.size());
  for (std::uint32_t row : rows) ++start[samples.context[row] + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  for (std::uint32_t row : rows) order[start[samples.context[row]]++] = row;
  return order;
}

// By metric, what no filter of samples can decide on: values that belong to no sample, and samples that are
// marked.
std::vector<Value> sum_of_undecided(const Profile& profile, const std::vector<std::uint8_t>& passed,
                                    const std::vector<std::uint8_t>& undecided) {
  std::vector<Value> sums;
  for (std::size_t m = 0; m < profile.metrics().size(); ++m) {
    const bool saturated = profile.metrics()[m].saturated;
    sums.push_back(std::visit(
        [&](const auto& values) {
          using T = std::remove_cvref_t<decltype(values[0])>;
          T in_samples{}, marked{}, magnitudes{};
          for (std::size_t i = 0; i < values.size(); ++i) {
            const T value = finite(values[i]);
            in_samples = add(in_samples, value, saturated);
            magnitudes = add(magnitudes, magnitude(value), true);
            if (passed[i] != 0 && undecided[i] != 0) marked = add(marked, value, saturated);
          }
          const T* const total = std::get_if<T>(&profile.total(MetricId(m)));
          assert(total != nullptr);  // a metric is integral or fractional as a whole
          T outside = subtract(total == nullptr ? in_samples : *total, in_samples, saturated);
          // Sums of fractions in another order differ in their last digits.
          if constexpr (std::is_same_v<T, double>)
            if (std::fabs(outside) <= magnitudes * 1e-9) outside = 0;
          return Value(add(outside, marked, saturated));
        },
        profile.samples()->values[m]));
  }
  return sums;
}

std::string unknown_metric(const Profile& profile, std::string_view wanted) {
  constexpr std::size_t kMaxNamed = 20;
  std::vector<std::string_view> names;
  for (const MetricInfo& metric : profile.metrics()) names.push_back(metric.name);
  std::string text = fmt::format("the profile has no metric \"{}\"{}", wanted, did_you_mean(wanted, names));
  for (std::size_t m = 0; m < std::min(names.size(), kMaxNamed); ++m)
    text += (m == 0 ? "; it has " : ", ") + std::string(names[m]);
  if (names.size() > kMaxNamed) text += fmt::format(" and {} more", names.size() - kMaxNamed);
  return text;
}

bool any_set(const std::vector<std::uint8_t>& flags) {
  return std::any_of(flags.begin(), flags.end(), [](std::uint8_t flag) { return flag != 0; });
}
constexpr const char* kOthers = "(other code)";

void warn_unless(bool matches, const Filter& filter, Selection& selection) {
  if (!matches && filter.by == FilterBy::mine)
    selection.warnings.emplace_back(
        "`mine` changes nothing: the profile names no file of the workspace (or no other); `mine = "
        "[\"folder\", "
        "\"package\"]` in .profd.toml says what is yours");
  else if (!matches)
    selection.warnings.push_back(fmt::format("`{}` matches nothing", to_text(filter)));
}

// The rows that keep and drop let through.
Result<void> filter_rows(const Profile& profile, const std::vector<Filter>& filters, Selection& selection,
                         StopToken stop) {
  SelfTable& self = selection.self;
  self = profile.self();
  const auto wants = [&](bool samples) {
    return std::any_of(filters.begin(), filters.end(),
                       [&](const Filter& f) { return filters_rows(f) && filters_samples(f) == samples; });
  };
  if (wants(true)) {
    std::vector<std::uint8_t> passed(profile.samples() == nullptr ? 0 : profile.samples()->size(), 1);
    std::vector<std::uint8_t> undecided(passed.size(), 0);
    for (const Filter& filter : filters) {
      if (!filters_rows(filter) || !filters_samples(filter)) continue;
      PROFD_CHECK(stop.status());
      PROFD_TRY(const bool any, filter_samples(profile, filter, passed, undecided, stop));
      warn_unless(any, filter, selection);
    }
    const SampleTable& samples = *profile.samples();
    selection.excluded = sum_of_undecided(profile, passed, undecided);
    for (std::size_t i = 0; i < passed.size(); ++i)
      if (undecided[i] != 0) passed[i] = 0;
    self = take_rows({samples.context, samples.values}, ordered_rows(samples, passed, profile.tree().size()));
  }
  for (const Filter& filter : filters) {
    if (!filters_rows(filter) || filters_samples(filter)) continue;
    PROFD_CHECK(stop.status());
    ContextRanges ranges;
    if (filter.by == FilterBy::fragment) {
      PROFD_TRY(ranges, subtrees_of_fragment(profile, filter.names, stop));
      warn_unless(ranges.size() > 0, filter, selection);
    } else {
      PROFD_TRY(const std::vector<std::uint8_t> match, match_frames(profile, filter, stop));
      warn_unless(any_set(match), filter, selection);
      PROFD_TRY(ranges, subtrees_of(profile.tree(), match, stop));
    }
    const std::vector<std::uint32_t> rows = rows_in(self.contexts, ranges, filter.op == FilterOp::keep);
    if (rows.size() != self.contexts.size()) self = take_rows(self, rows);
  }
  selection.n_row_warnings = selection.warnings.size();
  return {};
}

// Which frames are hidden, and which key every other one has once collapse groups are made.
Result<void> apply_frame_filters(const Profile& profile, const std::vector<Filter>& filters,
                                 Selection& selection, const StopToken& stop) {
  std::vector<std::uint32_t> group_of;
  std::vector<std::string> names;
  for (const Filter& filter : filters) {
    if (filter.op == FilterOp::collapse && filter.by == FilterBy::recursion) {
      selection.collapse_recursion = true;
    } else if (filter.op == FilterOp::hide) {
      PROFD_TRY(const std::vector<std::uint8_t> match, match_frames(profile, filter, stop));
      warn_unless(any_set(match), filter, selection);
      selection.hidden.resize(match.size(), 0);
      for (std::size_t f = 0; f < match.size(); ++f) selection.hidden[f] |= match[f];
    } else if (filter.op == FilterOp::collapse) {
      PROFD_TRY(const std::vector<std::uint8_t> match, match_frames(profile, filter, stop));
      warn_unless(any_set(match), filter, selection);
      group_of.resize(match.size(), 0);
      names.push_back(filter.by == FilterBy::mine ? kOthers
                      : filter.regex              ? "/" + filter.pattern + "/"
                                                  : filter.pattern);
      for (std::size_t f = 0; f < match.size(); ++f) {
        if (match[f] != 0 && group_of[f] == 0) group_of[f] = static_cast<std::uint32_t>(names.size());
      }
    }
  }
  if (!names.empty())
    selection.keys = std::make_shared<const KeyTable>(with_groups(profile, *selection.keys, group_of, names));
  if (std::none_of(selection.hidden.begin(), selection.hidden.end(), [](auto h) { return h != 0; }))
    selection.hidden = {};
  return {};
}

Result<void> find_owners(const ContextTree& tree, Selection& selection, StopToken& stop) {
  const KeyTable& keys = *selection.keys;
  if (selection.hidden.empty() && keys.groups.empty() && !selection.collapse_recursion) return {};
  const std::size_t first_group = keys.first_group();
  std::vector<std::uint32_t> owner(tree.size(), 0);
  for (std::uint32_t c = 1; c < owner.size(); ++c) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t above = owner[tree.parent[c]];
    const std::uint32_t frame = tree.frame[c];
    const Key key = keys.of_frame[frame];
    const bool hidden = !selection.hidden.empty() && selection.hidden[frame] != 0;
    const bool folds = (selection.collapse_recursion || key >= first_group) && above != 0 &&
                       keys.of_frame[tree.frame[above]] == key;
    owner[c] = hidden || folds ? above : c;
  }
  selection.owner = Column<std::uint32_t>(std::move(owner));
  return {};
}

template <class T>
Result<void> sum_up(const Column<T>& values, Selection& selection, StopToken& stop) {
  const ContextTree& tree = selection.profile->tree();
  selection.negative = std::any_of(values.begin(), values.end(), [](T v) { return v < 0; });
  Column<T> totals(subtree_sums(tree, selection.self.contexts, values, false, selection.saturated, stop));
  PROFD_CHECK(stop.status());
  selection.total = totals[0];
  selection.totals = totals;
  selection.widths = totals;
  if (!selection.negative) return {};
  selection.widths =
      Column<T>(subtree_sums(tree, selection.self.contexts, values, true, selection.saturated, stop));
  return stop.status();
}

std::vector<Filter> filters_that(const std::vector<Filter>& filters, bool filter_rows) {
  std::vector<Filter> out;
  std::copy_if(filters.begin(), filters.end(), std::back_inserter(out),
               [&](const Filter& filter) { return filters_rows(filter) == filter_rows; });
  return out;
}

// Costs that are negative or do not fit are no shares of anything.
bool can_divide(const Selection& selection) {
  if (!selection.stated || !selection.stated->has_calls || selection.negative || selection.saturated)
    return false;
  const auto& calls = selection.stated->callee;
  return std::any_of(calls.begin(), calls.end(), [](const auto& call) { return call.known; });
}

std::size_t bytes_of(const ValueColumn& column) {
  return std::visit([](const auto& c) { return c.bytes(); }, column);
}
const void* address_of(const ValueColumn& column) {
  return std::visit([](const auto& c) -> const void* { return c.data(); }, column);
}

}  // namespace

bool same_boxes(const Selection& a, const Selection& b) {
  // A shared table of keys tells frames apart alike; owners say which contexts are one box.
  return a.profile == b.profile && a.keys == b.keys && a.owner.size() == b.owner.size() &&
         (a.owner.empty() || a.owner.data() == b.owner.data());
}

std::size_t Selection::memory() const {
  std::size_t bytes = sizeof(Selection) + keys->memory() + hidden.size() + owner.bytes() + bytes_of(totals);
  if (address_of(widths) != address_of(totals)) bytes += bytes_of(widths);
  if (self.contexts.data() != profile->self().contexts.data()) {
    bytes += self.contexts.bytes();
    for (const ValueColumn& values : self.values) bytes += bytes_of(values);
  }
  if (key_memo) bytes += key_memo->memory() / static_cast<std::size_t>(key_memo.use_count());
  if (stated) bytes += stated->memory();
  return bytes + (memo ? memo->memory() : 0);
}

Result<SelectionPtr> select(const ProfilePtr& profile, const ViewSpec& spec, StopToken stop,
                            const SelectionPtr& similar, Executor& executor) {
  if (spec.filters.size() > kMaxFilters)
    return fail(ErrorCode::limit, fmt::format("a view has at most {} filters", kMaxFilters));
  for (const Filter& filter : spec.filters) PROFD_CHECK(check_filter(filter));

  auto selection = std::make_shared<Selection>();
  selection->profile = profile;
  selection->memo = std::make_shared<ViewMemo>();
  PROFD_TRY(const std::vector<Filter> filters, with_whole_names(*profile, spec.filters));
  selection->row_filters = filters_that(filters, true);
  selection->box_filters = filters_that(filters, false);
  selection->metric = profile->default_metric();
  if (!spec.metric.empty()) {
    const std::optional<MetricId> metric = profile->find_metric(spec.metric);
    if (!metric) return fail(ErrorCode::not_found, unknown_metric(*profile, spec.metric));
    selection->metric = *metric;
  }
  const std::size_t m = selection->metric.v;
  if (m >= profile->metrics().size()) return fail(ErrorCode::invalid, "the profile has no metrics");
  selection->saturated = profile->metrics()[m].saturated;
  selection->profile_total = profile->total(selection->metric);

  const bool same_profile = similar && similar->profile == profile;
  const bool boxes_shared = same_profile && similar->keys->granularity == spec.granularity &&
                            similar->box_filters == selection->box_filters;
  const bool same_keys = boxes_shared || (same_profile && similar->keys->granularity == spec.granularity &&
                                          similar->keys->groups.empty());
  if (same_keys) selection->keys = similar->keys;
  const bool same_rows = same_profile && similar->row_filters == selection->row_filters;
  if (same_rows) {
    selection->self = similar->self;
    selection->excluded = similar->excluded;
    selection->n_row_warnings = similar->n_row_warnings;
    selection->warnings.assign(
        similar->warnings.begin(),
        similar->warnings.begin() + static_cast<std::ptrdiff_t>(similar->n_row_warnings));
  } else {
    PROFD_CHECK(filter_rows(*profile, filters, *selection, stop));
  }
  const bool same_sums = same_rows && similar->metric == selection->metric;
  if (same_sums) {
    selection->totals = similar->totals;
    selection->widths = similar->widths;
    selection->negative = similar->negative;
    selection->total = similar->total;
  }
  // Names need no values, sums need no names. Of a small profile both are done before a thread is awake.
  constexpr std::size_t kWorthSharing = 1u << 17;
  SerialExecutor alone;
  const bool share = profile->tree().size() + profile->frames().size() >= kWorthSharing;
  Result<void> summed;
  (share ? executor : alone).run(2, [&](std::size_t task) {
    if (task == 0 && !same_keys)
      selection->keys = std::make_shared<const KeyTable>(make_keys(*profile, spec.granularity));
    if (task == 1 && !same_sums)
      summed = std::visit([&](const auto& values) { return sum_up(values, *selection, stop); },
                          selection->self.values[m]);
  });
  PROFD_CHECK(summed);
  if (boxes_shared) {
    selection->hidden = similar->hidden;
    selection->collapse_recursion = similar->collapse_recursion;
    selection->owner = similar->owner;
    selection->warnings.insert(
        selection->warnings.end(),
        similar->warnings.begin() + static_cast<std::ptrdiff_t>(similar->n_row_warnings),
        similar->warnings.end());
  } else {
    PROFD_CHECK(apply_frame_filters(*profile, filters, *selection, stop));
    PROFD_CHECK(find_owners(profile->tree(), *selection, stop));
  }
  selection->estimated = profile->contexts_estimated();
  if (selection->estimated && selection->row_filters.empty() && selection->hidden.empty() &&
      selection->owner.empty()) {
    PROFD_TRY(selection->stated, make_stated_view(*profile, *selection->keys, selection->metric, stop));
    selection->divided = !spec.proven && can_divide(*selection);
  }
  const bool shares = similar && same_boxes(*similar, *selection);
  selection->key_memo = shares ? similar->key_memo : std::make_shared<KeyMemo>();
  return SelectionPtr(std::move(selection));
}

unsigned likeness(const Selection& made, const ViewSpec& spec) {
  const MetricId metric = spec.metric.empty() ? made.profile->default_metric()
                                              : made.profile->find_metric(spec.metric).value_or(MetricId{});
  const bool same_names = made.keys->granularity == spec.granularity;
  unsigned like = 0;
  if (same_names && made.keys->groups.empty()) like = 1;
  if (same_names && made.box_filters == filters_that(spec.filters, false)) like = 4;  // and all by box
  if (made.row_filters == filters_that(spec.filters, true)) like += made.metric == metric ? 3 : 1;
  return like;
}

Result<SelectionPtr> with_keys(const SelectionPtr& selection, std::shared_ptr<const KeyTable> keys,
                               StopToken stop) {
  if (selection->keys == keys) return selection;
  auto out = std::make_shared<Selection>(*selection);
  out->keys = std::move(keys);
  out->owner = {};
  out->memo = std::make_shared<ViewMemo>();
  out->key_memo = std::make_shared<KeyMemo>();
  PROFD_CHECK(find_owners(out->profile->tree(), *out, stop));
  if (out->stated) {
    PROFD_TRY(out->stated, make_stated_view(*out->profile, *out->keys, out->metric, stop));
    out->divided = selection->divided && can_divide(*out);
  }
  return SelectionPtr(std::move(out));
}

}  // namespace profd
