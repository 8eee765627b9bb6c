// An open profile as requests see it: an immutable snapshot that stays good while it is used, whatever is
// reloaded or closed meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/model/profile.h"
#include "core/view/derived_metric.h"
#include "server/engine/origin.h"

namespace profd {

// Names go to every client that lists what is open, whoever opened it: what is longer is cut, with an
// ellipsis.
inline constexpr std::size_t kMaxToldName = 1000;

struct OpenProfile {
  std::string handle;          // stable for the life of the daemon, never reused
  std::uint32_t revision = 1;  // counts reloads
  std::uint64_t view_id = 0;   // of this revision in the view cache
  std::string uri;
  std::string name;          // for people
  std::uint32_t number = 1;  // its place among the profiles of its origin, from 1
  MetricId metric{0u};       // the default one
  ProfilePtr profile;
  OriginPtr origin;
  std::shared_ptr<const LoadedProfiles> loaded;  // all that came with it
  // Metrics by formula: those of the profile and, in a session, of what is set there. Null: none. Those that
  // add up are metrics of `profile`, too, behind its own (set_formulas()).
  DerivedMetricsPtr derived;
  std::string formulas;  // tells apart what `profile` has more than what was read; "" nothing

  // As it was read, without such metrics.
  [[nodiscard]] const ProfilePtr& as_read() const { return loaded ? loaded->profiles[number - 1] : profile; }
  [[nodiscard]] const MetricInfo& metric_info() const { return profile->metrics()[metric.v]; }
  // One that is worked out of the sums of a row or box. Null: there is none of that name, or it is a metric
  // of `profile`.
  [[nodiscard]] const ProfileMeasure* derived_metric(std::string_view of) const {
    return derived && !profile->find_metric(of) ? derived->find(of) : nullptr;
  }
  [[nodiscard]] std::size_t n_in_file() const { return loaded->profiles.size(); }
  // What errors about it name.
  [[nodiscard]] const std::string& place() const { return origin->place(); }
  // What the file calls it; "" nothing.
  [[nodiscard]] const std::string& member_name() const { return profile->info().name; }
};

using OpenProfilePtr = std::shared_ptr<const OpenProfile>;

}  // namespace profd
