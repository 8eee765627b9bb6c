#include "formats/support/output_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/support/account.h"

namespace profd {
namespace {

// From here on memory of its own, on huge pages, is worth it.
constexpr std::size_t kHuge = 4u << 20;

std::size_t round_to_pages(std::size_t size) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

void give_back(void* data, std::size_t size) {
  if (data && size >= kHuge)
    munmap(data, size);
  else
    std::free(data);  // NOLINT(cppcoreguidelines-no-malloc): it may be of the heap or of the system
}

// Memory of `size` bytes. When it is the memory at `data` that grew, `data` becomes null.
std::byte* take(std::byte*& data, std::size_t capacity, std::size_t size) {
  void* place = nullptr;
  if (size < kHuge) {
    place = std::realloc(data, size);
    if (place) data = nullptr;
    return static_cast<std::byte*>(place);
  }
  place = MAP_FAILED;
#ifdef __linux__
  if (data && capacity >= kHuge) {
    place = mremap(data, capacity, size, MREMAP_MAYMOVE);
    if (place != MAP_FAILED) data = nullptr;
  }
#endif
  if (place == MAP_FAILED)
    place = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return place == MAP_FAILED ? nullptr : static_cast<std::byte*>(place);
}

}  // namespace

OutputBuffer::~OutputBuffer() {
  give_back(data_, capacity_);
  uncharge(capacity_);
}

Result<void> OutputBuffer::grow(std::size_t capacity, std::size_t used) {
  const std::size_t size = round_to_pages(std::max<std::size_t>(capacity, 1));
  if (size <= capacity_) return {};
  const std::size_t more = size - capacity_;
  std::byte* place = nullptr;
  try {
    charge(more);
    place = take(data_, capacity_, size);
    if (!place) uncharge(more);
  } catch (const std::bad_alloc&) {  // the account's word
  }
  if (!place)
    return fail(ErrorCode::limit, fmt::format("not enough memory for {} bytes of decompressed data", size));
#ifdef MADV_HUGEPAGE
  if (size >= kHuge) madvise(place, size, MADV_HUGEPAGE);
#endif
  if (data_) {
    std::memcpy(place, data_, std::min(used, capacity_));
    give_back(data_, capacity_);
  }
  data_ = place;
  capacity_ = size;
  return {};
}

void OutputBuffer::prepare(std::size_t begin, const std::atomic<bool>& enough) const {
#ifdef MADV_POPULATE_WRITE
  if (capacity_ < kHuge) return;
  constexpr std::size_t kStep = 4u << 20;
  for (std::size_t at = begin / kStep * kStep; at < capacity_ && !enough; at += kStep) {
    // Fails on systems older than the request; nothing is lost then.
    if (madvise(data_ + at, std::min(kStep, capacity_ - at), MADV_POPULATE_WRITE) != 0) return;
  }
#else
  static_cast<void>(begin), static_cast<void>(enough);
#endif
}

std::pair<const std::byte*, std::shared_ptr<const void>> OutputBuffer::freeze(std::size_t used) && {
  if (!data_) return {nullptr, nullptr};
  std::byte* data = std::exchange(data_, nullptr);
  const std::size_t capacity = std::exchange(capacity_, 0);
  if (capacity < kHuge) {
    if (void* shorter = std::realloc(data, std::max<std::size_t>(used, 1)))
      data = static_cast<std::byte*>(shorter);
    uncharge(capacity - used);
    return {data, std::shared_ptr<const void>(data, [used](const void* p) {
              std::free(const_cast<void*>(p));
              uncharge(used);
            })};
  }
  const std::size_t keep = round_to_pages(std::max<std::size_t>(used, 1));
  if (keep < capacity) munmap(data + keep, capacity - keep);
  uncharge(capacity - keep);
  return {data, std::shared_ptr<const void>(data, [keep](const void* p) {
            munmap(const_cast<void*>(p), keep);
            uncharge(keep);
          })};
}

}  // namespace profd
