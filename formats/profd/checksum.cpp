#include "formats/profd/checksum.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "formats/profd/schema.h"

namespace profd::profd_format {

struct PieceHasher::State {
  alignas(64) XXH3_state_t xxh;
};

PieceHasher::PieceHasher() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->xxh);
}
PieceHasher::~PieceHasher() = default;

void PieceHasher::update(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t room = kPieceBytes - static_cast<std::size_t>(n_bytes_ % kPieceBytes);
    const std::size_t n = std::min(room, bytes.size());
    XXH3_64bits_update(&state_->xxh, bytes.data(), n);
    n_bytes_ += n;
    bytes = bytes.subspan(n);
    if (n == room) {
      done_.push_back(XXH3_64bits_digest(&state_->xxh));
      XXH3_64bits_reset(&state_->xxh);
    }
  }
}

std::vector<std::uint64_t> PieceHasher::finish() {
  if (n_bytes_ % kPieceBytes != 0) done_.push_back(XXH3_64bits_digest(&state_->xxh));
  return std::move(done_);
}

Result<void> verify_checksum(std::span<const std::byte> file, const Field& field, Executor& executor) {
  std::uint64_t piece_bytes = 0, n_bytes = 0;
  std::span<const std::byte> hashes;
  for (FieldCursor cursor(field); !cursor.at_end();) {
    PROFD_TRY(const Field f, cursor.next());
    switch (f.number) {
      case checksum::piece_bytes:
        PROFD_CHECK(expect(f, WireType::fixed32));
        piece_bytes = f.value;
        break;
      case checksum::n_bytes:
        PROFD_CHECK(expect(f, WireType::fixed64));
        n_bytes = f.value;
        break;
      case checksum::xxh3:
        PROFD_CHECK(expect(f, WireType::bytes));
        hashes = f.payload;
        break;
      default:
        break;
    }
  }
  if (piece_bytes < kMinPieceBytes || n_bytes != field.tag_offset ||
      hashes.size() != 8 * (n_bytes / piece_bytes + (n_bytes % piece_bytes != 0)))
    return fail(ErrorCode::malformed, "the checksum does not cover the file", field.tag_offset);

  const std::size_t n = hashes.size() / 8;
  std::atomic<std::size_t> first_bad = n;
  // A task takes several pieces: handing out one at a time costs more than hashing it.
  constexpr std::size_t kPerTask = 8;
  executor.run((n + kPerTask - 1) / kPerTask, [&](std::size_t task) {
    for (std::size_t i = task * kPerTask; i < std::min(n, (task + 1) * kPerTask); ++i) {
      if (i > first_bad.load(std::memory_order_relaxed)) return;
      const std::uint64_t begin = i * piece_bytes;
      const auto piece = file.subspan(begin, std::min(piece_bytes, n_bytes - begin));
      std::uint64_t stated;
      std::memcpy(&stated, hashes.data() + 8 * i, 8);
      if (XXH3_64bits(piece.data(), piece.size()) == stated) continue;
      std::size_t seen = first_bad.load();
      while (i < seen && !first_bad.compare_exchange_weak(seen, i)) {
      }
      return;
    }
  });
  if (first_bad == n) return {};
  const std::uint64_t begin = first_bad * piece_bytes;
  return fail(ErrorCode::malformed,
              fmt::format("the file was damaged after it was written: the checksum of bytes {} to {} differs",
                          begin, std::min(begin + piece_bytes, n_bytes)),
              begin);
}

}  // namespace profd::profd_format
