#include "server/engine/engine.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "server/engine/uri.h"

namespace profd {
namespace {

std::uint64_t half_of_the_machine() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page) / 2
                               : std::uint64_t{4} << 30;
}

// What reading a file gives: the file, and the work of keeping it in the cache when that is worth it.
struct Load {
  std::shared_ptr<LoadedFile> file;
  std::function<Result<bool>(StopToken)> write_entry;
};

Result<Load> load(const ProfileCache& cache, const std::string& path, const OpenOptions& options,
                  Executor& executor, const StopToken& stop, const Engine::ProgressFn& progress) {
  Load out;
  out.file = std::make_shared<LoadedFile>();
  out.file->path = path;
  PROFD_TRY(out.file->stamp, stamp_of(path));
  PROFD_TRY(CachedOpen opened, open_cached(cache, path, options, executor, stop, progress));
  out.file->opened = std::move(opened.file);
  out.write_entry = std::move(opened.write_entry);
  for (const ProfilePtr& profile : out.file->opened.profiles) out.file->memory += profile->memory();
  return out;
}

// Nobody waits for this, and nothing but the log hears of its failure.
void write_to_cache(const std::string& path, const std::function<Result<bool>(StopToken)>& write_entry) {
  const auto kept = write_entry(StopToken{});
  if (!kept) spdlog::warn("{}: not kept in the cache: {}", path, describe(kept.error()));
}

}  // namespace

Engine::Engine(const EngineOptions& options, Post post)
    : post_(std::move(post)),
      budget_(options.memory_budget != 0 ? options.memory_budget : half_of_the_machine()),
      watch_files_(options.watch_files),
      cache_(options.cache),
      alive_(std::make_shared<bool>(true)),
      views_(options.view_budget),
      scheduler_(std::make_unique<Scheduler>(
          options.n_threads,
          [](const std::string& name, const std::string& what) { spdlog::error("{}: {}", name, what); })) {}

Engine::~Engine() {
  for (auto& [handle, entry] : entries_)
    if (entry.loading) entry.loading->request_stop();
  watcher_.reset();
  scheduler_.reset();
  *alive_ = false;
}

ClientId Engine::add_client(EngineListener* listener) {
  const ClientId id = next_client_++;
  clients_[id] = listener;
  return id;
}

void Engine::remove_client(ClientId client) {
  clients_.erase(client);
  std::erase_if(folders_, [&](const FolderWatch& watch) { return watch.client == client; });
  std::vector<std::string> unused;
  for (auto& [handle, entry] : entries_) {
    entry.clients.erase(client);
    std::erase_if(entry.waiters, [&](const Waiter& waiter) { return waiter.client == client; });
    if (!entry.clients.empty() || !entry.waiters.empty()) continue;
    if (entry.loading) entry.loading->request_stop();
    unused.push_back(handle);
  }
  for (const std::string& handle : unused) drop(handle, "nobody has it open any more");
}

std::string Engine::key_of(const OpenRequest& request, const std::string& path) {
  return fmt::format("{}\n{}\n{}", path, request.options.format, request.options.partial);
}

Engine::Entry* Engine::entry_of(const std::string& handle) {
  const auto found = entries_.find(handle);
  return found == entries_.end() ? nullptr : &found->second;
}

std::uint64_t Engine::open(ClientId client, OpenRequest request, ProgressFn progress, Opened opened) {
  const std::uint64_t ticket = next_ticket_++;
  auto path = path_of_uri(request.uri);
  if (!path) {
    opened(tl::unexpected<Error>(std::move(path).error()));
    return ticket;
  }
  const std::string key = key_of(request, *path);
  auto found = std::find_if(entries_.begin(), entries_.end(),
                            [&](const auto& item) { return item.second.key == key; });
  if (found == entries_.end()) {
    Entry entry;
    entry.key = key;
    entry.path = *path;
    entry.uri = uri_of_path(*path);
    entry.request = request;
    entry.order = next_handle_;
    entry.last_use = ++clock_;
    found = entries_.emplace(fmt::format("p{}", next_handle_++), std::move(entry)).first;
  }
  Entry& entry = found->second;
  if (entry.current && !entry.loading) {
    const auto stamp = stamp_of(entry.path);
    if (!stamp || *stamp == entry.current->file->stamp) {  // a file that is gone is still open
      entry.clients.insert(client);
      entry.last_use = ++clock_;
      entry.attached = entry.attached || request.attach;
      if (request.make_default && default_ != found->first) {
        default_ = found->first;
        announce(ProfileChange::default_changed, found->first, "");
      }
      opened(OpenAnswer{entry.current, true});
      return ticket;
    }
  }
  entry.waiters.push_back({ticket, client, std::move(request), std::move(progress), std::move(opened)});
  if (!entry.loading) start_loading(found->first, entry);
  return ticket;
}

void Engine::start_loading(const std::string& handle, Entry& entry) {
  entry.loading.emplace();
  // Progress goes to whoever asked first; the others wait without it.
  auto progress = entry.waiters.empty() ? ProgressFn() : entry.waiters.front().progress;
  // The result is kept in a box, so that a task that never runs (shutdown) loses nothing but itself.
  scheduler_->submit(
      Lane::bulk, "open " + entry.path,
      [this, handle, alive = alive_, path = entry.path, options = entry.request.options,
       stop = *entry.loading, progress = std::move(progress)] {
        Result<std::shared_ptr<LoadedFile>> result = fail(ErrorCode::internal, "reading failed");
        try {
          auto read = load(cache_, path, options, scheduler_->executor(), StopToken(stop), progress);
          if (read && read->write_entry) {
            scheduler_->submit(Lane::bulk, "cache " + path,
                               [path, write = std::move(read->write_entry)] { write_to_cache(path, write); });
          }
          result = std::move(read).map([](Load&& whole) { return std::move(whole.file); });
        } catch (const std::bad_alloc&) {
          result = fail(ErrorCode::limit, "not enough memory to read this file");
        } catch (const std::exception& exception) {
          spdlog::error("open {}: {}", path, exception.what());
          result = fail(ErrorCode::internal, std::string("reading failed: ") + exception.what());
        }
        post_([this, handle, alive, result = std::move(result)]() mutable {
          if (*alive) loaded(handle, std::move(result));
        });
      });
}

void Engine::loaded(const std::string& handle, Result<std::shared_ptr<LoadedFile>> result) {
  Entry* entry = entry_of(handle);
  if (entry == nullptr) return;  // closed meanwhile
  entry->loading.reset();
  if (result && (*result)->memory > budget_)
    result = fail(ErrorCode::limit,
                  fmt::format("the profile needs {} MiB, more than the daemon's memory budget of {} MiB "
                              "(--memory-budget)",
                              (*result)->memory >> 20, budget_ >> 20));
  if (result) {
    take(handle, *entry, std::move(*result));
    return;
  }
  Error error = std::move(result).error();
  spdlog::info("{}: {}", entry->path, describe(error));
  const bool first = entry->current == nullptr;
  if (!first) {
    entry->failed = true;
    announce(
        ProfileChange::reload_failed, handle,
        fmt::format("{}: {}. The older revision is shown.", last_component(entry->path), describe(error)));
  }
  auto waiters = std::move(entry->waiters);
  entry->waiters.clear();
  if (first) entries_.erase(handle);
  for (Waiter& waiter : waiters) waiter.opened(tl::unexpected<Error>(error));
}

void Engine::take(const std::string& handle, Entry& entry, std::shared_ptr<LoadedFile> file) {
  const bool first = entry.current == nullptr;
  auto open = std::make_shared<OpenProfile>();
  open->handle = handle;
  open->revision = ++entry.revision;
  open->view_id = ++next_view_id_;
  open->uri = entry.uri;
  open->file = file;
  open->profile = file->opened.profiles.front();
  open->name = !entry.request.name.empty() ? entry.request.name : std::string(last_component(entry.path));
  open->metric = open->profile->default_metric();
  const std::string& wanted = first ? entry.request.metric : entry.current->metric_info().name;
  if (const auto metric = open->profile->find_metric(wanted); metric && !wanted.empty())
    open->metric = *metric;
  if (!first) views_.drop(*entry.current);
  entry.current = open;
  entry.failed = false;
  entry.last_use = ++clock_;
  auto waiters = std::move(entry.waiters);
  entry.waiters.clear();
  bool make_default = first && default_.empty();
  for (const Waiter& waiter : waiters) {
    entry.clients.insert(waiter.client);
    entry.attached = entry.attached || waiter.request.attach;
    entry.watched = entry.watched || waiter.request.watch;
    make_default = make_default || waiter.request.make_default;
  }
  watch(entry);
  if (make_default) default_ = handle;
  make_room(handle);
  announce(first ? ProfileChange::opened : ProfileChange::reloaded, handle,
           fmt::format("{} {}", open->name, first ? "opened" : "reloaded"));
  for (Waiter& waiter : waiters) {
    if (!wanted.empty() && open->metric_info().name != wanted && first) {
      waiter.opened(fail(ErrorCode::invalid, fmt::format("{} has no metric {}", open->name, wanted)));
      continue;
    }
    waiter.opened(OpenAnswer{open, !first});
  }
}

void Engine::cancel_open(std::uint64_t ticket) {
  for (auto& [handle, entry] : entries_) {
    const auto found = std::find_if(entry.waiters.begin(), entry.waiters.end(),
                                    [&](const Waiter& waiter) { return waiter.ticket == ticket; });
    if (found == entry.waiters.end()) continue;
    Waiter waiter = std::move(*found);
    entry.waiters.erase(found);
    if (entry.waiters.empty() && entry.loading) {
      entry.loading->request_stop();
      if (!entry.current) entries_.erase(handle);
    }
    waiter.opened(fail(ErrorCode::cancelled, "cancelled"));
    return;
  }
}

Result<void> Engine::close(ClientId client, const std::string& handle) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  Entry& entry = *entry_of(open->handle);
  entry.clients.erase(client);
  if (entry.clients.empty() && entry.waiters.empty()) drop(open->handle, open->name + " closed");
  return {};
}

void Engine::drop(const std::string& handle, const std::string& message) {
  const auto found = entries_.find(handle);
  if (found == entries_.end()) return;
  Entry entry = std::move(found->second);
  entries_.erase(found);
  if (watcher_ && entry.watched) watcher_->unwatch(entry.path);
  if (entry.current) views_.drop(*entry.current);
  if (default_ == handle) {
    default_.clear();
    std::uint64_t newest = 0;
    for (const auto& [other, candidate] : entries_)
      if (candidate.current && candidate.order >= newest) {
        newest = candidate.order;
        default_ = other;
      }
  }
  if (entry.current)
    for (const auto& [id, listener] : clients_)
      listener->on_profile_changed(ProfileChange::closed, handle, entry.revision, entry.uri, message);
}

void Engine::make_room(const std::string& keep) {
  while (profile_memory() > budget_) {
    const Entry* oldest = nullptr;
    std::string victim;
    for (const auto& [handle, entry] : entries_)
      if (handle != keep && entry.current && (oldest == nullptr || entry.last_use < oldest->last_use)) {
        oldest = &entry;
        victim = handle;
      }
    if (oldest == nullptr) return;
    const std::string message = fmt::format("{} was closed to stay within the memory budget of {} MiB",
                                            oldest->current->name, budget_ >> 20);
    spdlog::warn("{}", message);
    evicted_[victim] = message;
    drop(victim, message);
  }
}

Result<void> Engine::reload(const std::string& handle) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  Entry& entry = *entry_of(open->handle);
  if (!entry.loading) start_loading(open->handle, entry);
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

void Engine::watch(Entry& entry) {
  if (entry.watched && watch_files_) watcher().watch(entry.path, entry.current->file->stamp);
}

void Engine::watch_folder(ClientId client, const std::string& folder, std::function<void()> changed) {
  // The folder as an entry of itself: its time changes with its entries, and inotify sees them.
  const std::string path = folder + "/.";
  const auto stamp = stamp_of(path);
  if (!watch_files_ || !stamp) return;
  folders_.push_back({client, path, std::move(changed)});
  watcher().watch(path, *stamp);
}

void Engine::file_changed(const std::string& path) {
  const auto watches = folders_;  // a callback may add to them
  for (const FolderWatch& watch : watches)
    if (watch.path == path && clients_.count(watch.client) != 0) watch.changed();
  for (auto& [handle, entry] : entries_) {
    if (entry.path != path || !entry.current || entry.loading) continue;
    const auto stamp = stamp_of(path);
    if (stamp && !(*stamp == entry.current->file->stamp)) start_loading(handle, entry);
  }
}

Result<OpenProfilePtr> Engine::find(const std::string& handle) {
  const std::string& wanted = handle.empty() ? default_ : handle;
  Entry* entry = entry_of(wanted);
  if (entry != nullptr && entry->current) {
    entry->last_use = ++clock_;
    return entry->current;
  }
  if (wanted.empty()) return fail(ErrorCode::not_found, "no profile is open; open one with profile/open");
  if (const auto found = evicted_.find(wanted); found != evicted_.end())
    return fail(ErrorCode::cancelled, found->second + "; open it again");
  if (entry != nullptr) return fail(ErrorCode::not_found, fmt::format("{} is still being read", wanted));
  return fail(ErrorCode::not_found, fmt::format("there is no open profile {}", wanted));
}

OpenProfilePtr Engine::default_profile() const {
  const auto found = entries_.find(default_);
  return found == entries_.end() ? nullptr : found->second.current;
}

bool Engine::attached(const std::string& handle) const {
  const auto found = entries_.find(handle);
  return found != entries_.end() && found->second.attached;
}

std::vector<ProfileEntry> Engine::list() const {
  std::vector<std::pair<std::uint64_t, ProfileEntry>> rows;
  for (const auto& [handle, entry] : entries_) {
    ProfileEntry row;
    row.handle = handle;
    row.uri = entry.uri;
    row.name = entry.current ? entry.current->name : std::string(last_component(entry.path));
    row.format = entry.current ? entry.current->file->opened.decision.format : entry.request.options.format;
    row.revision = entry.revision;
    row.state = !entry.current ? ProfileEntry::State::opening
                : entry.failed ? ProfileEntry::State::failed
                               : ProfileEntry::State::ready;
    row.is_default = handle == default_;
    row.attached = entry.attached;
    row.watched = entry.watched;
    row.memory = entry.current ? entry.current->file->memory : 0;
    rows.emplace_back(entry.order, std::move(row));
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ProfileEntry> result;
  for (auto& [order, row] : rows) result.push_back(std::move(row));
  return result;
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
  entry_of(open->handle)->current = changed;
  announce(ProfileChange::default_changed, open->handle, fmt::format("{} shows {}", open->name, metric));
  return {};
}

Result<void> Engine::set_default(const std::string& handle) {
  PROFD_TRY(const OpenProfilePtr open, find(handle));
  default_ = open->handle;
  announce(ProfileChange::default_changed, default_, "");
  return {};
}

void Engine::select(ClientId client, std::optional<SharedSelection> selection) {
  selection_ = std::move(selection);
  for (const auto& [id, listener] : clients_)
    if (id != client) listener->on_selection_changed(selection_, client);
}

void Engine::announce(ProfileChange change, const std::string& handle, const std::string& message) {
  const Entry* entry = entry_of(handle);
  if (entry == nullptr) return;
  for (const auto& [id, listener] : clients_)
    listener->on_profile_changed(change, handle, entry->revision, entry->uri, message);
}

std::uint64_t Engine::profile_memory() const {
  std::uint64_t total = 0;
  for (const auto& [handle, entry] : entries_)
    if (entry.current) total += entry.current->file->memory;
  return total;
}

}  // namespace profd
