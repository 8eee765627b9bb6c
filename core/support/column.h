// Column<T>: an immutable array that is either owned or borrowed from a mapped file.
// Copying a Column shares the memory. Freed when the last sharer goes.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace profd {

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Column() = default;
  template <class Allocator>
  explicit Column(std::vector<T, Allocator> values) {
    auto owned = std::make_shared<std::vector<T, Allocator>>(std::move(values));
    data_ = owned->data();
    size_ = owned->size();
    owner_ = std::move(owned);
  }
  // `owner` keeps `values` alive.
  Column(std::span<const T> values, std::shared_ptr<const void> owner)
      : data_(values.data()), size_(values.size()), owner_(std::move(owner)) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  const T* data() const { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<const T> span() const { return {data_, size_}; }
  std::size_t bytes() const { return size_ * sizeof(T); }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
  std::shared_ptr<const void> owner_;
};

template <class T, class Allocator>
Column(std::vector<T, Allocator>) -> Column<T>;

// Of an optional column, which is empty where every row has `otherwise`.
template <class T>
T value_or(const Column<T>& column, std::size_t row, T otherwise) {
  return column.empty() ? otherwise : column[row];
}

}  // namespace profd
