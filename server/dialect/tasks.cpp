#include "server/dialect/tasks.h"

#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "server/feature/escape.h"
#include "server/platform/last_words.h"

namespace profd {
namespace {

Result<void> work_within(Engine& engine, const StopSource& stop, Tasks::Work& work) {
  Account account(engine.pool(), stop);
  Result<void> done;
  try {
    const Account::Scope scope(&account);
    done = work(StopToken(stop));
  } catch (const std::bad_alloc&) {
    const LastWords words;
    done = fail(ErrorCode::limit, "there is not enough memory to answer this");
  }
  if (!done && account.over()) done = tl::unexpected<Error>(account.error("answering this"));
  engine.views().measure_again();
  constexpr std::int64_t kMuch = 4 << 20;
  if (const std::int64_t back = account.peak() - account.used(); back > kMuch)
    engine.freed(static_cast<std::size_t>(back));
  return done;
}

Error error_of(ErrorCode code, std::string message) {
  return fail(code, std::move(message)).value();
}

}  // namespace

OrRefusal<OpenProfilePtr> Tasks::profile(const std::string& handle) const {
  auto found = engine_.find(handle, client_);
  if (found) return *found;
  // Nobody cancelled anything here: the profile was dropped.
  const bool dropped = found.error().code == ErrorCode::cancelled;
  return tl::make_unexpected(
      Refusal{dropped ? Refusal::Why::closed : Refusal::Why::error, std::move(found).error()});
}

std::optional<Refusal> Tasks::outdated(const OpenProfile& open, const std::optional<std::uint32_t>& revision,
                                       std::string_view field) {
  if (!revision)
    return Refusal{Refusal::Why::unnamed,
                   error_of(ErrorCode::invalid, fmt::format("missing; `{}` has keys of a revision", field))};
  if (*revision == open.revision) return std::nullopt;
  return Refusal{
      Refusal::Why::outdated,
      error_of(ErrorCode::invalid, fmt::format("{} has revision {} now; what `{}` names is of revision {}",
                                               sanitize_text(open.name), open.revision, field, *revision)),
      open.revision};
}

void Tasks::run(const How& how, Work work, std::function<void(const Refusal&)> refused,
                const std::function<void(std::function<void()> stop)>& begins) {
  if (engine_.scheduler().full(client_)) {
    refused({Refusal::Why::busy,
             error_of(ErrorCode::limit,
                      fmt::format("{} requests of this client wait for a worker, the most there may be; ask "
                                  "again when some are answered",
                                  Scheduler::kMaxWaiting))});
    return;
  }
  // The task owns it; who cancels before a worker has taken the task answers in its place.
  struct Pending {
    std::function<void(const Refusal&)> refused;
    std::atomic<bool> taken{false};
  };
  const auto pending = std::make_shared<Pending>();
  pending->refused = std::move(refused);
  StopSource stop;
  const std::function<void()> cancel = [stop, weak = std::weak_ptr<Pending>(pending)]() mutable {
    stop.request_stop();
    const auto waiting = weak.lock();
    if (waiting && !waiting->taken.exchange(true))
      waiting->refused({Refusal::Why::error, error_of(ErrorCode::cancelled, "cancelled")});
  };
  if (!how.panel.empty()) {
    if (panels_.size() > 1000) panels_.clear();
    if (const auto older = panels_.find(how.panel); older != panels_.end()) older->second();
    panels_.insert_or_assign(how.panel, cancel);
  }
  begins(cancel);
  engine_.scheduler().submit(how.is_long ? Lane::bulk : how.lane, client_, how.name,
                             [&engine = engine_, pending, work = std::move(work), stop]() mutable {
                               if (pending->taken.exchange(true)) return;
                               const auto done = work_within(engine, stop, work);
                               const LastWords words;
                               if (!done) pending->refused({Refusal::Why::error, done.error()});
                             });
}

}  // namespace profd
