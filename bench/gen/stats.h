#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/gen/walker.h"

namespace profd::bench {

// Counts what a stream of samples holds. Contexts are counted by 64-bit path hashes.
class Stats {
 public:
  explicit Stats(const Program& program) : program_(program), seen_(program.sites.size()) {}

  void add(const Sample& sample);
  // One JSON object; bytes is the size of the file before compression.
  std::string json(std::uint64_t bytes) const;

 private:
  // Open addressing; 0 marks a free slot.
  struct HashSet {
    std::vector<std::uint64_t> slots = std::vector<std::uint64_t>(1 << 16);
    std::size_t size = 0;
    void insert(std::uint64_t key);
    void grow();
  };

  const Program& program_;
  std::vector<bool> seen_;
  HashSet by_location_, by_function_;
  std::uint64_t samples_ = 0, references_ = 0, frames_ = 0, locations_ = 0;
  std::uint64_t count_ = 0, cpu_ns_ = 0, allocs_ = 0, alloc_bytes_ = 0;
  std::uint64_t max_depth_ = 0, recursive_ = 0;
};

}  // namespace profd::bench
