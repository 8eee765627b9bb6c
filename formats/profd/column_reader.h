// Columns of a message on their way from the file to Column<T>: pointed at where possible, else copied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/support/big_vector.h"
#include "core/support/column.h"
#include "core/support/executor.h"
#include "core/support/result.h"
#include "formats/profd/decode.h"
#include "formats/profd/field_cursor.h"

namespace profd::profd_format {

// Copies that are collected first and then made side by side.
class CopyList {
 public:
  // Memory of `n` bytes, aligned for every column type, not initialised.
  static std::shared_ptr<std::byte> allocate(std::size_t n) {
    auto words = std::make_shared<BigVector<std::uint64_t>>();
    words->resize((n + 7) / 8);
    return {words, reinterpret_cast<std::byte*>(words->data())};
  }
  void add(std::byte* to, std::span<const std::byte> from) {
    constexpr std::size_t kBlock = 4u << 20;
    for (std::size_t at = 0; at < from.size(); at += kBlock)
      copies_.push_back({to + at, from.subspan(at, std::min(kBlock, from.size() - at))});
  }
  void run(Executor& executor) {
    executor.run(copies_.size(), [&](std::size_t i) {
      std::memcpy(copies_[i].to, copies_[i].from.data(), copies_[i].from.size());
    });
    copies_.clear();
  }

 private:
  struct Copy {
    std::byte* to;
    std::span<const std::byte> from;
  };
  std::vector<Copy> copies_;
};

// The bytes of one column while its message is walked. A packed field may come in several parts.
class ColumnBytes {
 public:
  Result<void> add(const Field& field, WireType element) {
    if (field.type != element) PROFD_CHECK(expect(field, WireType::bytes));
    if (offset_ == 0) offset_ = field.offset;
    if (first_.empty() && joined_.empty()) {
      first_ = field.payload;
      return {};
    }
    if (joined_.empty()) joined_.assign(first_.begin(), first_.end());
    joined_.insert(joined_.end(), field.payload.begin(), field.payload.end());
    return {};
  }
  // A `bytes` column: the last one counts.
  Result<void> set(const Field& field) {
    PROFD_CHECK(expect(field, WireType::bytes));
    offset_ = field.offset;
    first_ = field.payload;
    return {};
  }

  struct Sink {
    Storage storage;
    const std::shared_ptr<const void>& owner;
    CopyList& copies;
  };
  template <class T>
  Result<Column<T>> take(const Sink& sink, const char* name) {
    const std::span<const std::byte> bytes = joined_.empty() ? first_ : std::span<const std::byte>(joined_);
    if (bytes.size() % sizeof(T) != 0)
      return fail(ErrorCode::malformed,
                  fmt::format("{} has {} bytes, not a multiple of {}", name, bytes.size(), sizeof(T)),
                  offset_);
    const std::size_t n = bytes.size() / sizeof(T);
    if (n >= kNone && sizeof(T) > 1)
      return fail(ErrorCode::limit, fmt::format("{} has {} rows, more than 32-bit ids reach", name, n),
                  offset_);
    if (n == 0) return Column<T>();
    const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) == 0;
    if (joined_.empty() && aligned && sink.storage == Storage::borrowed)
      return Column<T>(std::span(reinterpret_cast<const T*>(bytes.data()), n), sink.owner);
    auto memory = CopyList::allocate(bytes.size());
    if (joined_.empty())
      sink.copies.add(memory.get(), bytes);
    else
      std::memcpy(memory.get(), bytes.data(), bytes.size());
    const auto* values = reinterpret_cast<const T*>(memory.get());
    return Column<T>(std::span(values, n), std::move(memory));
  }

 private:
  std::span<const std::byte> first_;
  std::vector<std::byte> joined_;
  std::uint64_t offset_ = 0;
};

// Gives an absent column its default in every row; a present one must have `n` rows.
template <class T>
Result<void> complete(Column<T>& column, std::size_t n, T default_value, const char* name) {
  if (column.empty() && n > 0) column = Column<T>(std::vector<T>(n, default_value));
  if (column.size() == n) return {};
  return fail(ErrorCode::malformed, fmt::format("{} has {} rows, its table has {}", name, column.size(), n));
}

}  // namespace profd::profd_format
