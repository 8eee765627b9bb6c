// CallPaths: paths through a graph of calls. A source without stacks states what functions and calls cost;
// here that is divided among the ways a function was reached: a function stands below each of its callers
// with the cost stated for that call, and what lies deeper is divided as its callers paid. Worked out for one
// function at a time, so that a graph with more paths than anybody could hold costs what is looked at.
// docs/decisions/0082-divided-paths.md says what is exact and what an estimate.
//
// In every shape the parts of a node and its self come to its total. Recursion is cut where a function meets
// itself: it stands there once more, with nothing below. Calls of a function by itself are part of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/support/stop.h"
#include "core/view/keys.h"
#include "core/view/spec.h"
#include "core/view/stated.h"

namespace profd {

struct Selection;

template <class T>
class CallPaths {
 public:
  // What of a function's cost lies at one place of a tree.
  struct Part {
    Key key = kNone;
    T total{};
    bool exact = false;  // as stated, not divided
    bool whole = false;  // all that the function costs: what is stated of its calls holds below
    bool cut = false;    // it stands on the path already
  };
  struct Division {
    std::vector<Part> parts;  // in no order, none of 0
    T self{};
    bool self_exact = false;
  };

  // Whether a view of this shape can be made so: Selection::divided, and of callers and callees one function
  // whose total is stated.
  static bool answers(const Selection& selection, Shape shape, const std::vector<Key>& focus);
  // `selection` may go away afterwards.
  CallPaths(const Selection& selection, Shape shape, const std::vector<Key>& focus);

  // The root of the view: its key is that of the focus, else none.
  [[nodiscard]] const Part& root() const { return root_; }
  // on_path[key] != 0: the function stands at the part or between it and the root.
  void divide(const Part& part, const std::vector<std::uint8_t>& on_path, Division& out) const;

  // By key, how much of what lies at a function passes through a match at or beyond it: 0 to 1. Where
  // functions call each other in a circle it is an estimate. Empty when stopped.
  [[nodiscard]] std::vector<double> shares(const std::vector<std::uint8_t>& matches, StopToken& stop) const;
  // Whether a match is reached from `from` through functions that are not on the path.
  [[nodiscard]] bool reaches(Key from, const std::vector<std::uint8_t>& matches,
                             const std::vector<std::uint8_t>& on_path, StopToken& stop) const;

  [[nodiscard]] std::size_t memory() const;

 private:
  // A call that costs something; calls of a function by itself are none.
  struct Way {
    Key key;
    T cost;
    bool known;  // else the rest of what the caller's calls cost, by what the callees do
  };
  struct Ways {
    std::vector<std::uint32_t> first;  // by key, one more than there are keys
    std::vector<Way> way;
  };
  struct Sum {
    T cost{};
    std::uint32_t n = 0;
    bool all_known = true;
  };
  [[nodiscard]] static std::span<const Way> of(const Ways& ways, Key key) {
    return std::span(ways.way).subspan(ways.first[key], ways.first[key + 1] - ways.first[key]);
  }
  [[nodiscard]] std::span<const Way> next(Key key) const { return of(down_ ? callees_ : callers_, key); }
  [[nodiscard]] static Sum sum_of(std::span<const Way> ways);
  void find_ways();
  void fit_recursion();
  // What parts are shares of: the cost of the function, or more where its calls are said to cost more.
  [[nodiscard]] T base_of(Key key, const Sum& calls) const;
  void find_entries(T whole);
  void reach(Key from, std::vector<std::uint8_t>& reached) const;
  void divide_root(Division& out) const;

  std::shared_ptr<const StatedView> stated_;
  std::shared_ptr<const KeyTable> keys_;
  bool down_;
  Part root_;
  Ways callees_, callers_;
  std::vector<T> total_, entry_;  // by key; what of it no caller accounts for
  std::vector<std::uint8_t> entry_exact_;
};

extern template class CallPaths<std::int64_t>;
extern template class CallPaths<double>;

}  // namespace profd
