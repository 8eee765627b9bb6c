#include "server/engine/engine.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "server/runtime/log.h"

namespace profd {
namespace {

// With less not even a small file can be read.
constexpr std::uint64_t kLeastRoom = std::uint64_t{32} << 20;

std::uint64_t half_of_the_machine() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 2
                               : std::uint64_t{4} << 30;
}

}  // namespace

Engine::Engine(const EngineOptions& options, Post post)
    : post_(std::move(post)),
      budget_(options.memory_budget != 0 ? options.memory_budget : half_of_the_machine()),
      view_budget_(options.view_budget != 0 ? options.view_budget
                                            : std::max(std::uint64_t{512} << 20, half_of_the_machine() / 4)),
      pool_(std::make_shared<MemoryPool>(std::max(budget_, kLeastRoom), budget_)),
      watch_files_(options.watch_files),
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
      walks_(*scheduler_, post_, ledger_, budget_ / 8),
      views_(std::min(view_budget_, budget_), scheduler_->executor(), pool_,
             [this](std::size_t bytes) { returned_.freed(bytes); }),
      uploads_(options.upload_folder) {}

Engine::~Engine() {
  for (auto& [id, entry] : entries_)
    if (entry.loading) entry.loading->request_stop();
  watcher_.reset();
  warm_up_.reset();
  scheduler_.reset();
  *alive_ = false;
}

ClientId Engine::add_client(EngineListener* listener) {
  const ClientId id = next_client_++;
  clients_[id] = listener;
  return id;
}

bool Engine::Entry::in_use() const {
  return !waiters.empty() ||
         std::any_of(members.begin(), members.end(), [](const Member& m) { return !m.clients.empty(); });
}

void Engine::remove_client(ClientId client) {
  constexpr const char* kWhy = "nobody has it open any more";
  clients_.erase(client);
  std::erase_if(folders_, [&](const FolderWatch& watch) { return watch.client == client; });
  std::vector<FileId> unused;
  for (auto& [id, entry] : entries_) {
    std::erase_if(entry.waiters, [&](const Waiter& waiter) { return waiter.client == client; });
    for (Member& member : entry.members)
      if (member.clients.erase(client) > 0 && member.clients.empty()) retire(entry, member, kWhy);
    if (entry.in_use()) continue;
    if (entry.loading) entry.loading->request_stop();
    unused.push_back(id);
  }
  for (const FileId id : unused) drop(id, kWhy);
}

Engine::Entry* Engine::entry_of(const std::string& handle) {
  const auto found = file_of_.find(handle);
  return found == file_of_.end() ? nullptr : &entries_.at(found->second);
}

const Engine::Member* Engine::member_of(const std::string& handle) const {
  const auto found = file_of_.find(handle);
  if (found == file_of_.end()) return nullptr;
  for (const Member& member : entries_.at(found->second).members)
    if (member.handle == handle) return member.clients.empty() ? nullptr : &member;
  return nullptr;
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
    if (entry.waiters.empty() && entry.loading) {
      entry.loading->request_stop();
      if (entry.members.empty()) drop(id, "");
    }
    waiter.opened(fail(ErrorCode::cancelled, "cancelled"));
    announce_activity();
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
  const FileId id = file_of_.at(open->handle);
  Entry& entry = entries_.at(id);
  for (Member& member : entry.members) {
    if (member.handle != open->handle && !whole_file) continue;
    if (member.clients.erase(client) > 0 && member.clients.empty())
      retire(entry, member, member.current->name + " closed");
  }
  if (!entry.in_use()) drop(id, open->name + " closed");
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
    warm_up_ = std::make_unique<WarmUp>(views_, *scheduler_, post_, [this] { announce_activity(); });
  warm_up_->start(open, filters);
  if (workspace != nullptr) warm_up_->start_files(open, filters, *workspace);
}

void Engine::forget_views(const OpenProfile& open) {
  if (warm_up_) warm_up_->stop(open.view_id);
  views_.drop(open);
}

// Nobody has this profile open any more.
void Engine::retire(Entry& entry, Member& member, const std::string& message) {
  member.clients.clear();
  forget_views(*member.current);
  if (default_ == member.handle) choose_default();
  announce(ProfileChange::closed, entry, member, message);
}

void Engine::drop(FileId id, const std::string& message) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  unwatch(entry);
  for (Member& member : entry.members) {
    if (!member.clients.empty()) retire(entry, member, message);
    file_of_.erase(member.handle);
  }
  file_of_.erase(entry.first_handle);
  const std::size_t bytes = entry.loaded ? entry.loaded->memory : 0;
  entries_.erase(found);
  returned_.freed(bytes);
  share_memory();
  announce_activity();
}

// The newest that is left.
void Engine::choose_default() {
  default_.clear();
  for (const auto& [id, entry] : entries_)
    for (auto member = entry.members.rbegin(); member != entry.members.rend(); ++member)
      if (!member->clients.empty()) default_ = member->handle;
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

void Engine::make_room(FileId keep) {
  while (profile_memory() + ledger_->total() > budget_) {
    FileId victim = 0;
    for (const auto& [id, entry] : entries_)
      if (id != keep && entry.loaded && (victim == 0 || entry.last_use < entries_.at(victim).last_use))
        victim = id;
    if (victim == 0) return;
    const Entry& entry = entries_.at(victim);
    const std::string message = fmt::format("{} was closed to stay within the memory budget of {} MiB",
                                            entry.origin->name(), budget_ >> 20);
    log_warning(message);
    for (const Member& member : entry.members) evicted_[member.handle] = message;
    drop(victim, message);
  }
}

Result<void> Engine::reload(const std::string& handle) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  Entry& entry = *entry_of(open->handle);
  if (!entry.loading) start_loading(file_of_.at(open->handle), entry);
  return {};
}

FileWatcher& Engine::watcher() {
  if (!watcher_)
    watcher_ = std::make_unique<FileWatcher>([this, alive = alive_](const std::string& path) {
      post_([this, alive, path] {
        if (*alive) file_changed(path);
      });
    });
  return *watcher_;
}

void Engine::watch_folder(ClientId client, const std::string& folder, std::function<void()> changed) {
  // The folder as an entry of itself: its time changes with its entries, and inotify sees them.
  const std::string path = folder + "/.";
  const auto stamp = stamp_of(path);
  if (!watch_files_ || !stamp) return;
  folders_.push_back({client, path, std::move(changed)});
  watcher().watch(path, *stamp);
}

Result<OpenProfilePtr> Engine::find(const std::string& handle) {
  const std::string& wanted = handle.empty() ? default_ : handle;
  if (Member* member = member_of(wanted)) {
    entry_of(wanted)->last_use = ++clock_;
    return member->current;
  }
  if (wanted.empty()) return fail(ErrorCode::not_found, "no profile is open; open one with profile/open");
  if (const auto found = evicted_.find(wanted); found != evicted_.end())
    return fail(ErrorCode::cancelled, found->second + "; open it again");
  if (const Entry* entry = entry_of(wanted); entry != nullptr && entry->members.empty())
    return fail(ErrorCode::not_found, fmt::format("{} is still being read", wanted));
  return fail(ErrorCode::not_found, fmt::format("there is no open profile {}", wanted));
}

OpenProfilePtr Engine::default_profile() const {
  const Member* member = member_of(default_);
  return member == nullptr ? nullptr : member->current;
}

bool Engine::attached(const std::string& handle) const {
  const auto found = file_of_.find(handle);
  return found != file_of_.end() && entries_.at(found->second).attached;
}

std::vector<ProfileEntry> Engine::list() const {
  std::vector<ProfileEntry> rows;
  for (const auto& [id, entry] : entries_) {
    ProfileEntry row;
    row.uri = entry.origin->uri();
    row.attached = entry.attached;
    row.watched = entry.watched;
    row.revision = entry.revision;
    if (entry.members.empty()) {
      row.handle = entry.first_handle;
      row.name = entry.origin->name();
      row.format = entry.request.options.format;
      rows.push_back(std::move(row));
      continue;
    }
    row.state = entry.failed ? ProfileEntry::State::failed : ProfileEntry::State::ready;
    row.format = entry.loaded->opened.decision.format;
    row.n_in_file = static_cast<std::uint32_t>(entry.members.size());
    for (const Member& member : entry.members) {
      if (member.clients.empty()) continue;
      row.handle = member.handle;
      row.profile = member.current;
      row.name = member.current->name;
      row.member_name = member.current->member_name();
      row.number = member.current->number;
      row.is_default = member.handle == default_;
      row.memory = member.current->profile->memory();
      rows.push_back(row);
    }
  }
  return rows;
}

Result<void> Engine::set_metric(const std::string& handle, const std::string& metric) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  const auto found = open->profile->find_metric(metric);
  if (!found) {
    std::string known;
    for (const MetricInfo& info : open->profile->metrics()) known += (known.empty() ? "" : ", ") + info.name;
    return fail(ErrorCode::invalid, fmt::format("{} has no metric {}; it has {}", open->name, metric, known));
  }
  auto changed = std::make_shared<OpenProfile>(*open);
  changed->metric = *found;
  Member& member = *member_of(open->handle);
  member.current = changed;
  announce(ProfileChange::default_changed, *entry_of(open->handle), member,
           fmt::format("{} shows {}", open->name, metric));
  return {};
}

Result<void> Engine::set_default(const std::string& handle) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  default_ = open->handle;
  announce(ProfileChange::default_changed, *entry_of(default_), *member_of(default_),
           open->name + " is shown");
  return {};
}

void Engine::select(ClientId client, std::optional<SharedSelection> selection) {
  selection_ = std::move(selection);
  for (const auto& [id, listener] : clients_)
    if (id != client) listener->on_selection_changed(selection_, client);
}

void Engine::announce(ProfileChange change, const Entry& entry, const Member& member,
                      const std::string& message) {
  for (const auto& [id, listener] : clients_)
    listener->on_profile_changed(change, member.handle, entry.revision, entry.origin->uri(), message);
}

void Engine::announce_activity(const std::string& error) {
  for (const auto& [id, listener] : clients_) listener->on_activity_changed(error);
}

std::vector<Activity> Engine::activities() const {
  std::vector<Activity> result;
  for (const auto& [id, entry] : entries_) {
    if (!entry.loading) continue;
    Activity activity{"Reading " + entry.origin->name(), std::nullopt};
    if (const std::int32_t done = entry.percentage ? entry.percentage->load() : -1; done >= 0)
      activity.percentage = static_cast<std::uint32_t>(done);
    result.push_back(std::move(activity));
  }
  if (const std::string title = warm_up_ ? warm_up_->title() : ""; !title.empty())
    result.push_back({title, std::nullopt});
  return result;
}

std::size_t Engine::n_profiles() const {
  std::size_t n = 0;
  for (const auto& [id, entry] : entries_)
    for (const Member& member : entry.members) n += member.clients.empty() ? 0 : 1;
  return n;
}

std::uint64_t Engine::profile_memory() const {
  std::uint64_t total = 0;
  for (const auto& [id, entry] : entries_)
    if (entry.loaded) total += entry.loaded->memory;
  return total;
}

}  // namespace profd
