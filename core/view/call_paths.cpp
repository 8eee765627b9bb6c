#include "core/view/call_paths.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "core/support/sums.h"
#include "core/view/selection.h"

namespace profd {
namespace {

// Sources that measure time round each number on its own; so much apart two sums are still the same. Small
// numbers are counts, which are exact.
template <class T>
T rounding(T value, std::size_t n_terms) {
  const double size = static_cast<double>(magnitude(value));
  if constexpr (std::is_same_v<T, std::int64_t>)
    return static_cast<T>(std::max(std::min(static_cast<double>(n_terms + 2), size * 1e-3), size * 1e-9));
  else
    return size * 1e-9;
}
template <class T>
bool same(T a, T b, std::size_t n_terms) {
  return magnitude(subtract(a, b, true)) <= rounding(std::max(a, b), n_terms);
}

// Shares of `value` by weight. Whole numbers are rounded as a running sum, so that no share is off by more
// than one, and they and what is left come to `value`.
template <class T>
class Shares {
 public:
  Shares(T value, T base) : value_(value), base_(base) {}
  T next(T weight) {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      const T before = at();
      weights_ += static_cast<__uint128_t>(weight);
      return at() - before;
    } else {
      return base_ > 0 ? value_ * (weight / base_) : 0;
    }
  }

 private:
  [[nodiscard]] std::int64_t at() const {
    if (base_ <= 0) return 0;
    const auto all = static_cast<__uint128_t>(base_);
    const __uint128_t weights = std::min(weights_, all);
    return static_cast<std::int64_t>((weights * static_cast<__uint128_t>(value_) + all / 2) / all);
  }
  T value_, base_;
  __uint128_t weights_ = 0;
};

}  // namespace

template <class T>
bool CallPaths<T>::answers(const Selection& selection, Shape shape, const std::vector<Key>& focus) {
  if (!selection.divided || shape == Shape::flat) return false;
  if (shape == Shape::top_down || shape == Shape::bottom_up) return true;
  return focus.size() == 1 && focus[0] < selection.boxes->keys->n_keys() &&
         selection.stated->known[focus[0]] != 0 && as_double(selection.stated->total[focus[0]]) > 0;
}

template <class T>
CallPaths<T>::CallPaths(const Selection& selection, Shape shape, const std::vector<Key>& focus)
    : stated_(selection.stated),
      keys_(selection.boxes->keys),
      down_(shape == Shape::top_down || shape == Shape::callees) {
  find_ways();
  const T whole = std::get<T>(selection.sums->total);
  find_entries(whole);
  fit_recursion();
  const bool focused = shape == Shape::callers || shape == Shape::callees;
  const bool as_stated = !focused || total_[focus[0]] == std::get<T>(stated_->total[focus[0]]);
  root_ = {focused ? focus[0] : kNone, focused ? total_[focus[0]] : whole, as_stated, true, false};
}

template <class T>
typename CallPaths<T>::Sum CallPaths<T>::sum_of(std::span<const Way> ways) {
  Sum sum;
  for (const Way& way : ways) {
    ++sum.n;
    sum.cost = add(sum.cost, way.cost, true);
    sum.all_known = sum.all_known && way.known;
  }
  return sum;
}

template <class T>
void CallPaths<T>::find_ways() {
  const auto n = static_cast<Key>(keys_->n_keys());
  const auto cost_of = [](const StatedView::Neighbour& neighbour) {
    return neighbour.known ? std::max(T{}, std::get<T>(neighbour.total)) : T{};
  };
  total_.resize(n);
  std::vector<T> below(n);
  for (Key key = 0; key < n; ++key) {
    T above{};
    bool all_known = true, calls_itself = false;
    for (std::uint32_t i = stated_->first_callee[key]; i < stated_->first_callee[key + 1]; ++i)
      if (stated_->callee[i].key != key) {
        below[key] = add(below[key], cost_of(stated_->callee[i]), true);
        all_known = all_known && stated_->callee[i].known;
      } else {
        calls_itself = true;
      }
    for (std::uint32_t i = stated_->first_caller[key]; i < stated_->first_caller[key + 1]; ++i)
      if (stated_->caller[i].key != key) above = add(above, cost_of(stated_->caller[i]), true);
    const T self = std::max(T{}, std::get<T>(stated_->self[key]));
    const T sum = std::max(add(self, below[key], true), above);
    total_[key] = stated_->known[key] != 0 ? std::max(T{}, std::get<T>(stated_->total[key])) : sum;
    // callgrind counts calls of a function by itself in its total again.
    if (calls_itself && all_known) total_[key] = std::min(total_[key], sum);
  }
  std::vector<std::uint32_t> n_callers(n + 1, 0);
  callees_.first.assign(1, 0);
  for (Key key = 0; key < n; ++key) {
    const std::span callees =
        std::span(stated_->callee)
            .subspan(stated_->first_callee[key], stated_->first_callee[key + 1] - stated_->first_callee[key]);
    const T self = std::max(T{}, std::get<T>(stated_->self[key]));
    const T rest = subtract(total_[key], add(self, below[key], true), true);
    T unknown{};
    for (const auto& callee : callees)
      if (!callee.known && callee.key != key) unknown = add(unknown, total_[callee.key], true);
    Shares<T> shares(std::max(T{}, std::min(rest, unknown)), unknown);
    for (const auto& callee : callees) {
      if (callee.key == key) continue;
      const T cost = callee.known ? cost_of(callee) : shares.next(total_[callee.key]);
      if (cost <= 0) continue;
      callees_.way.push_back({callee.key, cost, callee.known});
      ++n_callers[callee.key + 1];
    }
    callees_.first.push_back(static_cast<std::uint32_t>(callees_.way.size()));
  }
  std::partial_sum(n_callers.begin(), n_callers.end(), n_callers.begin());
  callers_.first = n_callers;
  callers_.way.resize(callees_.way.size());
  for (Key key = 0; key < n; ++key)
    for (const Way& callee : of(callees_, key))
      callers_.way[n_callers[callee.key]++] = {key, callee.cost, callee.known};
}

// Where what a function calls costs much more than itself, that is recursion: the outermost of its calls
// costs most and has the others below it. It keeps what is stated; they are shares of what it leaves.
template <class T>
void CallPaths<T>::fit_recursion() {
  for (Key key = 0; key < static_cast<Key>(keys_->n_keys()); ++key) {
    const std::span ways =
        std::span(callees_.way).subspan(callees_.first[key], callees_.first[key + 1] - callees_.first[key]);
    const Sum calls = sum_of(ways);
    if (static_cast<double>(calls.cost) <= 1.1 * static_cast<double>(total_[key])) continue;
    Way& outermost = *std::max_element(ways.begin(), ways.end(),
                                       [](const Way& a, const Way& b) { return a.cost < b.cost; });
    if (outermost.cost > total_[key]) continue;
    const T others = subtract(calls.cost, outermost.cost, true);
    const T self = std::max(T{}, std::get<T>(stated_->self[key]));
    Shares<T> shares(subtract(total_[key], outermost.cost, true), add(others, self, true));
    for (Way& way : ways) {
      if (&way == &outermost) continue;
      way.cost = shares.next(way.cost);
      way.known = false;
    }
  }
}

template <class T>
T CallPaths<T>::base_of(Key key, const Sum& calls) const {
  if (!down_) return add(calls.cost, entry_[key], true);
  const T all = add(calls.cost, std::max(T{}, std::get<T>(stated_->self[key])), true);
  // Calls that cost more than the function are recursion, counted once a level.
  return calls.cost <= add(total_[key], rounding(total_[key], calls.n), true)
             ? std::max(total_[key], calls.cost)
             : all;
}

template <class T>
void CallPaths<T>::reach(Key from, std::vector<std::uint8_t>& reached) const {
  std::vector<Key> todo{from};
  reached[from] = 1;
  while (!todo.empty()) {
    const Key key = todo.back();
    todo.pop_back();
    for (const Way& callee : of(callees_, key)) {
      if (reached[callee.key] != 0) continue;
      reached[callee.key] = 1;
      todo.push_back(callee.key);
    }
  }
}

// Where programs and threads begin: functions that nobody calls, and what of others no caller accounts for.
// Of functions that only call each other the heaviest stands for where they were entered.
template <class T>
void CallPaths<T>::find_entries(T whole) {
  const std::size_t n = keys_->n_keys();
  entry_.assign(n, T{});
  entry_exact_.assign(n, 0);
  std::vector<std::uint8_t> reached(n, 0);
  std::vector<Key> called;
  T sum{};
  const auto enter = [&](Key key, T cost, bool exact) {
    entry_[key] = cost;
    entry_exact_[key] = exact && stated_->known[key] != 0 ? 1 : 0;
    sum = add(sum, cost, true);
    if (reached[key] == 0) reach(key, reached);
  };
  for (Key key = 0; key < n; ++key) {
    if (total_[key] <= 0) continue;
    if (of(callers_, key).empty())
      enter(key, total_[key], true);
    else
      called.push_back(key);
  }
  std::sort(called.begin(), called.end(), [&](Key a, Key b) {
    return total_[a] != total_[b] ? total_[a] > total_[b] : keys_->name_rank[a] < keys_->name_rank[b];
  });
  for (const Key key : called)
    if (reached[key] == 0) enter(key, total_[key], false);
  for (const Key key : called) {
    const Sum calls = sum_of(of(callers_, key));
    const T rest = subtract(total_[key], calls.cost, true);
    if (entry_[key] == T{} && stated_->known[key] != 0 && rest > rounding(total_[key], calls.n))
      enter(key, rest, calls.all_known);
  }
  // What is stated comes to the whole: then it is clear where these were entered.
  if (same(sum, whole, n))
    for (const Key key : called)
      if (entry_[key] == total_[key] && stated_->known[key] != 0) entry_exact_[key] = 1;
  if (sum <= whole) return;
  const auto heaviest = std::max_element(entry_.begin(), entry_.end());
  const T over = subtract(sum, whole, true);
  if (same(sum, whole, n) && *heaviest >= over) {
    *heaviest = subtract(*heaviest, over, true);
    return;
  }
  std::fill(entry_exact_.begin(), entry_exact_.end(), std::uint8_t{0});
  Shares<T> shares(whole, sum);
  for (T& entry : entry_) entry = entry > 0 ? shares.next(entry) : T{};
}

template <class T>
void CallPaths<T>::divide_root(Division& out) const {
  T sum{};
  for (Key key = 0; key < keys_->n_keys(); ++key) {
    Part part{key, down_ ? entry_[key] : std::get<T>(stated_->self[key]), true, false, false};
    if (part.total <= 0) continue;
    if (down_) {
      part.exact = entry_exact_[key] != 0;
      part.whole = part.exact && same(part.total, total_[key], keys_->n_keys());
    }
    sum = add(sum, part.total, true);
    out.parts.push_back(part);
  }
  out.self = std::max(T{}, subtract(root_.total, sum, true));
  // What no function is known to have cost is either of stacks without frames or a gap in what is stated.
  out.self_exact = !down_ || same(root_.total, sum, keys_->n_keys());
  if (down_ && out.self_exact && std::is_same_v<T, double>) out.self = T{};
}

template <class T>
void CallPaths<T>::divide(const Part& part, const std::vector<std::uint8_t>& on_path, Division& out) const {
  out.parts.clear();
  out.self = T{};
  if (part.key == kNone) return divide_root(out);
  const Sum calls = sum_of(next(part.key));
  const bool whole_fits = part.whole && calls.cost <= part.total;
  const T base = whole_fits ? part.total : base_of(part.key, calls);
  const T self = std::get<T>(stated_->self[part.key]);
  if (part.cut || calls.n == 0 || base <= 0) {
    out.self = part.total;
    // Above: it starts here only if nobody is known to have called it.
    out.self_exact = part.exact && !part.cut && (down_ || calls.n == 0);
    return;
  }
  // One caller, and it was entered from nowhere else: all comes from there.
  const bool one_way = !down_ && calls.n == 1 && calls.all_known && entry_[part.key] == T{};
  const bool fits = part.whole && calls.cost <= add(part.total, rounding(part.total, calls.n), true);
  Shares<T> shares(part.total, base);
  T sum{};
  for (const Way& way : next(part.key)) {
    if (way.cost <= 0) continue;
    Part below{way.key, shares.next(way.cost), part.exact && way.known && (fits || one_way), false,
               on_path[way.key] != 0};
    if (below.total <= 0) continue;
    below.whole = down_ && below.exact && stated_->known[below.key] != 0 &&
                  same(below.total, total_[below.key], calls.n);
    sum = add(sum, below.total, true);
    out.parts.push_back(below);
  }
  out.self = subtract(part.total, sum, true);
  if constexpr (std::is_same_v<T, double>) {
    if (same(part.total, sum, calls.n)) out.self = T{};
  }
  out.self_exact =
      part.exact && calls.all_known && (down_ ? fits && same(out.self, self, calls.n) : one_way || fits);
}

template <class T>
std::vector<double> CallPaths<T>::shares(const std::vector<std::uint8_t>& matches, StopToken& stop) const {
  const std::size_t n = keys_->n_keys();
  // What is nearer to the end of paths comes first, so that without circles one pass is enough.
  std::vector<Key> order;
  std::vector<std::uint8_t> seen(n, 0);
  std::vector<std::pair<Key, std::size_t>> open;
  for (Key start = 0; start < n; ++start) {
    if (seen[start] != 0) continue;
    seen[start] = 1;
    open.emplace_back(start, 0);
    while (!open.empty()) {
      if (stop.check()) return {};
      auto& [key, at] = open.back();
      const auto neighbours = next(key);
      if (at == neighbours.size()) {
        order.push_back(key);
        open.pop_back();
        continue;
      }
      const Key neighbour = neighbours[at++].key;
      if (seen[neighbour] != 0) continue;
      seen[neighbour] = 1;
      open.emplace_back(neighbour, 0);
    }
  }
  std::vector<double> share(n, 0), base(n, 0);
  for (Key key = 0; key < n; ++key) base[key] = static_cast<double>(base_of(key, sum_of(next(key))));
  constexpr int kMostPasses = 64;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    double change = 0;
    for (const Key key : order) {
      if (stop.check()) return {};
      double sum = 0;
      if (matches[key] != 0) {
        sum = 1;
      } else if (base[key] > 0) {
        for (const Way& way : next(key)) sum += static_cast<double>(way.cost) / base[key] * share[way.key];
      }
      sum = std::min(sum, 1.0);
      change = std::max(change, std::fabs(sum - share[key]));
      share[key] = sum;
    }
    if (change < 1e-9) break;
  }
  return share;
}

template <class T>
bool CallPaths<T>::reaches(Key from, const std::vector<std::uint8_t>& matches,
                           const std::vector<std::uint8_t>& on_path, StopToken& stop) const {
  if (matches[from] != 0) return true;
  std::vector<std::uint8_t> seen = on_path;
  std::vector<Key> todo{from};
  while (!todo.empty() && !stop.check()) {
    const Key key = todo.back();
    todo.pop_back();
    for (const Way& way : next(key)) {
      if (seen[way.key] != 0) continue;
      if (matches[way.key] != 0) return true;
      seen[way.key] = 1;
      todo.push_back(way.key);
    }
  }
  return false;
}

template <class T>
std::size_t CallPaths<T>::memory() const {
  return sizeof(CallPaths) + (callees_.way.size() + callers_.way.size()) * sizeof(Way) +
         (callees_.first.size() + callers_.first.size()) * sizeof(std::uint32_t) +
         (total_.size() + entry_.size()) * sizeof(T);
}

template class CallPaths<std::int64_t>;
template class CallPaths<double>;

}  // namespace profd
