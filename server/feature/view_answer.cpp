#include "server/feature/view_answer.h"

#include <fmt/format.h>

#include "core/support/two_sides.h"
#include "core/view/focus.h"
#include "formats/loss_texts.h"
#include "server/feature/estimate.h"
#include "server/feature/exclusion.h"
#include "server/feature/metric_values.h"
#include "server/feature/missing.h"

namespace profd {

Amount amount_of(const Whole& whole, const Value& value, bool estimated) {
  Amount amount;
  amount.value = value;
  amount.text = marked(whole.text(value), estimated);
  if (as_double(whole.total) != 0) {
    amount.share = whole.share(value);
    amount.share_text = marked(whole.share_text(value), estimated);
  }
  return amount;
}

std::optional<Exclusion> exclusion_of(const Selection& selection) {
  std::string text = exclusion_text(selection);
  if (text.empty()) return std::nullopt;
  const Whole whole{selection.sums->profile_total, selection.profile->metrics()[selection.metric().v].unit};
  return Exclusion{amount_of(whole, selection.rows->excluded[selection.metric().v]), std::move(text)};
}

Remainder remainder_of(const Whole& whole, std::size_t count, const Value& amount, std::size_t offset) {
  return {count, amount_of(whole, amount), static_cast<std::uint32_t>(offset),
          fmt::format("{} more: {} · {}", format_count(std::uint64_t{count}), whole.text(amount),
                      whole.share_text(amount))};
}

namespace {

// What shares of a change are of: what grew and what shrank cancel out, so that their sum is no whole.
std::optional<Value> larger_side_of(const Selection& selection) {
  const Composition* const composition = selection.profile->composition();
  if (composition == nullptr) return std::nullopt;
  const ComposedMetric& metric = composition->metrics[selection.metric().v];
  if (metric.role != MetricRole::change) return std::nullopt;
  return std::visit(
      [&]<class T>(T) -> Value {
        const auto sum_of = [&](MetricId side) {
          T sum{};
          for (const T value : std::get<Column<T>>(selection.rows->self.values[side.v]).span())
            add_saturating(sum, finite(value));
          return sum;
        };
        return larger_of(sum_of(metric.before), sum_of(metric.after));
      },
      selection.sums->total);
}

}  // namespace

Result<PreparedView> prepare_view(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                  const StopToken& stop) {
  PROFD_CHECK(check_width(open, spec.metric));
  PreparedView view;
  PROFD_TRY(view.selection, views.selection(open, spec, stop));
  const Selection& selection = *view.selection;
  const std::string& unit = open.profile->metrics()[selection.metric().v].unit;
  view.whole = {selection.sums->total, unit};
  view.profile_whole = {selection.sums->profile_total, unit};
  if (const auto larger = larger_side_of(selection)) view.whole.total = view.profile_whole.total = *larger;
  PROFD_TRY(view.focus, keys_of_focus(selection, spec.focus));
  return view;
}

ViewHead head_of(const OpenProfile& open, const ViewSpec& spec, const PreparedView& view) {
  const Selection& selection = *view.selection;
  const MetricInfo& metric = open.profile->metrics()[selection.metric().v];
  ViewSpec named = spec;
  named.metric = metric.name;
  ViewHead head;
  head.profile = open.handle;
  head.revision = open.revision;
  head.spec = to_text(named);
  head.metric = metric.name;
  head.unit = unit_name(metric.unit);
  head.total = amount_of(view.profile_whole, selection.sums->profile_total);
  head.view_total = amount_of(view.whole, selection.sums->total);
  head.excluded = exclusion_of(selection);
  head.estimated = estimate_text(selection);
  head.note = granularity_note(selection, spec.granularity);
  head.warnings = selection.warnings();
  if (!open.loaded) return head;  // made, not read
  for (std::string& text : loss_texts(open.loaded->report)) head.warnings.push_back(std::move(text));
  return head;
}

Result<std::shared_ptr<const SourceMap>> sources_in(Views& views, const OpenProfile& open,
                                                    const WorkspaceSnapshot& workspace,
                                                    const StopToken& stop) {
  if (!workspace.files && !workspace.documents) return std::shared_ptr<const SourceMap>();
  return views.sources(open, workspace, stop);
}

bool has_source(const SourceMap* sources, const Selection& selection, Key key) {
  return sources != nullptr &&
         sources->file_of(key_place(*selection.profile, *selection.boxes->keys, key).file) != nullptr;
}

Result<std::vector<Key>> to_keys(const std::vector<std::int64_t>& path, const Selection& selection) {
  std::vector<Key> keys;
  for (const std::int64_t key : path) {
    if (key < 0 || static_cast<std::uint64_t>(key) >= selection.boxes->keys->n_keys())
      return fail(ErrorCode::not_found, fmt::format("the path has a key {} that the view has not", key));
    keys.push_back(static_cast<Key>(key));
  }
  return keys;
}

}  // namespace profd
