#include "formats/support/stream_expansion.h"

#include <optional>

#include <fmt/format.h>

#include "formats/support/output_buffer.h"

namespace profd {

Result<Expanded> expand_stream(std::span<const std::byte> in, const ExpandOptions& options,
                               ImportReport& report, std::string_view name, const StreamDecoder& decode) {
  // A step small enough that a stop is seen soon.
  constexpr std::size_t kStep = 16u << 20;
  OutputBuffer out;
  PROFD_CHECK(out.grow(static_cast<std::size_t>(std::min<std::uint64_t>(
                           std::max<std::uint64_t>(in.size() * 8ull, 1u << 16), options.limit.bytes)),
                       0));
  std::span<const std::byte> rest = in;
  std::size_t used = 0;
  std::optional<Error> damage;
  while (true) {
    PROFD_CHECK(options.stop.status());
    const std::uint64_t offset = in.size() - rest.size();
    const auto room = static_cast<std::size_t>(std::min<std::uint64_t>(out.capacity(), options.limit.bytes));
    if (used == room) {
      if (out.capacity() >= options.limit.bytes)
        return tl::unexpected<Error>(expansion_error(options.limit, offset));
      PROFD_CHECK(out.grow(
          static_cast<std::size_t>(std::min<std::uint64_t>(out.capacity() * 4ull, options.limit.bytes)),
          used));
      continue;
    }
    std::span<std::byte> target(out.data() + used, std::min(room - used, kStep));
    const std::size_t wanted = target.size(), before = rest.size();
    const StreamStep step = decode(rest, target);
    const std::size_t written = wanted - target.size();
    used += written;
    if (step == StreamStep::finished) break;
    if (step == StreamStep::no_memory)
      return fail(ErrorCode::limit, fmt::format("not enough memory to decompress {} data", name), offset);
    if (step == StreamStep::damaged) {
      damage = Error{ErrorCode::malformed, "the compressed data is damaged", in.size() - rest.size(), {}};
      break;
    }
    if (written == 0 && rest.size() == before) {
      damage = Error{ErrorCode::truncated, "the compressed data ends in the middle", in.size(), {}};
      break;
    }
  }
  Expanded result;
  if (damage) {
    damage->where.push_back(fmt::format("{} data", name));
    if (!options.partial) return tl::unexpected<Error>(std::move(*damage));
    report.add(fmt::format("damaged-{}", name), Severity::error,
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
