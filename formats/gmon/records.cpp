#include "formats/gmon/records.h"

#include <cstring>

#include <fmt/format.h>

#include "formats/support/byte_cursor.h"

namespace profd::gmon {
namespace {

constexpr std::size_t kHeader = 20;

ByteCursor after_header(std::span<const std::byte> bytes, bool big) {
  return ByteCursor(bytes.subspan(kHeader), big ? std::endian::big : std::endian::little, kHeader);
}

std::uint64_t address(ByteCursor& in, unsigned word) {
  return word == 8 ? in.u64() : in.u32();
}

Result<void> read_histogram(ByteCursor& in, Records& out) {
  const std::uint64_t offset = in.offset();
  Histogram h;
  h.low = address(in, out.word);
  h.high = address(in, out.word);
  const std::uint32_t n = in.u32();
  h.rate = in.u32();
  const std::string_view dimension = in.text(15);
  h.dimension = dimension.substr(0, dimension.find('\0'));
  in.skip(1);  // its abbreviation
  PROFD_CHECK(in.status("a histogram"));
  if (h.low >= h.high || n == 0 || h.rate == 0)
    return fail(ErrorCode::malformed, "a histogram covers nothing, or has no rate", offset);
  for (const char c : h.dimension)
    if (c < ' ' || c == 0x7F)
      return fail(ErrorCode::malformed, "the dimension of a histogram is no text", offset);
  if (n > in.left() / 2)
    return fail(ErrorCode::truncated, "a histogram ends after the end of the file", offset);
  h.bins.reserve(n);
  for (std::uint32_t i = 0; i < n; ++i) h.bins.push_back(in.u16());
  out.histograms.push_back(std::move(h));
  return {};
}

Result<void> read_blocks(ByteCursor& in, Records& out) {
  const std::uint64_t offset = in.offset();
  const std::uint32_t n = in.u32();
  if (n > in.left() / (2 * out.word))
    return fail(ErrorCode::truncated, "a table of blocks ends after the end of the file", offset);
  for (std::uint32_t i = 0; i < n; ++i) {
    Block block;
    block.address = address(in, out.word);
    block.count = address(in, out.word);
    out.blocks.push_back(block);
  }
  return in.status("a table of blocks");
}

Result<void> read_one(ByteCursor& in, Records& out) {
  const std::uint64_t offset = in.offset();
  switch (const std::uint8_t tag = in.u8()) {
    case 0:
      return read_histogram(in, out);
    case 1: {
      Arc arc;
      arc.from = address(in, out.word);
      arc.to = address(in, out.word);
      arc.count = in.u32();
      PROFD_CHECK(in.status("an arc"));
      out.arcs.push_back(arc);
      return {};
    }
    case 2:
      return read_blocks(in, out);
    default:
      return fail(ErrorCode::malformed, fmt::format("there is no record of kind {}", tag), offset);
  }
}

Result<Records> read_with(std::span<const std::byte> bytes, unsigned word, bool big, std::uint64_t& reached,
                          bool partial) {
  Records out;
  out.word = word;
  out.big_endian = big;
  ByteCursor in = after_header(bytes, big);
  while (!in.at_end()) {
    reached = in.offset();
    auto done = read_one(in, out);
    if (done) continue;
    if (partial && !out.histograms.empty()) return out;
    return tl::unexpected<Error>(std::move(done).error());
  }
  reached = bytes.size();
  return out;
}

}  // namespace

bool is_gmon(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeader || std::memcmp(bytes.data(), "gmon", 4) != 0) return false;
  const auto at = [&](std::size_t i) { return static_cast<unsigned>(bytes[4 + i]); };
  const bool little = at(0) == 1 && at(1) == 0 && at(2) == 0 && at(3) == 0;
  const bool big = at(0) == 0 && at(1) == 0 && at(2) == 0 && at(3) == 1;
  return little || big;
}

Result<Records> read_records(std::span<const std::byte> bytes, ReadContext& context) {
  if (!is_gmon(bytes))
    return fail(ErrorCode::malformed, "the file does not begin as gmon.out of version 1", 0);
  const bool big = bytes[4] == std::byte{0};
  std::uint64_t reached_8 = 0, reached_4 = 0;
  auto wide = read_with(bytes, 8, big, reached_8, false);
  if (wide) return wide;
  auto narrow = read_with(bytes, 4, big, reached_4, false);
  if (narrow) return narrow;
  // Neither fits: the one that got further says what is wrong.
  const bool use_wide = reached_8 >= reached_4;
  if (context.partial) {
    std::uint64_t reached = 0;
    auto some = read_with(bytes, use_wide ? 8 : 4, big, reached, true);
    if (some) {
      context.report.add("truncated", Severity::loss, "the file ends inside a record, which is left out",
                         reached);
      return some;
    }
  }
  return use_wide ? std::move(wide) : std::move(narrow);
}

}  // namespace profd::gmon
