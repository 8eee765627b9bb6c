#include "server/feature/line_functions.h"

#include <algorithm>
#include <cmath>

#include "core/view/search.h"

namespace profd {

// A line has few functions: what each costs is summed for them alone, not in a view of all lines.
Result<LineFunctions> functions_on_line(const Selection& selection, const std::vector<StringId>& files,
                                        std::span<const SideLine> lines, const StopToken& stop) {
  constexpr std::size_t kMaxCompared = 255;
  const Profile& profile = *selection.profile;
  const FrameTable& frames = profile.frames();
  const KeyTable& keys = *selection.boxes->keys;
  struct Candidate {
    FunctionId function;
    std::vector<std::size_t> frames;
    double total = 0;
  };
  std::vector<Candidate> candidates;
  LineFunctions result;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    const bool is_here = std::any_of(lines.begin(), lines.end(), [&](const SideLine& line) {
      return frames.line[f] == line.line && (line.of == nullptr || (*line.of)[f] != 0);
    });
    if (!is_here) continue;
    if (!selection.boxes->shows(static_cast<std::uint32_t>(f))) continue;
    if (std::find(files.begin(), files.end(), file_of_frame(profile, f)) == files.end()) continue;
    result.frames.push_back(f);
    // What moved from one side to the other is two functions of one key.
    const auto known = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& c) {
      return c.function == frames.function[f] ||
             (lines.size() > 1 && keys.of_frame[c.frames[0]] == keys.of_frame[f]);
    });
    if (known != candidates.end())
      known->frames.push_back(f);
    else
      candidates.push_back({frames.function[f], {f}});
  }
  const std::size_t n_compared = std::min(candidates.size(), kMaxCompared);
  if (n_compared > 1) {
    std::vector<std::uint8_t> set_of(frames.size(), 0);
    for (std::size_t i = 0; i < n_compared; ++i)
      for (const std::size_t f : candidates[i].frames) set_of[f] = static_cast<std::uint8_t>(i + 1);
    PROFD_TRY(const std::vector<Value> totals, matched_totals(selection, set_of, n_compared, stop));
    for (std::size_t i = 0; i < n_compared; ++i) candidates[i].total = std::abs(as_double(totals[i]));
  }
  std::stable_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(n_compared),
                   [](const Candidate& a, const Candidate& b) { return a.total > b.total; });
  for (const Candidate& candidate : candidates) {
    LineFunction function;
    function.name = profile.function_name(candidate.function);
    function.key = keys.of_frame[candidate.frames.front()];
    function.inlined = std::all_of(candidate.frames.begin(), candidate.frames.end(),
                                   [&](std::size_t f) { return frames.inlined[f] != 0; });
    result.functions.push_back(std::move(function));
  }
  return result;
}

}  // namespace profd
