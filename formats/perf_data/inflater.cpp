#include "formats/perf_data/inflater.h"

#include <algorithm>

#include <fmt/format.h>
#include <zstd.h>

#include "formats/support/expansion.h"
#include "formats/support/zstd.h"

namespace profd::perf_data {
namespace {

constexpr std::size_t kStep = std::size_t{128} << 10;
constexpr int kWindowLogMax = 27;

}  // namespace

struct Inflater::Stream {
  ZSTD_DStream* zstd = ZSTD_createDStream();
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { ZSTD_freeDStream(zstd); }
};

Inflater::Inflater(const ReadLimits& limits) : limits_(limits) {}
Inflater::~Inflater() = default;

Result<std::span<const std::byte>> Inflater::add(std::span<const std::byte> payload, std::uint64_t offset) {
  if (!stream_) {
    stream_ = std::make_unique<Stream>();
    step_.resize(kStep);
    if (!stream_->zstd) return fail(ErrorCode::limit, "not enough memory to decompress");
    ZSTD_DCtx_setParameter(stream_->zstd, ZSTD_d_windowLogMax, kWindowLogMax);
  }
  // A block that holds nothing but the beginning of a record goes on growing; nobody points into it.
  if (n_kept_ == 0 || n_kept_ != blocks_.back().bytes.size()) {
    Block next;
    if (n_kept_ > 0) {
      const std::vector<std::byte>& last = blocks_.back().bytes;
      next.bytes.assign(last.end() - static_cast<std::ptrdiff_t>(n_kept_), last.end());
    }
    blocks_.push_back(std::move(next));
  }
  Block& block = blocks_.back();
  block.offset = offset;
  n_kept_ = 0;
  n_in_ += payload.size();
  ZSTD_inBuffer in{payload.data(), payload.size(), 0};
  for (;;) {
    ZSTD_outBuffer out{step_.data(), step_.size(), 0};
    const std::size_t status = ZSTD_decompressStream(stream_->zstd, &out, &in);
    block.bytes.insert(block.bytes.end(), step_.begin(),
                       step_.begin() + static_cast<std::ptrdiff_t>(out.pos));
    n_out_ += out.pos;
    if (ZSTD_isError(status))
      return fail(ErrorCode::malformed,
                  fmt::format("the compressed records are damaged ({})", ZSTD_getErrorName(status)), offset);
    if (n_out_ > limits_.expanded_bytes)
      return tl::unexpected<Error>(expansion_error({limits_.expanded_bytes, "expanded_bytes"}, offset));
    constexpr std::uint64_t kFree = 1u << 20;
    if (n_out_ > kFree && n_out_ / limits_.expansion_ratio > n_in_)
      return tl::unexpected<Error>(
          expansion_error({n_in_ * limits_.expansion_ratio, "expansion_ratio"}, offset));
    // One stream may end and another begin inside of a payload; what else follows an end is padding.
    if (out.pos < out.size && !(status == 0 && is_zstd(payload.subspan(in.pos)))) break;
  }
  return std::span<const std::byte>(block.bytes);
}

void Inflater::release(std::uint64_t offset) {
  // The last block may still hold the beginning of a record.
  while (blocks_.size() > 1 && blocks_.front().offset < offset) blocks_.pop_front();
}

}  // namespace profd::perf_data
