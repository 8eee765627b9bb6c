// ProfileStore: what is open. Origins with their profiles, the profiles' handles and revisions, and who has
// them open. Bookkeeping alone: nothing is read, scheduled or told to anybody here. Belongs to the strand.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/engine/memory_share.h"
#include "server/engine/open_request.h"
#include "server/engine/profile_listing.h"
#include "server/runtime/scheduler.h"

namespace profd {

using OriginId = std::uint64_t;  // ascending in the order of opening, never reused

// A profile of an origin. Without clients it is closed, and opened again with its origin.
struct OpenMember {
  std::string handle;
  OpenProfilePtr current;
  std::set<ClientId> clients;
  std::vector<DerivedMetric> derived;  // that clients have defined for it, whatever is loaded later
};

// What an origin gave before what it gives now.
struct PreviousLoad {
  std::uint32_t revision = 0;        // its own
  std::uint32_t until_revision = 0;  // the one that took its place
  std::shared_ptr<const LoadedProfiles> loaded;
};

struct OpenOrigin {
  OriginPtr origin;
  OpenRequest request;              // the first one
  std::string first_handle;         // kept for the first profile while nothing is loaded
  std::vector<OpenMember> members;  // in the order of the origin; none while nothing is loaded
  bool failed = false;              // the last load; an older one is shown
  bool attached = false;
  std::uint32_t revision = 0;  // counts loads and revisions
  std::uint64_t last_use = 0;
  std::shared_ptr<const LoadedProfiles> loaded;
  std::optional<PreviousLoad> previous;  // where its policy keeps that, something came, and memory was there

  [[nodiscard]] std::size_t n_used() const;  // members that somebody has open
  [[nodiscard]] std::vector<OpenMember*> used();
};

class ProfileStore {
 public:
  // Of origins with equal keys there is one.
  OriginId add(const OriginPtr& origin, const OpenRequest& request);
  // Null: it was closed.
  [[nodiscard]] OpenOrigin* find(OriginId id);
  [[nodiscard]] OpenOrigin& at(OriginId id) { return origins_.at(id); }
  [[nodiscard]] const OpenOrigin& at(OriginId id) const { return origins_.at(id); }
  // 0: there is none.
  [[nodiscard]] OriginId by_key(const std::string& key) const;
  [[nodiscard]] OriginId of_handle(const std::string& handle) const;
  // Null: nobody has it open, or it is still being read.
  [[nodiscard]] OpenMember* member(const std::string& handle);
  [[nodiscard]] const OpenMember* member(const std::string& handle) const;
  [[nodiscard]] const std::map<OriginId, OpenOrigin>& origins() const { return origins_; }
  [[nodiscard]] std::map<OriginId, OpenOrigin>& origins() { return origins_; }
  // What is used last is closed last when memory is short.
  void use(OpenOrigin& origin) { origin.last_use = ++clock_; }

  // The profile of this handle that is open now; `cancelled` says why it was closed, where that is
  // remembered.
  Result<OpenProfilePtr> open_profile(const std::string& handle);
  // Why it is not open, for the next who asks.
  void remember_closed(const OpenOrigin& origin, const std::string& message);

  // What an origin gave next. Profiles that were there before keep their handles: the n-th of a name is the
  // n-th of that name again; where no name is known, the place counts. Whoever has any of the origin open has
  // its new profiles, too.
  struct Change {
    std::vector<OpenMember> before;    // as they were, those without a handle are still there
    std::vector<std::uint8_t> is_new;  // by member
    std::shared_ptr<const LoadedProfiles> loaded_before;  // null: there was nothing, or it is kept
    std::shared_ptr<const LoadedProfiles>
        previous_before;  // what was kept till now; null: nothing, or it stays
  };
  Change replace(OriginId id, std::shared_ptr<const LoadedProfiles> loaded);
  // What is or was kept of an origin's revision, while anybody holds it; else null.
  [[nodiscard]] std::shared_ptr<const LoadedProfiles> kept(const Origin& origin,
                                                           std::uint32_t revision) const;
  // Lets go of what is kept of the origin that was used longest ago. Null: nothing is.
  std::shared_ptr<const LoadedProfiles> drop_oldest_previous();
  // Another profile in the place of one, as the next revision of its handle. What was before is given.
  OpenMember revise(const std::string& handle, ProfilePtr profile);
  // Other metrics by formula; numbers, keys and views are what they were.
  void set_derived(const std::string& handle, std::vector<DerivedMetric> derived);
  // Forgets it, with its handles.
  OpenOrigin remove(OriginId id);

  // The answer to a request on what is loaded. An error where a profile or metric is named that is not there.
  static Result<OpenAnswer> answer(const OpenOrigin& origin, const OpenRequest& request, bool already_open);

  [[nodiscard]] OpenProfilePtr newest() const;
  // `waits`: whether whoever asks waits for an origin that is first read; `watched`: whether it is watched.
  [[nodiscard]] ProfileListing listing(ClientId client, std::string meant,
                                       const std::function<bool(OriginId)>& waits,
                                       const std::function<bool(OriginId)>& watched) const;
  [[nodiscard]] std::size_t n_profiles() const;               // that are ready
  [[nodiscard]] std::vector<std::uint64_t> view_ids() const;  // ascending
  [[nodiscard]] std::uint64_t newest_view_id() const { return next_view_id_; }
  [[nodiscard]] std::uint64_t memory() const;  // of what is loaded, and of what is kept of before
  // All that are loaded, for plan_memory(); their ids are those of the origins.
  [[nodiscard]] std::vector<HeldFile> held() const;

 private:
  struct Place {
    OriginId origin;
    std::size_t member;
  };
  std::vector<OpenMember> match_members(OpenOrigin& origin, const std::vector<ProfilePtr>& profiles,
                                        std::vector<OpenMember>& before);
  [[nodiscard]] std::shared_ptr<OpenProfile> make_open(const OpenOrigin& origin, const OpenMember& member,
                                                       std::size_t number);

  std::map<OriginId, OpenOrigin> origins_;                           // oldest first
  std::map<std::string, OriginId> by_key_;                           // of the origins
  std::unordered_map<std::string, Place> place_of_;                  // by handle
  std::map<std::string, std::string> closed_;                        // handle -> why
  std::map<std::string, std::weak_ptr<const LoadedProfiles>> kept_;  // by key and revision
  std::uint64_t next_handle_ = 1, next_view_id_ = 0, clock_ = 0;
  OriginId next_origin_ = 1;
};

}  // namespace profd
