#include "server/feature/line_neighbours.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <unordered_map>
#include <variant>

#include "core/support/checked.h"

namespace profd {
namespace {

Value sum_of_two(const Value& a, const Value& b) {
  return std::visit(
      [&]<class T>(T sum) {
        if (const T* more = std::get_if<T>(&b)) add_saturating(sum, *more);
        return Value(sum);
      },
      a);
}

// Several lines of one function are one neighbour.
class ByFunction {
 public:
  ByFunction(const Selection& functions, const KeyTable& lines) : functions_(functions), lines_(lines) {}

  void add(const std::vector<Neighbour>& some, std::size_t n_in_all) {
    n_unlisted_ += n_in_all - std::min(n_in_all, some.size());
    for (const Neighbour& one : some) {
      const Key key = functions_.boxes->keys->of_frame[lines_.example[one.key]];
      const auto [at, is_new] = place_.try_emplace(key, all_.size());
      if (is_new)
        all_.push_back({key, one.total});
      else
        all_[at->second].total = sum_of_two(all_[at->second].total, one.total);
    }
  }
  std::vector<Neighbour> heaviest(std::size_t n, std::size_t& n_in_all) {
    n_in_all = all_.size() + n_unlisted_;
    const auto& rank = functions_.boxes->keys->name_rank;
    std::sort(all_.begin(), all_.end(), [&](const Neighbour& a, const Neighbour& b) {
      const double x = std::abs(as_double(a.total)), y = std::abs(as_double(b.total));
      return x != y ? x > y : rank[a.key] < rank[b.key];
    });
    all_.resize(std::min(all_.size(), n));
    return std::move(all_);
  }

 private:
  const Selection& functions_;
  const KeyTable& lines_;
  std::unordered_map<Key, std::size_t> place_;
  std::vector<Neighbour> all_;
  std::size_t n_unlisted_ = 0;
};

}  // namespace

Result<LineNeighbours> line_neighbours(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                       const Selection& functions, const std::vector<std::size_t>& frames,
                                       const Value& line_total, std::size_t n, const StopToken& stop) {
  constexpr std::size_t kMaxJoined = 64;
  ViewSpec by_line = spec;
  by_line.granularity = Granularity::line;
  PROFD_TRY(const SelectionPtr lines, views.selection(open, by_line, stop));
  std::vector<Key> keys;
  for (const std::size_t frame : frames) {
    const Key key = lines->boxes->keys->of_frame[frame];
    // A group of frames is more than a line.
    if (key >= lines->boxes->keys->first_group()) continue;
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    if (keys.size() == kMaxJoined) break;
  }
  LineNeighbours out;
  out.total = line_total;
  out.n_joined = keys.size();
  ByFunction callers(functions, *lines->boxes->keys), callees(functions, *lines->boxes->keys);
  for (const Key key : keys) {
    PROFD_TRY(const Neighbours around,
              views.neighbours(open, by_line, key, std::numeric_limits<std::size_t>::max(), stop));
    callers.add(around.callers, around.n_callers);
    callees.add(around.callees, around.n_callees);
    out.estimated |= around.calls_estimated;
    if (keys.size() == 1) out.total = around.total;
  }
  out.callers = callers.heaviest(n, out.n_callers);
  out.callees = callees.heaviest(n, out.n_callees);
  return out;
}

}  // namespace profd
