// The checksum that ends a native file: XXH3-64 of every piece of kPieceBytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/support/executor.h"
#include "core/support/result.h"
#include "formats/profd/field_cursor.h"

namespace profd::profd_format {

// Hashes a stream in pieces while it is written.
class PieceHasher {
 public:
  PieceHasher();
  ~PieceHasher();
  PieceHasher(const PieceHasher&) = delete;
  PieceHasher& operator=(const PieceHasher&) = delete;

  void update(std::span<const std::byte> bytes);
  // By piece, the last one included.
  std::vector<std::uint64_t> finish();
  std::uint64_t n_bytes() const { return n_bytes_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::uint64_t n_bytes_ = 0;
  std::vector<std::uint64_t> done_;
};

// `field` is the checksum field of `file`. Fails with the place of the first damaged piece.
Result<void> verify_checksum(std::span<const std::byte> file, const Field& field, Executor& executor);

}  // namespace profd::profd_format
