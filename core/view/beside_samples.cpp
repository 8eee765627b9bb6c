#include "core/view/beside_samples.h"

#include <algorithm>

namespace profd {
namespace {

using Ids = Column<std::uint32_t>;

std::vector<std::uint8_t> named_alone(std::size_t n, std::initializer_list<const Ids*> by_timeline,
                                      const Ids* by_samples) {
  const bool any =
      std::any_of(by_timeline.begin(), by_timeline.end(), [](const Ids* column) { return !column->empty(); });
  if (!any) return {};
  std::vector<std::uint8_t> out(n, 0);
  for (const Ids* const column : by_timeline)
    for (const std::uint32_t id : *column)
      if (id < n) out[id] = 1;
  if (by_samples != nullptr)
    for (const std::uint32_t id : *by_samples)
      if (id < n) out[id] = 0;
  return out;
}

}  // namespace

std::vector<std::uint8_t> threads_beside_samples(const Profile& profile) {
  if (profile.timeline() == nullptr) return {};
  const Timeline& t = *profile.timeline();
  return named_alone(profile.threads().size(),
                     {&t.spans.thread, &t.markers.thread, &t.counters.thread, &t.tasks.thread},
                     profile.samples() == nullptr ? nullptr : &profile.samples()->thread);
}

std::vector<std::uint8_t> label_sets_beside_samples(const Profile& profile) {
  if (profile.timeline() == nullptr) return {};
  std::vector<std::uint8_t> out =
      named_alone(profile.labels().n_sets(), {&profile.timeline()->markers.label_set},
                  profile.samples() == nullptr ? nullptr : &profile.samples()->label_set);
  if (!out.empty()) out[0] = 0;
  return out;
}

}  // namespace profd
