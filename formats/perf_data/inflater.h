// Inflater: the records inside COMPRESSED records. All payloads are one zstd stream; a record may begin in
// one payload and end in the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/support/result.h"
#include "formats/reader.h"

namespace profd::perf_data {

class Inflater {
 public:
  explicit Inflater(const ReadLimits& limits);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // The bytes that came out, behind what was left of the payload before. They stay until release().
  Result<std::span<const std::byte>> add(std::span<const std::byte> payload, std::uint64_t offset);
  // The last n bytes of what add() gave begin a record that goes on in the next payload.
  void keep(std::size_t n) { n_kept_ = n; }
  std::size_t n_kept() const { return n_kept_; }
  // Blocks that came from payloads before `offset` are needed no more.
  void release(std::uint64_t offset);

 private:
  struct Block {
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
  };
  struct Stream;
  std::unique_ptr<Stream> stream_;
  const ReadLimits& limits_;
  std::deque<Block> blocks_;
  std::vector<std::byte> step_;
  std::size_t n_kept_ = 0;
  std::uint64_t n_in_ = 0, n_out_ = 0;
};

}  // namespace profd::perf_data
