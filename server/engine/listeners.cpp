#include "server/engine/listeners.h"

#include <utility>

namespace profd {

ClientId Listeners::add(EngineListener* listener) {
  const ClientId id = next_++;
  listeners_[id] = listener;
  return id;
}

void Listeners::activity_changed(const std::string& error) {
  if (error.empty() && activity_told_) {
    activity_changed_ = true;
    return;
  }
  each([&](ClientId, EngineListener& listener) { listener.on_activity_changed(error); });
  if (!error.empty()) return;
  activity_told_ = true;
  post_([this] {
    activity_told_ = false;
    if (std::exchange(activity_changed_, false)) activity_changed();
  });
}

}  // namespace profd
