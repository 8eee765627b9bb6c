// libdeflate does whole members at two to three times the speed of zlib, but needs room for all of the
// output and cannot say where a damaged stream breaks. So: libdeflate into a buffer sized by the size the
// file claims (bounded, grown on demand), and zlib over the same member only when libdeflate gives up.
#include "formats/support/gzip.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <libdeflate.h>

#include "formats/support/inflate.h"
#include "formats/support/output_buffer.h"

namespace profd {
namespace {

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
};
using Decompressor = std::unique_ptr<libdeflate_decompressor, FreeDecompressor>;

// The size the last member claims (modulo 4 GiB).
std::uint32_t claimed_size(std::span<const std::byte> in) {
  std::uint32_t claimed = 0;
  if (in.size() >= 18) {
    for (int i = 3; i >= 0; --i)
      claimed =
          claimed << 8 | std::to_integer<std::uint32_t>(in[in.size() - 4 + static_cast<std::size_t>(i)]);
  }
  return claimed;
}

// A first guess of the whole; never trusted.
std::size_t guess_of_gzip(std::span<const std::byte> in, std::uint64_t limit) {
  const std::uint32_t claimed = claimed_size(in);
  // Deflate cannot expand more than 1032 times.
  const std::uint64_t possible = in.size() > limit / 1032 ? limit : in.size() * 1032 + 1024;
  std::uint64_t guess = claimed >= in.size() / 2 && claimed <= possible ? claimed : in.size() * 6 + 4096;
  return static_cast<std::size_t>(std::min({guess, possible, limit}));
}

// Half of the time of a big stream is the system clearing fresh pages: on another core it costs nothing.
template <class Decompress>
libdeflate_result with_memory_ready(const OutputBuffer& out, std::size_t used, Executor* executor,
                                    const Decompress& decompress) {
  constexpr std::size_t kWorthIt = 4u << 20;
  if (executor == nullptr || executor->width() < 2 || out.capacity() - used < kWorthIt) return decompress();
  libdeflate_result status = LIBDEFLATE_BAD_DATA;
  std::atomic<bool> done = false;
  executor->run(2, [&](std::size_t task) {
    if (task == 1) return out.prepare(used, done);
    status = decompress();
    done = true;
  });
  return status;
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

Result<Expanded> gunzip(std::span<const std::byte> in, const ExpandOptions& options, ImportReport& report) {
  const Decompressor decompressor(libdeflate_alloc_decompressor());
  if (!decompressor) return fail(ErrorCode::limit, "not enough memory to decompress");
  OutputBuffer out;
  PROFD_CHECK(out.grow(guess_of_gzip(in, options.limit.bytes), 0));
  Expanded result;
  std::size_t pos = 0, used = 0;
  for (int member = 1; pos < in.size(); ++member) {
    PROFD_CHECK(options.stop.status());
    const auto rest = in.subspan(pos);
    if (member > 1 && !is_gzip(rest)) {
      if (!all_zero(rest))
        report.add("trailing-bytes", Severity::loss, "bytes after the end of the gzip data were not read",
                   pos, rest.size());
      break;
    }
    for (;;) {
      const std::size_t room =
          static_cast<std::size_t>(std::min<std::uint64_t>(out.capacity(), options.limit.bytes)) - used;
      std::size_t n_in = 0, n_out = 0;
      const libdeflate_result status = with_memory_ready(out, used, options.executor, [&] {
        return libdeflate_gzip_decompress_ex(decompressor.get(), rest.data(), rest.size(), out.data() + used,
                                             room, &n_in, &n_out);
      });
      if (status == LIBDEFLATE_SUCCESS) {
        pos += n_in;
        used += n_out;
        break;
      }
      if (status == LIBDEFLATE_INSUFFICIENT_SPACE) {
        PROFD_CHECK(make_room_for_more(out, used, options.limit, pos, claimed_size(in)));
        continue;
      }
      PROFD_TRY(const Inflated good, inflate_as_far_as_good(in, pos, Deflated::gzip, out, used, options));
      pos += good.in;
      used += good.out;
      if (!good.damage) break;
      Error damage = *good.damage;
      damage.where.push_back(fmt::format("gzip member {}", member));
      if (!options.partial) return tl::unexpected<Error>(std::move(damage));
      report.add("damaged-gzip", Severity::error,
                 fmt::format("{} (gzip member {}, byte {}); what came before it was read", damage.message,
                             member, *damage.offset),
                 damage.offset);
      result.truncated = true;
      pos = in.size();
      break;
    }
  }
  auto [data, owner] = std::move(out).freeze(used);
  result.bytes = {data, used};
  result.owner = std::move(owner);
  return result;
}

}  // namespace profd
