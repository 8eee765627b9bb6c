// WarmUp: makes ahead of time, where nobody waits, what the first requests on a big profile would wait for.
//
// One step at a time in the bulk lane, for all profiles together: opening and asking go on beside it. Belongs
// to the engine's strand. Small profiles are never warmed: nobody would notice.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/support/stop.h"
#include "server/engine/open_profile.h"
#include "server/engine/views.h"
#include "server/runtime/guarded_post.h"
#include "server/runtime/scheduler.h"

namespace profd {

class WarmUp {
 public:
  // `changed` is called on the strand when title() changes.
  WarmUp(Views& views, Scheduler& scheduler, Post post, std::function<void()> changed);
  ~WarmUp();
  WarmUp(const WarmUp&) = delete;
  WarmUp& operator=(const WarmUp&) = delete;

  // The views of `filters` and the open profile's default metric; without filters the other metrics too, as
  // far as the view cache has room. What was started before is not started again.
  void start(const OpenProfilePtr& open, const std::vector<Filter>& filters);
  // The lines of the workspace's files that the profile spells in several ways: each costs a sweep when two
  // spellings share a line. At most some.
  void start_files(const OpenProfilePtr& open, const std::vector<Filter>& filters,
                   const WorkspaceSnapshot& workspace);
  // The profile is closed, or has another revision.
  void stop(std::uint64_t view_id);
  // What is being done; "" nothing.
  [[nodiscard]] std::string title() const;

 private:
  using Step = std::function<Result<void>(const StopToken&)>;
  struct Job {
    OpenProfilePtr open;
    StopSource stop;
    std::deque<Step> steps;
  };

  void add_job(const OpenProfilePtr& open, const std::string& what, std::deque<Step> steps);
  std::deque<Step> steps_of(const OpenProfilePtr& open, const std::vector<Filter>& filters);
  void next();
  void step_over(std::uint64_t view_id, bool go_on);

  Views& views_;
  Scheduler& scheduler_;
  GuardedPost post_;
  std::function<void()> changed_;
  std::deque<Job> jobs_;  // the first one runs
  bool running_ = false;
  std::map<std::uint64_t, std::set<std::string>> started_;  // by view id: what was asked for
};

}  // namespace profd
