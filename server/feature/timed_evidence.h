// What rules of tips look at in the order of samples, in notes of the source, in states of threads and in
// records: each nothing where the profile does not tell.
#pragma once

#include "server/feature/tip_evidence.h"

namespace profd {

// How much of the samples of a thread repeats those of a fixed number before, and not those just before: a
// sampler in step with what it measures sees the same parts of it again and again.
Result<std::optional<Evidence>> lock_step(const Profile& profile, const PreparedView& view,
                                          const StopToken& stop);
// The share of the recording in which a collector had stopped the program.
Result<std::optional<Evidence>> gc_pauses(const Profile& profile, const StopToken& stop);
// The longest read, in seconds. `slow`: from how many on reads are counted.
std::optional<Evidence> slow_reads(const Profile& profile, double slow);
// Of the time that threads could go on, the share in which they waited for a processor.
Result<std::optional<Evidence>> waits_for_processors(Views& views, const OpenProfile& open,
                                                     const ViewSpec& spec, const StopToken& stop);
// How often two threads were seen at one line of the cache.
Result<std::optional<Evidence>> false_sharing(const Profile& profile, const StopToken& stop);

}  // namespace profd
