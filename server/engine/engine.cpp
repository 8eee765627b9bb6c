#include "server/engine/engine.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/view/resolve.h"
#include "server/engine/endpoint_origin.h"
#include "server/engine/live_origin.h"
#include "server/engine/previous_origin.h"
#include "server/engine/script_origin.h"
#include "server/platform/last_words.h"
#include "server/runtime/log.h"

namespace profd {
namespace {

// With less not even a small file can be read.
constexpr std::uint64_t kLeastRoom = std::uint64_t{32} << 20;

}  // namespace

Engine::Engine(const EngineOptions& options, Post post)
    : post_(std::move(post)),
      listeners_(post_),
      budget_(options.memory_budget != 0 ? options.memory_budget : half_of_the_machine()),
      view_budget_(options.view_budget != 0 ? options.view_budget
                                            : std::max(std::uint64_t{512} << 20, half_of_the_machine() / 4)),
      pool_(std::make_shared<MemoryPool>(std::max(budget_, kLeastRoom), budget_)),
      scheduler_(std::make_unique<Scheduler>(options.n_threads,
                                             [](const std::string& name, const std::string& what) {
                                               try {
                                                 const LastWords words;
                                                 log_error(fmt::format("{}: {}", name, what));
                                               } catch (const std::bad_alloc&) {  // not even for that
                                               }
                                             })),
      turns_(*scheduler_, post_),
      walks_(turns_, post_, ledger_, budget_ / 8),
      project_walks_(turns_, post_, "project profiles"),
      views_(std::min(view_budget_, budget_), scheduler_->executor(), pool_,
             [this](std::size_t bytes) { returned_.freed(bytes); }),
      watches_(options.watch_files, post_,
               [this](const std::string& what) {
                 log_warning(what);
                 listeners_.activity_changed(what);
               }),
      uploads_(options.upload_folder),
      loading_({*scheduler_, post_, watches_, ProfileCache(options.cache), pool_, returned_, options.patience,
                [this](ProfilePtr profile, const SymbolPlaces& places, const StopToken& stop) {
                  return symbolizing_.named(std::move(profile), places, stop);
                },
                [this](const SymbolPlaces& places, const StopToken& stop) {
                  return symbolizing_.unwinder(places, stop);
                }},
               *this),
      symbolizing_({*scheduler_, post_, pool_, options.symbols,
                    [this](const std::string& handle) { return find(handle); },
                    [this](const std::string& handle, ProfilePtr profile) {
                      return revise(handle, std::move(profile));
                    },
                    [this] { listeners_.activity_changed(); }}) {
  origins_.add(std::string(kPreviousScheme),
               [this](std::string_view uri, const OpenOptions& how) -> Result<OriginPtr> {
                 PROFD_TRY(const PreviousName name, parse_previous(uri));
                 PROFD_TRY(const OriginPtr of, origins_.make(name.of, how));
                 auto kept = store_.kept(*of, name.revision);
                 if (kept) return previous_origin(of, name.revision, std::move(kept));
                 return fail(ErrorCode::not_found,
                             fmt::format("recording {} of {} is kept no more: it is as long as the file is "
                                         "open and memory is not short",
                                         name.revision, of->name()));
               });
  add_live_origins(
      origins_, [this](UniqueFunction<void()> task) { post_(std::move(task)); },
      [this](const std::string& key) { origin_changed(key); }, options.symbols);
  // What a script made whose text is kept nowhere else can be asked for as long as it is open.
  origins_.add(std::string(kScriptScheme),
               [this](std::string_view uri, const OpenOptions& how) -> Result<OriginPtr> {
                 for (const auto& [id, origin] : store_.origins())
                   if (origin.origin->uri() == uri) return origin.origin;
                 return script_origin(uri, how, origins_);
               });
}

Engine::~Engine() {
  walks_.stop();
  project_walks_.stop();
  loading_.stop();
  symbolizing_.stop();
  watches_.stop();
  warm_up_.reset();
  scheduler_.reset();
}

std::uint64_t Engine::open(ClientId client, OpenRequest request, ProgressFn progress, Opened opened) {
  auto origin = origins_.make(request.uri, request.options);
  if (!origin) {
    opened(tl::unexpected<Error>(std::move(origin).error()));
    return next_ticket_++;
  }
  return open(client, std::move(*origin), std::move(request), std::move(progress), std::move(opened));
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
  const OriginId id = store_.add(origin, request);
  // Who names an address anew means what is there now.
  const bool again = origin != store_.at(id).origin && is_endpoint(*origin);
  origin = store_.at(id).origin;
  if (request.make_default) meant_.opening(client, ticket);
  loading_.open(id, origin, {ticket, client, std::move(request), std::move(progress), std::move(opened)});
  if (again) loading_.reload(id);
  return ticket;
}

void Engine::cancel_open(std::uint64_t ticket) {
  OriginId id = 0;
  auto waiter = loading_.take_waiter(ticket, id);
  if (!waiter) return;
  meant_.opened(waiter->client, ticket, "");
  idle(id);
  waiter->opened(fail(ErrorCode::cancelled, "cancelled"));
  listeners_.activity_changed();
}

bool Engine::is_opening(std::uint64_t ticket) const {
  return loading_.is_waited_for_by(ticket);
}

void Engine::origin_changed(const std::string& key) {
  loading_.changed(store_.by_key(key));
}

Result<void> Engine::has_room(OriginId id, std::uint64_t bytes) {
  if (bytes > budget_)
    return fail(ErrorCode::limit,
                fmt::format("the profile needs {} MiB, more than the daemon's memory budget of {} MiB "
                            "(--memory-budget)",
                            bytes >> 20, budget_ >> 20));
  if (plan_with(id, bytes).fits) return {};
  return fail(ErrorCode::limit,
              fmt::format("the profile needs {} MiB, and profiles that other clients have open would have to "
                          "be closed for it, which are within their share of the daemon's memory budget of "
                          "{} MiB (--memory-budget)",
                          bytes >> 20, budget_ >> 20));
}

void Engine::loaded(OriginId id, std::shared_ptr<const LoadedProfiles> loaded,
                    std::vector<Loading::Waiter> waiters) {
  OpenOrigin& origin = store_.at(id);
  const bool first = origin.members.empty();
  ProfileStore::Change change = store_.replace(id, std::move(loaded));
  for (auto* before : {&change.loaded_before, &change.previous_before})
    if (*before) doomed_.loaded.push_back(std::move(*before));
  for (const OpenMember& member : change.before) forget_views(*member.current);
  for (const OpenMember& member : origin.members)
    if (selection_ && selection_->profile == member.handle) selection_->path.clear();
  std::vector<Result<OpenAnswer>> answers;
  for (const Loading::Waiter& waiter : waiters) {
    for (OpenMember& member : origin.members) member.clients.insert(waiter.client);
    origin.attached = origin.attached || waiter.request.attach;
    answers.push_back(ProfileStore::answer(origin, waiter.request, !first));
    meant_.opened(waiter.client, waiter.ticket, answers.back() ? answers.back()->profile->handle : "");
  }
  std::vector<OpenMember*> gone;
  for (OpenMember& member : change.before)
    if (!member.handle.empty() && !member.clients.empty()) gone.push_back(&member);
  retire(origin, gone,
         [](const OpenMember& member) { return member.current->name + " is no longer in its file"; });
  make_room(id);
  share_memory();
  for (const bool is_new : {true, false}) {
    std::vector<OpenMember*> told;
    for (std::size_t i = 0; i < origin.members.size(); ++i)
      if (!origin.members[i].clients.empty() && (change.is_new[i] != 0) == is_new)
        told.push_back(&origin.members[i]);
    announce_all(is_new ? ProfileChange::opened : ProfileChange::reloaded, origin, told,
                 [is_new](const OpenMember& member) {
                   return fmt::format("{} {}", member.current->name, is_new ? "opened" : "reloaded");
                 });
  }
  take_apart_later();
  std::vector<OpenProfilePtr> now_open;
  for (const OpenMember* member : origin.used()) now_open.push_back(member->current);
  std::vector<SymbolsWanted> wanted;
  for (const Loading::Waiter& waiter : waiters)
    if (waiter.request.symbols) wanted.push_back({waiter.client, waiter.request.symbols});
  for (std::size_t i = 0; i < waiters.size(); ++i) waiters[i].opened(std::move(answers[i]));
  symbolize_opened(now_open, wanted);
}

void Engine::symbolize_opened(const std::vector<OpenProfilePtr>& opened,
                              const std::vector<SymbolsWanted>& wanted) {
  for (const OpenProfilePtr& open : opened) {
    // Who was told of it may have closed it.
    const OpenMember* member = store_.member(open->handle);
    if (member == nullptr || member->current->view_id != open->view_id) continue;
    if (wanted.empty())
      symbolizing_.opened(open, *member->clients.begin(), nullptr);
    else
      symbolizing_.opened(open, wanted.front().client, wanted.front().places.get());
  }
}

void Engine::unchanged(OriginId id, Loading::Waiter waiter) {
  OpenOrigin& origin = store_.at(id);
  auto answer = ProfileStore::answer(origin, waiter.request, true);
  if (!answer) {
    meant_.opened(waiter.client, waiter.ticket, "");
    return waiter.opened(tl::unexpected<Error>(std::move(answer).error()));
  }
  store_.use(origin);
  origin.attached = origin.attached || waiter.request.attach;
  const OpenProfilePtr before = meant(waiter.client);
  std::vector<OpenMember*> opened;
  for (OpenMember& member : origin.members) {
    if (member.clients.empty()) opened.push_back(&member);
    member.clients.insert(waiter.client);
  }
  meant_.opened(waiter.client, waiter.ticket, answer->profile->handle);
  announce_all(ProfileChange::opened, origin, opened,
               [](const OpenMember& member) { return fmt::format("{} opened", member.current->name); });
  if (const OpenProfilePtr now = meant(waiter.client); now != before && now == answer->profile)
    announce(ProfileChange::default_changed, origin, *store_.member(now->handle), "");
  std::vector<OpenProfilePtr> not_looked_up;
  for (const OpenProfilePtr& open : answer->profiles)
    if (!symbolizing_.is_busy(open->handle) && !symbolizing_.lookups(open->handle))
      not_looked_up.push_back(open);
  const SymbolsWanted wanted{waiter.client, waiter.request.symbols};
  waiter.opened(std::move(answer));
  if (wanted.places) symbolize_opened(not_looked_up, {wanted});
}

void Engine::failed(OriginId id, const Error& error, std::vector<Loading::Waiter> waiters) {
  OpenOrigin& origin = store_.at(id);
  const std::string what = fmt::format("{}: {}", origin.origin->name(), describe(error));
  const bool is_news = error.code != ErrorCode::cancelled && origin.origin->policy().tells_failure;
  if (origin.members.empty()) {
    drop(id, {});
  } else {
    origin.failed = true;
    announce_all(ProfileChange::reload_failed, origin, origin.used(),
                 [&](const OpenMember&) { return what + ". The older revision is shown."; });
  }
  if (is_news) listeners_.activity_changed(what);
  for (const Loading::Waiter& waiter : waiters) meant_.opened(waiter.client, waiter.ticket, "");
  for (Loading::Waiter& waiter : waiters) waiter.opened(tl::unexpected<Error>(error));
}

void Engine::idle(OriginId id) {
  if (!in_use(id)) drop(id, {});
}

ClientId Engine::user_of(OriginId id) const {
  for (const OpenMember& member : store_.at(id).members)
    if (!member.clients.empty()) return *member.clients.begin();
  return kNobody;
}

bool Engine::in_use(OriginId id) const {
  return loading_.is_waited_for(id) || store_.at(id).n_used() > 0;
}

Result<OpenProfilePtr> Engine::revise(const std::string& handle, ProfilePtr profile) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  const OriginId id = store_.of_handle(open->handle);
  OpenOrigin& origin = store_.at(id);
  PROFD_CHECK(has_room(id, origin.loaded->memory - open->profile->memory() + profile->memory()));
  doomed_.loaded.push_back(origin.loaded);
  const OpenMember before = store_.revise(open->handle, std::move(profile));
  forget_views(*before.current);
  if (selection_ && selection_->profile == open->handle) selection_->path.clear();
  make_room(id);
  share_memory();
  OpenMember& member = *store_.member(open->handle);
  announce(ProfileChange::reloaded, origin, member, "names of code were found for " + member.current->name);
  take_apart_later();
  return member.current;
}

void Engine::remove_client(ClientId client) {
  listeners_.remove(client);
  meant_.forget(client);
  loading_.remove_client(client);
  std::vector<OriginId> unused;
  for (auto& [id, origin] : store_.origins()) {
    std::vector<OpenMember*> closed;
    for (OpenMember& member : origin.members)
      if (member.clients.erase(client) > 0 && member.clients.empty()) closed.push_back(&member);
    retire(origin, closed, [](const OpenMember&) { return "nobody has it open any more"; });
    if (!in_use(id)) unused.push_back(id);
  }
  for (const OriginId id : unused) drop(id, {});
}

Result<void> Engine::close(ClientId client, const std::string& handle, bool whole_file) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  const OriginId id = store_.of_handle(open->handle);
  OpenOrigin& origin = store_.at(id);
  std::vector<OpenMember*> closed;
  for (OpenMember& member : origin.members) {
    if (!whole_file && member.handle != open->handle) continue;
    meant_.closed(client, member.handle);
    if (member.clients.erase(client) > 0 && member.clients.empty()) closed.push_back(&member);
  }
  retire(origin, closed, [](const OpenMember& member) { return member.current->name + " closed"; });
  idle(id);
  return {};
}

void Engine::keep_open(ClientId client, const std::string& uri) {
  for (auto& [id, origin] : store_.origins()) {
    if (origin.origin->uri() != uri) continue;
    for (OpenMember* member : origin.used()) member->clients.insert(client);
  }
}

// Null: of this origin nothing is made ahead.
WarmUp* Engine::warm_up_of(const OpenProfile& open) {
  if (!open.origin->policy().warm_up) return nullptr;
  if (!warm_up_)
    warm_up_ =
        std::make_unique<WarmUp>(views_, *scheduler_, post_, [this] { listeners_.activity_changed(); });
  return warm_up_.get();
}

void Engine::prepare(const OpenProfilePtr& open, const std::vector<FirstNeed>& needs) {
  if (WarmUp* warm = warm_up_of(*open)) warm->start(open, needs);
}

void Engine::prepare_files(const OpenProfilePtr& open, const std::vector<Filter>& filters,
                           const WorkspaceSnapshot& workspace) {
  if (WarmUp* warm = warm_up_of(*open)) warm->start_files(open, filters, workspace);
}

void Engine::forget_views(const OpenProfile& open) {
  if (warm_up_) warm_up_->stop(open.view_id);
  doomed_.views.push_back(open.view_id);
}

void Engine::retire(const OpenOrigin& origin, const std::vector<OpenMember*>& members, const Says& says) {
  if (members.empty()) return;
  for (OpenMember* member : members) {
    member->clients.clear();
    forget_views(*member->current);
    symbolizing_.forget(member->handle);
  }
  announce_all(ProfileChange::closed, origin, members, says);
  take_apart_later();
}

void Engine::drop(OriginId id, const Says& says) {
  OpenOrigin* const open = store_.find(id);
  if (open == nullptr) return;
  loading_.forget(id);
  retire(*open, open->used(), says);
  OpenOrigin origin = store_.remove(id);
  std::move(origin.members.begin(), origin.members.end(), std::back_inserter(doomed_.members));
  const std::size_t bytes = origin.loaded ? origin.loaded->memory : 0;
  if (origin.loaded) doomed_.loaded.push_back(std::move(origin.loaded));
  if (origin.previous) doomed_.loaded.push_back(std::move(origin.previous->loaded));
  take_apart_later();
  returned_.freed(bytes);
  share_memory();
  listeners_.activity_changed();
}

void Engine::take_apart_later() {
  if (doomed_.views.empty() && doomed_.members.empty() && doomed_.loaded.empty()) return;
  scheduler_->submit(Lane::bulk, kNobody, "close", [this, doomed = std::exchange(doomed_, {})] {
    for (const std::uint64_t view : doomed.views) views_.drop(view);
  });
}

// Views always have an eighth, so that a profile which takes it all can be looked at; what is being read and
// computed has half: nothing that is open is closed for a file of which nobody knows yet what it is.
void Engine::share_memory() {
  drop_previous();
  const std::uint64_t held = profile_memory() + ledger_->total();
  const std::uint64_t left = budget_ - std::min(budget_, held);
  views_.set_budget(std::min(view_budget_, std::max(left, budget_ / 8)));
  const std::uint64_t views = views_.memory();
  pool_->set_room(std::max({left - std::min(left, views), budget_ / 2, kLeastRoom}));
}

void Engine::drop_previous() {
  std::size_t bytes = 0;
  while (profile_memory() + ledger_->total() > budget_ / 2) {
    std::shared_ptr<const LoadedProfiles> dropped = store_.drop_oldest_previous();
    if (!dropped) break;
    bytes += dropped->memory;
    doomed_.loaded.push_back(std::move(dropped));
  }
  if (bytes == 0) return;
  take_apart_later();
  returned_.freed(bytes);
}

MemoryPlan Engine::plan_with(OriginId newest, std::uint64_t bytes) const {
  std::vector<HeldFile> held = store_.held();
  const auto known =
      std::find_if(held.begin(), held.end(), [&](const HeldFile& file) { return file.id == newest; });
  HeldFile& file = known == held.end() ? held.emplace_back() : *known;
  file.id = newest;
  file.bytes = bytes;
  file.last_use = store_.at(newest).last_use;
  for (const ClientId client : loading_.waiting_clients(newest))
    if (std::find(file.clients.begin(), file.clients.end(), client) == file.clients.end())
      file.clients.push_back(client);
  return plan_memory(held, budget_ - std::min(budget_, ledger_->total()), newest);
}

void Engine::make_room(OriginId keep) {
  for (const OriginId victim : plan_with(keep, store_.at(keep).loaded->memory).closed) {
    const OpenOrigin& origin = store_.at(victim);
    const std::string message = fmt::format("{} was closed to stay within the memory budget of {} MiB",
                                            origin.origin->name(), budget_ >> 20);
    log_warning(message);
    store_.remember_closed(origin, message);
    drop(victim, [&](const OpenMember&) { return message; });
  }
}

Result<void> Engine::reload(const std::string& handle) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  loading_.reload(store_.of_handle(open->handle));
  return {};
}

Result<OpenProfilePtr> Engine::find(const std::string& handle, ClientId client) {
  if (!handle.empty()) return store_.open_profile(handle);
  const Meant meant = look_up(client);
  if (!meant.open)
    return fail(ErrorCode::not_found, meant.awaited ? "the profile is still being read"
                                                    : "no profile is open; open one with profile/open");
  return store_.open_profile(meant.open->handle);
}

bool Engine::attached(const std::string& handle) const {
  const OriginId id = store_.of_handle(handle);
  return id != 0 && store_.at(id).attached;
}

Result<OriginPtr> Engine::previous(const std::string& handle, std::optional<std::uint32_t> since) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  const OpenOrigin& origin = store_.at(store_.of_handle(open->handle));
  if (!origin.previous || (since && *since != origin.previous->until_revision))
    return fail(ErrorCode::not_found,
                fmt::format("nothing is kept of {} before it was recorded again", origin.origin->name()));
  return previous_origin(origin.origin, origin.previous->revision, origin.previous->loaded);
}

ProfileListing Engine::listing(ClientId client) const {
  const OpenProfilePtr open = meant(client);
  return store_.listing(
      client, open ? open->handle : "", [&](OriginId id) { return loading_.waits(id, client); },
      [&](OriginId id) { return loading_.is_watched(id); });
}

Result<void> Engine::set_metric(const std::string& handle, const std::string& metric) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  PROFD_TRY(const MetricId found, resolve_metric(*open->profile, metric));
  auto changed = std::make_shared<OpenProfile>(*open);
  changed->metric = found;
  OpenMember& member = *store_.member(open->handle);
  member.current = changed;
  announce(ProfileChange::default_changed, store_.at(store_.of_handle(open->handle)), member,
           fmt::format("{} shows {}", open->name, metric));
  return {};
}

Result<void> Engine::derive(const std::string& handle, const DerivedMetric& metric) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  PROFD_CHECK(derive_metric(*open->as_read(), metric));
  std::vector<DerivedMetric> derived = store_.member(open->handle)->derived;
  const auto known = std::find_if(derived.begin(), derived.end(),
                                  [&](const DerivedMetric& one) { return one.name == metric.name; });
  if (known != derived.end())
    *known = metric;
  else if (derived.size() == kMaxDerivedMetrics)
    return fail(ErrorCode::limit,
                fmt::format("a profile has at most {} metrics by formula", kMaxDerivedMetrics));
  else
    derived.push_back(metric);
  set_derived(*open, std::move(derived), fmt::format("{} has the metric {}", open->name, metric.name));
  return {};
}

Result<void> Engine::forget_derived(const std::string& handle, const std::string& name) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  std::vector<DerivedMetric> derived = store_.member(open->handle)->derived;
  if (std::erase_if(derived, [&](const DerivedMetric& one) { return one.name == name; }) == 0)
    return fail(ErrorCode::not_found, fmt::format("nobody has defined a metric {} for this profile", name));
  set_derived(*open, std::move(derived), fmt::format("{} has no metric {} any more", open->name, name));
  return {};
}

void Engine::set_derived(const OpenProfile& open, std::vector<DerivedMetric> derived,
                         const std::string& message) {
  store_.set_derived(open.handle, std::move(derived));
  announce(ProfileChange::metrics_changed, store_.at(store_.of_handle(open.handle)),
           *store_.member(open.handle), message);
}

void Engine::select(ClientId client, std::optional<SharedSelection> selection) {
  selection_ = std::move(selection);
  listeners_.each([&](ClientId id, EngineListener& listener) {
    if (id != client) listener.on_selection_changed(selection_, client);
  });
}

void Engine::announce(ProfileChange change, const OpenOrigin& origin, const OpenMember& member,
                      const std::string& message, std::size_t left) {
  listeners_.each([&](ClientId, EngineListener& listener) {
    listener.on_profile_changed(change, member.handle, member.current->revision, origin.origin->uri(),
                                message, left);
  });
}

void Engine::announce_all(ProfileChange change, const OpenOrigin& origin,
                          const std::vector<OpenMember*>& members, const Says& says) {
  constexpr std::size_t kMaxTold = 100;
  const std::size_t n_told = std::min(members.size(), kMaxTold);
  for (std::size_t i = 0; i < n_told; ++i)
    announce(change, origin, *members[i], says ? says(*members[i]) : "",
             i + 1 == n_told ? members.size() - n_told : 0);
}

std::vector<Activity> Engine::activities() const {
  std::vector<Activity> result;
  for (const Loading::Reading& reading : loading_.readings()) {
    if (result.size() == kMaxActivities) return result;
    Activity activity{"Reading " + store_.at(reading.id).origin->name(), std::nullopt};
    if (reading.percentage >= 0) activity.percentage = static_cast<std::uint32_t>(reading.percentage);
    result.push_back(std::move(activity));
  }
  for (const std::string& title : {warm_up_ ? warm_up_->title() : std::string(), symbolizing_.title()})
    if (!title.empty() && result.size() < kMaxActivities) result.push_back({title, std::nullopt});
  return result;
}

std::size_t Engine::n_activities() const {
  return loading_.readings().size() + (warm_up_ && !warm_up_->title().empty() ? 1 : 0) +
         (symbolizing_.title().empty() ? 0 : 1);
}

}  // namespace profd
