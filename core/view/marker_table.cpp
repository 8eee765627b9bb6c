#include "core/view/marker_table.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/support/checked.h"

namespace profd {
namespace {

// Sorts the first `n`.
template <class T, class Less>
void sort_first(std::vector<T>& rows, std::size_t n, Less less) {
  const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(std::min(n, rows.size()));
  std::partial_sort(rows.begin(), middle, rows.end(), less);
}

// a before b, turned round where descending; nothing where they are equal.
template <class T>
std::optional<bool> before(const T& a, const T& b, bool descending) {
  if (a == b) return std::nullopt;
  return (a < b) != descending;
}

}  // namespace

Result<FoundMarkers> find_markers(const Profile& profile, const Markers& markers, const MarkerQuery& query,
                                  const Moments& passes, std::int64_t last, StopToken stop) {
  FoundMarkers out;
  std::vector<std::uint8_t> meant;
  if (!query.search.empty()) {
    PROFD_TRY(meant, query.search.matches(profile, markers, stop));
  }
  for (std::uint32_t id = 0; id < markers.size(); ++id) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (!meant.empty() && meant[id] == 0) continue;
    const std::int64_t begin = markers.begin(id), end = markers.end(id);
    const std::int64_t until = end == kNoTime ? last : end;
    // What takes no time is there at its begin.
    if (query.from && (until < *query.from || (until == *query.from && begin < until))) continue;
    if (query.to && begin >= *query.to) continue;
    if (query.min_length > 0 && markers.length(id, last) < query.min_length) continue;
    if (passes && !passes(markers.thread(id), begin, end)) continue;
    out.ids.push_back(id);
    if (end == kNoTime)
      ++out.n_open;
    else
      add_saturating(out.length, markers.length(id, last));
  }
  return out;
}

void sort_markers(const Profile& profile, const Markers& markers, std::vector<std::uint32_t>& ids,
                  MarkerOrder order, bool descending, std::size_t n, std::int64_t last) {
  const StringTable& strings = profile.strings();
  const auto thread_name = [&](std::uint32_t id) -> std::string_view {
    const std::uint32_t thread = markers.thread(id);
    return thread == kNone ? std::string_view() : strings[profile.threads().name[thread]];
  };
  sort_first(ids, n, [&](std::uint32_t a, std::uint32_t b) {
    std::optional<bool> is_before;
    if (order == MarkerOrder::length)
      is_before = before(markers.length(a, last), markers.length(b, last), descending);
    else if (order == MarkerOrder::name)
      is_before = before(strings[markers.name(a)], strings[markers.name(b)], descending);
    else if (order == MarkerOrder::category)
      is_before = before(strings[markers.category(a)], strings[markers.category(b)], descending);
    else if (order == MarkerOrder::thread)
      is_before = before(thread_name(a), thread_name(b), descending);
    else
      is_before = before(markers.begin(a), markers.begin(b), descending);
    if (is_before) return *is_before;
    return std::pair(markers.begin(a), a) < std::pair(markers.begin(b), b);
  });
}

Result<std::vector<MarkerGroup>> group_markers(const Profile& profile, const Markers& markers,
                                               const std::vector<std::uint32_t>& ids, MarkerOrder order,
                                               bool descending, StopToken stop) {
  std::vector<MarkerGroup> out;
  std::unordered_map<std::uint64_t, std::size_t> row_of;
  for (const std::uint32_t id : ids) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const StringId name = markers.name(id), category = markers.category(id);
    const auto [row, is_new] = row_of.try_emplace(std::uint64_t{name.v} << 32 | category.v, out.size());
    if (is_new) out.push_back({name, category, 0, markers.begin(id), 0, 0, 0});
    MarkerGroup& group = out[row->second];
    ++group.count;
    group.first = std::min(group.first, markers.begin(id));
    if (markers.end(id) == kNoTime) continue;
    const std::int64_t length = markers.length(id, 0);
    if (length == 0) continue;
    ++group.n_long;
    add_saturating(group.length, length);
    group.most = std::max(group.most, length);
  }
  const StringTable& strings = profile.strings();
  std::sort(out.begin(), out.end(), [&](const MarkerGroup& a, const MarkerGroup& b) {
    std::optional<bool> is_before;
    switch (order) {
      case MarkerOrder::begin:
        is_before = before(a.first, b.first, descending);
        break;
      case MarkerOrder::length:
        is_before = before(a.length, b.length, descending);
        break;
      case MarkerOrder::count:
        is_before = before(a.count, b.count, descending);
        break;
      case MarkerOrder::mean:
        is_before = before(a.mean(), b.mean(), descending);
        break;
      case MarkerOrder::most:
        is_before = before(a.most, b.most, descending);
        break;
      case MarkerOrder::category:
        is_before = before(strings[a.category], strings[b.category], descending);
        break;
      case MarkerOrder::name:
      case MarkerOrder::thread:
        is_before = before(strings[a.name], strings[b.name], descending);
        break;
    }
    if (is_before) return *is_before;
    return std::tuple(strings[a.name], strings[a.category]) <
           std::tuple(strings[b.name], strings[b.category]);
  });
  return out;
}

}  // namespace profd
