#include "formats/v8log/code_map.h"

#include <algorithm>
#include <charconv>

namespace profd::v8log {

void CodeMap::clear(std::uint64_t start, std::uint64_t end) {
  auto at = ranges_.upper_bound(start);
  if (at != ranges_.begin() && std::prev(at)->second.end > start) --at;
  while (at != ranges_.end() && at->first < end) at = ranges_.erase(at);
}

void CodeMap::add(std::uint64_t start, std::uint64_t size, Code code) {
  std::uint64_t end = 0;
  if (size == 0) size = 1;
  if (__builtin_add_overflow(start, size, &end)) return;
  clear(start, end);
  ranges_[start] = {end, static_cast<std::uint32_t>(codes_.size())};
  codes_.push_back(code);
}

bool CodeMap::move(std::uint64_t from, std::uint64_t to) {
  const auto found = ranges_.find(from);
  if (found == ranges_.end()) return false;
  const Range range = found->second;
  std::uint64_t end = 0;
  ranges_.erase(found);
  if (__builtin_add_overflow(to, range.end - from, &end)) return false;
  clear(to, end);
  ranges_[to] = {end, range.code};
  return true;
}

bool CodeMap::remove(std::uint64_t start) {
  return ranges_.erase(start) != 0;
}

Code* CodeMap::at(std::uint64_t start) {
  const auto found = ranges_.find(start);
  return found == ranges_.end() ? nullptr : &codes_[found->second.code];
}

void CodeMap::add_library(const Library& library) {
  libraries_.push_back(library);
  sorted_ = false;
}

Found CodeMap::find(std::uint64_t address) {
  Found found;
  if (const auto above = ranges_.upper_bound(address); above != ranges_.begin()) {
    const auto& [start, range] = *std::prev(above);
    if (address < range.end) {
      found.code = range.code;
      found.offset = address - start;
      return found;
    }
  }
  if (!sorted_) {
    std::stable_sort(libraries_.begin(), libraries_.end(),
                     [](const Library& a, const Library& b) { return a.start < b.start; });
    sorted_ = true;
  }
  // Ranges of one library overlap; more than a few never do.
  constexpr int kMaxOverlaps = 16;
  auto at = std::upper_bound(libraries_.begin(), libraries_.end(), address,
                             [](std::uint64_t a, const Library& library) { return a < library.start; });
  for (int i = 0; i < kMaxOverlaps && at != libraries_.begin(); ++i) {
    --at;
    if (address >= at->end) continue;
    found.library = static_cast<std::uint32_t>(at - libraries_.begin());
    found.offset = address - at->start;
    break;
  }
  return found;
}

bool Scripts::place(std::uint32_t id, std::uint32_t offset, std::uint32_t& line, std::uint32_t& column) {
  const auto found = sources_.find(id);
  if (found == sources_.end()) return false;
  Source& source = found->second;
  if (source.starts.empty()) {
    source.starts.push_back(0);
    std::uint32_t unit = 0;
    for (std::size_t i = 0; i < source.text.size(); ++i, ++unit) {
      const char c = source.text[i];
      if (c != '\\' || i + 1 == source.text.size()) continue;
      const char kind = source.text[++i];
      if (kind == 'x') i += 2;
      if (kind == 'u') i += 4;
      if (kind == 'n') source.starts.push_back(unit + 1);
    }
  }
  const auto next = std::upper_bound(source.starts.begin(), source.starts.end(), offset);
  line = static_cast<std::uint32_t>(next - source.starts.begin());
  column = offset - *std::prev(next) + 1;
  return true;
}

bool source_offset(std::string_view positions, std::uint64_t offset, std::uint32_t& out) {
  const char* p = positions.data();
  const char* const end = p + positions.size();
  bool found = false;
  while (p != end && *p == 'C') {
    std::uint64_t code = 0;
    std::uint32_t source = 0;
    auto read = std::from_chars(p + 1, end, code);
    if (read.ec != std::errc() || read.ptr == end || *read.ptr != 'O') break;
    read = std::from_chars(read.ptr + 1, end, source);
    if (read.ec != std::errc()) break;
    p = read.ptr;
    bool inlined = false;
    if (p != end && *p == 'I') {
      std::uint32_t inlining = 0;
      read = std::from_chars(p + 1, end, inlining);
      if (read.ec != std::errc()) break;
      p = read.ptr;
      inlined = true;
    }
    if (code > offset) break;
    // A position of an inlined function lies in another one's source.
    found = !inlined;
    out = source;
  }
  return found;
}

}  // namespace profd::v8log
