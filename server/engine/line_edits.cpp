#include "server/engine/line_edits.h"

#include <algorithm>
#include <utility>

#include "core/source/line_diff.h"

namespace profd {
namespace {

using Run = LineEdits::Run;

// Appends to runs, joining what goes on.
void add_run(std::vector<Run>& runs, Run run) {
  if (run.n == 0) return;
  if (!runs.empty()) {
    Run& last = runs.back();
    const bool goes_on = run.origin == kNone ? last.origin == kNone
                                             : last.origin != kNone && last.origin + last.n == run.origin;
    if (goes_on && last.edited == run.edited) {
      last.n += run.n;
      return;
    }
  }
  runs.push_back(run);
}

// Takes lines from the front of what is left of some runs.
class RunReader {
 public:
  explicit RunReader(const std::vector<Run>& runs) : runs_(runs) {}

  // The next `n` lines go to `into`, where that is not null; as edited ones, or as they are.
  void take(std::size_t n, std::vector<Run>* into, bool edited = false) {
    while (n > 0 && at_ < runs_.size()) {
      const Run& run = runs_[at_];
      const auto n_here = static_cast<std::uint32_t>(std::min<std::size_t>(n, run.n - used_));
      if (into != nullptr)
        add_run(*into, {run.origin == kNone ? kNone : run.origin + used_, n_here, edited || run.edited});
      n -= n_here;
      used_ += n_here;
      if (used_ < run.n) return;
      ++at_;
      used_ = 0;
    }
  }
  void take_rest(std::vector<Run>& into) {
    if (used_ > 0) take(runs_[at_].n - used_, &into);
    for (; at_ < runs_.size(); ++at_) add_run(into, runs_[at_]);
  }

 private:
  const std::vector<Run>& runs_;
  std::size_t at_ = 0;
  std::uint32_t used_ = 0;  // lines of runs_[at_]
};

}  // namespace

LineEdits::LineEdits(std::size_t n_lines) {
  add_run(runs_, {0, static_cast<std::uint32_t>(n_lines), false});
}

LineEdits::LineEdits(const std::vector<std::uint64_t>& before, const std::vector<std::uint64_t>& after) {
  const std::vector<std::uint32_t> origin = follow_lines(before, after);
  for (std::size_t line = 0; line < origin.size(); ++line)
    add_run(runs_, {origin[line], 1, origin[line] == kNone || before[origin[line]] != after[line]});
}

void LineEdits::replace(std::size_t first, std::size_t n_old, std::size_t n_new, std::size_t head,
                        std::size_t tail) {
  std::vector<Run> runs;
  runs.reserve(runs_.size() + 4);
  RunReader old(runs_);
  old.take(first + head, &runs);
  const std::size_t n_replaced = n_old - head - tail, n_fresh = n_new - head - tail;
  const std::size_t n_paired = std::min(n_replaced, n_fresh);
  old.take(n_paired, &runs, true);
  add_run(runs, {kNone, static_cast<std::uint32_t>(n_fresh - n_paired), true});
  old.take(n_replaced - n_paired, nullptr);
  old.take_rest(runs);
  runs_ = std::move(runs);
}

}  // namespace profd
