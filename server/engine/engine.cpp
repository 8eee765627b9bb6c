#include "server/engine/engine.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "core/view/resolve.h"
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
      patience_(options.patience),
      cache_(options.cache),
      alive_(std::make_shared<bool>(true)),
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
      uploads_(options.upload_folder) {}

Engine::~Engine() {
  ending_.request_stop();
  walks_.stop();
  project_walks_.stop();
  for (auto& [id, entry] : entries_)
    if (entry.loading) entry.loading->request_stop();
  watches_.stop();
  warm_up_.reset();
  scheduler_.reset();
  *alive_ = false;
}

bool Engine::Entry::in_use() const {
  return !waiters.empty() ||
         std::any_of(members.begin(), members.end(), [](const Member& m) { return !m.clients.empty(); });
}

std::size_t Engine::Entry::n_used() const {
  return static_cast<std::size_t>(
      std::count_if(members.begin(), members.end(), [](const Member& m) { return !m.clients.empty(); }));
}

void Engine::remove_client(ClientId client) {
  listeners_.remove(client);
  meant_.forget(client);
  std::vector<FileId> unused;
  for (auto& [id, entry] : entries_) {
    std::erase_if(entry.waiters, [&](const Waiter& waiter) { return waiter.client == client; });
    std::vector<Member*> closed;
    for (Member& member : entry.members)
      if (member.clients.erase(client) > 0 && member.clients.empty()) closed.push_back(&member);
    retire(entry, closed, [](const Member&) { return "nobody has it open any more"; });
    if (entry.in_use()) continue;
    if (entry.loading) entry.loading->request_stop();
    unused.push_back(id);
  }
  for (const FileId id : unused) drop(id, {});
}

Engine::Entry* Engine::entry_of(const std::string& handle) {
  const auto found = place_of_.find(handle);
  return found == place_of_.end() ? nullptr : &entries_.at(found->second.file);
}

const Engine::Member* Engine::member_of(const std::string& handle) const {
  const auto found = place_of_.find(handle);
  if (found == place_of_.end()) return nullptr;
  const std::vector<Member>& members = entries_.at(found->second.file).members;
  if (found->second.member >= members.size()) return nullptr;  // still being read
  const Member& member = members[found->second.member];
  return member.clients.empty() ? nullptr : &member;
}

Engine::Member* Engine::member_of(const std::string& handle) {
  return const_cast<Member*>(std::as_const(*this).member_of(handle));
}

void Engine::cancel_open(std::uint64_t ticket) {
  for (auto& [id, entry] : entries_) {
    const auto found = std::find_if(entry.waiters.begin(), entry.waiters.end(),
                                    [&](const Waiter& waiter) { return waiter.ticket == ticket; });
    if (found == entry.waiters.end()) continue;
    Waiter waiter = std::move(*found);
    entry.waiters.erase(found);
    meant_.opened(waiter.client, ticket, "");
    if (entry.waiters.empty() && entry.loading) entry.loading->request_stop();
    if (!entry.in_use()) drop(id, {});
    waiter.opened(fail(ErrorCode::cancelled, "cancelled"));
    listeners_.activity_changed();
    return;
  }
}

bool Engine::is_opening(std::uint64_t ticket) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& item) {
    return std::any_of(item.second.waiters.begin(), item.second.waiters.end(),
                       [&](const Waiter& waiter) { return waiter.ticket == ticket; });
  });
}

Result<void> Engine::close(ClientId client, const std::string& handle, bool whole_file) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  const Place place = place_of_.at(open->handle);
  Entry& entry = entries_.at(place.file);
  std::vector<Member*> closed;
  for (Member& member : entry.members) {
    if (!whole_file && &member != &entry.members[place.member]) continue;
    meant_.closed(client, member.handle);
    if (member.clients.erase(client) > 0 && member.clients.empty()) closed.push_back(&member);
  }
  retire(entry, closed, [](const Member& member) { return member.current->name + " closed"; });
  if (!entry.in_use()) drop(place.file, {});
  return {};
}

void Engine::keep_open(ClientId client, const std::string& uri) {
  for (auto& [id, entry] : entries_) {
    if (entry.origin->uri() != uri) continue;
    for (Member& member : entry.members)
      if (!member.clients.empty()) member.clients.insert(client);
  }
}

void Engine::prepare(const OpenProfilePtr& open, const std::vector<Filter>& filters,
                     const WorkspaceSnapshot* workspace) {
  if (!open->origin->policy().warm_up) return;
  if (!warm_up_)
    warm_up_ =
        std::make_unique<WarmUp>(views_, *scheduler_, post_, [this] { listeners_.activity_changed(); });
  warm_up_->start(open, filters);
  if (workspace != nullptr) warm_up_->start_files(open, filters, *workspace);
}

void Engine::forget_views(const OpenProfile& open) {
  if (warm_up_) warm_up_->stop(open.view_id);
  doomed_.views.push_back(open.view_id);
}

void Engine::retire(Entry& entry, const std::vector<Member*>& members, const Says& says) {
  if (members.empty()) return;
  for (Member* member : members) {
    member->clients.clear();
    forget_views(*member->current);
  }
  announce_all(ProfileChange::closed, entry, members, says);
  take_apart_later();
}

void Engine::drop(FileId id, const Says& says) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.watches.clear();
  std::vector<Member*> closed;
  for (Member& member : entry.members)
    if (!member.clients.empty()) closed.push_back(&member);
  retire(entry, closed, says);
  for (const Member& member : entry.members) place_of_.erase(member.handle);
  place_of_.erase(entry.first_handle);
  by_key_.erase(entry.origin->key());
  std::move(entry.members.begin(), entry.members.end(), std::back_inserter(doomed_.members));
  const std::size_t bytes = entry.loaded ? entry.loaded->memory : 0;
  if (entry.loaded) doomed_.loaded.push_back(std::move(entry.loaded));
  entries_.erase(found);
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
  const std::uint64_t held = profile_memory() + ledger_->total();
  const std::uint64_t left = budget_ - std::min(budget_, held);
  views_.set_budget(std::min(view_budget_, std::max(left, budget_ / 8)));
  const std::uint64_t views = views_.memory();
  pool_->set_room(std::max({left - std::min(left, views), budget_ / 2, kLeastRoom}));
}

MemoryPlan Engine::plan_with(FileId newest, std::uint64_t bytes) const {
  std::vector<HeldFile> files;
  for (const auto& [id, entry] : entries_) {
    if (id != newest && !entry.loaded) continue;
    std::set<ClientId> clients;
    for (const Member& member : entry.members) clients.insert(member.clients.begin(), member.clients.end());
    if (id == newest)
      for (const Waiter& waiter : entry.waiters) clients.insert(waiter.client);
    files.push_back(
        {id, id == newest ? bytes : entry.loaded->memory, entry.last_use, {clients.begin(), clients.end()}});
  }
  return plan_memory(files, budget_ - std::min(budget_, ledger_->total()), newest);
}

void Engine::make_room(FileId keep) {
  for (const FileId victim : plan_with(keep, entries_.at(keep).loaded->memory).closed) {
    const Entry& entry = entries_.at(victim);
    const std::string message = fmt::format("{} was closed to stay within the memory budget of {} MiB",
                                            entry.origin->name(), budget_ >> 20);
    log_warning(message);
    constexpr std::size_t kMaxRemembered = 10'000;
    if (evicted_.size() + entry.members.size() > kMaxRemembered) evicted_.clear();
    for (const Member& member : entry.members)
      if (evicted_.size() < kMaxRemembered) evicted_[member.handle] = message;
    drop(victim, [&](const Member&) { return message; });
  }
}

Result<void> Engine::reload(const std::string& handle) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  Entry& entry = *entry_of(open->handle);
  if (!entry.loading) start_loading(place_of_.at(open->handle).file, entry);
  return {};
}

Result<OpenProfilePtr> Engine::find(const std::string& handle, ClientId client) {
  std::string wanted = handle;
  if (wanted.empty()) {
    const Meant meant = look_up(client);
    if (!meant.open)
      return fail(ErrorCode::not_found, meant.awaited ? "the profile is still being read"
                                                      : "no profile is open; open one with profile/open");
    wanted = meant.open->handle;
  }
  if (Member* member = member_of(wanted)) {
    entry_of(wanted)->last_use = ++clock_;
    return member->current;
  }
  if (const auto found = evicted_.find(wanted); found != evicted_.end())
    return fail(ErrorCode::cancelled, found->second + "; open it again");
  if (const Entry* entry = entry_of(wanted); entry != nullptr && entry->members.empty())
    return fail(ErrorCode::not_found, fmt::format("{} is still being read", wanted));
  return fail(ErrorCode::not_found, fmt::format("there is no open profile {}", wanted));
}

bool Engine::attached(const std::string& handle) const {
  const auto found = place_of_.find(handle);
  return found != place_of_.end() && entries_.at(found->second.file).attached;
}

ProfileListing Engine::listing(ClientId client) const {
  ProfileListing listing;
  if (const OpenProfilePtr open = meant(client)) listing.meant = open->handle;
  for (const auto& [id, entry] : entries_) {
    ProfileListing::File& file = listing.files.emplace_back();
    ProfileEntry& row = file.common;
    row.uri = entry.origin->uri();
    row.attached = entry.attached;
    row.watched = entry.watched;
    row.revision = entry.revision;
    if (entry.members.empty()) {
      row.handle = entry.first_handle;
      row.name = entry.origin->name();
      row.format = entry.request.options.format;
      row.mine = std::any_of(entry.waiters.begin(), entry.waiters.end(),
                             [&](const Waiter& waiter) { return waiter.client == client; });
      continue;
    }
    row.state = entry.failed ? ProfileEntry::State::failed : ProfileEntry::State::ready;
    row.format = entry.loaded->opened.decision.format;
    row.n_in_file = static_cast<std::uint32_t>(entry.members.size());
    for (const Member& member : entry.members) {
      if (member.clients.empty()) continue;
      file.profiles.push_back(member.current);
      file.mine.push_back(member.clients.count(client) != 0 ? 1 : 0);
    }
  }
  return listing;
}

std::size_t ProfileListing::n_rows() const {
  std::size_t n = 0;
  for (const File& file : files)
    n += file.common.state == ProfileEntry::State::opening ? 1 : file.profiles.size();
  return n;
}

std::vector<ProfileEntry> ProfileListing::rows() const {
  std::vector<ProfileEntry> rows;
  rows.reserve(n_rows());
  for (const File& file : files) {
    if (file.common.state == ProfileEntry::State::opening) rows.push_back(file.common);
    for (std::size_t i = 0; i < file.profiles.size(); ++i) {
      const OpenProfilePtr& open = file.profiles[i];
      ProfileEntry& row = rows.emplace_back(file.common);
      row.handle = open->handle;
      row.profile = open;
      row.name = open->name;
      row.member_name = open->member_name();
      row.number = open->number;
      row.is_default = open->handle == meant;
      row.memory = open->profile->memory();
      row.mine = file.mine[i] != 0;
    }
  }
  std::stable_partition(rows.begin(), rows.end(), [](const ProfileEntry& row) { return row.mine; });
  return rows;
}

Result<void> Engine::set_metric(const std::string& handle, const std::string& metric) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  PROFD_TRY(const MetricId found, resolve_metric(*open->profile, metric));
  auto changed = std::make_shared<OpenProfile>(*open);
  changed->metric = found;
  Member& member = *member_of(open->handle);
  member.current = changed;
  announce(ProfileChange::default_changed, *entry_of(open->handle), member,
           fmt::format("{} shows {}", open->name, metric));
  return {};
}

void Engine::select(ClientId client, std::optional<SharedSelection> selection) {
  selection_ = std::move(selection);
  listeners_.each([&](ClientId id, EngineListener& listener) {
    if (id != client) listener.on_selection_changed(selection_, client);
  });
}

void Engine::announce(ProfileChange change, const Entry& entry, const Member& member,
                      const std::string& message, std::size_t left) {
  listeners_.each([&](ClientId, EngineListener& listener) {
    listener.on_profile_changed(change, member.handle, entry.revision, entry.origin->uri(), message, left);
  });
}

void Engine::announce_all(ProfileChange change, const Entry& entry, const std::vector<Member*>& members,
                          const Says& says) {
  constexpr std::size_t kMaxTold = 100;
  const std::size_t n_told = std::min(members.size(), kMaxTold);
  for (std::size_t i = 0; i < n_told; ++i)
    announce(change, entry, *members[i], says ? says(*members[i]) : "",
             i + 1 == n_told ? members.size() - n_told : 0);
}

std::vector<Activity> Engine::activities() const {
  std::vector<Activity> result;
  for (const auto& [id, entry] : entries_) {
    if (!entry.loading) continue;
    if (result.size() == kMaxActivities) return result;
    Activity activity{"Reading " + entry.origin->name(), std::nullopt};
    if (const std::int32_t done = entry.percentage ? entry.percentage->load() : -1; done >= 0)
      activity.percentage = static_cast<std::uint32_t>(done);
    result.push_back(std::move(activity));
  }
  if (const std::string title = warm_up_ ? warm_up_->title() : ""; !title.empty())
    result.push_back({title, std::nullopt});
  return result;
}

std::size_t Engine::n_activities() const {
  const auto n_reading = std::count_if(entries_.begin(), entries_.end(),
                                       [](const auto& item) { return item.second.loading.has_value(); });
  return static_cast<std::size_t>(n_reading) + (warm_up_ && !warm_up_->title().empty() ? 1 : 0);
}

std::size_t Engine::n_profiles() const {
  std::size_t n = 0;
  for (const auto& [id, entry] : entries_) n += entry.n_used();
  return n;
}

std::vector<std::uint64_t> Engine::view_ids() const {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, entry] : entries_)
    for (const Member& member : entry.members) ids.push_back(member.current->view_id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::uint64_t Engine::profile_memory() const {
  std::uint64_t total = 0;
  for (const auto& [id, entry] : entries_)
    if (entry.loaded) total += entry.loaded->memory;
  return total;
}

}  // namespace profd
