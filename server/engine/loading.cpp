#include "server/engine/loading.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/platform/last_words.h"
#include "server/runtime/log.h"

namespace profd {
namespace {

using Clock = std::chrono::steady_clock;

// Nobody waits for this, and nothing but the log hears of its failure.
void keep(const std::string& place, const std::function<Result<bool>(StopToken)>& work,
          const StopToken& stop) {
  const auto kept = work(stop);
  if (!kept && !stop.stop_requested())
    log_warning(fmt::format("{}: not kept in the cache: {}", place, describe(kept.error())));
}

bool lacks_scripts(const LoadedProfiles& loaded) {
  for (const std::vector<ScriptAnswer>& scripts : loaded.scripts)
    for (const ScriptAnswer& script : scripts)
      if (script.state == ScriptState::not_here || script.state == ScriptState::unusable) return true;
  return false;
}

std::chrono::milliseconds in_milliseconds(Clock::duration time) {
  return std::chrono::ceil<std::chrono::milliseconds>(time);
}

}  // namespace

Loading::Loading(Means means, Owner& owner)
    : owner_(owner),
      scheduler_(means.scheduler),
      post_(means.post),
      timers_(post_.shared()),
      watches_(means.watches),
      cache_(std::move(means.cache)),
      pool_(std::move(means.pool)),
      returned_(means.returned),
      patience_(means.patience),
      name_code_(std::move(means.name_code)),
      unwinder_(std::move(means.unwinder)) {}

void Loading::stop() {
  ending_.request_stop();
  for (auto& [id, state] : states_)
    if (state.reading) state.reading->stop.request_stop();
  timers_.stop();
  post_.end();
}

Loading::State* Loading::find(OriginId id) {
  const auto found = states_.find(id);
  return found == states_.end() ? nullptr : &found->second;
}

const Loading::State* Loading::find(OriginId id) const {
  const auto found = states_.find(id);
  return found == states_.end() ? nullptr : &found->second;
}

void Loading::open(OriginId id, const OriginPtr& origin, Waiter waiter) {
  State& state = states_[id];
  state.origin = origin;
  newest_ticket_ = std::max(newest_ticket_, waiter.ticket);
  const ClientId client = waiter.client;
  if (waiter.request.symbols) state.symbols = waiter.request.symbols;
  const bool more_scripts = state.scripts.add(waiter.request.scripts);
  state.waiters.push_back(std::move(waiter));
  // Without workers the state may be gone after any of these.
  if (state.reading) {
    if (!state.reading->task->begun()) submit(client, state);
  } else if (state.shown && !(more_scripts && state.shown->lacks_scripts)) {
    look(id, state, false);
  } else {
    start(id, state);
  }
}

void Loading::reload(OriginId id) {
  if (State* state = find(id); state != nullptr && !state->reading) start(id, *state);
}

void Loading::forget(OriginId id) {
  const auto found = states_.find(id);
  if (found == states_.end()) return;
  if (found->second.reading) found->second.reading->stop.request_stop();
  states_.erase(found);
}

std::optional<Loading::Waiter> Loading::take_waiter(std::uint64_t ticket, OriginId& id) {
  for (auto& [of, state] : states_) {
    const auto found = std::find_if(state.waiters.begin(), state.waiters.end(),
                                    [&](const Waiter& waiter) { return waiter.ticket == ticket; });
    if (found == state.waiters.end()) continue;
    Waiter waiter = std::move(*found);
    state.waiters.erase(found);
    if (state.waiters.empty() && state.reading) state.reading->stop.request_stop();
    id = of;
    return waiter;
  }
  return std::nullopt;
}

void Loading::remove_client(ClientId client) {
  for (auto& [id, state] : states_)
    std::erase_if(state.waiters, [&](const Waiter& waiter) { return waiter.client == client; });
}

bool Loading::waits(OriginId id, ClientId client) const {
  const State* state = find(id);
  return state != nullptr && std::any_of(state->waiters.begin(), state->waiters.end(),
                                         [&](const Waiter& waiter) { return waiter.client == client; });
}

bool Loading::is_waited_for(OriginId id) const {
  const State* state = find(id);
  return state != nullptr && !state->waiters.empty();
}

bool Loading::is_waited_for_by(std::uint64_t ticket) const {
  return std::any_of(states_.begin(), states_.end(), [&](const auto& item) {
    return std::any_of(item.second.waiters.begin(), item.second.waiters.end(),
                       [&](const Waiter& waiter) { return waiter.ticket == ticket; });
  });
}

std::vector<ClientId> Loading::waiting_clients(OriginId id) const {
  std::vector<ClientId> out;
  if (const State* state = find(id))
    for (const Waiter& waiter : state->waiters) out.push_back(waiter.client);
  return out;
}

bool Loading::is_watched(OriginId id) const {
  const State* state = find(id);
  return state != nullptr && state->is_watched;
}

std::vector<Loading::Reading> Loading::readings() const {
  std::vector<Reading> out;
  for (const auto& [id, state] : states_)
    if (state.reading) out.push_back({id, state.reading->percentage->load()});
  return out;
}

// Who waits for it, or else one who has it open.
ClientId Loading::client_of(OriginId id, const State& state) const {
  return state.waiters.empty() ? owner_.user_of(id) : state.waiters.front().client;
}

void Loading::changed(OriginId id) {
  State* state = find(id);
  if (state == nullptr || !state->shown) return;
  if (state->reading) {
    state->look_again = true;
    return;
  }
  if (state->is_due) return;
  const auto left = state->shown->since + state->origin->policy().tell_every - Clock::now();
  if (left <= Clock::duration::zero()) return look(id, *state, true);
  state->is_due = true;
  timers_.after(in_milliseconds(left), [this, id] {
    State* due = find(id);
    if (due == nullptr) return;
    due->is_due = false;
    changed(id);
  });
}

// Asks the origin whether what was read is still what it has. Who opens it meanwhile is answered by another
// look, which begins after.
void Loading::look(OriginId id, State& state, bool changed) {
  if (std::exchange(state.looking, true)) {
    state.look_again = state.look_again || changed;
    return;
  }
  scheduler_.submit(
      Lane::interactive, client_of(id, state), "look at " + state.origin->place(),
      [this, id, changed, post = post_.shared(), origin = state.origin, before = newest_ticket_ + 1] {
        auto now = origin->freshness();
        post([this, id, changed, before, now = std::move(now)] { looked(id, now, changed, before); });
      });
}

// `before`: who has a lower ticket waited when the look began.
void Loading::looked(OriginId id, const std::optional<std::string>& now, bool changed, std::uint64_t before) {
  State* state = find(id);
  if (state == nullptr) return;
  state->looking = false;
  if (state->reading) return;  // which answers who waits
  const bool again = std::exchange(state->look_again, false);
  if (changed && state->silence && (!now || now == state->silence->freshness)) {  // nothing more came
    const Error error = state->silence->error;
    state->silence.reset();
    owner_.failed(id, error, {});
    state = find(id);
    if (state == nullptr) return;
  } else if (now && *now != state->shown->freshness) {
    return start(id, *state, changed ? now : std::nullopt);
  }
  std::vector<Waiter> answered;
  while (!state->waiters.empty() && state->waiters.front().ticket < before) {
    answered.push_back(std::move(state->waiters.front()));
    state->waiters.erase(state->waiters.begin());
  }
  for (Waiter& waiter : answered) {
    // Whoever is told may close it.
    if (State* still = find(id)) {
      if (waiter.request.watch && !std::exchange(still->is_watched, true)) watch(id, *still);
      owner_.unchanged(id, std::move(waiter));
    } else {
      waiter.opened(fail(ErrorCode::not_found, "it was closed while it was opened; open it again"));
    }
  }
  if (find(id) != nullptr) owner_.idle(id);
  if (State* still = find(id); still != nullptr && (again || !still->waiters.empty()))
    look(id, *still, again);
}

// Also tells the clients that listen, ten times a second.
Loading::ProgressFn Loading::watched_progress(Read& read, ProgressFn inner) {
  read.percentage = std::make_shared<std::atomic<std::int32_t>>(-1);
  const auto told = std::make_shared<std::atomic<Clock::rep>>(Clock::now().time_since_epoch().count());
  return [this, percentage = read.percentage, told, post = post_.shared(), inner = std::move(inner)](
             std::uint64_t done, std::uint64_t total) {
    constexpr Clock::rep kInterval = Clock::duration(std::chrono::milliseconds(100)).count();
    if (inner) inner(done, total);
    if (total > 0)
      percentage->store(static_cast<std::int32_t>(static_cast<double>(std::min(done, total)) * 100 /
                                                  static_cast<double>(total)));
    const Clock::rep now = Clock::now().time_since_epoch().count();
    Clock::rep last = told->load();
    if (now - last < kInterval || !told->compare_exchange_strong(last, now)) return;
    post([this] { owner_.activity_changed(); });
  };
}

void Loading::start(OriginId id, State& state, std::optional<std::string> because_of) {
  Read& read = state.reading.emplace();
  read.because_of = std::move(because_of);
  // Progress goes to whoever asked first; the others wait without it.
  auto progress =
      watched_progress(read, state.waiters.empty() ? ProgressFn() : state.waiters.front().progress);
  owner_.activity_changed();
  auto account = std::make_shared<Account>(pool_, read.stop);
  owner_.reading_begins();
  // The result is kept in a box, so that a task that never runs (shutdown) loses nothing but itself.
  read.task = std::make_shared<SharedTask>(
      [this, id, post = post_.shared(), origin = state.origin, stop = read.stop, account = std::move(account),
       progress = std::move(progress), symbols = state.symbols, scripts = state.scripts,
       name_code = name_code_, unwinder = unwinder_] {
        Result<std::shared_ptr<LoadedProfiles>> result = fail(ErrorCode::internal, "reading failed");
        try {
          const Account::Scope scope(account.get());
          LoadContext context{cache_, scheduler_.executor(), StopToken(stop), progress};
          context.scripts = scripts;
          if (symbols && name_code)
            context.named = [&](ProfilePtr profile, const std::string& place) {
              return name_code(std::move(profile), symbols->of_file(place), StopToken(stop));
            };
          if (symbols && unwinder)
            context.unwinder = [&](const std::string& place) {
              return unwinder(symbols->of_file(place), StopToken(stop));
            };
          auto loaded = origin->load(context);
          if (loaded && loaded->keep) {
            scheduler_.submit(Lane::bulk, kNobody, "cache " + origin->place(),
                              [place = origin->place(), work = std::move(loaded->keep), ending = ending_] {
                                keep(place, work, StopToken(ending));
                              });
          }
          result = std::move(loaded).map([](Load&& whole) { return std::move(whole.profiles); });
        } catch (const std::bad_alloc&) {
          const LastWords words;
          result = fail(ErrorCode::limit, "not enough memory to read this file");
        } catch (const std::exception& exception) {
          log_error(fmt::format("open {}: {}", origin->place(), exception.what()));
          result = fail(ErrorCode::internal, std::string("reading failed: ") + exception.what());
        }
        if (!result && account->over()) result = tl::unexpected<Error>(account->error("reading this file"));
        if (account->peak() > account->used())
          returned_.freed(static_cast<std::size_t>(account->peak() - account->used()));
        const LastWords words;
        // What was read is the account's until the engine has it.
        post([this, id, account, result = std::move(result)]() mutable {
          done(id, std::move(result), std::move(account));
        });
      });
  try {
    submit(client_of(id, state), state);  // without workers the state may be gone after this
  } catch (const std::exception&) {       // neither memory nor a thread for it
    const LastWords words;
    done(id, fail(ErrorCode::limit, "not enough memory to read this file"), nullptr);
  }
}

void Loading::submit(ClientId client, const State& state) {
  SharedTask::submit(scheduler_, Lane::bulk, client, "open " + state.origin->place(), state.reading->task);
}

void Loading::done(OriginId id, Result<std::shared_ptr<LoadedProfiles>> result,
                   std::shared_ptr<Account> account) {
  State* state = find(id);
  if (state == nullptr || !state->reading) return;  // closed meanwhile
  const bool given_up = state->reading->stop.stopped();
  const std::optional<std::string> because_of = std::move(state->reading->because_of);
  state->reading.reset();
  if (result)
    if (const Result<void> room = owner_.has_room(id, (*result)->memory); !room)
      result = tl::unexpected<Error>(room.error());
  const bool again = std::exchange(state->look_again, false);
  if (result) {
    account.reset();
    const std::shared_ptr<const LoadedProfiles> loaded = std::move(*result);
    state->shown = Shown{loaded->freshness, loaded->watched, Clock::now(), lacks_scripts(*loaded)};
    state->silence.reset();
    std::vector<Waiter> waiters = std::exchange(state->waiters, {});
    for (const Waiter& waiter : waiters) state->is_watched = state->is_watched || waiter.request.watch;
    state->watches.clear();
    if (state->is_watched) watch(id, *state);
    owner_.loaded(id, loaded, std::move(waiters));
    owner_.activity_changed();
    if (again) changed(id);
    return;
  }
  const Error error = std::move(result).error();
  // Given up for those who left; who came meanwhile waits for the beginning of another one. What is stopped
  // for want of memory is not.
  if (given_up && error.code == ErrorCode::cancelled && !state->waiters.empty()) return start(id, *state);
  log_info(fmt::format("{}: {}", state->origin->place(), describe(error)));
  std::vector<Waiter> waiters = std::exchange(state->waiters, {});
  if (state->shown && because_of && waiters.empty() && error.code != ErrorCode::limit &&
      !state->watches.empty() && wait_for_the_rest(id, *state, error)) {
    state->silence->freshness = because_of;
    return owner_.activity_changed();
  }
  state->silence.reset();
  owner_.failed(id, error, std::move(waiters));
}

// What the watcher sees next decides, or that it sees nothing for a while. False: it is never done.
bool Loading::wait_for_the_rest(OriginId id, State& state, const Error& error) {
  const auto now = Clock::now();
  if (!state.silence) state.silent_since = now;
  if (now - state.silent_since > patience_ * 20) return false;
  state.silence = Silence{error, std::nullopt};
  scheduler_.submit(Lane::interactive, client_of(id, state), "wait for " + state.origin->place(),
                    [this, id, post = post_.shared(), watched = state.shown->watched]() mutable {
                      std::erase_if(watched, [](WatchedPath& one) {
                        const auto stamp = stamp_of(one.path);
                        if (stamp) one.seen = *stamp;
                        return !stamp;
                      });
                      post([this, id, watched = std::move(watched)] {
                        if (find(id) == nullptr) return;
                        for (const WatchedPath& one : watched)
                          watches_.remind(one.path, one.seen,
                                          one.seen.size == 0 ? patience_ * 20 : patience_);
                      });
                    });
  return true;
}

void Loading::watch(OriginId id, State& state) {
  try {
    for (const WatchedPath& one : state.shown->watched)
      state.watches.push_back(watches_.file(one.path, one.seen, [this, id] { changed(id); }));
  } catch (const std::exception& exception) {  // no thread to be had: it is open all the same
    const LastWords words;
    log_warning(fmt::format("{}: changes are not noticed: {}", state.origin->place(), exception.what()));
  }
}

}  // namespace profd
