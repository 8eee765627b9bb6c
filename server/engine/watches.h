// Watches: what on disk somebody wants to hear of. Each wish is a Watch, which gives its path back when it
// goes.
//
// Everything here belongs to the strand that `post` posts to; what changed is told there, too.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "server/platform/file_watcher.h"
#include "server/runtime/guarded_post.h"

namespace profd {

class Watches {
  using Changed = std::function<void()>;
  using ByPath = std::multimap<std::string, std::weak_ptr<const Changed>>;

 public:
  // Must not outlive its Watches.
  class Watch {
   public:
    Watch() = default;
    Watch(Watch&& other) noexcept { *this = std::move(other); }
    Watch& operator=(Watch&& other) noexcept;
    ~Watch() { give_back(); }
    [[nodiscard]] WatchKind kind() const { return kind_; }

   private:
    friend class Watches;
    void give_back();
    Watches* watches_ = nullptr;  // null: of nothing
    ByPath::iterator at_;
    std::shared_ptr<const Changed> changed_;
    WatchKind kind_ = WatchKind::polled;
  };

  // `say`: what a person should know, once each.
  Watches(bool on, Post post, std::function<void(const std::string&)> say);
  ~Watches() { stop(); }
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  // Calls `changed` when the file is another than `seen`, as long as the Watch is there. Throws where no
  // thread is to be had for watching.
  [[nodiscard]] Watch file(const std::string& path, const FileStamp& seen, Changed changed,
                           WhenGone when_gone = WhenGone::silent);
  // When entries of the folder come or go after `seen`.
  [[nodiscard]] Watch folder(const std::string& path, const FileStamp& seen, Changed changed);
  static Result<FileStamp> stamp_of_folder(const std::string& path);  // on a worker

  // Somebody looked at a watched file again and saw `seen`. Who watches it is told when the file is no longer
  // as it was then, and is told once more `after` that time, when the file may be as it was.
  void remind(const std::string& path, const FileStamp& seen, std::chrono::milliseconds after);

  // Nothing is told any more.
  void stop();

 private:
  FileWatcher& watcher();
  void tell(const std::string& path);

  bool on_;
  GuardedPost post_;
  std::function<void(const std::string&)> say_;
  bool said_none_left_ = false;
  ByPath by_path_;
  std::unique_ptr<FileWatcher> watcher_;
};

}  // namespace profd
