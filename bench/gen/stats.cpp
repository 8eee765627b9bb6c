#include "bench/gen/stats.h"

#include <algorithm>

#include <fmt/format.h>

namespace profd::bench {
namespace {

std::uint64_t mix(std::uint64_t parent, std::uint64_t key) {
  std::uint64_t h = (parent + key + 1) * 0x9e3779b97f4a7c15ULL;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ULL;
  return (h ^ (h >> 32)) | 1;
}

}  // namespace

void Stats::HashSet::insert(std::uint64_t key) {
  const std::size_t mask = slots.size() - 1;
  std::size_t i = (key >> 1) & mask;
  while (slots[i] != 0 && slots[i] != key) i = (i + 1) & mask;
  if (slots[i] == key) return;
  slots[i] = key;
  if (++size * 2 > slots.size()) grow();
}

void Stats::HashSet::grow() {
  std::vector<std::uint64_t> old(slots.size() * 2);
  old.swap(slots);
  size = 0;
  for (const std::uint64_t key : old)
    if (key != 0) insert(key);
}

void Stats::add(const Sample& sample) {
  ++samples_;
  references_ += sample.sites.size();
  max_depth_ = std::max<std::uint64_t>(max_depth_, sample.sites.size());
  count_ += sample.count;
  cpu_ns_ += sample.cpu_ns;
  allocs_ += sample.allocs;
  alloc_bytes_ += sample.alloc_bytes;
  std::uint64_t location = 1, function = 1;
  bool recursive = false;
  std::uint32_t previous = kNone;
  for (const std::uint32_t index : sample.sites) {
    const Site& site = program_.sites[index];
    frames_ += 1 + site.n_inlined;
    if (!seen_[index]) ++locations_, seen_[index] = true;
    by_location_.insert(location = mix(location, index));
    by_function_.insert(function = mix(function, site.function));
    for (std::uint32_t i = site.n_inlined; i > 0; --i)
      by_function_.insert(function = mix(function, site.inlined[i - 1]));
    recursive |= site.function == previous;
    previous = site.function;
  }
  recursive_ += recursive;
}

std::string Stats::json(std::uint64_t bytes) const {
  return fmt::format(
      R"({{"bytes":{},"samples":{},"frame_references":{},"frames":{},"mean_depth":{:.2f},"max_depth":{},"locations":{},)"
      R"("contexts_by_location":{},"contexts_by_function":{},"recursive_samples":{},"total_samples":{},"total_cpu_ns":{},)"
      R"("total_allocs":{},"total_alloc_bytes":{}}})",
      bytes, samples_, references_, frames_,
      samples_ == 0 ? 0.0 : static_cast<double>(references_) / static_cast<double>(samples_), max_depth_,
      locations_, by_location_.size, by_function_.size, recursive_, count_, cpu_ns_, allocs_, alloc_bytes_);
}

}  // namespace profd::bench
