#include <algorithm>
#include <numeric>

#include "core/view/sweep.h"
#include "core/view/table.h"

namespace profd {
namespace {

template <class T>
struct FlatSums {
  std::vector<T> self, total;
  std::vector<std::uint8_t> present;
  T frameless{};
};

template <class T>
Result<FlatSums<T>> sum_by_key(const Selection& s, const Column<T>& totals, const Column<T>& widths,
                               const Column<T>& values, StopToken& stop) {
  const ContextTree& tree = s.profile->tree();
  const KeyTable& keys = *s.boxes->keys;
  const auto n = static_cast<std::uint32_t>(tree.size());
  FlatSums<T> sums{std::vector<T>(keys.n_keys()), std::vector<T>(keys.n_keys()),
                   std::vector<std::uint8_t>(keys.n_keys())};
  // Preorder: what lies below the outermost context of a key has an id below its subtree_end, so one number a
  // key tells outermost occurrences from nested ones.
  std::vector<std::uint32_t> inside_until(keys.n_keys(), 0);
  for (std::uint32_t c = 1; c < n;) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (widths[c] == 0) {
      c = tree.subtree_end[c];
      continue;
    }
    if (s.boxes->owner_of(c) == c) {
      const Key key = keys.of_frame[tree.frame[c]];
      if (c >= inside_until[key]) {
        inside_until[key] = tree.subtree_end[c];
        sums.total[key] = add(sums.total[key], totals[c], s.sums->saturated);
        sums.present[key] = 1;
      }
    }
    ++c;
  }
  for (std::size_t row = 0; row < s.rows->self.contexts.size(); ++row) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t c = s.boxes->owner_of(s.rows->self.contexts[row]);
    T& self = c == 0 ? sums.frameless : sums.self[keys.of_frame[tree.frame[c]]];
    self = add(self, finite(values[row]), s.sums->saturated);
  }
  return sums;
}

// The source's own totals in place of those summed over its estimated tree.
template <class T>
void take_stated(const StatedView& stated, FlatSums<T>& sums, std::vector<Estimate>& estimate) {
  for (Key key = 0; key < sums.present.size(); ++key) {
    if (stated.known[key] != 0) {
      sums.total[key] = std::get<T>(stated.total[key]);
      estimate[key] = kExact;
      if (sums.total[key] != 0) sums.present[key] = 1;
    } else if (stated.described[key] == 0 && sums.self[key] == 0) {
      sums.present[key] = 0;
    }
  }
}

template <class T>
Result<FlatView> flat_view_of(const Selection& s, const Column<T>& totals, StopToken& stop) {
  PROFD_TRY(FlatSums<T> sums, sum_by_key(s, totals, std::get<Column<T>>(s.sums->widths),
                                         std::get<Column<T>>(s.rows->self.values[s.metric().v]), stop));
  std::vector<Estimate> estimate;
  if (s.estimated) estimate.assign(sums.present.size(), kTotalEstimated);
  if (s.stated) take_stated(*s.stated, sums, estimate);
  if (counts_calls(*s.profile, s.metric())) {
    sums.total = sums.self;
    std::fill(estimate.begin(), estimate.end(), kExact);
  }
  FlatView view;
  view.frameless = sums.frameless;
  for (Key key = 0; key < sums.present.size(); ++key) {
    if (sums.present[key] == 0) continue;
    view.key.push_back(key);
    view.self.emplace_back(sums.self[key]);
    view.total.emplace_back(sums.total[key]);
    if (s.estimated) view.estimate.push_back(estimate[key]);
  }
  return view;
}

}  // namespace

void FlatView::add_row(const FlatView& from, std::size_t row) {
  key.push_back(from.key[row]);
  self.push_back(from.self[row]);
  total.push_back(from.total[row]);
  if (!from.estimate.empty()) estimate.push_back(from.estimate[row]);
}

Result<FlatView> flat_view(const Selection& selection, StopToken stop) {
  return std::visit([&](const auto& totals) { return flat_view_of(selection, totals, stop); },
                    selection.sums->totals);
}

namespace {

struct PageBounds {
  std::size_t begin, end;
};
PageBounds bounds_of(const FlatView& view, const TableRequest& request) {
  const std::size_t n = view.key.size(), begin = std::min(request.offset, n);
  return {begin, request.limit < n - begin ? begin + request.limit : n};
}

// `order` is right up to the end of the page.
TablePage page_from(const Selection& selection, const FlatView& view, PageBounds bounds,
                    const std::vector<std::uint32_t>& order) {
  const std::size_t n = order.size();
  TablePage page;
  page.n_rows = n;
  page.rows.assign(order.begin() + static_cast<std::ptrdiff_t>(bounds.begin),
                   order.begin() + static_cast<std::ptrdiff_t>(bounds.end));
  page.n_left_out = n - bounds.end;
  page.self_left_out = std::visit(
      [&](auto zero) -> Value {
        using T = decltype(zero);
        T sum{};
        for (std::size_t i = bounds.end; i < n; ++i)
          sum = add(sum, std::get<T>(view.self[order[i]]), selection.sums->saturated);
        return sum;
      },
      selection.sums->total);
  return page;
}

}  // namespace

TablePage page_in_order(const Selection& selection, const FlatView& view, const TableRequest& request) {
  std::vector<std::uint32_t> order(view.key.size());
  std::iota(order.begin(), order.end(), 0u);
  return page_from(selection, view, bounds_of(view, request), order);
}

TablePage page_of(const Selection& selection, const FlatView& view, const TableRequest& request) {
  const std::size_t n = view.key.size();
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  const std::vector<std::uint32_t>& rank = selection.boxes->keys->name_rank;
  const auto by_name = [&](std::uint32_t a, std::uint32_t b) {
    return rank[view.key[a]] < rank[view.key[b]];
  };
  const PageBounds bounds = bounds_of(view, request);
  const auto sort_until_end = [&](auto less) {
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(bounds.end);
    std::partial_sort(order.begin(), middle, order.end(), less);
  };
  if (request.sort == SortBy::name) {
    sort_until_end(
        [&](std::uint32_t a, std::uint32_t b) { return request.descending ? by_name(b, a) : by_name(a, b); });
  } else {
    const std::vector<Value>& by = request.sort == SortBy::self ? view.self : view.total;
    const std::vector<Value>& then = request.sort == SortBy::self ? view.total : view.self;
    sort_until_end([&](std::uint32_t a, std::uint32_t b) {
      if (by[a] != by[b]) return request.descending ? by[a] > by[b] : by[a] < by[b];
      if (then[a] != then[b]) return request.descending ? then[a] > then[b] : then[a] < then[b];
      return by_name(a, b);
    });
  }
  return page_from(selection, view, bounds, order);
}

}  // namespace profd
