#include "formats/support/jitdump.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/support/byte_cursor.h"

namespace profd {
namespace {

constexpr std::uint32_t kMagic = 0x4A695444;  // "JiTD"
constexpr std::size_t kHeaderSize = 40;
constexpr std::size_t kPrefixSize = 16;
// V8 adds the size of the ELF header that perf inject writes to every debug address.
constexpr std::uint64_t kElfHeader = 0x40;

enum RecordId : std::uint32_t { kLoad, kMove, kDebugInfo, kClose, kUnwinding };

std::uint32_t magic_of(std::span<const std::byte> bytes) {
  std::uint32_t magic = 0;
  if (bytes.size() >= 4) std::memcpy(&magic, bytes.data(), 4);
  return magic;
}

// Debug info stands before the code it belongs to.
struct Pending {
  std::uint64_t code_address = 0;
  std::uint32_t first_line = 0;
  bool any = false;
};

// V8 writes pieces of memory in place of a name now and then; what follows is then not where it seems to be.
bool is_file_name(std::string_view name) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  return std::none_of(name.begin(), name.end(), is_control) && is_valid_utf8(name);
}

void read_debug_info(ByteCursor in, JitDump& dump, Pending& pending) {
  pending = {in.u64(), static_cast<std::uint32_t>(dump.lines.size()), true};
  const std::uint64_t n = in.u64();
  std::string_view file;
  for (std::uint64_t i = 0; i < n; ++i) {
    JitLine line;
    line.address = in.u64();
    line.line = in.u32();
    line.column = in.u32();
    const std::string_view name = in.text_to_nul();
    if (!in.ok()) {
      dump.n_bad_lines += n - i > dump.lines.size() + in.left() ? 1 : n - i;
      return;
    }
    if (name != "\xff") {  // "the same as before"
      if (!is_file_name(name)) {
        dump.n_bad_lines += dump.lines.size() - pending.first_line + 1;
        dump.lines.resize(pending.first_line);
        return;
      }
      file = name;
    }
    line.file = file;
    dump.lines.push_back(line);
  }
}

// Keeps the entries that lie in the code, by address.
void attach_lines(JitDump& dump, JitCode& code, const Pending& pending) {
  const auto begin = dump.lines.begin() + pending.first_line;
  const auto drop_if = [&](auto is_bad) {
    const auto kept = std::remove_if(begin, dump.lines.end(), is_bad);
    dump.n_bad_lines += static_cast<std::uint64_t>(dump.lines.end() - kept);
    dump.lines.erase(kept, dump.lines.end());
  };
  // Where the entry lies in the code; more than any size when it does not.
  const auto place = [&](const JitLine& line) { return line.address - code.start; };
  drop_if([&](const JitLine& line) {
    return line.line == 0 || line.file.empty() || place(line) > code.size + kElfHeader;
  });
  if (std::all_of(begin, dump.lines.end(), [&](const JitLine& line) { return place(line) >= kElfHeader; })) {
    for (auto at = begin; at != dump.lines.end(); ++at) at->address -= kElfHeader;
  }
  drop_if([&](const JitLine& line) { return place(line) > code.size; });
  std::stable_sort(begin, dump.lines.end(),
                   [](const JitLine& a, const JitLine& b) { return a.address < b.address; });
  code.first_line = pending.first_line;
  code.n_lines = static_cast<std::uint32_t>(dump.lines.size()) - pending.first_line;
}

void drop(JitDump& dump, Pending& pending) {
  if (!pending.any) return;
  dump.n_bad_lines += dump.lines.size() - pending.first_line;
  dump.lines.resize(pending.first_line);
  pending.any = false;
}

bool read_load(ByteCursor& in, JitCode& code) {
  code.pid = in.u32();
  code.tid = in.u32();
  in.u64();  // vma: equals the code's address
  code.start = in.u64();
  code.size = in.u64();
  code.index = in.u64();
  code.name = in.text_to_nul();
  if (in.ok() && code.size <= in.left()) code.bytes = in.bytes(code.size);
  return in.ok() && code.start + code.size >= code.start;
}

bool read_move(ByteCursor& in, JitCode& code) {
  code.pid = in.u32();
  code.tid = in.u32();
  in.u64();
  code.moved_from = in.u64();
  code.start = in.u64();
  code.size = in.u64();
  code.index = in.u64();
  code.moved = true;
  return in.ok() && code.start + code.size >= code.start;
}

}  // namespace

bool is_jitdump(std::span<const std::byte> prefix) {
  const std::uint32_t magic = magic_of(prefix);
  return prefix.size() >= 8 && (magic == kMagic || magic == __builtin_bswap32(kMagic));
}

Result<JitDump> parse_jitdump(std::span<const std::byte> bytes) {
  if (!is_jitdump(bytes)) return fail(ErrorCode::malformed, "the file does not begin with JiTD", 0);
  const bool same = magic_of(bytes) == kMagic;
  const std::endian other =
      std::endian::native == std::endian::little ? std::endian::big : std::endian::little;
  ByteCursor in(bytes, same ? std::endian::native : other);
  JitDump dump;
  in.u32();
  const std::uint32_t version = in.u32();
  const std::uint32_t header_size = in.u32();
  dump.machine = in.u32();
  in.u32();
  dump.pid = in.u32();
  dump.time = in.u64();
  dump.arch_clock = (in.u64() & 1) != 0;
  PROFD_CHECK(in.status("the header"));
  if (version != 1)
    return fail(ErrorCode::unsupported, fmt::format("jitdump version {} is not read, only 1", version), 4);
  if (header_size < kHeaderSize || header_size > bytes.size())
    return fail(ErrorCode::malformed, fmt::format("a header of {} bytes", header_size), 8);
  in.seek(header_size);

  Pending pending;
  while (!in.at_end()) {
    const std::uint64_t at = in.offset();
    if (in.left() < kPrefixSize) {
      dump.cut = at;
      break;
    }
    const std::uint32_t id = in.u32(), size = in.u32();
    const std::uint64_t time = in.u64();
    if (size < kPrefixSize) return fail(ErrorCode::malformed, fmt::format("a record of {} bytes", size), at);
    if (size - kPrefixSize > in.left()) {
      dump.cut = at;
      break;
    }
    ByteCursor record = in.slice(size - kPrefixSize);
    ++dump.n_records[std::min<std::size_t>(id, 5)];
    if (id == kDebugInfo) {
      drop(dump, pending);
      read_debug_info(record, dump, pending);
      continue;
    }
    if (id != kLoad && id != kMove) continue;
    JitCode code;
    code.time = time;
    code.offset = at;
    if (!(id == kLoad ? read_load(record, code) : read_move(record, code))) {
      ++dump.n_bad_records;
      drop(dump, pending);
      continue;
    }
    if (id == kLoad && pending.any && pending.code_address == code.start) {
      attach_lines(dump, code, pending);
      pending.any = false;
    } else if (id == kLoad) {
      drop(dump, pending);
    }
    dump.code.push_back(code);
  }
  drop(dump, pending);
  return dump;
}

const JitLine* find_line(const JitDump& dump, const JitCode& code, std::uint64_t address) {
  const auto begin = dump.lines.begin() + code.first_line, end = begin + code.n_lines;
  const auto after = std::upper_bound(
      begin, end, address, [](std::uint64_t at, const JitLine& line) { return at < line.address; });
  return after == begin ? nullptr : &*(after - 1);
}

}  // namespace profd
