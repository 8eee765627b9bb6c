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
#include "server/runtime/post.h"

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

  // A path that is watched was looked at again: what is another than `seen` is told, and after a while that
  // it still is the same.
  void remind(const std::string& path, const FileStamp& seen, std::chrono::milliseconds after);

  // Nothing is told any more.
  void stop();

 private:
  FileWatcher& watcher();
  void tell(const std::string& path);

  bool on_;
  Post post_;
  std::function<void(const std::string&)> say_;
  bool said_none_left_ = false;
  ByPath by_path_;
  std::shared_ptr<bool> alive_ =
      std::make_shared<bool>(true);  // posted tasks look whether this is still there
  std::unique_ptr<FileWatcher> watcher_;
};

}  // namespace profd
