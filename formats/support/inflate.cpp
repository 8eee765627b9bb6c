#include "formats/support/inflate.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <zlib.h>

namespace profd {

Result<void> make_room_for_more(OutputBuffer& out, std::size_t used, const ExpansionLimit& limit,
                                std::uint64_t offset, std::uint64_t claimed) {
  if (out.capacity() >= limit.bytes) return tl::unexpected<Error>(expansion_error(limit, offset, claimed));
  const std::uint64_t wanted = std::max<std::uint64_t>(out.capacity() * 4ull, 1u << 16);
  return out.grow(static_cast<std::size_t>(std::min(wanted, limit.bytes)), used);
}

Result<Inflated> inflate_as_far_as_good(std::span<const std::byte> in, std::size_t start, Deflated kind,
                                        OutputBuffer& out, std::size_t used, const ExpandOptions& options) {
  z_stream z{};
  if (inflateInit2(&z, kind == Deflated::gzip ? 15 + 16 : -15) != Z_OK)
    return fail(ErrorCode::internal, "zlib did not start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&z, inflateEnd);
  Inflated done;
  for (;;) {
    PROFD_CHECK(options.stop.status());
    const std::size_t room =
        static_cast<std::size_t>(std::min<std::uint64_t>(out.capacity(), options.limit.bytes));
    if (used + done.out >= room) {
      PROFD_CHECK(make_room_for_more(out, used + done.out, options.limit, start + done.in));
      continue;
    }
    constexpr std::size_t kChunk = 1u << 24;
    const std::size_t n_in = std::min(kChunk, in.size() - start - done.in);
    const std::size_t n_out = std::min(kChunk, room - used - done.out);
    z.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data() + start + done.in));
    z.avail_in = static_cast<uInt>(n_in);
    z.next_out = reinterpret_cast<Bytef*>(out.data() + used + done.out);
    z.avail_out = static_cast<uInt>(n_out);
    const int status = inflate(&z, Z_NO_FLUSH);
    done.in += n_in - z.avail_in;
    done.out += n_out - z.avail_out;
    if (status == Z_STREAM_END) return done;
    const std::uint64_t at = start + done.in;
    if (status == Z_OK && (z.avail_out == 0 || start + done.in < in.size())) continue;
    if (status == Z_OK || status == Z_BUF_ERROR) {
      done.damage = Error{ErrorCode::truncated, "the compressed data ends in the middle", in.size(), {}};
    } else {
      done.damage =
          Error{ErrorCode::malformed,
                fmt::format("the compressed data is damaged ({})", z.msg ? z.msg : "no reason given"),
                at,
                {}};
    }
    return done;
  }
}

}  // namespace profd
