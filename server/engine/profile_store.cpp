#include "server/engine/profile_store.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/support/text.h"
#include "core/view/resolve.h"
#include "server/engine/formula_metrics.h"
#include "server/engine/pick_profile.h"

namespace profd {
namespace {

std::string kept_key(const Origin& origin, std::uint32_t revision) {
  return fmt::format("{}\n{}", revision, origin.key());
}

}  // namespace

std::size_t OpenOrigin::n_used() const {
  return static_cast<std::size_t>(
      std::count_if(members.begin(), members.end(), [](const OpenMember& m) { return !m.clients.empty(); }));
}

std::vector<OpenMember*> OpenOrigin::used() {
  std::vector<OpenMember*> out;
  for (OpenMember& member : members)
    if (!member.clients.empty()) out.push_back(&member);
  return out;
}

OriginId ProfileStore::add(const OriginPtr& origin, const OpenRequest& request) {
  const auto [known, is_new] = by_key_.try_emplace(origin->key(), next_origin_);
  if (!is_new) return known->second;
  OpenOrigin& added = origins_[next_origin_];
  added.origin = origin;
  added.request = request;
  added.first_handle = fmt::format("p{}", next_handle_++);
  use(added);
  place_of_[added.first_handle] = {next_origin_, 0};
  return next_origin_++;
}

OpenOrigin* ProfileStore::find(OriginId id) {
  const auto found = origins_.find(id);
  return found == origins_.end() ? nullptr : &found->second;
}

OriginId ProfileStore::by_key(const std::string& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? 0 : found->second;
}

OriginId ProfileStore::of_handle(const std::string& handle) const {
  const auto found = place_of_.find(handle);
  return found == place_of_.end() ? 0 : found->second.origin;
}

const OpenMember* ProfileStore::member(const std::string& handle) const {
  const auto found = place_of_.find(handle);
  if (found == place_of_.end()) return nullptr;
  const std::vector<OpenMember>& members = origins_.at(found->second.origin).members;
  if (found->second.member >= members.size()) return nullptr;  // still being read
  const OpenMember& member = members[found->second.member];
  return member.clients.empty() ? nullptr : &member;
}

OpenMember* ProfileStore::member(const std::string& handle) {
  return const_cast<OpenMember*>(std::as_const(*this).member(handle));
}

Result<OpenProfilePtr> ProfileStore::open_profile(const std::string& handle) {
  if (const OpenMember* open = member(handle)) {
    use(origins_.at(of_handle(handle)));
    return open->current;
  }
  if (const auto found = closed_.find(handle); found != closed_.end())
    return fail(ErrorCode::cancelled, found->second + "; open it again");
  if (const OriginId id = of_handle(handle); id != 0 && origins_.at(id).members.empty())
    return fail(ErrorCode::not_found, fmt::format("{} is still being read", handle));
  return fail(ErrorCode::not_found, fmt::format("there is no open profile {}", handle));
}

void ProfileStore::remember_closed(const OpenOrigin& origin, const std::string& message) {
  constexpr std::size_t kMaxRemembered = 10'000;
  if (closed_.size() + origin.members.size() > kMaxRemembered) closed_.clear();
  for (const OpenMember& member : origin.members)
    if (closed_.size() < kMaxRemembered) closed_[member.handle] = message;
}

std::vector<OpenMember> ProfileStore::match_members(OpenOrigin& origin,
                                                    const std::vector<ProfilePtr>& profiles,
                                                    std::vector<OpenMember>& before) {
  before = std::move(origin.members);
  std::vector<OpenMember> now(profiles.size());
  if (before.empty()) now.front().handle = origin.first_handle;
  const auto keep = [](OpenMember& from, OpenMember& to) {
    to.handle = std::exchange(from.handle, "");
    to.clients = from.clients;
    to.current = from.current;
    to.derived = from.derived;
  };
  std::map<std::string, std::vector<OpenMember*>> by_name;
  for (OpenMember& member : before) by_name[member.current->member_name()].push_back(&member);
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
  std::set<ClientId> clients;
  for (const OpenMember& member : before) clients.insert(member.clients.begin(), member.clients.end());
  for (OpenMember& member : now) {
    if (!member.handle.empty()) continue;
    member.handle = fmt::format("p{}", next_handle_++);
    member.clients = clients;
  }
  return now;
}

std::shared_ptr<OpenProfile> ProfileStore::make_open(const OpenOrigin& origin, const OpenMember& member,
                                                     std::size_t number) {
  auto open = std::make_shared<OpenProfile>();
  open->handle = member.handle;
  open->revision = origin.revision;
  open->view_id = ++next_view_id_;
  open->uri = origin.origin->uri();
  open->origin = origin.origin;
  open->loaded = origin.loaded;
  open->number = static_cast<std::uint32_t>(number);
  open->profile = origin.loaded->profiles[number - 1];
  open->name = !origin.request.name.empty() ? origin.request.name : origin.origin->name();
  if (origin.loaded->profiles.size() > 1)
    open->name += open->member_name().empty() ? fmt::format(" #{}", number) : " · " + open->member_name();
  open->name = cut_bytes(std::move(open->name), kMaxToldName);
  open->metric = open->profile->default_metric();
  set_formulas(*open, member.derived);
  const OpenRequest& request = origin.request;
  const std::string& wanted = member.current            ? member.current->metric_info().name
                              : !request.metric.empty() ? request.metric
                                                        : request.preferred_metric;
  if (const auto metric = open->profile->find_metric(wanted); metric && !wanted.empty())
    open->metric = *metric;
  return open;
}

ProfileStore::Change ProfileStore::replace(OriginId id, std::shared_ptr<const LoadedProfiles> loaded) {
  OpenOrigin& origin = origins_.at(id);
  Change change;
  std::vector<OpenMember> members = match_members(origin, loaded->profiles, change.before);
  change.loaded_before = std::exchange(origin.loaded, std::move(loaded));
  origin.failed = false;
  ++origin.revision;
  // Read again as it was, it has no other before it.
  if (change.loaded_before && origin.origin->policy().keep_previous &&
      change.loaded_before->freshness != origin.loaded->freshness) {
    if (origin.previous) change.previous_before = std::move(origin.previous->loaded);
    origin.previous = PreviousLoad{origin.revision - 1, origin.revision, std::move(change.loaded_before)};
    std::erase_if(kept_, [](const auto& item) { return item.second.expired(); });
    kept_[kept_key(*origin.origin, origin.revision - 1)] = origin.previous->loaded;
  }
  use(origin);
  for (std::size_t i = 0; i < members.size(); ++i) {
    OpenMember& member = members[i];
    change.is_new.push_back(member.current ? 0 : 1);
    member.current = make_open(origin, member, i + 1);
    place_of_[member.handle] = {id, i};
  }
  origin.members = std::move(members);
  for (const OpenMember& member : change.before)
    if (!member.handle.empty()) place_of_.erase(member.handle);
  return change;
}

std::shared_ptr<const LoadedProfiles> ProfileStore::kept(const Origin& origin, std::uint32_t revision) const {
  const auto found = kept_.find(kept_key(origin, revision));
  return found == kept_.end() ? nullptr : found->second.lock();
}

std::shared_ptr<const LoadedProfiles> ProfileStore::drop_oldest_previous() {
  OpenOrigin* oldest = nullptr;
  for (auto& [id, origin] : origins_)
    if (origin.previous && (oldest == nullptr || origin.last_use < oldest->last_use)) oldest = &origin;
  if (oldest == nullptr) return nullptr;
  std::shared_ptr<const LoadedProfiles> dropped = std::move(oldest->previous->loaded);
  oldest->previous.reset();
  return dropped;
}

OpenMember ProfileStore::revise(const std::string& handle, ProfilePtr profile) {
  const Place place = place_of_.at(handle);
  OpenOrigin& origin = origins_.at(place.origin);
  auto loaded = std::make_shared<LoadedProfiles>(*origin.loaded);
  loaded->profiles[place.member] = std::move(profile);
  loaded->memory = memory_of(loaded->profiles);
  origin.loaded = std::move(loaded);
  ++origin.revision;
  use(origin);
  OpenMember before = origin.members[place.member];
  for (std::size_t i = 0; i < origin.members.size(); ++i) {
    OpenMember& member = origin.members[i];
    if (i == place.member) {
      member.current = make_open(origin, member, i + 1);
      continue;
    }
    // The others are what they were; they let go of the profile that is no more.
    auto same = std::make_shared<OpenProfile>(*member.current);
    same->loaded = origin.loaded;
    member.current = std::move(same);
  }
  return before;
}

void ProfileStore::set_derived(const std::string& handle, std::vector<DerivedMetric> derived) {
  OpenMember& member = *this->member(handle);
  member.derived = std::move(derived);
  auto changed = std::make_shared<OpenProfile>(*member.current);
  set_formulas(*changed, member.derived);
  member.current = std::move(changed);
}

OpenOrigin ProfileStore::remove(OriginId id) {
  const auto found = origins_.find(id);
  OpenOrigin removed = std::move(found->second);
  origins_.erase(found);
  for (const OpenMember& member : removed.members) place_of_.erase(member.handle);
  place_of_.erase(removed.first_handle);
  by_key_.erase(removed.origin->key());
  return removed;
}

Result<OpenAnswer> ProfileStore::answer(const OpenOrigin& origin, const OpenRequest& request,
                                        bool already_open) {
  PROFD_TRY(const std::size_t meant, pick_profile(origin.loaded->profiles, request.member));
  OpenAnswer answer;
  answer.already_open = already_open;
  for (const OpenMember& member : origin.members) answer.profiles.push_back(member.current);
  answer.profile = answer.profiles[meant];
  if (!request.metric.empty()) PROFD_CHECK(resolve_metric(*answer.profile->profile, request.metric));
  return answer;
}

OpenProfilePtr ProfileStore::newest() const {
  for (auto item = origins_.rbegin(); item != origins_.rend(); ++item)
    for (const OpenMember& member : item->second.members)
      if (!member.clients.empty()) return member.current;
  return nullptr;
}

ProfileListing ProfileStore::listing(ClientId client, std::string meant,
                                     const std::function<bool(OriginId)>& waits,
                                     const std::function<bool(OriginId)>& watched) const {
  ProfileListing listing;
  listing.meant = std::move(meant);
  for (const auto& [id, origin] : origins_) {
    ProfileListing::File& file = listing.files.emplace_back();
    ProfileEntry& row = file.common;
    row.uri = origin.origin->uri();
    row.attached = origin.attached;
    row.watched = watched(id);
    row.revision = origin.revision;
    if (origin.members.empty()) {
      row.handle = origin.first_handle;
      row.name = origin.origin->name();
      row.format = origin.request.options.format;
      row.mine = waits(id);
      continue;
    }
    row.state = origin.failed ? ProfileEntry::State::failed : ProfileEntry::State::ready;
    row.format = origin.loaded->decision.format;
    row.n_in_file = static_cast<std::uint32_t>(origin.members.size());
    for (const OpenMember& member : origin.members) {
      if (member.clients.empty()) continue;
      file.profiles.push_back(member.current);
      file.mine.push_back(member.clients.count(client) != 0 ? 1 : 0);
    }
  }
  return listing;
}

std::size_t ProfileStore::n_profiles() const {
  std::size_t n = 0;
  for (const auto& [id, origin] : origins_) n += origin.n_used();
  return n;
}

std::vector<std::uint64_t> ProfileStore::view_ids() const {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, origin] : origins_)
    for (const OpenMember& member : origin.members) ids.push_back(member.current->view_id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::uint64_t ProfileStore::memory() const {
  std::uint64_t total = 0;
  for (const auto& [id, origin] : origins_) {
    if (origin.loaded) total += origin.loaded->memory;
    if (origin.previous) total += origin.previous->loaded->memory;
  }
  return total;
}

std::vector<HeldFile> ProfileStore::held() const {
  std::vector<HeldFile> out;
  for (const auto& [id, origin] : origins_) {
    if (!origin.loaded) continue;
    std::set<ClientId> clients;
    for (const OpenMember& member : origin.members)
      clients.insert(member.clients.begin(), member.clients.end());
    out.push_back({id, origin.loaded->memory, origin.last_use, {clients.begin(), clients.end()}});
  }
  return out;
}

}  // namespace profd
