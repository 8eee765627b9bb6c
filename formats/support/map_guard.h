// MapGuard: reading a mapped file that another process cuts short must not end this one.
//
// Pages of a mapping that lie behind the end of its file raise SIGBUS. Looking at the size before reading
// leaves a gap, and reading instead of mapping costs a copy of every big file; so the signal is taken: where
// it comes from a guarded mapping, the rest of the mapping becomes zeros, the reader goes on to some end, and
// shrank() tells its caller that what was read is not the file. Any other SIGBUS goes where it went before.
// The handler is the one piece of state that belongs to the process; it is set with the first guard.
#pragma once

#include <cstddef>
#include <memory>

namespace profd {

class MapGuard {
 public:
  // Null when too many mappings are guarded at once: then read the file.
  static std::shared_ptr<MapGuard> make(const void* data, std::size_t size);
  ~MapGuard();
  MapGuard(const MapGuard&) = delete;
  MapGuard& operator=(const MapGuard&) = delete;
  [[nodiscard]] bool shrank() const;

 private:
  explicit MapGuard(std::size_t slot) : slot_(slot) {}
  std::size_t slot_;
};

}  // namespace profd
