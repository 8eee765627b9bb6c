// Finding a contiguous run of symbols along every path of a tree, with overlaps and recursion handled by the
// automaton of Knuth, Morris and Pratt: the state of a context follows from its parent's.
#pragma once

#include <cstdint>
#include <vector>

namespace profd {

class FragmentAutomaton {
 public:
  using State = std::uint16_t;
  // `pattern`: symbols 1..n_symbols, at most 65,534 of them and at least one; symbol 0 is any other.
  explicit FragmentAutomaton(const std::vector<std::uint32_t>& pattern, std::uint32_t n_symbols)
      : width_(n_symbols + 1), accept_(static_cast<State>(pattern.size())) {
    next_.assign((pattern.size() + 1) * width_, 0);
    State border = 0;
    for (std::size_t state = 0; state <= pattern.size(); ++state) {
      if (state > 0) {
        for (std::uint32_t symbol = 0; symbol < width_; ++symbol)
          next_[state * width_ + symbol] = next_[border * width_ + symbol];
      }
      if (state == pattern.size()) break;
      const std::uint32_t symbol = pattern[state];
      const State follow = state == 0 ? State{0} : next_[border * width_ + symbol];
      next_[state * width_ + symbol] = static_cast<State>(state + 1);
      if (state > 0) border = follow;
    }
  }
  State next(State state, std::uint32_t symbol) const { return next_[state * width_ + symbol]; }
  bool accepts(State state) const { return state == accept_; }

 private:
  std::size_t width_;
  State accept_;
  std::vector<State> next_;
};

}  // namespace profd
