#include "formats/cubex/data.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <zlib.h>

#include "formats/support/byte_cursor.h"

namespace profd::cubex {
namespace {

constexpr std::string_view kIndexMark = "CUBEX.INDEX", kDataMark = "CUBEX.DATA", kPackedMark = "ZCUBEX.DATA";

// Positions in the traversal for which the data has rows.
Result<std::vector<std::uint32_t>> read_index(std::span<const std::byte> bytes, std::size_t n_nodes,
                                              bool& swap) {
  ByteCursor in(bytes);
  if (in.text(kIndexMark.size()) != kIndexMark)
    return fail(ErrorCode::malformed, "the index does not begin as one", 0);
  swap = in.u32() != 1;
  in = ByteCursor(bytes, swap ? std::endian::big : std::endian::little);
  in.skip(kIndexMark.size());
  const std::uint32_t one = in.u32();
  in.skip(2);
  const std::uint8_t type = in.u8();
  if (!in.ok()) return tl::unexpected<Error>(in.status("the index").error());
  if (one != 1)
    return fail(ErrorCode::malformed, "the byte order of the index is neither", kIndexMark.size());
  std::vector<std::uint32_t> positions;
  if (type == 0) {
    for (std::uint32_t i = 0; i < n_nodes; ++i) positions.push_back(i);
    return positions;
  }
  if (type != 1)
    return fail(ErrorCode::unsupported, fmt::format("an index of type {} is not read", type), in.offset());
  const std::uint32_t n = in.u32();
  if (!in.ok() || n > in.left() / 4)
    return fail(ErrorCode::truncated, fmt::format("the index says {} rows and ends before", n), in.offset());
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t position = in.u32();
    if (position >= n_nodes)
      return fail(ErrorCode::malformed, fmt::format("the index names call node {} of {}", position, n_nodes),
                  in.offset() - 4);
    positions.push_back(position);
  }
  return positions;
}

// ZCUBEX.DATA: i64 count, count of {raw position, compressed position, compressed size}, zlib streams.
Result<std::vector<std::byte>> expand(std::span<const std::byte> bytes, bool swap, std::uint64_t n_bytes,
                                      ReadContext& context) {
  ByteCursor in(bytes, swap ? std::endian::big : std::endian::little);
  in.skip(kPackedMark.size());
  const std::uint64_t n = in.u64();
  if (!in.ok() || n > in.left() / 24)
    return fail(ErrorCode::truncated, fmt::format("the data says {} compressed rows and ends before", n),
                in.offset());
  const std::uint64_t streams = kPackedMark.size() + 8 + n * 24;
  if (n_bytes > context.limits.expanded_bytes || n_bytes / 1100 > bytes.size())
    return fail(ErrorCode::limit, "the data expands too much (limit expansion_ratio)");
  std::vector<std::byte> out(n_bytes);
  std::uint64_t n_expanded = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    if (context.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint64_t raw = in.u64(), packed = in.u64(), size = in.u64();
    if (packed > bytes.size() - streams || size > bytes.size() - streams - packed || raw > n_bytes)
      return fail(ErrorCode::malformed, "a compressed row lies outside the data", in.offset() - 24);
    uLongf room = n_bytes - raw;
    if (uncompress(reinterpret_cast<Bytef*>(out.data() + raw), &room,
                   reinterpret_cast<const Bytef*>(bytes.data() + streams + packed), size) != Z_OK)
      return fail(ErrorCode::malformed, "a row does not decompress", streams + packed);
    // Rows never overlap; made to, a few bytes each would keep us busy for long.
    n_expanded += room;
    if (n_expanded > n_bytes)
      return fail(ErrorCode::malformed, "the compressed rows overlap", streams + packed);
  }
  return out;
}

Error in_file(Error error, const std::string& file) {
  error.where.push_back(error.offset ? fmt::format("{} at byte {}", file, *error.offset) : file);
  error.offset.reset();
  return error;
}

}  // namespace

Result<MetricData> MetricData::open(const Folder& folder, const std::string& prefix, const Metric& metric,
                                    const Anchor& anchor, const std::vector<std::uint32_t>& wide,
                                    ReadContext& context) {
  const std::string index_name = prefix + metric.id + ".index", data_name = prefix + metric.id + ".data";
  PROFD_TRY(const ByteSource index, folder.open(index_name));
  MetricData out;
  auto positions = read_index(index.bytes(), anchor.nodes.size(), out.swap_);
  if (!positions) return tl::unexpected<Error>(in_file(std::move(positions).error(), index_name));
  PROFD_TRY(out.source_, folder.open(data_name));
  out.kind_ = metric.kind;
  out.size_ = metric.size;
  out.n_locations_ = anchor.locations.size();
  const std::span<const std::byte> bytes = out.source_.bytes();
  const std::uint64_t n_bytes = std::uint64_t{positions->size()} * out.n_locations_ * out.size_;
  if (out.source_.text().starts_with(kPackedMark)) {
    auto expanded = expand(bytes, out.swap_, n_bytes, context);
    if (!expanded) return tl::unexpected<Error>(in_file(std::move(expanded).error(), data_name));
    out.expanded_ = std::move(*expanded);
    out.values_ = out.expanded_;
  } else if (out.source_.text().starts_with(kDataMark)) {
    if (bytes.size() - kDataMark.size() < n_bytes)
      return fail(ErrorCode::truncated, fmt::format("{} has {} bytes of values, {} are needed", data_name,
                                                    bytes.size() - kDataMark.size(), n_bytes));
    out.values_ = bytes.subspan(kDataMark.size());
  } else {
    return fail(ErrorCode::malformed, fmt::format("{} does not begin as data", data_name));
  }
  out.row_.assign(anchor.nodes.size(), kNone);
  for (std::uint32_t i = 0; i < positions->size(); ++i) {
    const std::uint32_t position = (*positions)[i];
    out.row_[metric.inclusive ? wide[position] : position] = i;
  }
  return out;
}

const std::byte* MetricData::place(std::size_t node, std::size_t location) const {
  const std::uint32_t row = row_[node];
  return row == kNone ? nullptr : values_.data() + (std::uint64_t{row} * n_locations_ + location) * size_;
}

double MetricData::real(std::size_t node, std::size_t location) const {
  const std::byte* at = place(node, location);
  if (at == nullptr) return 0;
  ByteCursor in({at, 8}, swap_ ? std::endian::big : std::endian::little);
  return in.f64();
}

std::int64_t MetricData::integer(std::size_t node, std::size_t location) const {
  const std::byte* at = place(node, location);
  if (at == nullptr) return 0;
  ByteCursor in({at, size_}, swap_ ? std::endian::big : std::endian::little);
  if (kind_ == ValueKind::signed_integer)
    return size_ == 8 ? in.i64() : size_ == 4 ? in.i32() : size_ == 2 ? in.i16() : in.i8();
  const std::uint64_t value = size_ == 8 ? in.u64() : size_ == 4 ? in.u32() : size_ == 2 ? in.u16() : in.u8();
  if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return static_cast<std::int64_t>(value);
  ++n_clamped_;
  return 0;  // "undefined" marks and broken values
}

}  // namespace profd::cubex
