#include "server/engine/watches.h"

#include <utility>
#include <vector>

namespace profd {
namespace {

// The folder as an entry of itself: its time changes with its entries, and inotify sees them.
std::string watched_name(const std::string& folder) {
  return folder + "/.";
}

}  // namespace

Watches::Watch& Watches::Watch::operator=(Watch&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  watches_ = std::exchange(other.watches_, nullptr);
  at_ = other.at_;
  changed_ = std::move(other.changed_);
  kind_ = other.kind_;
  return *this;
}

void Watches::Watch::give_back() {
  Watches* const watches = std::exchange(watches_, nullptr);
  changed_.reset();
  if (watches == nullptr) return;
  const std::string path = at_->first;
  watches->by_path_.erase(at_);
  if (watches->watcher_ && watches->by_path_.count(path) == 0) watches->watcher_->unwatch(path);
}

Watches::Watches(bool on, Post post, std::function<void(const std::string&)> say)
    : on_(on), post_(std::move(post)), say_(std::move(say)) {}

void Watches::stop() {
  post_.end();
  watcher_.reset();
}

FileWatcher& Watches::watcher() {
  if (!watcher_)
    watcher_ = std::make_unique<FileWatcher>(
        [this](const std::string& path) { post_([this, path] { tell(path); }); });
  return *watcher_;
}

Watches::Watch Watches::file(const std::string& path, const FileStamp& seen, Changed changed,
                             WhenGone when_gone) {
  Watch watch;
  if (!on_) return watch;
  watch.changed_ = std::make_shared<const Changed>(std::move(changed));
  watch.at_ = by_path_.emplace(path, watch.changed_);
  watch.watches_ = this;
  watch.kind_ = watcher().watch(path, seen, when_gone);
  if (watch.kind_ == WatchKind::none_left && !std::exchange(said_none_left_, true)) say_(no_watches_left());
  return watch;
}

Watches::Watch Watches::folder(const std::string& path, const FileStamp& seen, Changed changed) {
  return file(watched_name(path), seen, std::move(changed));
}

Result<FileStamp> Watches::stamp_of_folder(const std::string& path) {
  return stamp_of(watched_name(path));
}

void Watches::remind(const std::string& path, const FileStamp& seen, std::chrono::milliseconds after) {
  if (by_path_.count(path) == 0) return;
  watcher().watch(path, seen);
  watcher().remind(path, after);
}

void Watches::tell(const std::string& path) {
  // Who is told may give back watches and take new ones.
  std::vector<std::weak_ptr<const Changed>> told;
  const auto [first, last] = by_path_.equal_range(path);
  for (auto one = first; one != last; ++one) told.push_back(one->second);
  for (const auto& one : told)
    if (const auto changed = one.lock()) (*changed)();
}

}  // namespace profd
