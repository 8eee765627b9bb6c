#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace profd::bench {

// Memory straight from the system, so that every run pays for its page faults, as a process that opens a file
// does.
class Pages {
 public:
  explicit Pages(std::size_t size);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  char* data_;
  std::size_t size_;
};

struct Inflater {
  std::string_view name;
  // Fills out, whose size is the exact size of the content; false when the data is bad.
  bool (*inflate)(std::span<const char> gzip, Pages& out);
};

// Those that were there when this was built.
std::vector<Inflater> inflaters();

// The size the gzip trailer states: right for one member below 4 GiB.
std::size_t stated_size(std::span<const char> gzip);

}  // namespace profd::bench
