#include "server/feature/recorded_again.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/view/names.h"
#include "server/engine/composed_origin.h"
#include "server/engine/previous_origin.h"
#include "server/engine/views.h"
#include "server/feature/changes.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::size_t kNamedFunctions = 3;
constexpr std::size_t kDiffViews = std::size_t{256} << 20;  // nothing else looks at them

Result<OpenProfile> diff_of(const OriginPtr& before, const OpenProfile& now, Executor& executor,
                            const StopToken& stop) {
  ComposeSpec spec;
  spec.kind = Composed::diff;
  // Both as they are held: what has come to the file since is another recording.
  const std::string member = member_of(now);
  spec.parts.push_back({before, member, true, nullptr});
  spec.parts.push_back({previous_origin(now.origin, now.revision, now.loaded), member, false, nullptr});
  PROFD_TRY(const OriginPtr origin, composed_origin(std::move(spec)));
  const ProfileCache none{CacheOptions{}};
  PROFD_TRY(Load load, origin->load({none, executor, stop, {}}));
  OpenProfile diff;
  diff.origin = origin;
  diff.loaded = std::move(load.profiles);
  diff.profile = diff.loaded->profiles.front();
  diff.metric = diff.profile->default_metric();
  return diff;
}

// A function of which something stands out.
struct StandingRow {
  std::size_t row;
  double size;
};

double value_at(const std::vector<Value>& column, std::size_t row) {
  return as_double(column[row]);
}

// By the change of their selfs. Only where no self stands out, totals, by what part of the larger side their
// change is: all callers have it in theirs.
std::vector<StandingRow> standing_rows(const ChangeColumns& changes, bool selfs) {
  std::vector<StandingRow> out;
  const std::vector<Standing>& standing = selfs ? changes.self_standing : changes.total_standing;
  for (std::size_t row = 0; row < standing.size(); ++row) {
    if (standing[row] != Standing::stands_out) continue;
    const double before = value_at(selfs ? changes.self_before : changes.total_before, row);
    const double after = value_at(selfs ? changes.self_after : changes.total_after, row);
    const double change = std::fabs(after - before);
    out.push_back({row, selfs ? change : change / std::max(std::fabs(after), std::fabs(before))});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const StandingRow& a, const StandingRow& b) { return a.size > b.size; });
  return out;
}

std::string row_text(const ChangeColumns& changes, std::size_t row, bool self, const std::string& name) {
  const Change of_total = changes.change[row];
  const bool one_sided = of_total == Change::added || of_total == Change::deleted;
  const Change change = one_sided || !self
                            ? of_total
                            : change_of(true, changes.self_before[row], true, changes.self_after[row]);
  return fmt::format("{} {} {}", change_mark(change), name,
                     self ? changes.self_change[row] : "total " + changes.total_change[row]);
}

std::string functions_text(const Profile& profile, const PreparedView& view, const ChangedRows& changed,
                           const ChangeColumns& changes) {
  const Noise& noise = *changed.noise;
  if (!noise.cannot.empty()) return fmt::format(" Whether that is noise cannot be said: {}.", noise.cannot);
  std::vector<StandingRow> rows = standing_rows(changes, true);
  const bool selfs = !rows.empty();
  if (!selfs) rows = standing_rows(changes, false);
  if (rows.empty()) {
    const auto least = least_rise_seen(noise);
    return fmt::format(
        " No change of a function seen{}.",
        least ? fmt::format("; at a share of 5 %, below +{:.0f} % would be missed", *least * 100) : "");
  }
  std::vector<std::string> named;
  for (std::size_t i = 0; i < std::min(rows.size(), kNamedFunctions); ++i)
    named.push_back(
        row_text(changes, rows[i].row, selfs,
                 short_name(key_name(profile, *view.selection->boxes->keys, changed.rows.key[rows[i].row]))));
  return fmt::format(
      " {}{}, beyond sampling noise.", fmt::join(named, ", "),
      rows.size() > named.size() ? fmt::format(" and {} more", rows.size() - named.size()) : "");
}

}  // namespace

std::string member_of(const OpenProfile& open) {
  if (open.n_in_file() <= 1) return {};
  return open.member_name().empty() ? std::to_string(open.number) : open.member_name();
}

Result<std::string> recorded_again_text(const OriginPtr& before, const OpenProfile& now,
                                        const std::string& called, Executor& executor,
                                        const StopToken& stop) {
  PROFD_TRY(const OpenProfile diff, diff_of(before, now, executor, stop));
  Views views(kDiffViews, executor);
  ViewSpec spec;
  spec.shape = Shape::flat;
  const std::string& metric = now.metric_info().name;
  PROFD_TRY(spec.metric, larger_metric(*diff.profile, metric));
  PROFD_TRY(const PreparedView view, prepare_view(views, diff, spec, stop));
  PROFD_TRY(const std::optional<SideTotals> sides, side_totals(views, diff, spec, view, stop));
  PROFD_TRY(const auto flat, views.flat(diff, spec, stop));
  PROFD_TRY(const ChangedRows changed,
            rows_by_change(views, diff, spec, view, *flat, ChangeOrder::size, true, stop));
  PROFD_TRY(const auto changes,
            changes_of_keys(views, diff, spec, view, changed.rows.key, changed.noise.get(), stop));
  std::string text = fmt::format("{} recorded again: {} {} → {}, {}.", called, metric, sides->before.text,
                                 sides->after.text, sides->change);
  text += functions_text(*diff.profile, view, changed, *changes);
  std::vector<std::string> notes = sides->warnings;
  const Composition& composition = *diff.profile->composition();
  if (composition.of[composition.metrics[view.selection->metric().v].of].scale != 1)
    notes.push_back(sides->scale);
  if (!notes.empty()) text += fmt::format(" ({})", fmt::join(notes, "; "));
  return text;
}

}  // namespace profd
