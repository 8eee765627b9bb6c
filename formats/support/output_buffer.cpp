#include "formats/support/output_buffer.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace profd {
namespace {

constexpr std::size_t kHuge = 4u << 20;  // from here on huge pages are worth it

std::size_t round_to_pages(std::size_t size) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

}  // namespace

OutputBuffer::~OutputBuffer() {
  if (data_) munmap(data_, capacity_);
}

Result<void> OutputBuffer::grow(std::size_t capacity, std::size_t used) {
  const std::size_t size = round_to_pages(std::max<std::size_t>(capacity, 1));
  if (size <= capacity_) return {};
  void* place = MAP_FAILED;
#ifdef __linux__
  if (data_) {
    place = mremap(data_, capacity_, size, MREMAP_MAYMOVE);
    if (place != MAP_FAILED) data_ = nullptr;
  }
#endif
  if (place == MAP_FAILED)
    place = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED)
    return fail(ErrorCode::limit, fmt::format("not enough memory for {} bytes of decompressed data", size));
#ifdef MADV_HUGEPAGE
  if (size >= kHuge) madvise(place, size, MADV_HUGEPAGE);
#endif
#ifdef MADV_POPULATE_WRITE
  // All at once costs a tenth of page by page; what is bigger has huge pages, or another thread for it.
  if (size < kHuge) madvise(place, size, MADV_POPULATE_WRITE);
#endif
  if (data_) {
    std::memcpy(place, data_, std::min(used, capacity_));
    munmap(data_, capacity_);
  }
  data_ = static_cast<std::byte*>(place);
  capacity_ = size;
  return {};
}

void OutputBuffer::prepare(std::size_t begin, const std::atomic<bool>& enough) const {
#ifdef MADV_POPULATE_WRITE
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
  const std::size_t keep = round_to_pages(std::max<std::size_t>(used, 1));
  if (keep < capacity_) munmap(data_ + keep, capacity_ - keep);
  std::byte* data = std::exchange(data_, nullptr);
  capacity_ = 0;
  return {data,
          std::shared_ptr<const void>(data, [keep](const void* p) { munmap(const_cast<void*>(p), keep); })};
}

}  // namespace profd
