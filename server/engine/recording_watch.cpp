#include "server/engine/recording_watch.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <utility>

#include "server/engine/engine.h"
#include "server/engine/project_around.h"
#include "server/engine/recordings.h"
#include "server/platform/last_words.h"
#include "server/runtime/log.h"

namespace profd {
namespace {

namespace fs = std::filesystem;

// More are kept only by who pins them.
constexpr std::size_t kMostWatched = 100;
// Recordings that run at one time, or were killed before they could say how they ended.
constexpr std::size_t kMostRunning = 8;

void see_folder(RecordingsSeen& seen, const std::string& path) {
  if (auto stamp = Watches::stamp_of_folder(path)) seen.folders.push_back({path, *stamp});
}

// The place itself, and what is above it as long as that may be another: who removes `.profd` makes it anew.
void see_place(RecordingsSeen& seen, const std::string& place) {
  const fs::path own = fs::path(place).parent_path();
  for (const fs::path& folder : {fs::path(place), own, own.parent_path()}) {
    const std::size_t before = seen.folders.size();
    see_folder(seen, folder.string());
    if (folder != fs::path(place) && seen.folders.size() > before) break;
  }
}

}  // namespace

std::vector<std::string> recording_places(const std::vector<std::string>& roots) {
  std::vector<std::string> out;
  for (const std::string& root : roots) {
    const std::string project = project_around(root);
    if (project.empty()) continue;
    auto place = recordings_place(project);
    if (place && std::find(out.begin(), out.end(), *place) == out.end()) out.push_back(std::move(*place));
  }
  return out;
}

RecordingsSeen see_recordings(const std::vector<std::string>& roots, std::size_t most) {
  RecordingsSeen out;
  for (const std::string& place : recording_places(roots)) {
    see_place(out, place);
    std::size_t n_running = 0;
    for (std::string& name : recording_names(place, most)) {
      const std::string folder = place + "/" + name, meta = folder + "/meta.json";
      auto stamp = stamp_of(meta);
      if (!stamp && n_running++ < kMostRunning) {
        // Its folder's stamp is taken first: an end in between is a change.
        see_folder(out, folder);
        stamp = stamp_of(meta);
      }
      if (stamp) out.ended.push_back({place, std::move(name), stamp->mtime_ns});
    }
  }
  return out;
}

RecordingWatch::RecordingWatch(Engine& engine)
    : engine_(engine),
      looks_(
          engine.scheduler(), [&engine](UniqueFunction<void()> task) { engine.post(std::move(task)); },
          "recordings") {}

void RecordingWatch::start(ClientId client, std::vector<std::string> roots, Ended ended) {
  ended_ = std::move(ended);
  // Files are dated by a clock that lags behind by a few milliseconds.
  since_ns_ = std::chrono::duration_cast<std::chrono::nanoseconds>(
                  std::chrono::system_clock::now().time_since_epoch() - std::chrono::milliseconds(20))
                  .count();
  looks_.start(
      client, [roots = std::move(roots)] { return see_recordings(roots, kMostWatched); },
      [this](std::optional<RecordingsSeen> seen) { take(std::move(seen)); });
  looks_.look();
}

void RecordingWatch::stop() {
  looks_.stop();
  watches_.clear();
}

void RecordingWatch::take(std::optional<RecordingsSeen> seen) {
  if (!seen) return;  // without memory for a look the next change is looked at
  if (seen->folders != folders_) {
    try {
      std::vector<Watches::Watch> watches;
      for (const RecordingsSeen::Folder& folder : seen->folders)
        watches.push_back(engine_.watches().folder(folder.path, folder.seen, [this] { looks_.look(); }));
      watches_ = std::move(watches);  // what is watched as before is not given back in between
      folders_ = seen->folders;
    } catch (const std::exception&) {  // neither memory nor a thread for it
      const LastWords words;
      log_warning("recordings that end are not noticed: the system has no room for watching them");
    }
  }
  std::set<std::pair<std::string, std::string>> now;
  for (auto one = seen->ended.rbegin(); one != seen->ended.rend(); ++one) {
    const auto& added = *now.emplace(one->place, one->name).first;
    if (!known_.contains(added) && one->written_ns >= since_ns_) ended_(*one);
  }
  known_ = std::move(now);
}

}  // namespace profd
