#include "server/engine/live_union.h"

#include <algorithm>
#include <utility>

namespace profd {
namespace {

std::string key_of_named(const LiveNamed& named) {
  std::string key;
  for (const std::string* part : {&named.package, &named.class_name, &named.name, &named.signature}) {
    key += *part;
    key += '\0';
  }
  return key;
}

}  // namespace

void LiveUnion::add(LiveNamed named, Side side, std::vector<LiveNamed>& more, std::uint32_t layout) {
  const live::MethodId id = std::exchange(named.method, live::MethodId{0});
  (side == Side::after ? named.method : named.before) = id;
  // What is known by its address alone is another function in another build.
  if (named.signature.empty() && named.name.starts_with('[')) {
    more.push_back(std::move(named));
    return;
  }
  Waiting& waiting = waiting_[key_of_named(named)];
  std::list<std::size_t>& others = side == Side::after ? waiting.before : waiting.after;
  if (!others.empty()) {
    const std::size_t row = others.front();
    others.pop_front();
    const std::size_t n_there = city_.methods().size();
    LiveNamed both = row < n_there ? city_.methods()[row] : more[row - n_there];
    (side == Side::after ? both.method : both.before) = id;
    if (row < n_there)
      city_.join(row, both.method, both.before, layout);
    else
      more[row - n_there] = std::move(both);
    return;
  }
  (side == Side::after ? waiting.after : waiting.before).push_back(city_.methods().size() + more.size());
  more.push_back(std::move(named));
}

void LiveUnion::take(LiveNews after, LiveNews before) {
  const std::uint32_t layout = after.layout + before.layout;
  n_after_ += after.methods.size();
  n_before_ += before.methods.size();
  std::vector<LiveNamed> more;
  for (LiveNamed& named : after.methods) add(std::move(named), Side::after, more, layout);
  for (LiveNamed& named : before.methods) add(std::move(named), Side::before, more, layout);
  city_.extend(std::move(more), after.separator, layout);
  const std::uint32_t n_arranged = after.n_arranged + before.n_arranged;
  if (std::exchange(n_arranged_, n_arranged) != n_arranged) city_.arrange(layout);
}

std::shared_ptr<LiveUnions::Kept> LiveUnions::find(const std::string& after, const std::string& before) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(unions_.begin(), unions_.end(), [&](const auto& kept) {
    return kept->after == after && kept->before == before;
  });
  if (found != unions_.end()) {
    unions_.splice(unions_.begin(), unions_, found);
  } else {
    unions_.push_front(std::make_shared<Kept>());
    unions_.front()->after = after;
    unions_.front()->before = before;
    if (unions_.size() > kMost) unions_.pop_back();
  }
  return unions_.front();
}

void LiveUnions::look(LiveSession& after, LiveSession& before,
                      const std::function<void(const LiveCity&)>& look) {
  const std::shared_ptr<Kept> kept = find(after.name(), before.name());
  const std::lock_guard lock(kept->mutex);
  kept->both.take(after.news(kept->both.n_after()), before.news(kept->both.n_before()));
  look(kept->both.city());
}

}  // namespace profd
