// The recordings of a project: a folder each in `.profd/recordings`, which git leaves alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "server/engine/recording_meta.h"

namespace profd {

struct KeptRecording {
  std::string name, path;  // of its folder
  RecordingMeta meta;
  std::uint64_t bytes = 0;
  bool pinned = false;
};

// "20261120T192814Z-app": sorted by name they are sorted by time. Of the program's file name letters, digits,
// ".", "_" and "-" stay, the first 40.
std::string recording_name(std::int64_t seconds_since_1970, std::string_view program);
// Whether a folder may be called so. Others are never looked at, and never removed.
bool is_recording_name(std::string_view name);

// `project`/.profd/recordings. `invalid` when a part of it is a link or no folder: what is removed later must
// be what was recorded here.
Result<std::string> recordings_place(const std::string& project);
// Makes it where it is missing, and the folder `name`, or with "-2" and so on behind where that is there.
// Gives its path.
Result<std::string> make_recording(const std::string& place, const std::string& name);

// The names of their folders, the newest first; no more than `most` of them.
std::vector<std::string> recording_names(const std::string& place, std::size_t most);
// Of a folder without a meta.json that can be read: nothing.
std::optional<KeptRecording> read_recording(const std::string& place, const std::string& name);
// Those that can be read, the newest first, among the `most` newest folders.
inline constexpr std::size_t kMostRecordings = 10'000;
std::vector<KeptRecording> list_recordings(const std::string& place, std::size_t most = kMostRecordings);
// Of these, newest first, the last before `name` that has a profile of the same command, run in the same
// folder by the same tool; null without one.
const KeptRecording* run_before(const std::vector<KeptRecording>& recordings, std::string_view name,
                                const RecordingMeta& meta);

struct RecordingLimits {
  std::size_t count = 50;
  std::uint64_t bytes = std::uint64_t{2} << 30;
};
// The oldest that are not pinned go until the rest is within the limits; the newest of all stays. Gives how
// many went.
std::size_t remove_oldest(const std::string& place, const RecordingLimits& limits = {});

// `not_found` when there is none of that name.
Result<void> pin_recording(const std::string& place, const std::string& name, bool pinned);

// Commands that were typed here, so that what somebody else put into the project is not run for them. Kept in
// the folder of the user's state, which `confirm_command` makes.
Result<void> confirm_command(const RecordingMeta& meta);
bool is_confirmed(const RecordingMeta& meta);

}  // namespace profd
