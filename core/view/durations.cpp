#include "core/view/durations.h"

#include <array>
#include <type_traits>
#include <utility>

namespace profd {
namespace {

// Fractions of two samples that lie side by side may differ in their last digits.
constexpr double kRounding = 1;  // ns

template <class T>
bool reaches(std::int64_t time, T value, std::int64_t scale, std::int64_t next) {
  const auto room = static_cast<std::uint64_t>(next) - static_cast<std::uint64_t>(time);
  if constexpr (std::is_same_v<T, std::int64_t>)
    return static_cast<std::uint64_t>(value) > room / static_cast<std::uint64_t>(scale);
  else
    return value * static_cast<double>(scale) > static_cast<double>(room) + kRounding;
}

// Whether the values lie apart from each other in every thread.
template <class T>
Result<bool> lie_apart(const SampleTable& samples, const Column<std::uint32_t>& order,
                       const Column<T>& values, std::int64_t scale, StopToken& stop) {
  bool any = false;
  std::uint32_t thread = kNone, before = kNone;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t row = order.empty() ? i : order[i];
    if (samples.time[row] == kNoTime || !(values[row] > 0)) continue;
    const std::uint32_t of = value_or(samples.thread, row, kNone);
    if (before != kNone && of == thread &&
        reaches(samples.time[before], values[before], scale, samples.time[row]))
      return false;
    any = true;
    thread = of;
    before = row;
  }
  return any;
}

}  // namespace

std::int64_t nanoseconds_in(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> kUnits{{{"nanoseconds", 1},
                                                                             {"microseconds", 1'000},
                                                                             {"milliseconds", 1'000'000},
                                                                             {"seconds", 1'000'000'000},
                                                                             {"minutes", 60'000'000'000},
                                                                             {"hours", 3'600'000'000'000}}};
  for (const auto& [name, size] : kUnits)
    if (name == unit) return size;
  return 0;
}

Result<std::vector<std::int64_t>> duration_metrics(const Profile& profile, StopToken stop) {
  std::vector<std::int64_t> out(profile.metrics().size(), 0);
  if (profile.samples() == nullptr || profile.samples()->time.empty()) return out;
  const SampleTable& samples = *profile.samples();
  const Column<std::uint32_t> as_they_stand;
  const Column<std::uint32_t>& order =
      profile.timeline() == nullptr ? as_they_stand : profile.timeline()->samples.row;
  for (std::size_t m = 0; m < out.size(); ++m) {
    const std::int64_t scale = nanoseconds_in(profile.metrics()[m].unit);
    if (scale == 0) continue;
    PROFD_TRY(const bool apart,
              std::visit([&](const auto& values) { return lie_apart(samples, order, values, scale, stop); },
                         samples.values[m]));
    if (apart) out[m] = scale;
  }
  return out;
}

}  // namespace profd
