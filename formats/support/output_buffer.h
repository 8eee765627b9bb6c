// OutputBuffer: where decompressed bytes go. Address space is reserved up front and becomes memory only as
// it is written, so a buffer may be far larger than what ends up in it; what was written is never copied.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "core/support/result.h"

namespace profd {

class OutputBuffer {
 public:
  OutputBuffer() = default;
  ~OutputBuffer();
  OutputBuffer(OutputBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), capacity_(std::exchange(other.capacity_, 0)) {}
  OutputBuffer& operator=(OutputBuffer&&) = delete;

  std::byte* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }
  // Makes room for `capacity` bytes; keeps the first `used`. Pointers into the buffer move.
  Result<void> grow(std::size_t capacity, std::size_t used);
  // Makes the memory from `begin` on ready to be written, until all of it is or `enough`. Another thread may
  // write there meanwhile: it then seldom waits for the system to clear pages.
  void prepare(std::size_t begin, const std::atomic<bool>& enough) const;
  // Gives back what lies behind `used`; the owner keeps the rest alive. The buffer is empty afterwards.
  std::pair<const std::byte*, std::shared_ptr<const void>> freeze(std::size_t used) &&;

 private:
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;  // a multiple of the page size
};

}  // namespace profd
