#include "native/elf/expanded.h"

#include <algorithm>
#include <string>
#include <utility>

#include <libdeflate.h>
#include <lzma.h>
#include <zstd.h>

namespace profd::native {
namespace {

constexpr std::uint32_t kZlib = 1, kZstd = 2;
// No stream of these algorithms grows by more: a claim beyond it is none.
constexpr std::uint64_t kMaxZlibGrowth = 1040, kMaxZstdGrowth = 1 << 16;

Result<void> take(ExpansionBudget& budget, std::uint64_t size) {
  if (size > budget.left) return fail(ErrorCode::limit, "compressed sections expand to more than is allowed");
  budget.left -= size;
  return {};
}

Result<SectionBytes> keep(std::vector<std::uint8_t> bytes) {
  SectionBytes result;
  result.owned = std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes));
  result.bytes = *result.owned;
  return result;
}

Result<SectionBytes> inflate_to(Bytes in, std::uint64_t size) {
  struct Free {
    void operator()(libdeflate_decompressor* one) const { libdeflate_free_decompressor(one); }
  };
  const std::unique_ptr<libdeflate_decompressor, Free> inflater(libdeflate_alloc_decompressor());
  if (!inflater) return fail(ErrorCode::internal, "libdeflate does not start");
  std::vector<std::uint8_t> out(size);
  std::size_t read = 0;
  // Without a place for the size that came out any other size is a failure.
  if (libdeflate_zlib_decompress_ex(inflater.get(), in.data(), in.size(), out.data(), out.size(), &read,
                                    nullptr) != LIBDEFLATE_SUCCESS)
    return fail(ErrorCode::malformed, "a section compressed by zlib does not expand to its size");
  return keep(std::move(out));
}

Result<SectionBytes> unzstd_to(Bytes in, std::uint64_t size) {
  std::vector<std::uint8_t> out(size);
  const std::size_t written = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
  if (ZSTD_isError(written) != 0 || written != size)
    return fail(ErrorCode::malformed, "a section compressed by zstd does not expand to its size");
  return keep(std::move(out));
}

Result<SectionBytes> expand_to(std::uint32_t kind, Bytes in, std::uint64_t size, ExpansionBudget& budget) {
  if (size / (kind == kZlib ? kMaxZlibGrowth : kMaxZstdGrowth) > in.size())
    return fail(ErrorCode::malformed, "a compressed section claims more bytes than it can hold");
  PROFD_CHECK(take(budget, size));
  if (kind == kZlib) return inflate_to(in, size);
  if (kind == kZstd) return unzstd_to(in, size);
  return fail(ErrorCode::unsupported, "a section is compressed in an unknown way");
}

}  // namespace

Result<SectionBytes> section_bytes(const ElfImage& image, const Section& section, ExpansionBudget& budget) {
  const Bytes raw = raw_bytes(image, section);
  if (section.compressed()) {
    ByteReader in = image.reader(raw);
    const std::uint32_t kind = in.u32();
    if (image.is_64) in.u32();
    const std::uint64_t size = image.is_64 ? in.u64() : in.u32();
    in.skip(image.is_64 ? 8 : 4);
    if (in.failed()) return fail(ErrorCode::truncated, "a compressed section ends within its header");
    return expand_to(kind, slice(raw, in.at()), size, budget);
  }
  if (section.name.starts_with(".zdebug") && starts_with(raw, "ZLIB") && raw.size() >= 12) {
    ByteReader in(raw, true, 4);
    const std::uint64_t size = in.u64();
    return expand_to(kZlib, slice(raw, 12), size, budget);
  }
  return SectionBytes{raw, nullptr};
}

namespace {

Result<SectionBytes> expand_zstd(Bytes bytes, ExpansionBudget& budget) {
  struct Free {
    void operator()(ZSTD_DStream* one) const { ZSTD_freeDStream(one); }
  };
  const std::unique_ptr<ZSTD_DStream, Free> stream(ZSTD_createDStream());
  if (!stream) return fail(ErrorCode::internal, "zstd does not start");
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::vector<std::uint8_t> out;
  std::uint64_t written = 0;
  std::size_t left = 1;
  while (left != 0) {
    if (written == out.size()) {
      const std::uint64_t more = std::max<std::uint64_t>(1u << 16, out.size());
      PROFD_CHECK(take(budget, more));
      out.resize(out.size() + more);
    }
    ZSTD_outBuffer to{out.data() + written, out.size() - written, 0};
    const std::size_t read_before = in.pos;
    left = ZSTD_decompressStream(stream.get(), &to, &in);
    written += to.pos;
    const bool stands = to.pos == 0 && in.pos == read_before;
    if (ZSTD_isError(left) != 0 || (left != 0 && stands))
      return fail(ErrorCode::malformed, "bytes that are no whole zstd frame");
  }
  out.resize(written);
  return keep(std::move(out));
}

}  // namespace

Result<std::shared_ptr<const std::vector<std::uint8_t>>> expand_file(Bytes bytes, ExpansionBudget& budget) {
  constexpr std::string_view kXz(
      "\xfd"
      "7zXZ\0",
      6),
      kZstdFrame("\x28\xb5\x2f\xfd", 4);
  if (!starts_with(bytes, kXz) && !starts_with(bytes, kZstdFrame)) return nullptr;
  PROFD_TRY(SectionBytes expanded,
            starts_with(bytes, kXz) ? expand_xz(bytes, budget) : expand_zstd(bytes, budget));
  return std::move(expanded.owned);
}

Result<SectionBytes> expand_xz(Bytes bytes, ExpansionBudget& budget) {
  struct Stream {
    lzma_stream lzma = LZMA_STREAM_INIT;
    ~Stream() { lzma_end(&lzma); }
  } stream;
  constexpr std::uint64_t kDictionary = 256u << 20;
  if (lzma_stream_decoder(&stream.lzma, kDictionary, 0) != LZMA_OK)
    return fail(ErrorCode::internal, "xz does not start");
  stream.lzma.next_in = bytes.data();
  stream.lzma.avail_in = bytes.size();
  std::vector<std::uint8_t> out;
  std::uint64_t written = 0;
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK) {
    if (written == out.size()) {
      const std::uint64_t more = std::max<std::uint64_t>(1u << 16, out.size());
      PROFD_CHECK(take(budget, more));
      out.resize(out.size() + more);
    }
    stream.lzma.next_out = out.data() + written;
    stream.lzma.avail_out = out.size() - written;
    status = lzma_code(&stream.lzma, LZMA_FINISH);
    written = out.size() - stream.lzma.avail_out;
  }
  if (status != LZMA_STREAM_END) return fail(ErrorCode::malformed, "bytes that are no whole xz stream");
  out.resize(written);
  return keep(std::move(out));
}

}  // namespace profd::native
