// FileWatcher: says which of some files changed, after they have settled.
//
// Owns one thread. On Linux inotify on the files' folders wakes it (so that replaced files are seen);
// elsewhere, and where inotify gives up, it looks twice a second. A change is a change of mtime, size or
// inode, reported once the file has been the same for `settle`; a file that vanished is reported only to who
// asks for that, others hear when it is back.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/support/result.h"

namespace profd {

struct FileStamp {
  std::int64_t mtime_ns = 0;
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileStamp&) const = default;
};
Result<FileStamp> stamp_of(const std::string& path);

enum class WatchKind : std::uint8_t {
  watched,   // the system says when something changes
  polled,    // it says nothing about this folder: looked at twice a second
  none_left  // the same, as the user's watches (fs.inotify.max_user_watches) are used up
};

// Whether a file that is gone is a change. Its stamp is FileStamp{} then.
enum class WhenGone : std::uint8_t { silent, told };

// What to say to a person then.
std::string no_watches_left();

class FileWatcher {
 public:
  using Callback = std::function<void(const std::string& path)>;

  // `on_change` is called on the watcher's thread.
  explicit FileWatcher(Callback on_change, std::chrono::milliseconds settle = std::chrono::milliseconds(150));
  ~FileWatcher();  // waits for the thread; no call comes after
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;

  // `seen` is the stamp of what has been read, so that a change between reading and watching is not missed.
  // Who watches what is watched already, and has seen another state of it, has it reported to all once more.
  WatchKind watch(const std::string& path, const FileStamp& seen, WhenGone when_gone = WhenGone::silent);
  // The folder's watch is given back with the last of its files.
  void unwatch(const std::string& path);
  // That are taken from the system.
  [[nodiscard]] std::size_t n_watches() const;
  // Calls back for a watched file once more after a while, whether it has changed by then or not.
  void remind(const std::string& path, std::chrono::milliseconds after);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace profd
