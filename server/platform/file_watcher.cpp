#include "server/platform/file_watcher.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/inotify.h>
#endif

#include <fmt/format.h>

#include "server/platform/unique_fd.h"

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

class FileWatcher::Impl {
 public:
  Impl(Callback on_change, std::chrono::milliseconds settle)
      : on_change_(std::move(on_change)), settle_(settle) {
    int ends[2] = {-1, -1};
    if (::pipe(ends) == 0) {
      wake_read_ = UniqueFd(ends[0]);
      wake_write_ = UniqueFd(ends[1]);
      ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
      ::fcntl(ends[1], F_SETFD, FD_CLOEXEC);
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

  void watch(const std::string& path, const FileStamp& seen) {
    const std::lock_guard lock(mutex_);
    files_[path] = File{seen, {}, {}, {}};
    watch_folder(path);
    wake();
  }

  void unwatch(const std::string& path) {
    const std::lock_guard lock(mutex_);
    files_.erase(path);
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
    FileStamp seen;       // what was reported or read last
    FileStamp candidate;  // a different stamp, and since when it has not changed
    Clock::time_point since;
    std::optional<Clock::time_point> reminder;
  };

  void watch_folder(const std::string& path) {
#ifdef __linux__
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    if (!inotify_.valid() || !folders_.insert(folder).second) return;
    // Without a watch (too many, or a file system without them) polling is what remains.
    if (::inotify_add_watch(inotify_.get(), folder.empty() ? "." : folder.c_str(),
                            IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_CREATE | IN_ATTRIB) < 0)
      polling_ = true;
#else
    static_cast<void>(path);
    polling_ = true;
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
          const std::lock_guard lock(mutex_);
          if (stopping_) return;
          changed = look(settling);
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
      polling = polling_ && !files_.empty();
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
    if ((fds[1].revents & POLLIN) != 0)
      while (::read(inotify_.get(), scratch, sizeof(scratch)) > 0) {
      }
  }

  // Which files changed and settled; `settling`: some changed and may still be written.
  std::vector<std::string> look(bool& settling) {
    std::vector<std::string> changed;
    settling = false;
    const auto now = Clock::now();
    for (auto& [path, file] : files_) {
      const bool due = file.reminder && *file.reminder <= now;
      if (due) file.reminder.reset();
      const auto stamp = stamp_of(path);
      if (!stamp || *stamp == file.seen) {
        if (due) changed.push_back(path);
        continue;
      }
      if (!(*stamp == file.candidate)) {
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
  std::set<std::string> folders_;
  bool polling_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

FileWatcher::FileWatcher(Callback on_change, std::chrono::milliseconds settle)
    : impl_(std::make_unique<Impl>(std::move(on_change), settle)) {}
FileWatcher::~FileWatcher() = default;
void FileWatcher::watch(const std::string& path, const FileStamp& seen) {
  impl_->watch(path, seen);
}
void FileWatcher::unwatch(const std::string& path) {
  impl_->unwatch(path);
}
void FileWatcher::remind(const std::string& path, std::chrono::milliseconds after) {
  impl_->remind(path, after);
}

}  // namespace profd
