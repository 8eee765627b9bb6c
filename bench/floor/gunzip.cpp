#include "bench/floor/gunzip.h"

#include <cstdint>
#include <new>

#include <libdeflate.h>
#include <sys/mman.h>
#include <zlib.h>
#ifdef PROFD_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

namespace profd::bench {
namespace {

bool with_zlib(std::span<const char> gzip, Pages& out) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int outcome = inflate(&stream, Z_FINISH);
  const bool whole = stream.total_out == out.size();
  inflateEnd(&stream);
  return outcome == Z_STREAM_END && whole;
}

bool with_libdeflate(std::span<const char> gzip, Pages& out) {
  libdeflate_decompressor* decompressor = libdeflate_alloc_decompressor();
  if (decompressor == nullptr) return false;
  std::size_t size = 0;
  const auto outcome =
      libdeflate_gzip_decompress(decompressor, gzip.data(), gzip.size(), out.data(), out.size(), &size);
  libdeflate_free_decompressor(decompressor);
  return outcome == LIBDEFLATE_SUCCESS && size == out.size();
}

#ifdef PROFD_HAVE_ISAL
bool with_igzip(std::span<const char> gzip, Pages& out) {
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(gzip.data()));
  state.avail_in = static_cast<std::uint32_t>(gzip.size());
  state.next_out = reinterpret_cast<std::uint8_t*>(out.data());
  state.avail_out = static_cast<std::uint32_t>(out.size());
  return isal_inflate(&state) == ISAL_DECOMP_OK && state.total_out == out.size();
}
#endif

}  // namespace

Pages::Pages(std::size_t size) : size_(size) {
  void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<char*>(pages);
}

Pages::~Pages() {
  munmap(data_, size_);
}

std::vector<Inflater> inflaters() {
  return {{"zlib", with_zlib},
          {"libdeflate", with_libdeflate},
#ifdef PROFD_HAVE_ISAL
          {"igzip", with_igzip}
#endif
  };
}

std::size_t stated_size(std::span<const char> gzip) {
  if (gzip.size() < 18) return 0;
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i)
    size |= std::size_t{static_cast<unsigned char>(gzip[gzip.size() - 4 + i])} << (8 * i);
  return size;
}

}  // namespace profd::bench
