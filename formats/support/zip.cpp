#include "formats/support/zip.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <libdeflate.h>

#include "core/support/text.h"
#include "formats/support/output_buffer.h"

namespace profd {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50, kEndRecord = 0x06054b50;
constexpr std::size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22;

std::uint16_t u16(std::span<const std::byte> b, std::size_t at) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(b[at]) | std::to_integer<unsigned>(b[at + 1])
                                                                           << 8);
}
std::uint32_t u32(std::span<const std::byte> b, std::size_t at) {
  return u16(b, at) | static_cast<std::uint32_t>(u16(b, at + 2)) << 16;
}

// The end record stands in the last 64 KiB + 22 bytes, before a comment.
std::optional<std::size_t> find_end_record(std::span<const std::byte> in) {
  if (in.size() < kEndSize) return std::nullopt;
  const std::size_t lowest = in.size() > 0xFFFF + kEndSize ? in.size() - 0xFFFF - kEndSize : 0;
  for (std::size_t at = in.size() - kEndSize + 1; at-- > lowest;) {
    if (u32(in, at) == kEndRecord && at + kEndSize + u16(in, at + 20) <= in.size()) return at;
  }
  return std::nullopt;
}

// What contradicts what: the end of reading, or a line in the report.
Result<void> contradiction(std::string message, std::uint64_t offset, bool partial, ImportReport& report) {
  if (!partial) return fail(ErrorCode::malformed, std::move(message), offset);
  report.add("zip-directory", Severity::error, message, offset);
  return {};
}

// A checksum that is wrong: the same choice.
Result<void> check_crc(const ArchiveMember& member, std::span<const std::byte> content, bool partial,
                       ImportReport& report) {
  if (!member.crc32 || libdeflate_crc32(0, content.data(), content.size()) == *member.crc32) return {};
  std::string message = fmt::format("the checksum of {} does not match: its data is damaged", member.name);
  if (!partial) return fail(ErrorCode::malformed, std::move(message));
  report.add("damaged-zip", Severity::error, message + "; it was read as it stands");
  return {};
}

struct FreeZipDecompressor {
  void operator()(libdeflate_decompressor* d) const { libdeflate_free_decompressor(d); }
};

}  // namespace

bool is_zip(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && (u32(bytes, 0) == kLocalHeader || u32(bytes, 0) == kEndRecord);
}

Result<std::vector<ArchiveMember>> list_zip(std::span<const std::byte> in, bool partial,
                                            ImportReport& report) {
  const auto end = find_end_record(in);
  if (!end)
    return fail(ErrorCode::truncated, "the zip archive has no directory at its end; it was cut off",
                in.size());
  const std::size_t n = u16(in, *end + 10);
  const std::uint64_t directory = u32(in, *end + 16);
  if (n == 0xFFFF || directory == 0xFFFFFFFF)
    return fail(ErrorCode::unsupported, "zip64 archives are not read; unpack it and open the file inside",
                *end);
  // A bit less in one of the two counts would leave members out, unseen.
  if (u16(in, *end + 8) != n)
    PROFD_CHECK(contradiction(
        fmt::format("the end of the zip archive counts {} and {} members", u16(in, *end + 8), n), *end,
        partial, report));
  std::vector<ArchiveMember> members;
  std::size_t at = static_cast<std::size_t>(directory);
  for (std::size_t i = 0; i < n; ++i) {
    if (at > *end || *end - at < kCentralSize || u32(in, at) != kCentralHeader)
      return fail(ErrorCode::malformed, fmt::format("the zip directory is damaged at entry {}", i + 1),
                  std::min<std::uint64_t>(at, in.size()));
    const std::uint16_t flags = u16(in, at + 8), method = u16(in, at + 10);
    const std::uint64_t packed = u32(in, at + 20), size = u32(in, at + 24), local = u32(in, at + 42);
    const std::size_t name_size = u16(in, at + 28), extra = u16(in, at + 30), comment = u16(in, at + 32);
    if (*end - at - kCentralSize < name_size + extra + comment)
      return fail(ErrorCode::malformed, fmt::format("the zip directory is damaged at entry {}", i + 1), at);
    ArchiveMember member;
    const std::string_view name(reinterpret_cast<const char*>(in.data()) + at + kCentralSize, name_size);
    member.name = repair_utf8(name);
    member.size = size;
    member.crc32 = u32(in, at + 16);
    member.deflated = method == 8;
    member.readable = method == 0 || method == 8;
    member.encrypted = (flags & 1) != 0;
    if (packed == 0xFFFFFFFF || size == 0xFFFFFFFF || local == 0xFFFFFFFF)
      return fail(ErrorCode::unsupported, "zip64 archives are not read; unpack it and open the file inside",
                  at);
    if (local > in.size() || in.size() - local < kLocalSize || u32(in, local) != kLocalHeader)
      return fail(ErrorCode::malformed,
                  fmt::format("the zip member {} is not where the directory says", member.name), at);
    const std::size_t local_name_size = u16(in, static_cast<std::size_t>(local) + 26);
    const std::uint64_t start = local + kLocalSize + local_name_size + u16(in, local + 28);
    if (start > in.size() || in.size() - start < packed)
      return fail(ErrorCode::truncated,
                  fmt::format("the zip member {} runs past the end of the file", member.name), local);
    if (!member.deflated && member.readable && packed != size)
      return fail(ErrorCode::malformed,
                  fmt::format("the sizes of the stored zip member {} differ", member.name), at);
    const std::string_view local_name(reinterpret_cast<const char*>(in.data()) + local + kLocalSize,
                                      local_name_size);
    if (local_name != name)
      PROFD_CHECK(contradiction(fmt::format("the zip member {} is called {} where its data is", member.name,
                                            repair_utf8(local_name)),
                                local, partial, report));
    member.data = in.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(packed));
    at += kCentralSize + name_size + extra + comment;
    if (!member.name.empty() && member.name.back() != '/') members.push_back(std::move(member));
  }
  if (at - directory != u32(in, *end + 12))
    PROFD_CHECK(contradiction(fmt::format("the directory of the zip archive has {} bytes, and {} by its end",
                                          at - directory, u32(in, *end + 12)),
                              *end, partial, report));
  return members;
}

Result<Expanded> expand_member(const ArchiveMember& member, const ExpandOptions& options,
                               ImportReport& report) {
  if (member.encrypted) return fail(ErrorCode::unsupported, fmt::format("{} is encrypted", member.name));
  if (!member.readable)
    return fail(ErrorCode::unsupported,
                fmt::format("{} is packed with a method that is not read", member.name));
  if (!member.deflated) {
    PROFD_CHECK(check_crc(member, member.data, options.partial, report));
    return Expanded{member.data, nullptr, false};
  }
  if (member.size > options.limit.bytes) return tl::unexpected<Error>(expansion_error(options.limit, 0));
  if (member.size > member.data.size() * 1032 + 1024)
    return fail(ErrorCode::malformed,
                fmt::format("the size of {} in the zip directory is impossible", member.name));
  const std::unique_ptr<libdeflate_decompressor, FreeZipDecompressor> d(libdeflate_alloc_decompressor());
  if (!d) return fail(ErrorCode::limit, "not enough memory to decompress");
  const auto size = static_cast<std::size_t>(member.size);
  OutputBuffer out;
  PROFD_CHECK(out.grow(size, 0));
  std::size_t n_out = 0;
  const libdeflate_result status = libdeflate_deflate_decompress(
      d.get(), member.data.data(), member.data.size(), out.data(), size, &n_out);
  if (status != LIBDEFLATE_SUCCESS || n_out != size)
    return fail(ErrorCode::malformed, fmt::format("the compressed data of {} is damaged", member.name));
  PROFD_CHECK(check_crc(member, {out.data(), size}, options.partial, report));
  auto [data, owner] = std::move(out).freeze(size);
  return Expanded{{data, size}, std::move(owner), false};
}

}  // namespace profd
