// Listeners: who is told what happens in the engine, and how often.
//
// Everything here belongs to the strand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/runtime/guarded_post.h"
#include "server/runtime/scheduler.h"

namespace profd {

enum class ProfileChange : std::uint8_t {
  opened,
  reloaded,
  reload_failed,
  closed,
  default_changed,
  metrics_changed,  // those by formula
};

// The frame all clients mean.
struct SharedSelection {
  std::string profile, function;
  std::string file;        // as the profile says; "" unknown
  std::uint32_t line = 0;  // 1-based, 0 unknown
  std::string spec;
  std::vector<std::int64_t> path;  // keys of `revision`; gone when the profile has another
  std::uint32_t revision = 0;
  std::vector<std::string> frames;
};

// A client of the engine; called on the strand. Must not close profiles or remove clients from inside a call.
class EngineListener {
 public:
  virtual ~EngineListener() = default;
  // `left`: to how many further profiles of the same file the same happened that are not told one by one.
  virtual void on_profile_changed(ProfileChange change, const std::string& handle, std::uint32_t revision,
                                  const std::string& uri, const std::string& message, std::size_t left) = 0;
  virtual void on_selection_changed(const std::optional<SharedSelection>& selection, ClientId by) = 0;
  // What activities() gives, or how many profiles are open, is another; `error` is what failed, "" nothing.
  // At most ten times a second for progress alone.
  virtual void on_activity_changed(const std::string& error) = 0;
};

class Listeners {
 public:
  explicit Listeners(Post post) : post_(std::move(post)) {}
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;

  ClientId add(EngineListener* listener);
  void remove(ClientId client) { listeners_.erase(client); }
  [[nodiscard]] std::size_t size() const { return listeners_.size(); }

  template <class Tell>
  void each(Tell tell) const {
    for (const auto& [id, listener] : listeners_) tell(id, *listener);
  }
  // An error at once; else at once, and what else happens in this turn of the strand together: opening a
  // thousand files is two things to tell. What is told later may come behind what a worker has done
  // meanwhile.
  void activity_changed(const std::string& error = "");

 private:
  GuardedPost post_;
  ClientId next_ = 1;
  std::map<ClientId, EngineListener*> listeners_;
  bool activity_told_ = false, activity_changed_ = false;  // in this turn of the strand, and since
};

}  // namespace profd
