#include "server/platform/file_watcher.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/inotify.h>
#endif

#include <fmt/format.h>

#include "core/support/unique_fd.h"

namespace profd {

Result<FileStamp> stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    return fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::io,
                fmt::format("{}: {}", path, std::strerror(errno)));
#ifdef __APPLE__
  const timespec& mtime = status.st_mtimespec;
#else
  const timespec& mtime = status.st_mtim;
#endif
  return FileStamp{static_cast<std::int64_t>(mtime.tv_sec) * 1'000'000'000 + mtime.tv_nsec,
                   static_cast<std::uint64_t>(status.st_size), status.st_ino};
}

std::string no_watches_left() {
  return "the system gives this user no more watches on folders (fs.inotify.max_user_watches); what changes "
         "is "
         "noticed by looking twice a second";
}

class FileWatcher::Impl {
 public:
  Impl(Callback on_change, std::chrono::milliseconds settle)
      : on_change_(std::move(on_change)), settle_(settle) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) == 0) {
      wake_read_ = UniqueFd(ends[0]);
      wake_write_ = UniqueFd(ends[1]);
      for (const int end : ends) {
        ::fcntl(end, F_SETFD, FD_CLOEXEC);
        ::fcntl(end, F_SETFL, O_NONBLOCK);
      }
    }
#ifdef __linux__
    inotify_ = UniqueFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
#endif
    thread_ = std::thread([this] { run(); });
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake();
    thread_.join();
  }

  WatchKind watch(const std::string& path, const FileStamp& seen, WhenGone when_gone) {
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = files_.try_emplace(path);
    File file{seen, {}, {}, {}, when_gone == WhenGone::told || (!is_new && at->second.tell_gone)};
    // The others have not heard yet of what this one knows.
    if (!is_new && !(at->second.seen == seen)) file.reminder = Clock::now() + settle_;
    at->second = file;
    const WatchKind kind = watch_folder(folder_of(path), is_new);
    wake();
    return kind;
  }

  void unwatch(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (files_.erase(path) > 0) leave_folder(folder_of(path));
  }

  std::size_t n_watches() {
    const std::lock_guard lock(mutex_);
    return n_folders_of_.size();
  }

  void remind(const std::string& path, std::chrono::milliseconds after) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(path);
    if (found == files_.end()) return;
    found->second.reminder = Clock::now() + after;
    wake();
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct File {
    FileStamp seen;                      // what was reported or read last
    std::optional<FileStamp> candidate;  // a different stamp, and since when it has not changed
    Clock::time_point since;
    std::optional<Clock::time_point> reminder;
    bool tell_gone = false;
  };

  struct Folder {
    std::size_t n_files = 0;
    int watch = -1;  // -1: none was to be had
  };

  static std::string folder_of(const std::string& path) {
    return path.substr(0, path.rfind('/') + 1);
  }

  WatchKind watch_folder(const std::string& path, bool one_more) {
    Folder& folder = folders_[path];
    if (one_more) ++folder.n_files;
#ifdef __linux__
    // What there was no room for is asked for again with every file: others may have given theirs back.
    if (folder.watch < 0 && inotify_.valid()) {
      folder.watch = ::inotify_add_watch(
          inotify_.get(), path.empty() ? "." : path.c_str(),
          IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB);
      const bool full = folder.watch < 0 && errno == ENOSPC;
      if (folder.watch >= 0) ++n_folders_of_[folder.watch];
      if (full) {
        ++n_polled_;
        return WatchKind::none_left;
      }
    }
#endif
    // A file system without watches, or another system: looking now and then is what remains.
    if (folder.watch < 0) ++n_polled_;
    return folder.watch < 0 ? WatchKind::polled : WatchKind::watched;
  }

  void leave_folder(const std::string& path) {
    const auto found = folders_.find(path);
    if (found == folders_.end() || --found->second.n_files > 0) return;
    const int watch = found->second.watch;
    folders_.erase(found);
    // Two names of one folder have one watch.
    if (watch < 0 || --n_folders_of_[watch] > 0) return;
    n_folders_of_.erase(watch);
#ifdef __linux__
    ::inotify_rm_watch(inotify_.get(), watch);
#endif
  }

  void wake() const {
    const char byte = 0;
    if (wake_write_.valid() && ::write(wake_write_.get(), &byte, 1) < 0) return;  // full: awake already
  }

  void run() {
    bool settling = false;
    while (true) try {
        wait(settling);
        std::vector<std::string> changed;
        {
          std::unique_lock lock(mutex_);
          if (stopping_) return;
          changed = look(settling, lock);
        }
        for (const std::string& path : changed) on_change_(path);
      } catch (const std::bad_alloc&) {  // there may be memory again when it looks next
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
  }

  void wait(bool settling) {
    bool polling = false;
    const auto now = Clock::now();
    auto next = now + std::chrono::seconds(5);
    {
      const std::lock_guard lock(mutex_);
      polling = n_polled_ > 0 && !files_.empty();
      for (const auto& [path, file] : files_)
        if (file.reminder) next = std::min(next, *file.reminder);
    }
    // Network file systems raise no events for other machines' writes, hence the slow look even with inotify.
    if (polling) next = std::min(next, now + std::chrono::milliseconds(500));
    if (settling) next = std::min(next, now + settle_ / 3 + std::chrono::milliseconds(1));
    const auto timeout = static_cast<int>(
        std::max<std::int64_t>(0, std::chrono::ceil<std::chrono::milliseconds>(next - now).count()));
    pollfd fds[2] = {{wake_read_.get(), POLLIN, 0}, {inotify_.get(), POLLIN, 0}};
    ::poll(fds, 2, timeout);
    alignas(8) char scratch[4096];
    if ((fds[0].revents & POLLIN) != 0 && ::read(wake_read_.get(), scratch, sizeof(scratch)) < 0) return;
    if ((fds[1].revents & POLLIN) == 0) return;
    // A folder that somebody writes to all the time, a home with its logs, costs a hundred looks a second at
    // most.
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    while (::read(inotify_.get(), scratch, sizeof(scratch)) > 0) {
    }
  }

  // Which files changed and settled; `settling`: some changed and may still be written. The file system is
  // asked without the lock, which who watches a file must not wait for.
  std::vector<std::string> look(bool& settling, std::unique_lock<std::mutex>& lock) {
    std::vector<std::string> changed;
    settling = false;
    std::vector<std::pair<std::string, Result<FileStamp>>> stamps;
    for (const auto& [path, file] : files_) stamps.emplace_back(path, FileStamp{});
    lock.unlock();
    for (auto& [path, stamp] : stamps) stamp = stamp_of(path);
    lock.lock();
    const auto now = Clock::now();
    for (auto& [path, stamp] : stamps) {
      const auto found = files_.find(path);
      if (found == files_.end()) continue;
      File& file = found->second;
      if (!stamp && stamp.error().code == ErrorCode::not_found && file.tell_gone) stamp = FileStamp{};
      const bool due = file.reminder && *file.reminder <= now;
      if (due) file.reminder.reset();
      if (!stamp || *stamp == file.seen) {
        file.candidate.reset();
        if (due) changed.push_back(path);
        continue;
      }
      if (file.candidate != *stamp) {
        file.candidate = *stamp;
        file.since = now;
      }
      if (now - file.since < settle_) {
        settling = true;
        continue;
      }
      file.seen = *stamp;
      changed.push_back(path);
    }
    return changed;
  }

  Callback on_change_;
  std::chrono::milliseconds settle_;
  UniqueFd wake_read_, wake_write_, inotify_;
  std::mutex mutex_;  // guards what follows
  std::map<std::string, File> files_;
  std::map<std::string, Folder> folders_;
  std::map<int, std::size_t> n_folders_of_;  // by watch
  std::size_t n_polled_ = 0;                 // folders that were ever without a watch
  bool stopping_ = false;
  std::thread thread_;
};

FileWatcher::FileWatcher(Callback on_change, std::chrono::milliseconds settle)
    : impl_(std::make_unique<Impl>(std::move(on_change), settle)) {}
FileWatcher::~FileWatcher() = default;
WatchKind FileWatcher::watch(const std::string& path, const FileStamp& seen, WhenGone when_gone) {
  return impl_->watch(path, seen, when_gone);
}
std::size_t FileWatcher::n_watches() const {
  return impl_->n_watches();
}
void FileWatcher::unwatch(const std::string& path) {
  impl_->unwatch(path);
}
void FileWatcher::remind(const std::string& path, std::chrono::milliseconds after) {
  impl_->remind(path, after);
}

}  // namespace profd
