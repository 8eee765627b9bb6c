// MemoryLedger: what the daemon holds beside profiles and views, by kind. Each owner tells what it holds by a
// HeldBytes of its own. Safe from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace profd {

enum class Held : std::uint8_t {
  documents,   // open files of clients
  workspaces,  // indexes of what is below their roots
  incoming,    // messages that are being read
  answers,     // messages that wait to be read by clients
};
// As rows of `$/memory`.
inline constexpr std::array<std::string_view, 4> kHeldNames{"documents", "workspaces", "requests", "answers"};

class MemoryLedger {
 public:
  [[nodiscard]] std::uint64_t bytes(Held kind) const {
    return static_cast<std::uint64_t>(bytes_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed));
  }
  [[nodiscard]] std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto& one : bytes_) sum += static_cast<std::uint64_t>(one.load(std::memory_order_relaxed));
    return sum;
  }

 private:
  friend class HeldBytes;
  std::array<std::atomic<std::int64_t>, kHeldNames.size()> bytes_{};
};

// What one owner holds; nothing any more when it goes.
class HeldBytes {
 public:
  HeldBytes() = default;
  HeldBytes(std::shared_ptr<MemoryLedger> ledger, Held kind) : ledger_(std::move(ledger)), kind_(kind) {}
  ~HeldBytes() { set(0); }
  HeldBytes(HeldBytes&& other) noexcept
      : ledger_(std::move(other.ledger_)), kind_(other.kind_), bytes_(std::exchange(other.bytes_, 0)) {}
  HeldBytes& operator=(HeldBytes&& other) noexcept {
    set(0);
    ledger_ = std::move(other.ledger_);
    kind_ = other.kind_;
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }

  void set(std::size_t bytes) {
    if (ledger_)
      ledger_->bytes_[static_cast<std::size_t>(kind_)].fetch_add(
          static_cast<std::int64_t>(bytes) - static_cast<std::int64_t>(bytes_), std::memory_order_relaxed);
    bytes_ = bytes;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<MemoryLedger> ledger_;
  Held kind_ = Held::documents;
  std::size_t bytes_ = 0;
};

}  // namespace profd
