#include "workers/shared_columns.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace profd::worker {
namespace {

constexpr std::size_t kAlign = 64;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

tl::unexpected<Error> no_memory(const char* what) {
  return fail(ErrorCode::io, std::string("shared memory: ") + what + ": " + std::strerror(errno));
}

// Written, not mapped: pages that are not to be had are an error here, and would end the process there.
Result<void> write_at(int file, std::size_t offset, const void* bytes, std::size_t n) {
  const auto* at = static_cast<const char*>(bytes);
  while (n > 0) {
    const ssize_t written = ::pwrite(file, at, n, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return no_memory("write");
    at += written;
    offset += static_cast<std::size_t>(written);
    n -= static_cast<std::size_t>(written);
  }
  return {};
}

Result<UniqueFd> make_file() {
#ifdef __linux__
  UniqueFd file(::memfd_create("profd", MFD_CLOEXEC | MFD_ALLOW_SEALING));
#else
  char path[] = "/tmp/profd-columns-XXXXXX";
  UniqueFd file(::mkstemp(path));
  if (file.valid()) ::unlink(path);
#endif
  if (!file.valid()) return no_memory("create");
  return file;
}

}  // namespace

std::size_t SharedColumnsWriter::bytes() const {
  std::size_t sum = aligned(sizeof(std::uint64_t) + columns_.size() * sizeof(SharedColumns::Entry));
  for (const Given& one : columns_) sum += aligned(one.n * one.width);
  return sum;
}

Result<UniqueFd> SharedColumnsWriter::write() const {
  PROFD_TRY(UniqueFd file, make_file());
  const std::size_t size = bytes();
  if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) return no_memory("size");
  const std::uint64_t n = columns_.size();
  std::vector<SharedColumns::Entry> entries;
  std::size_t offset = aligned(sizeof(n) + columns_.size() * sizeof(SharedColumns::Entry));
  for (const Given& one : columns_) {
    SharedColumns::Entry& entry = entries.emplace_back();
    std::memcpy(entry.name, one.name.data(), std::min(one.name.size(), sizeof(entry.name) - 1));
    entry.offset = offset;
    entry.n = one.n;
    entry.width = one.width;
    PROFD_CHECK(write_at(file.get(), offset, one.values, one.n * one.width));
    offset += aligned(one.n * one.width);
  }
  PROFD_CHECK(write_at(file.get(), 0, &n, sizeof(n)));
  PROFD_CHECK(write_at(file.get(), sizeof(n), entries.data(), entries.size() * sizeof(entries[0])));
#ifdef __linux__
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return no_memory("seal");
#endif
  return file;
}

Result<SharedColumns> SharedColumns::map(const UniqueFd& file) {
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  if (size < static_cast<off_t>(sizeof(std::uint64_t)))
    return fail(ErrorCode::malformed, "shared columns: none");
  void* const mapped = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) return no_memory("map");
  SharedColumns out;
  out.base_ = static_cast<const std::byte*>(mapped);
  out.size_ = static_cast<std::size_t>(size);
  std::uint64_t n = 0;
  std::memcpy(&n, out.base_, sizeof(n));
  if (n > (out.size_ - sizeof(n)) / sizeof(Entry))
    return fail(ErrorCode::malformed, "shared columns: too many");
  out.n_ = static_cast<std::size_t>(n);
  const auto* const entries = reinterpret_cast<const Entry*>(out.base_ + sizeof(n));
  for (std::size_t i = 0; i < out.n_; ++i) {
    const Entry& one = entries[i];
    if (one.width == 0 || one.width > 8 || one.offset > out.size_ ||
        one.n > (out.size_ - one.offset) / one.width)
      return fail(ErrorCode::malformed, "shared columns: a column beyond the end");
  }
  return out;
}

SharedColumns::SharedColumns(SharedColumns&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      n_(std::exchange(other.n_, 0)) {}

SharedColumns& SharedColumns::operator=(SharedColumns&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(size_, other.size_);
  std::swap(n_, other.n_);
  return *this;
}

SharedColumns::~SharedColumns() {
  if (base_ != nullptr) ::munmap(const_cast<std::byte*>(base_), size_);
}

const SharedColumns::Entry* SharedColumns::find(std::string_view name, std::size_t width) const {
  if (base_ == nullptr) return nullptr;
  const auto* const entries = reinterpret_cast<const Entry*>(base_ + sizeof(std::uint64_t));
  for (std::size_t i = 0; i < n_; ++i)
    if (entries[i].name == name && entries[i].width == width) return &entries[i];
  return nullptr;
}

}  // namespace profd::worker
