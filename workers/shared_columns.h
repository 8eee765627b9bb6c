// Columns in shared memory: what the daemon has of a profile, read by a process that works for it, without a
// copy through a pipe. Written once, then sealed: nobody can change or cut what is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "core/support/unique_fd.h"

namespace profd::worker {

// Gathers columns by name and writes them.
class SharedColumnsWriter {
 public:
  // `values` live until write(). Names are of at most 31 bytes, each once.
  template <class T>
  void add(std::string_view name, std::span<const T> values) {
    columns_.push_back({std::string(name), values.data(), values.size(), sizeof(T)});
  }
  [[nodiscard]] std::size_t bytes() const;
  // `io`: the system gives no such memory.
  [[nodiscard]] Result<UniqueFd> write() const;

 private:
  struct Given {
    std::string name;
    const void* values;
    std::size_t n, width;
  };
  std::vector<Given> columns_;
};

// The same, mapped for reading. A column that is not there is empty.
class SharedColumns {
 public:
  // `malformed`: what it says of its columns is not so.
  static Result<SharedColumns> map(const UniqueFd& file);
  SharedColumns() = default;
  SharedColumns(SharedColumns&& other) noexcept;
  SharedColumns& operator=(SharedColumns&& other) noexcept;
  ~SharedColumns();

  template <class T>
  [[nodiscard]] std::span<const T> column(std::string_view name) const {
    const Entry* const found = find(name, sizeof(T));
    if (found == nullptr) return {};
    return {reinterpret_cast<const T*>(base_ + found->offset), static_cast<std::size_t>(found->n)};
  }

 private:
  friend class SharedColumnsWriter;
  struct Entry {
    char name[32] = {};
    std::uint64_t offset = 0, n = 0, width = 0;
  };
  [[nodiscard]] const Entry* find(std::string_view name, std::size_t width) const;

  const std::byte* base_ = nullptr;
  std::size_t size_ = 0, n_ = 0;
};

}  // namespace profd::worker
