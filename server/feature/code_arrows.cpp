#include "server/feature/code_arrows.h"

#include <algorithm>

namespace profd {
namespace {

constexpr std::uint32_t kMaxLanesShown = 6;

}  // namespace

CodeArrows::CodeArrows(const Jumps& jumps, std::size_t n_rows)
    : n_lanes_(std::min(jumps.n_lanes, kMaxLanesShown)) {
  lanes_.assign(n_lanes_, std::string(n_rows, ' '));
  dashes_.assign(n_rows, 0);
  heads_.assign(n_rows, ' ');
  for (std::size_t i = 0; i < jumps.size(); ++i) {
    if (jumps.lane[i] >= n_lanes_) continue;
    std::string& lane = lanes_[jumps.lane[i]];
    const std::size_t top = std::min(jumps.from[i], jumps.to[i]),
                      bottom = std::max(jumps.from[i], jumps.to[i]);
    for (std::size_t row = top; row <= bottom; ++row) lane[row] = '|';
    lane[top] = top == bottom ? '>' : ',';
    if (top != bottom) lane[bottom] = '\'';
    for (const std::size_t row : {top, bottom}) dashes_[row] = std::max(dashes_[row], jumps.lane[i] + 1);
    if (heads_[jumps.from[i]] == ' ') heads_[jumps.from[i]] = '-';
    heads_[jumps.to[i]] = '>';
  }
}

std::string CodeArrows::text(std::size_t row, bool on_row) const {
  if (n_lanes_ == 0) return {};
  std::string out;
  for (std::uint32_t lane = n_lanes_; lane-- > 0;) {
    char c = lanes_[lane][row];
    if (!on_row) c = c == '|' || c == ',' ? '|' : ' ';
    // An end further out reaches over to the row.
    if (on_row && c == ' ' && lane + 1 < dashes_[row]) c = '-';
    out += c;
  }
  return out + (on_row ? heads_[row] : ' ');
}

}  // namespace profd
