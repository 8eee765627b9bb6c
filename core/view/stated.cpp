#include "core/view/stated.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "core/view/sweep.h"

namespace profd {
namespace {

template <class T>
struct Edge {
  Key caller, callee;
  bool known;
  T total;
};

// What calls what, each pair once. Calls from outside or of nobody known are no pairs.
template <class T>
std::vector<Edge<T>> edges_of(const StatedCosts::Calls& calls, const Column<T>& totals,
                              const KeyTable& keys) {
  std::vector<Edge<T>> edges;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls.caller[i] == kNone || calls.callee[i] == kNone) continue;
    const bool known = calls.known[i] != 0 && !totals.empty();
    edges.push_back({keys.of_frame[calls.caller[i]], keys.of_frame[calls.callee[i]], known,
                     known ? finite(totals[i]) : T{}});
  }
  const auto before = [](const Edge<T>& a, const Edge<T>& b) {
    return a.caller != b.caller ? a.caller < b.caller : a.callee < b.callee;
  };
  std::stable_sort(edges.begin(), edges.end(), before);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (kept > 0 && !before(edges[kept - 1], edges[i])) {
      add_saturating(edges[kept - 1].total, edges[i].total);
      edges[kept - 1].known &= edges[i].known;
    } else {
      edges[kept++] = edges[i];
    }
  }
  edges.resize(kept);
  return edges;
}

// 1 by key: it may call itself, through others or not. What lies between two cycles counts as well.
template <class T>
std::vector<std::uint8_t> may_recurse(const std::vector<Edge<T>>& edges, std::size_t n_keys) {
  std::vector<std::uint8_t> stays(n_keys, 1);
  for (const bool down : {true, false}) {
    const auto from = [&](const Edge<T>& e) { return down ? e.caller : e.callee; };
    const auto to = [&](const Edge<T>& e) { return down ? e.callee : e.caller; };
    std::vector<std::uint32_t> first(n_keys + 1, 0), n_in(n_keys, 0), next(edges.size()), ready;
    for (const Edge<T>& e : edges) {
      if (!stays[from(e)] || !stays[to(e)]) continue;
      ++first[from(e) + 1];
      ++n_in[to(e)];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<std::uint32_t> fill(first.begin(), first.end() - 1);
    for (const Edge<T>& e : edges)
      if (stays[from(e)] && stays[to(e)]) next[fill[from(e)]++] = to(e);
    for (Key key = 0; key < n_keys; ++key)
      if (stays[key] && n_in[key] == 0) ready.push_back(key);
    while (!ready.empty()) {
      const Key key = ready.back();
      ready.pop_back();
      stays[key] = 0;
      for (std::uint32_t i = first[key]; i < first[key + 1]; ++i)
        if (--n_in[next[i]] == 0) ready.push_back(next[i]);
    }
  }
  return stays;
}

template <class T>
void add_neighbours(std::vector<Edge<T>> edges, const KeyTable& keys, bool callers,
                    std::vector<std::uint32_t>& first, std::vector<StatedView::Neighbour>& out) {
  const auto of = [&](const Edge<T>& e) { return callers ? e.callee : e.caller; };
  const auto other = [&](const Edge<T>& e) { return callers ? e.caller : e.callee; };
  std::sort(edges.begin(), edges.end(), [&](const Edge<T>& a, const Edge<T>& b) {
    if (of(a) != of(b)) return of(a) < of(b);
    if (a.known != b.known) return a.known;
    if (a.total != b.total) return magnitude(a.total) > magnitude(b.total);
    return keys.name_rank[other(a)] < keys.name_rank[other(b)];
  });
  first.assign(keys.n_keys() + 1, 0);
  for (const Edge<T>& e : edges) {
    ++first[of(e) + 1];
    out.push_back({other(e), e.known, Value(e.total)});
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
}

template <class T>
struct Totals {
  std::vector<T> self, total;
  std::vector<std::uint8_t> described, known;
};

template <class T>
Result<Totals<T>> selves(const Profile& profile, const KeyTable& keys, const Column<T>& values,
                         StopToken& stop) {
  Totals<T> out;
  out.self.resize(keys.n_keys());
  out.described.resize(keys.n_keys());
  out.known.resize(keys.n_keys());
  const SelfTable& self = profile.self();
  for (std::size_t row = 0; row < self.contexts.size(); ++row) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (self.contexts[row] == 0) continue;
    add_saturating(out.self[keys.of_frame[profile.tree().frame[self.contexts[row]]]], finite(values[row]));
  }
  return out;
}

// A function's own statement. Parts of one function add up unless one may be above another on a stack.
template <class T>
void take_functions(const StatedCosts::Functions& functions, const Column<T>& totals,
                    const std::vector<Edge<T>>& edges, const KeyTable& keys, Totals<T>& out) {
  std::vector<std::uint32_t> n_rows(keys.n_keys()), n_known(keys.n_keys()), first(keys.n_keys(), kNone);
  std::vector<std::uint8_t> has_parts(keys.n_keys(), 0);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const Key key = keys.of_frame[functions.frame[i]];
    ++n_rows[key];
    if (first[key] == kNone) first[key] = functions.frame[i];
    has_parts[key] |= first[key] != functions.frame[i] ? 1 : 0;
    if (functions.known[i] == 0 || totals.empty()) continue;
    ++n_known[key];
    add_saturating(out.total[key], finite(totals[i]));
  }
  const bool any_parts = std::any_of(has_parts.begin(), has_parts.end(), [](auto has) { return has != 0; });
  std::vector<std::uint8_t> recurses;
  if (any_parts) recurses = may_recurse(edges, keys.n_keys());
  for (Key key = 0; key < keys.n_keys(); ++key) {
    out.described[key] = n_rows[key] > 0 ? 1 : 0;
    out.known[key] =
        n_rows[key] > 0 && n_known[key] == n_rows[key] && (has_parts[key] == 0 || !recurses[key]);
  }
}

// What the source says of a place itself, where that is one statement; else what runs there, and what the
// calls made there cost. A function of which no place is known is one place.
template <class T>
void take_places(const Profile& profile, const Column<T>& totals, const Column<T>& call_totals,
                 const KeyTable& keys, Totals<T>& out) {
  const FrameTable& frames = profile.frames();
  const auto is_placed = [&](std::uint32_t frame) {
    return frames.line[frame] != 0 || frames.address[frame] != 0;
  };
  std::vector<std::uint8_t> has_places(profile.functions().size(), 0);
  for (std::uint32_t frame = 0; frame < frames.size(); ++frame)
    has_places[frames.function[frame].v] |= is_placed(frame) ? 1 : 0;
  const StatedCosts::Functions& functions = profile.stated()->functions;
  std::vector<std::uint32_t> row_of(keys.n_keys(), kNone), n_rows(keys.n_keys(), 0);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const std::uint32_t frame = functions.frame[i];
    const Key key = keys.of_frame[frame];
    if (is_placed(frame)) {
      row_of[key] = static_cast<std::uint32_t>(i);
      ++n_rows[key];
    }
    if (has_places[frames.function[frame].v] != 0) continue;
    // Two functions that look the same from here may be above one another.
    out.known[key] = out.described[key] == 0 && functions.known[i] != 0 && !totals.empty();
    if (out.known[key] != 0) out.total[key] = finite(totals[i]);
    out.described[key] = 1;
  }
  for (Key key = 0; key < keys.n_keys(); ++key) {
    if (!is_placed(keys.example[key])) continue;
    out.total[key] = out.self[key];
    out.described[key] = 1;
    out.known[key] = call_totals.empty() ? 0 : 1;
  }
  const StatedCosts::Calls& calls = profile.stated()->calls;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls.caller[i] == kNone) continue;
    const Key key = keys.of_frame[calls.caller[i]];
    if (!is_placed(keys.example[key])) continue;
    if (calls.known[i] == 0 || call_totals.empty())
      out.known[key] = 0;
    else
      add_saturating(out.total[key], finite(call_totals[i]));
  }
  for (Key key = 0; key < keys.n_keys() && !totals.empty(); ++key) {
    if (n_rows[key] != 1 || functions.known[row_of[key]] == 0) continue;
    out.total[key] = finite(totals[row_of[key]]);
    out.known[key] = 1;
  }
}

template <class T>
const Column<T>& column_of(const std::vector<ValueColumn>& totals, MetricId metric) {
  static const Column<T> kNothing;
  const auto* column = metric.v < totals.size() ? std::get_if<Column<T>>(&totals[metric.v]) : nullptr;
  return column != nullptr ? *column : kNothing;
}

template <class T>
Result<std::shared_ptr<const StatedView>> stated_view(const Profile& profile, const KeyTable& keys,
                                                      MetricId metric, const Column<T>& values,
                                                      StopToken& stop) {
  const StatedCosts& stated = *profile.stated();
  const Column<T>& call_totals = column_of<T>(stated.calls.totals, metric);
  PROFD_TRY(Totals<T> sums, selves(profile, keys, values, stop));
  sums.total.resize(keys.n_keys());
  auto view = std::make_shared<StatedView>();
  if (keys.granularity == Granularity::function) {
    const std::vector<Edge<T>> edges = edges_of(stated.calls, call_totals, keys);
    PROFD_CHECK(stop.status());
    take_functions(stated.functions, column_of<T>(stated.functions.totals, metric), edges, keys, sums);
    view->has_calls = !call_totals.empty();
    if (view->has_calls) {
      add_neighbours(edges, keys, true, view->first_caller, view->caller);
      add_neighbours(edges, keys, false, view->first_callee, view->callee);
    }
  } else {
    take_places(profile, column_of<T>(stated.functions.totals, metric), call_totals, keys, sums);
  }
  view->described = std::move(sums.described);
  view->known = std::move(sums.known);
  view->self.assign(sums.self.begin(), sums.self.end());
  view->total.assign(sums.total.begin(), sums.total.end());
  return view;
}

}  // namespace

bool counts_calls(const Profile& profile, MetricId metric) {
  if (!profile.contexts_estimated() || metric.v >= profile.metrics().size()) return false;
  const MetricInfo& info = profile.metrics()[metric.v];
  return info.unit == "count" && (info.name == "calls" || info.name == "primitive_calls");
}

Value not_called(const StatedView& stated, Key key, const Value& total) {
  return std::visit(
      [&](auto rest) -> Value {
        using T = decltype(rest);
        const bool negative = rest < 0;
        for (std::uint32_t i = stated.first_caller[key]; i < stated.first_caller[key + 1]; ++i) {
          // Recursion is part of the total already.
          if (stated.caller[i].key == key) continue;
          rest = subtract(rest, std::get<T>(stated.caller[i].total), true);
        }
        return (rest < 0) == negative ? rest : T{};
      },
      total);
}

std::size_t StatedView::memory() const {
  return sizeof(StatedView) + described.size() + known.size() + (self.size() + total.size()) * sizeof(Value) +
         (first_caller.size() + first_callee.size()) * sizeof(std::uint32_t) +
         (caller.size() + callee.size()) * sizeof(Neighbour);
}

Result<std::shared_ptr<const StatedView>> make_stated_view(const Profile& profile, const KeyTable& keys,
                                                           MetricId metric, StopToken stop) {
  if (profile.stated() == nullptr || !keys.groups.empty() || keys.granularity == Granularity::file ||
      keys.granularity == Granularity::module)
    return std::shared_ptr<const StatedView>();
  return std::visit(
      [&]<class T>(const Column<T>& values) { return stated_view<T>(profile, keys, metric, values, stop); },
      profile.self().values[metric.v]);
}

}  // namespace profd
