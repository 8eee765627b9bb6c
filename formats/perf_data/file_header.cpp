#include "formats/perf_data/file_header.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

namespace profd::perf_data {
namespace {

constexpr std::size_t kFileHeaderSize = 104;
constexpr std::size_t kPipeHeaderSize = 16;
constexpr std::uint64_t kMaxAttributes = 1 << 16;

Section read_section(ByteCursor& in) {
  Section section;
  section.offset = in.u64();
  section.size = in.u64();
  return section;
}

bool inside(const Section& section, std::size_t file) {
  return section.offset <= file && section.size <= file - section.offset;
}

Result<void> read_events(std::span<const std::byte> bytes, std::uint64_t entry, const Section& attrs,
                         FileHeader& header) {
  constexpr std::uint64_t kIdsSection = 16, kSmallestAttr = 64;
  if (!inside(attrs, bytes.size()))
    return fail(ErrorCode::truncated, "the file ends before the descriptions of its events", 24);
  if (entry < kSmallestAttr + kIdsSection || entry > 65536)
    return fail(ErrorCode::malformed, fmt::format("descriptions of events of {} bytes", entry), 16);
  if (attrs.size / entry > kMaxAttributes)
    return fail(ErrorCode::limit, fmt::format("more than {} events", kMaxAttributes), 24);
  ByteCursor in(bytes, header.order);
  in.seek(attrs.offset);
  std::uint64_t n_id_bytes = 0;
  for (std::uint64_t i = 0; i < attrs.size / entry; ++i) {
    Event event;
    event.attr = read_attr(in.slice(entry - kIdsSection));
    const Section ids = read_section(in);
    if (!in.ok()) return in.status("the description of an event");
    if (!inside(ids, bytes.size()) || ids.size / 8 > bytes.size() / 8)
      return fail(ErrorCode::malformed, "the ids of an event lie outside of the file", in.offset() - 16);
    // They never overlap; made to, each event would have as many as the file has room for.
    n_id_bytes += ids.size;
    if (n_id_bytes > bytes.size())
      return fail(ErrorCode::malformed, "the ids of events overlap", in.offset() - 16);
    ByteCursor list(bytes.subspan(ids.offset, ids.size), header.order, ids.offset);
    for (std::uint64_t n = ids.size / 8; n-- > 0;) event.ids.push_back(list.u64());
    header.events.push_back(std::move(event));
  }
  if (header.events.empty()) return fail(ErrorCode::malformed, "the file describes no event", 24);
  return {};
}

void read_feature_table(std::span<const std::byte> bytes, const std::array<std::uint64_t, 4>& bits,
                        FileHeader& header, ImportReport& report) {
  ByteCursor in(bytes, header.order);
  in.seek(header.data.offset + header.data.size);
  for (unsigned bit = 0; bit < 256; ++bit) {
    if ((bits[bit / 64] >> (bit % 64) & 1) == 0) continue;
    const Section section = read_section(in);
    if (in.ok() && inside(section, bytes.size())) {
      header.features.emplace_back(bit, section);
      continue;
    }
    report.add("feature-outside", Severity::loss, "descriptions of the recording lie outside of the file",
               in.offset());
    if (!in.ok()) return;
  }
}

}  // namespace

bool is_perf_data(std::span<const std::byte> prefix, std::endian& order) {
  if (prefix.size() < 16) return false;
  const std::string_view text(reinterpret_cast<const char*>(prefix.data()), 8);
  if (text == "PERFILE2") {
    order = std::endian::little;
    return true;
  }
  order = std::endian::big;
  return text == "2ELIFREP";
}

Result<FileHeader> read_file_header(std::span<const std::byte> bytes, bool partial, ImportReport& report) {
  FileHeader header;
  if (!is_perf_data(bytes, header.order)) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                                std::min<std::size_t>(bytes.size(), 8));
    if (text == "PERFFILE" || text == "ELIFFREP")
      return fail(ErrorCode::unsupported, "perf.data of version 1 (before Linux 2.6.35) is not read", 0);
    if (bytes.size() < 16) return fail(ErrorCode::truncated, "the header ends early", bytes.size());
    return fail(ErrorCode::malformed, "the file does not begin with PERFILE2", 0);
  }
  ByteCursor in(bytes, header.order);
  in.skip(8);
  const std::uint64_t size = in.u64();
  if (size == kPipeHeaderSize) {
    header.pipe = true;
    header.data = {kPipeHeaderSize, bytes.size() - kPipeHeaderSize};
    return header;
  }
  if (size < kFileHeaderSize) return fail(ErrorCode::malformed, fmt::format("a header of {} bytes", size), 8);
  const std::uint64_t attr_size = in.u64();
  const Section attrs = read_section(in);
  header.data = read_section(in);
  read_section(in);  // event types: superseded
  std::array<std::uint64_t, 4> bits{};
  for (std::uint64_t& word : bits) word = in.u64();
  PROFD_CHECK(in.status("the header"));
  PROFD_CHECK(read_events(bytes, attr_size, attrs, header));

  if (header.data.offset > bytes.size())
    return fail(ErrorCode::truncated, "the file ends before its records", bytes.size());
  const std::uint64_t left = bytes.size() - header.data.offset;
  if (header.data.size == 0 && left > 0) {
    header.unfinished = true;
    header.data.size = left;
    report.add("unfinished", Severity::info,
               "perf record was not stopped properly: the file has no descriptions of host and events");
  } else if (header.data.size > left) {
    if (!partial)
      return fail(ErrorCode::truncated,
                  fmt::format("{} bytes of records are announced and {} are there", header.data.size, left),
                  bytes.size());
    report.add("truncated", Severity::error, "the file ends early; what came before was read", bytes.size());
    header.unfinished = true;
    header.data.size = left;
  } else {
    read_feature_table(bytes, bits, header, report);
  }
  return header;
}

}  // namespace profd::perf_data
