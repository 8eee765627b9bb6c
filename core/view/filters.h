// The pieces of `select`: which frames, samples and stacks a filter means.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "core/support/stop.h"
#include "core/view/spec.h"

namespace profd {

// Patterns of people and clients are bounded; RE2 makes matching linear in the text.
inline constexpr std::size_t kMaxPatternLength = 1024;
inline constexpr std::size_t kMaxFragmentLength = 1000;
inline constexpr std::size_t kMaxFilters = 64;

// A filter that matches nothing is told of.
void warn_unless(bool matches, const Filter& filter, std::vector<std::string>& warnings);
bool any_set(const std::vector<std::uint8_t>& flags);

// By FrameId: 1 where the frame matches a function, module or file filter. Exact patterns mean the whole
// name, for functions the linker name too, for modules and files also the end of the path after a separator.
Result<std::vector<std::uint8_t>> match_frames(const Profile& profile, const Filter& filter,
                                               const StopToken& stop);

// By ThreadId: 1 where a filter by thread means it, by its name or number.
Result<std::vector<std::uint8_t>> match_threads(const Profile& profile, const Filter& filter,
                                                const StopToken& stop);

// By row of the sample table, which there is: clears passed[i] where the filter by thread, label or role does
// not let sample i through. A sample without a thread is no match: `drop` leaves it, and where `keep` cannot
// tell, undecided[i] is set. Whether any thread, label or record matches. Windows of time are in
// sample_parts.h.
Result<bool> filter_samples(const Profile& profile, const Filter& filter, std::vector<std::uint8_t>& passed,
                            std::vector<std::uint8_t>& undecided, const StopToken& stop);

// Contexts as disjoint ascending id ranges [begin, end).
struct ContextRanges {
  std::vector<std::uint32_t> begin, end;
  std::size_t size() const { return begin.size(); }
};

// Everything at or below a context whose frame has match[frame] != 0.
Result<ContextRanges> subtrees_of(const ContextTree& tree, const std::vector<std::uint8_t>& match,
                                  StopToken& stop);
// Everything at or below a context whose path ends with the run of functions `names`, caller first.
Result<ContextRanges> subtrees_of_fragment(const Profile& profile, const std::vector<std::string>& names,
                                           StopToken& stop);

// Everything at or below a context whose path, from below the root, is the functions `names`.
Result<ContextRanges> subtrees_of_path(const Profile& profile, const std::vector<std::string>& names,
                                       StopToken& stop);
// What a filter by anything but samples means, and whether there is anything in the profile that it means.
struct MeantContexts {
  ContextRanges ranges;
  bool any = false;
};
Result<MeantContexts> contexts_meant(const Profile& profile, const Filter& filter, StopToken& stop);

// Rows of an ascending list of contexts that are inside the ranges (or outside), ascending row numbers.
std::vector<std::uint32_t> rows_in(const Column<std::uint32_t>& contexts, const ContextRanges& ranges,
                                   bool inside);

}  // namespace profd
