// One city of two sessions: the methods of both, joined by package, class, name and signature, so that what
// is in both has one place, and what one of them does not have keeps its own.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/engine/live_city.h"
#include "server/engine/live_session.h"

namespace profd {

class LiveUnion {
 public:
  // What became known in either since. The number of its layout is the sum of theirs; where one of them was
  // arranged anew, so is this.
  void take(LiveNews after, LiveNews before);
  // How many methods of each it has: where its news begin.
  [[nodiscard]] std::size_t n_after() const { return n_after_; }
  [[nodiscard]] std::size_t n_before() const { return n_before_; }
  [[nodiscard]] const LiveCity& city() const { return city_; }

 private:
  enum class Side : std::uint8_t { after, before };
  // Rows of one name that wait for their other version, the first one first.
  struct Waiting {
    std::list<std::size_t> after, before;
  };
  void add(LiveNamed named, Side side, std::vector<LiveNamed>& more, std::uint32_t layout);

  LiveCity city_;
  std::unordered_map<std::string, Waiting> waiting_;
  std::size_t n_after_ = 0, n_before_ = 0;
  std::uint32_t n_arranged_ = 0;
};

// The unions that are looked at. Safe from any thread.
class LiveUnions {
 public:
  static constexpr std::size_t kMost = 8;  // that are kept; who was asked for longest ago goes

  // Calls `look` with the city of both as it is now.
  void look(LiveSession& after, LiveSession& before, const std::function<void(const LiveCity&)>& look);

 private:
  struct Kept {
    std::string after, before;
    std::mutex mutex;  // guards `both`
    LiveUnion both;
  };
  [[nodiscard]] std::shared_ptr<Kept> find(const std::string& after, const std::string& before);

  std::mutex mutex_;                         // guards what follows
  std::list<std::shared_ptr<Kept>> unions_;  // who was asked for last comes first
};

}  // namespace profd
