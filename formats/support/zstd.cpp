#include "formats/support/zstd.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "core/support/account.h"
#include "formats/support/output_buffer.h"

namespace profd {
namespace {

struct FreeStream {
  void operator()(ZSTD_DStream* s) const { ZSTD_freeDStream(s); }
};

constexpr int kWindowLogMax = 27;  // 128 MiB: what the zstd tool accepts without being asked

std::size_t guess_of_zstd(std::span<const std::byte> in, std::uint64_t limit) {
  const unsigned long long claimed = ZSTD_getFrameContentSize(in.data(), in.size());
  const bool known = claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed != ZSTD_CONTENTSIZE_ERROR;
  const std::uint64_t guess = known ? claimed : in.size() * 8ull + (1u << 17);
  return static_cast<std::size_t>(std::min<std::uint64_t>(std::max<std::uint64_t>(guess, 1), limit));
}

}  // namespace

bool is_zstd(std::span<const std::byte> bytes) {
  if (bytes.size() < 4) return false;
  std::uint32_t magic = 0;
  for (std::size_t i = 4; i-- > 0;) magic = magic << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return magic == ZSTD_MAGICNUMBER || (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

Result<Expanded> unzstd(std::span<const std::byte> in, const ExpandOptions& options, ImportReport& report) {
  const std::unique_ptr<ZSTD_DStream, FreeStream> stream(ZSTD_createDStream());
  if (!stream) return fail(ErrorCode::limit, "not enough memory to decompress");
  // The window is memory, too, and may be larger than what comes out of it.
  int window_log = kWindowLogMax;
  if (const Account* account = Account::current())
    while (window_log > 20 && (std::uint64_t{1} << window_log) > account->pool().left()) --window_log;
  ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, window_log);
  // What a frame says of its size is checked by the decoder, so it need not be tried.
  const unsigned long long stated = ZSTD_getFrameContentSize(in.data(), in.size());
  if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != ZSTD_CONTENTSIZE_ERROR && stated > options.limit.bytes)
    return tl::unexpected<Error>(expansion_error(options.limit, 0, stated));
  OutputBuffer out;
  PROFD_CHECK(out.grow(guess_of_zstd(in, options.limit.bytes), 0));
  Expanded result;
  ZSTD_inBuffer input{in.data(), in.size(), 0};
  std::size_t used = 0;
  std::size_t status = 1;  // 0 between frames
  std::optional<Error> damage;
  for (;;) {
    PROFD_CHECK(options.stop.status());
    const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(out.capacity(), options.limit.bytes));
    // A step of at most 64 MiB, so that a stop is seen.
    ZSTD_outBuffer output{out.data(), std::min(room, used + (std::size_t{64} << 20)), used};
    const std::size_t before = input.pos;
    status = ZSTD_decompressStream(stream.get(), &output, &input);
    const bool moved = output.pos != used || input.pos != before;
    used = output.pos;
    if (ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge && window_log < kWindowLogMax)
      return fail(ErrorCode::limit, "not enough memory for the window that this was compressed with");
    if (ZSTD_isError(status)) {
      damage = Error{ErrorCode::malformed,
                     fmt::format("the compressed data is damaged ({})", ZSTD_getErrorName(status)),
                     input.pos,
                     {}};
      break;
    }
    if (input.pos == in.size() && (status == 0 || used < output.size)) break;
    if (used >= room) {
      if (out.capacity() >= options.limit.bytes)
        return tl::unexpected<Error>(expansion_error(options.limit, input.pos));
      const std::uint64_t wanted = std::max<std::uint64_t>(out.capacity() * 2ull, 1u << 17);
      PROFD_CHECK(out.grow(static_cast<std::size_t>(std::min(wanted, options.limit.bytes)), used));
    } else if (!moved) {
      break;
    }
  }
  if (!damage && status != 0)
    damage = Error{ErrorCode::truncated, "the compressed data ends in the middle", in.size(), {}};
  if (damage) {
    damage->where.push_back("zstd data");
    if (!options.partial) return tl::unexpected<Error>(std::move(*damage));
    report.add("damaged-zstd", Severity::error,
               fmt::format("{} (byte {}); what came before it was read", damage->message, *damage->offset),
               damage->offset);
    result.truncated = true;
  }
  auto [data, owner] = std::move(out).freeze(used);
  result.bytes = {data, used};
  result.owner = std::move(owner);
  return result;
}

}  // namespace profd
