#include "formats/support/tar.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/support/text.h"

namespace profd {
namespace {

constexpr std::size_t kBlock = 512;

std::string_view field(std::span<const std::byte> header, std::size_t at, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(header.data()) + at, size);
  return text.substr(0, text.find('\0'));
}

// Octal text, or big-endian base 256 when the top bit is set.
std::optional<std::uint64_t> number(std::span<const std::byte> header, std::size_t at, std::size_t size) {
  const auto first = std::to_integer<unsigned>(header[at]);
  if (first & 0x80) {
    if (first != 0x80) return std::nullopt;  // negative, or more than 64 bits
    std::uint64_t value = 0;
    for (std::size_t i = 1; i < size; ++i) {
      if (value >> 55) return std::nullopt;
      value = value << 8 | std::to_integer<std::uint64_t>(header[at + i]);
    }
    return value;
  }
  std::string_view text = field(header, at, size);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The sum of the header's bytes; old writers took them as signed.
bool checksum_holds(std::span<const std::byte> header) {
  std::int64_t sum = 0, signed_sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const int byte = i >= 148 && i < 156 ? ' ' : std::to_integer<int>(header[i]);
    sum += byte;
    signed_sum += byte < 128 ? byte : byte - 256;
  }
  const auto stored = number(header, 148, 8);
  if (!stored) return false;
  return *stored == static_cast<std::uint64_t>(sum) || *stored == static_cast<std::uint64_t>(signed_sum);
}

bool has_magic(std::span<const std::byte> header) {
  return field(header, 257, 5) == "ustar";
}

// Without its checksum: a name, and numbers wherever there have to be some.
bool looks_like_header(std::span<const std::byte> header) {
  if (field(header, 0, 100).empty() || !number(header, 124, 12)) return false;
  return has_magic(header) || (number(header, 100, 8) && number(header, 108, 8) && number(header, 116, 8) &&
                               number(header, 136, 12));
}

struct Pax {
  std::optional<std::string> path;
  std::optional<std::uint64_t> size;
};

// "LENGTH key=value\n" records. Nothing when they are not.
std::optional<Pax> read_pax(std::string_view records) {
  Pax pax;
  while (!records.empty()) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<std::size_t>(end - records.data());
    if (error != std::errc{} || length <= digits + 1 || length > records.size() || records[digits] != ' ' ||
        records[length - 1] != '\n')
      return std::nullopt;
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    const std::size_t equals = record.find('=');
    if (equals != std::string_view::npos) {
      const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
      if (key == "path") pax.path = std::string(value);
      if (key == "size") {
        std::uint64_t size = 0;
        const auto number = std::from_chars(value.data(), value.data() + value.size(), size);
        if (number.ec != std::errc{} || number.ptr != value.data() + value.size()) return std::nullopt;
        pax.size = size;
      }
    }
    records.remove_prefix(length);
  }
  return pax;
}

}  // namespace

bool is_tar(std::span<const std::byte> bytes) {
  if (bytes.size() < kBlock || bytes[0] == std::byte{0}) return false;
  const auto header = bytes.first(kBlock);
  return checksum_holds(header) || (has_magic(header) && looks_like_header(header));
}

Result<std::vector<ArchiveMember>> list_tar(std::span<const std::byte> in, bool partial,
                                            ImportReport& report) {
  std::vector<ArchiveMember> members;
  Pax next;
  std::size_t at = 0;
  while (in.size() - at >= kBlock) {
    const auto header = in.subspan(at, kBlock);
    if (std::all_of(header.begin(), header.end(), [](std::byte b) { return b == std::byte{0}; })) break;
    if (!checksum_holds(header)) {
      if (!looks_like_header(header))
        return fail(ErrorCode::malformed, "the header of a tar member is damaged", at);
      report.add("tar-checksum", Severity::loss,
                 "the checksum of a tar header is wrong; what the header says was taken as it stands", at);
    }
    std::optional<std::uint64_t> size = next.size ? next.size : number(header, 124, 12);
    if (!size) return fail(ErrorCode::malformed, "the size of a tar member is not a number", at + 124);
    const std::size_t left = in.size() - at - kBlock;
    const bool cut = *size > left;
    if (cut) {
      if (!partial)
        return fail(ErrorCode::truncated, "the tar archive ends in the middle of a member", in.size());
      report.add("truncated-member", Severity::error, "the last member of the tar archive is cut off", at);
    }
    const auto data = in.subspan(at + kBlock, cut ? left : static_cast<std::size_t>(*size));
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    const char type = static_cast<char>(header[156]);
    if (type == 'x') {
      const auto pax = read_pax(text);
      if (!pax && !partial)
        return fail(ErrorCode::malformed, "the extended header of a tar member is damaged", at + kBlock);
      if (!pax)
        report.add("damaged-tar", Severity::error,
                   "the extended header of a tar member is damaged; its plain one was taken", at + kBlock);
      next = pax.value_or(Pax{});
    } else if (type == 'L') {
      next.path = std::string(text.substr(0, text.find('\0')));
    } else {
      if (type == '0' || type == '\0' || type == '7') {
        if (members.size() == kMaxArchiveMembers)
          return fail(ErrorCode::limit,
                      fmt::format("more than {} members in one archive", kMaxArchiveMembers), at);
        const std::string_view prefix = has_magic(header) ? field(header, 345, 155) : "";
        std::string name =
            next.path ? *next.path
                      : fmt::format("{}{}{}", prefix, prefix.empty() ? "" : "/", field(header, 0, 100));
        ArchiveMember member;
        member.name = repair_utf8(name);
        member.data = data;
        member.size = data.size();
        if (!member.name.empty() && member.name.back() != '/') members.push_back(std::move(member));
      }
      next = {};
    }
    if (cut) break;
    const std::uint64_t padded = (*size + kBlock - 1) / kBlock * kBlock;
    if (padded >= left) break;
    at += kBlock + static_cast<std::size_t>(padded);
  }
  return members;
}

}  // namespace profd
