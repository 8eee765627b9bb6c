// Which open files are closed when memory is short. Each client that holds files has an equal share of what
// there is, and no other client's files close those of a client within its share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "server/runtime/scheduler.h"

namespace profd {

struct HeldFile {
  std::uint64_t id = 0;
  std::uint64_t bytes = 0;
  std::uint64_t last_use = 0;     // by a clock that only grows
  std::vector<ClientId> clients;  // who has it open, each once; its bytes are theirs in equal parts
};

struct MemoryPlan {
  std::vector<std::uint64_t> closed;  // ids, in the order in which they go
  // False: without `newest` there is room enough, with it there is not.
  bool fits = true;
};

// `room`: bytes for all files. Over it, the file that was used longest ago goes first, of those whose clients
// are all over their shares; `newest` goes last. When all others are within their shares, `newest` does not
// fit, and then nothing is closed for it.
[[nodiscard]] MemoryPlan plan_memory(std::span<const HeldFile> files, std::uint64_t room,
                                     std::uint64_t newest);

}  // namespace profd
