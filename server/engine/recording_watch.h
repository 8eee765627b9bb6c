// The recordings of the projects of a workspace, and which of them ended since somebody began to listen.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/engine/look_again.h"
#include "server/engine/watches.h"

namespace profd {

class Engine;

// The folders `.profd/recordings` of the projects that these roots are in, each once; those that lead
// elsewhere by a link, and what is no project, are left out. On a worker.
std::vector<std::string> recording_places(const std::vector<std::string>& roots);

struct RecordingsSeen {
  struct Folder {
    std::string path;
    FileStamp seen;  // before it was looked into: what comes later is a change
    bool operator==(const Folder&) const = default;
  };
  // Whose entries decide what there is: that of the recordings, or where it is missing the nearest above that
  // is there, and those of recordings that have not ended.
  std::vector<Folder> folders;
  struct Ended {
    std::string place, name;
    std::int64_t written_ns = 0;  // its meta.json
  };
  std::vector<Ended> ended;  // those with a meta.json, the newest of each place first
};
// On a worker. Of each place the newest recordings alone: `most` bounds them.
RecordingsSeen see_recordings(const std::vector<std::string>& roots, std::size_t most);

// Belongs to the strand.
class RecordingWatch {
 public:
  using Ended = std::function<void(const RecordingsSeen::Ended&)>;

  explicit RecordingWatch(Engine& engine);
  ~RecordingWatch() { stop(); }
  RecordingWatch(const RecordingWatch&) = delete;
  RecordingWatch& operator=(const RecordingWatch&) = delete;

  // `ended` hears of each recording that ends from now on, the oldest first.
  void start(ClientId client, std::vector<std::string> roots, Ended ended);
  // Nothing is told any more. To be called before the engine goes.
  void stop();

 private:
  void take(std::optional<RecordingsSeen> seen);

  Engine& engine_;
  Ended ended_;
  std::vector<RecordingsSeen::Folder> folders_;
  std::vector<Watches::Watch> watches_;
  std::int64_t since_ns_ = 0;                            // what ended before is known
  std::set<std::pair<std::string, std::string>> known_;  // places and names
  LookAgain<RecordingsSeen> looks_;
};

}  // namespace profd
