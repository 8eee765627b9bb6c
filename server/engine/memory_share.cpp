#include "server/engine/memory_share.h"

#include <algorithm>
#include <map>

namespace profd {
namespace {

class Shares {
 public:
  Shares(std::span<const HeldFile> files, std::uint64_t room) {
    for (const HeldFile& file : files) charge(file, static_cast<double>(file.bytes));
    share_ = static_cast<double>(room) / static_cast<double>(std::max<std::size_t>(1, held_.size()));
  }
  [[nodiscard]] bool all_over(const HeldFile& file) const {
    return std::all_of(file.clients.begin(), file.clients.end(),
                       [&](ClientId client) { return held_.at(client) > share_; });
  }
  void close(const HeldFile& file) { charge(file, -static_cast<double>(file.bytes)); }

 private:
  void charge(const HeldFile& file, double bytes) {
    for (const ClientId client : file.clients)
      held_[client] += bytes / static_cast<double>(file.clients.size());
  }

  std::map<ClientId, double> held_;
  double share_ = 0;
};

}  // namespace

MemoryPlan plan_memory(std::span<const HeldFile> files, std::uint64_t room, std::uint64_t newest) {
  MemoryPlan plan;
  std::uint64_t used = 0;
  for (const HeldFile& file : files) used += file.bytes;
  if (used <= room) return plan;
  std::vector<const HeldFile*> oldest_first;
  for (const HeldFile& file : files)
    if (file.id != newest) oldest_first.push_back(&file);
  std::sort(oldest_first.begin(), oldest_first.end(), [](const HeldFile* a, const HeldFile* b) {
    return a->last_use != b->last_use ? a->last_use < b->last_use : a->id < b->id;
  });
  Shares shares(files, room);
  for (const HeldFile* file : oldest_first) {
    if (used <= room) return plan;
    if (!shares.all_over(*file)) continue;
    shares.close(*file);
    used -= file->bytes;
    plan.closed.push_back(file->id);
  }
  plan.fits = used <= room;
  if (!plan.fits) plan.closed.clear();
  return plan;
}

}  // namespace profd
