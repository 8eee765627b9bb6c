// GrowingVector<T>: a vector of plain values that is filled one by one, for columns whose length nobody knows
// before. Growing moves pages, not values: std::vector holds old and new block at once, three times what is
// needed, and touches every new page again. Big blocks sit on huge pages (Linux; elsewhere realloc decides).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "core/support/account.h"
#include "core/support/big_vector.h"
#include "core/support/column.h"

namespace profd {

template <class T>
class GrowingVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrowingVector() = default;
  ~GrowingVector() { drop(); }
  GrowingVector(GrowingVector&& from) noexcept
      : data_(std::exchange(from.data_, nullptr)),
        size_(std::exchange(from.size_, 0)),
        capacity_(std::exchange(from.capacity_, 0)) {}
  GrowingVector& operator=(GrowingVector&& from) noexcept {
    GrowingVector taken(std::move(from));
    std::swap(data_, taken.data_);
    std::swap(size_, taken.size_);
    std::swap(capacity_, taken.capacity_);
    return *this;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = value;
  }
  // The new ones are `value`.
  void resize(std::size_t n, T value = T{}) {
    if (n > capacity_) grow(n);
    if (n > size_) std::fill(data_ + size_, data_ + n, value);
    size_ = n;
  }
  void append(const T* values, std::size_t n) {
    if (n > capacity_ - size_) grow(size_ + n);
    std::copy_n(values, n, data_ + size_);
    size_ += n;
  }
  void clear() { size_ = 0; }

 private:
  static constexpr std::size_t kBig = 2 * kHugePage;

  void grow(std::size_t at_least);
  void drop() noexcept;

  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

template <class T>
void GrowingVector<T>::grow(std::size_t at_least) {
  const std::size_t wanted = std::max({at_least, capacity_ * 2, std::size_t{64}});
  if (wanted > SIZE_MAX / 2 / sizeof(T)) throw std::bad_array_new_length();
  const std::size_t bytes = wanted * sizeof(T), more = bytes - capacity_ * sizeof(T);
  charge(more);
#if defined(__linux__)
  if (bytes >= kBig) {
    const std::size_t old = capacity_ * sizeof(T);
    void* block = old >= kBig
                      ? ::mremap(data_, old, bytes, MREMAP_MAYMOVE)
                      : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
      uncharge(more);
      throw std::bad_alloc();
    }
    ::madvise(block, bytes, MADV_HUGEPAGE);
    if (old < kBig) {
      if (size_ > 0) std::memcpy(block, data_, size_ * sizeof(T));
      std::free(data_);
    }
    data_ = static_cast<T*>(block);
    capacity_ = wanted;
    return;
  }
#endif
  void* block = std::realloc(data_, bytes);
  if (block == nullptr) {
    uncharge(more);
    throw std::bad_alloc();
  }
  data_ = static_cast<T*>(block);
  capacity_ = wanted;
}

template <class T>
void GrowingVector<T>::drop() noexcept {
  if (data_ == nullptr) return;
#if defined(__linux__)
  if (capacity_ * sizeof(T) >= kBig)
    ::munmap(data_, capacity_ * sizeof(T));
  else
#endif
    std::free(data_);
  uncharge(capacity_ * sizeof(T));
  data_ = nullptr;
  size_ = capacity_ = 0;
}

// The values as they are; what the vector has room for beyond them was never touched.
template <class T>
Column<T> freeze(GrowingVector<T> values) {
  auto owned = std::make_shared<GrowingVector<T>>(std::move(values));
  const std::span<const T> all(owned->data(), owned->size());
  return Column<T>(all, std::move(owned));
}

}  // namespace profd
