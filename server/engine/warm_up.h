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
#include "server/engine/need.h"
#include "server/engine/open_profile.h"
#include "server/engine/views.h"
#include "server/runtime/guarded_post.h"
#include "server/runtime/scheduler.h"

namespace profd {

// A need that is made ahead of time.
struct FirstNeed {
  Need need;
  // Of what may be too much: made only where so many bytes are left for views, so that what was made first is
  // not pushed out for it. 0: made in any case.
  std::size_t bytes = 0;
};

class WarmUp {
 public:
  // `changed` is called on the strand when title() changes.
  WarmUp(Views& views, Scheduler& scheduler, Post post, std::function<void()> changed);
  ~WarmUp();
  WarmUp(const WarmUp&) = delete;
  WarmUp& operator=(const WarmUp&) = delete;

  // One after another. What was started before is not started again.
  void start(const OpenProfilePtr& open, const std::vector<FirstNeed>& needs);
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
