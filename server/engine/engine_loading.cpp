// Engine: from a file to open profiles, and again when the file changes.
#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "core/support/text.h"
#include "core/view/resolve.h"
#include "server/engine/engine.h"
#include "server/engine/pick_profile.h"
#include "server/engine/uri.h"
#include "server/platform/last_words.h"
#include "server/runtime/log.h"

namespace profd {
namespace {

// Nobody waits for this, and nothing but the log hears of its failure.
void keep(const std::string& place, const std::function<Result<bool>(StopToken)>& work,
          const StopToken& stop) {
  const auto kept = work(stop);
  if (!kept && !stop.stop_requested())
    log_warning(fmt::format("{}: not kept in the cache: {}", place, describe(kept.error())));
}

}  // namespace

std::uint64_t Engine::open(ClientId client, OpenRequest request, ProgressFn progress, Opened opened) {
  auto path = path_of_uri(request.uri);
  if (!path) {
    opened(tl::unexpected<Error>(std::move(path).error()));
    return next_ticket_++;
  }
  OriginPtr origin = file_origin(std::move(*path), request.options);
  return open(client, std::move(origin), std::move(request), std::move(progress), std::move(opened));
}

std::uint64_t Engine::open(ClientId client, OriginPtr origin, OpenRequest request, ProgressFn progress,
                           Opened opened) {
  const std::uint64_t ticket = next_ticket_++;
  if (scheduler_->full(client)) {
    opened(fail(ErrorCode::limit,
                fmt::format("{} tasks of this client wait, the most there may be; open it when some are done",
                            Scheduler::kMaxWaiting)));
    return ticket;
  }
  const auto [known, is_new] = by_key_.try_emplace(origin->key(), next_file_);
  const FileId id = known->second;
  if (is_new) {
    Entry entry;
    entry.origin = std::move(origin);
    entry.request = request;
    entry.last_use = ++clock_;
    entry.first_handle = fmt::format("p{}", next_handle_++);
    place_of_[entry.first_handle] = {id, 0};
    entries_.emplace(next_file_++, std::move(entry));
  }
  Entry& entry = entries_.at(id);
  if (request.make_default) meant_.opening(client, ticket);
  entry.waiters.push_back({ticket, client, std::move(request), std::move(progress), std::move(opened)});
  // Without workers the entry may be gone after any of these.
  if (entry.loading) {
    if (!entry.load_task->begun()) submit_load(client, entry);
  } else if (entry.loaded) {
    look(id, entry, false);
  } else {
    start_loading(id, entry);
  }
  return ticket;
}

// Of a file that is as it was read, or that is gone.
void Engine::answer_open(Entry& entry, Waiter& waiter) {
  auto answer = answer_for(entry, waiter.request, true);
  if (!answer) {
    meant_.opened(waiter.client, waiter.ticket, "");
    return waiter.opened(tl::unexpected<Error>(std::move(answer).error()));
  }
  entry.last_use = ++clock_;
  entry.attached = entry.attached || waiter.request.attach;
  const OpenProfilePtr before = meant(waiter.client);
  std::vector<Member*> opened;
  for (Member& member : entry.members) {
    if (member.clients.empty()) opened.push_back(&member);
    member.clients.insert(waiter.client);
  }
  meant_.opened(waiter.client, waiter.ticket, answer->profile->handle);
  announce_all(ProfileChange::opened, entry, opened,
               [](const Member& member) { return fmt::format("{} opened", member.current->name); });
  if (const OpenProfilePtr now = meant(waiter.client); now != before && now == answer->profile)
    announce(ProfileChange::default_changed, entry, *member_of(now->handle), "");
  waiter.opened(std::move(answer));
}

// Who waits for it, or else one who has it open.
ClientId Engine::client_of(const Entry& entry) const {
  if (!entry.waiters.empty()) return entry.waiters.front().client;
  for (const Member& member : entry.members)
    if (!member.clients.empty()) return *member.clients.begin();
  return kNobody;
}

// Asks the origin whether what was read is still what it has. Who opens it meanwhile is answered by another
// look, which begins after.
void Engine::look(FileId id, Entry& entry, bool by_watcher) {
  if (std::exchange(entry.looking, true)) {
    entry.look_again = entry.look_again || by_watcher;
    return;
  }
  scheduler_->submit(Lane::interactive, client_of(entry), "look at " + entry.origin->place(),
                     [this, id, by_watcher, alive = alive_, origin = entry.origin, before = next_ticket_] {
                       auto now = origin->freshness();
                       post_([this, id, by_watcher, before, alive, now = std::move(now)] {
                         if (*alive) looked(id, now, by_watcher, before);
                       });
                     });
}

// `before`: who has a lower ticket waited when the look began.
void Engine::looked(FileId id, const std::optional<std::string>& now, bool by_watcher, std::uint64_t before) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.looking = false;
  const bool again = std::exchange(entry.look_again, false);
  if (entry.loading) return;                                             // which answers who waits
  if (by_watcher && entry.not_said && (!now || now == entry.reading)) {  // nothing more came
    const std::string what = *entry.not_said;
    tell_failure(entry, what);
    listeners_.activity_changed(what);
  } else if (now && *now != entry.loaded->freshness) {
    return start_loading(id, entry, by_watcher ? now : std::nullopt);
  }
  std::vector<Waiter> answered;
  while (!entry.waiters.empty() && entry.waiters.front().ticket < before) {
    answered.push_back(std::move(entry.waiters.front()));
    entry.waiters.erase(entry.waiters.begin());
  }
  for (Waiter& waiter : answered) {
    // Whoever is told may close it.
    if (const auto still = entries_.find(id); still != entries_.end())
      answer_open(still->second, waiter);
    else
      waiter.opened(fail(ErrorCode::not_found, "it was closed while it was opened; open it again"));
  }
  const auto still = entries_.find(id);
  if (still == entries_.end()) return;
  if (!still->second.in_use()) return drop(id, {});
  if (again || !still->second.waiters.empty()) look(id, still->second, again);
}

// Also tells the clients that listen, ten times a second.
Engine::ProgressFn Engine::watched_progress(Entry& entry, ProgressFn inner) {
  using Clock = std::chrono::steady_clock;
  entry.percentage = std::make_shared<std::atomic<std::int32_t>>(-1);
  const auto told = std::make_shared<std::atomic<Clock::rep>>(Clock::now().time_since_epoch().count());
  return [this, alive = alive_, percentage = entry.percentage, told, post = post_, inner = std::move(inner)](
             std::uint64_t done, std::uint64_t total) {
    constexpr Clock::rep kInterval = Clock::duration(std::chrono::milliseconds(100)).count();
    if (inner) inner(done, total);
    if (total > 0)
      percentage->store(static_cast<std::int32_t>(static_cast<double>(std::min(done, total)) * 100 /
                                                  static_cast<double>(total)));
    const Clock::rep now = Clock::now().time_since_epoch().count();
    Clock::rep last = told->load();
    if (now - last < kInterval || !told->compare_exchange_strong(last, now)) return;
    post([this, alive] {
      if (*alive) listeners_.activity_changed();
    });
  };
}

void Engine::start_loading(FileId id, Entry& entry, std::optional<std::string> seen_by_watcher) {
  entry.loading.emplace();
  entry.reading = std::move(seen_by_watcher);
  // Progress goes to whoever asked first; the others wait without it.
  auto progress =
      watched_progress(entry, entry.waiters.empty() ? ProgressFn() : entry.waiters.front().progress);
  listeners_.activity_changed();
  auto account = std::make_shared<Account>(pool_, *entry.loading);
  share_memory();
  // The result is kept in a box, so that a task that never runs (shutdown) loses nothing but itself.
  entry.load_task =
      std::make_shared<SharedTask>([this, id, alive = alive_, origin = entry.origin, stop = *entry.loading,
                                    account = std::move(account), progress = std::move(progress)] {
        Result<std::shared_ptr<LoadedProfiles>> result = fail(ErrorCode::internal, "reading failed");
        try {
          const Account::Scope scope(account.get());
          auto read = origin->load({cache_, scheduler_->executor(), StopToken(stop), progress});
          if (read && read->keep) {
            scheduler_->submit(Lane::bulk, kNobody, "cache " + origin->place(),
                               [place = origin->place(), work = std::move(read->keep), ending = ending_] {
                                 keep(place, work, StopToken(ending));
                               });
          }
          result = std::move(read).map([](Load&& whole) { return std::move(whole.profiles); });
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
        post_([this, id, alive, account, result = std::move(result)]() mutable {
          if (*alive) loaded(id, std::move(result), std::move(account));
        });
      });
  try {
    submit_load(client_of(entry), entry);  // without workers the entry may be gone after this
  } catch (const std::exception&) {        // neither memory nor a thread for it
    const LastWords words;
    loaded(id, fail(ErrorCode::limit, "not enough memory to read this file"), nullptr);
  }
}

void Engine::submit_load(ClientId client, const Entry& entry) {
  SharedTask::submit(*scheduler_, Lane::bulk, client, "open " + entry.origin->place(), entry.load_task);
}

void Engine::loaded(FileId id, Result<std::shared_ptr<LoadedProfiles>> result,
                    std::shared_ptr<Account> account) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;  // closed meanwhile
  Entry& entry = found->second;
  const bool given_up = entry.loading && entry.loading->stopped();
  entry.loading.reset();
  entry.load_task.reset();
  if (result && (*result)->memory > budget_)
    result = fail(ErrorCode::limit,
                  fmt::format("the profile needs {} MiB, more than the daemon's memory budget of {} MiB "
                              "(--memory-budget)",
                              (*result)->memory >> 20, budget_ >> 20));
  else if (result && !plan_with(id, (*result)->memory).fits)
    result = fail(
        ErrorCode::limit,
        fmt::format("the profile needs {} MiB, and profiles that other clients have open would have to be "
                    "closed for it, which are within their share of the daemon's memory budget of {} "
                    "MiB (--memory-budget)",
                    (*result)->memory >> 20, budget_ >> 20));
  if (result) {
    account.reset();
    take(id, entry, std::move(*result));
    listeners_.activity_changed();
    return;
  }
  Error error = std::move(result).error();
  // Given up for those who left; who came meanwhile waits for the beginning of another one. What is stopped
  // for want of memory is not.
  if (given_up && error.code == ErrorCode::cancelled && !entry.waiters.empty())
    return start_loading(id, entry);
  const std::string what = fmt::format("{}: {}", entry.origin->name(), describe(error));
  log_info(fmt::format("{}: {}", entry.origin->place(), describe(error)));
  auto waiters = std::move(entry.waiters);
  entry.waiters.clear();
  if (entry.members.empty()) {
    drop(id, {});
  } else if (entry.reading && waiters.empty() && error.code != ErrorCode::limit && !entry.watches.empty()) {
    wait_for_the_rest(id, entry, what);
    return listeners_.activity_changed();
  } else {
    tell_failure(entry, what);
  }
  if (error.code != ErrorCode::cancelled) listeners_.activity_changed(what);
  for (const Waiter& waiter : waiters) meant_.opened(waiter.client, waiter.ticket, "");
  for (Waiter& waiter : waiters) waiter.opened(tl::unexpected<Error>(error));
}

// A program may be writing it: what the watcher sees next decides, or that it sees nothing for a while.
void Engine::wait_for_the_rest(FileId id, Entry& entry, const std::string& what) {
  const auto now = std::chrono::steady_clock::now();
  if (!entry.not_said) entry.silent_since = now;
  if (now - entry.silent_since > patience_ * 20) return tell_failure(entry, what);  // and is never done
  entry.not_said = what;
  scheduler_->submit(Lane::interactive, client_of(entry), "wait for " + entry.origin->place(),
                     [this, id, alive = alive_, watched = entry.loaded->watched]() mutable {
                       std::erase_if(watched, [](WatchedPath& one) {
                         const auto stamp = stamp_of(one.path);
                         if (stamp) one.seen = *stamp;
                         return !stamp;
                       });
                       post_([this, id, alive, watched = std::move(watched)] {
                         if (!*alive || entries_.count(id) == 0) return;
                         for (const WatchedPath& one : watched)
                           watches_.remind(one.path, one.seen,
                                           one.seen.size == 0 ? patience_ * 20 : patience_);
                       });
                     });
}

void Engine::tell_failure(Entry& entry, const std::string& what) {
  entry.failed = true;
  entry.not_said.reset();
  std::vector<Member*> members;
  for (Member& member : entry.members)
    if (!member.clients.empty()) members.push_back(&member);
  announce_all(ProfileChange::reload_failed, entry, members,
               [&](const Member&) { return what + ". The older revision is shown."; });
}

// The members of the file as it is now. Those that were there before keep their handles: the n-th of a name
// is the n-th of that name again; where no name is known, the place in the file counts.
std::vector<Engine::Member> Engine::match_members(Entry& entry, const std::vector<ProfilePtr>& profiles,
                                                  std::vector<Member>& gone) {
  std::vector<Member> before = std::move(entry.members);
  std::vector<Member> now(profiles.size());
  if (before.empty()) now.front().handle = entry.first_handle;
  const auto keep = [](Member& from, Member& to) {
    to.handle = std::exchange(from.handle, "");
    to.clients = std::move(from.clients);
    to.current = from.current;
  };
  std::map<std::string, std::vector<Member*>> by_name;
  for (Member& member : before) by_name[member.current->member_name()].push_back(&member);
  std::map<std::string, std::size_t> n_taken;
  bool any = false;
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const auto found = by_name.find(profiles[i]->info().name);
    if (found == by_name.end() || n_taken[found->first] >= found->second.size()) continue;
    keep(*found->second[n_taken[found->first]++], now[i]);
    any = true;
  }
  if (!any)
    for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i) keep(before[i], now[i]);
  std::set<ClientId> clients;  // who has any of it open has the new ones too
  for (const Member& member : before) clients.insert(member.clients.begin(), member.clients.end());
  for (const Member& member : now) clients.insert(member.clients.begin(), member.clients.end());
  for (Member& member : now) {
    if (!member.handle.empty()) continue;
    member.handle = fmt::format("p{}", next_handle_++);
    member.clients = clients;
  }
  for (Member& member : before)
    if (!member.handle.empty()) gone.push_back(std::move(member));
  return now;
}

std::shared_ptr<OpenProfile> Engine::make_open(const Entry& entry, const Member& member,
                                               std::size_t number) const {
  auto open = std::make_shared<OpenProfile>();
  open->handle = member.handle;
  open->revision = entry.revision;
  open->uri = entry.origin->uri();
  open->origin = entry.origin;
  open->loaded = entry.loaded;
  open->number = static_cast<std::uint32_t>(number);
  open->profile = entry.loaded->opened.profiles[number - 1];
  open->name = !entry.request.name.empty() ? entry.request.name : entry.origin->name();
  if (entry.loaded->opened.profiles.size() > 1)
    open->name += open->member_name().empty() ? fmt::format(" #{}", number) : " · " + open->member_name();
  open->name = cut_bytes(std::move(open->name), kMaxToldName);
  open->metric = open->profile->default_metric();
  const OpenRequest& request = entry.request;
  const std::string& wanted = member.current            ? member.current->metric_info().name
                              : !request.metric.empty() ? request.metric
                                                        : request.preferred_metric;
  if (const auto metric = open->profile->find_metric(wanted); metric && !wanted.empty())
    open->metric = *metric;
  return open;
}

Result<OpenAnswer> Engine::answer_for(const Entry& entry, const OpenRequest& request,
                                      bool already_open) const {
  PROFD_TRY(const std::size_t meant, pick_profile(entry.loaded->opened.profiles, request.member));
  OpenAnswer answer;
  answer.already_open = already_open;
  for (const Member& member : entry.members) answer.profiles.push_back(member.current);
  answer.profile = answer.profiles[meant];
  if (!request.metric.empty()) PROFD_CHECK(resolve_metric(*answer.profile->profile, request.metric));
  return answer;
}

void Engine::take(FileId id, Entry& entry, std::shared_ptr<LoadedProfiles> loaded) {
  const bool first = entry.members.empty();
  std::vector<Member> gone;
  std::vector<Member> members = match_members(entry, loaded->opened.profiles, gone);
  entry.watches.clear();
  if (entry.loaded) doomed_.loaded.push_back(std::move(entry.loaded));
  entry.loaded = std::move(loaded);
  entry.loaded_at = std::chrono::steady_clock::now();
  entry.failed = false;
  entry.not_said.reset();
  entry.last_use = ++clock_;
  ++entry.revision;
  std::vector<std::uint8_t> fresh(members.size(), 0);
  for (std::size_t i = 0; i < members.size(); ++i) {
    Member& member = members[i];
    const auto open = make_open(entry, member, i + 1);
    open->view_id = ++next_view_id_;
    if (selection_ && selection_->profile == member.handle) selection_->path.clear();
    if (member.current)
      forget_views(*member.current);
    else
      fresh[i] = 1;
    member.current = open;
    place_of_[member.handle] = {id, i};
  }
  entry.members = std::move(members);
  auto waiters = std::move(entry.waiters);
  entry.waiters.clear();
  std::vector<Result<OpenAnswer>> answers;
  for (const Waiter& waiter : waiters) {
    for (Member& member : entry.members) member.clients.insert(waiter.client);
    entry.attached = entry.attached || waiter.request.attach;
    entry.watched = entry.watched || waiter.request.watch;
    answers.push_back(answer_for(entry, waiter.request, !first));
    meant_.opened(waiter.client, waiter.ticket, answers.back() ? answers.back()->profile->handle : "");
  }
  watch(id, entry);
  std::vector<Member*> gone_open;
  for (Member& member : gone) {
    place_of_.erase(member.handle);
    if (!member.clients.empty()) gone_open.push_back(&member);
  }
  retire(entry, gone_open,
         [](const Member& member) { return member.current->name + " is no longer in its file"; });
  make_room(id);
  share_memory();
  for (const bool is_new : {true, false}) {
    std::vector<Member*> members_told;
    for (std::size_t i = 0; i < entry.members.size(); ++i)
      if (!entry.members[i].clients.empty() && (fresh[i] != 0) == is_new)
        members_told.push_back(&entry.members[i]);
    announce_all(is_new ? ProfileChange::opened : ProfileChange::reloaded, entry, members_told,
                 [is_new](const Member& member) {
                   return fmt::format("{} {}", member.current->name, is_new ? "opened" : "reloaded");
                 });
  }
  take_apart_later();
  for (std::size_t i = 0; i < waiters.size(); ++i) waiters[i].opened(std::move(answers[i]));
}

void Engine::watch(FileId id, Entry& entry) {
  if (!entry.watched) return;
  const auto changed = [this, id] {
    if (const auto found = entries_.find(id); found != entries_.end()) load_again(id, found->second);
  };
  try {
    for (const WatchedPath& one : entry.loaded->watched)
      entry.watches.push_back(watches_.file(one.path, one.seen, changed));
  } catch (const std::exception& exception) {  // no thread to be had: it is open all the same
    const LastWords words;
    log_warning(fmt::format("{}: changes are not noticed: {}", entry.origin->place(), exception.what()));
  }
}

// False: not now.
bool Engine::load_again(FileId id, Entry& entry) {
  if (!entry.loaded || entry.loading) return false;
  const auto age = std::chrono::steady_clock::now() - entry.loaded_at;
  if (age < entry.origin->policy().tell_every) return false;
  look(id, entry, true);
  return true;
}

bool Engine::origin_changed(const std::string& key) {
  const auto known = by_key_.find(key);
  return known == by_key_.end() || load_again(known->second, entries_.at(known->second));
}

}  // namespace profd
