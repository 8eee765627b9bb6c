#include "server/engine/warm_up.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "server/engine/afterwards.h"
#include "server/runtime/log.h"

namespace profd {
namespace {

ViewSpec spec_of(const OpenProfile& open, MetricId metric, const std::vector<Filter>& filters) {
  ViewSpec spec;
  spec.metric = open.profile->metrics()[metric.v].name;
  spec.filters = filters;
  return spec;
}

// Stops with its source, and works only while no client has work: who looks at a picture needs the processor
// for it. Not for ever, as somebody may ask without a pause; and not in the pieces that other workers help
// with, which would be kept from clients.
class Patience final : public StopCondition {
 public:
  Patience(const Scheduler& scheduler, StopSource stop) : scheduler_(scheduler), stop_(std::move(stop)) {}
  [[nodiscard]] bool stopped() const override { return stop_.stopped(); }
  void make_way() const override {
    constexpr std::chrono::milliseconds kPause{250}, kNap{5};
    constexpr int kMostNaps = 4000;
    if (std::this_thread::get_id() != thread_ || n_naps_ >= kMostNaps || scheduler_.quiet() > kPause) return;
    ++n_naps_;
    std::this_thread::sleep_for(kNap);
  }

 private:
  const Scheduler& scheduler_;
  const StopSource stop_;
  const std::thread::id thread_ = std::this_thread::get_id();
  mutable int n_naps_ = 0;  // of `thread_`
};

}  // namespace

WarmUp::WarmUp(Views& views, Scheduler& scheduler, Post post, std::function<void()> changed)
    : views_(views), scheduler_(scheduler), post_(std::move(post)), changed_(std::move(changed)) {}

WarmUp::~WarmUp() {
  post_.end();
  for (Job& job : jobs_) job.stop.request_stop();
}

void WarmUp::start(const OpenProfilePtr& open, const std::vector<FirstNeed>& needs) {
  if (Views::is_small(*open) || needs.empty()) return;
  std::string what;
  std::deque<Step> steps;
  for (const FirstNeed& first : needs) {
    what += fmt::format("{} {}\n", static_cast<int>(first.need.part), key_text(first.need.spec));
    steps.emplace_back([&views = views_, open, first](const StopToken& stop) -> Result<void> {
      if (first.bytes > 0 && views.memory() + first.bytes > views.budget()) return {};
      return views.make(*open, first.need, stop);
    });
  }
  add_job(open, what, std::move(steps));
}

void WarmUp::start_files(const OpenProfilePtr& open, const std::vector<Filter>& filters,
                         const WorkspaceSnapshot& workspace) {
  constexpr std::size_t kMaxFiles = 50;
  if (Views::is_small(*open) || !workspace.files) return;
  const ViewSpec spec = spec_of(*open, open->metric, filters);
  std::deque<Step> steps;
  steps.emplace_back([&views = views_, open, spec, workspace](const StopToken& stop) -> Result<void> {
    PROFD_TRY(const auto sources, views.sources(*open, workspace, stop));
    std::size_t n_files = 0;
    for (const auto& [path, spellings] : sources->by_path) {
      if (spellings.size() < 2) continue;
      if (++n_files > kMaxFiles) break;
      PROFD_TRY(const auto lines, views.lines(*open, spec, spellings, stop));
      static_cast<void>(lines);
    }
    return {};
  });
  add_job(open, "files " + workspace.key + " " + key_text(spec), std::move(steps));
}

void WarmUp::add_job(const OpenProfilePtr& open, const std::string& what, std::deque<Step> steps) {
  if (!started_[open->view_id].insert(what).second) return;
  jobs_.push_back({open, {}, std::move(steps)});
  if (!running_) next();
}

void WarmUp::stop(std::uint64_t view_id) {
  started_.erase(view_id);
  for (Job& job : jobs_)
    if (job.open->view_id == view_id) job.stop.request_stop();
  // The first one is taken away when its step has ended.
  if (jobs_.size() > (running_ ? 1u : 0u))
    jobs_.erase(std::remove_if(jobs_.begin() + (running_ ? 1 : 0), jobs_.end(),
                               [&](const Job& job) { return job.open->view_id == view_id; }),
                jobs_.end());
}

std::string WarmUp::title() const {
  return jobs_.empty() ? "" : "Preparing " + jobs_.front().open->name;
}

void WarmUp::next() {
  while (!jobs_.empty() && (jobs_.front().steps.empty() || jobs_.front().stop.stopped())) jobs_.pop_front();
  const bool was_running = std::exchange(running_, !jobs_.empty());
  if (was_running != running_) changed_();
  if (jobs_.empty()) return;
  Job& job = jobs_.front();
  Step step = std::move(job.steps.front());
  job.steps.pop_front();
  // A step that ends with an exception (no memory) ends the job, and the next one has its turn.
  const auto go_on = std::make_shared<bool>(false);
  UniqueFunction<void()> over = [this, go_on, view_id = job.open->view_id] { step_over(view_id, *go_on); };
  scheduler_.submit(
      Lane::bulk, kNobody, "prepare " + job.open->name,
      [&views = views_, &scheduler = scheduler_, post = post_.shared(), step = std::move(step),
       stop = job.stop, name = job.open->name, over = std::move(over), go_on]() mutable {
        const Afterwards next(
            [&post](UniqueFunction<void()> task) {
              try {
                post(std::move(task));
              } catch (const std::bad_alloc&) {  // nothing more is prepared, nobody waits for it
              }
            },
            std::move(over));
        std::optional<Account> account;
        if (views.pool()) account.emplace(views.pool(), stop);
        const Account::Scope scope(account ? &*account : nullptr);
        const Result<void> done = step(StopToken(std::make_shared<Patience>(scheduler, stop)));
        views.measure_again();  // the engine outlives its workers, this need not
        *go_on = done.has_value();
        if (!done && done.error().code != ErrorCode::cancelled)
          log_warning(fmt::format("{}: not prepared: {}", name, describe(done.error())));
      });
}

void WarmUp::step_over(std::uint64_t view_id, bool go_on) {
  if (!jobs_.empty() && jobs_.front().open->view_id == view_id && !go_on) jobs_.front().steps.clear();
  next();
}

}  // namespace profd
