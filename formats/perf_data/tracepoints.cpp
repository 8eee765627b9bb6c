#include "formats/perf_data/tracepoints.h"

#include <algorithm>
#include <charconv>

#include "core/support/text.h"

namespace profd::perf_data {
namespace {

constexpr std::size_t kMaxFormats = 4096, kMaxFields = 64;

// "offset:24;" of a line of a format.
std::optional<std::uint64_t> number_behind(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t value = 0;
  const char* const begin = line.data() + at + word.size();
  const auto [end, error] = std::from_chars(begin, line.data() + line.size(), value);
  if (error != std::errc{} || end == begin) return std::nullopt;
  return value;
}

// "field:char prev_comm[16];": the last word of the declaration, without its bounds.
std::string_view name_of_field(std::string_view line) {
  constexpr std::string_view kField = "field:";
  const std::size_t begin = line.find(kField);
  if (begin == std::string_view::npos) return {};
  std::string_view declaration = line.substr(begin + kField.size());
  declaration = declaration.substr(0, declaration.find(';'));
  declaration = declaration.substr(0, declaration.find('['));
  return declaration.substr(declaration.find_last_of(" *") + 1);
}

// Of 1, 2, 4 or 8 bytes.
bool read_field(const TracepointFormat& format, ByteCursor raw, std::string_view name, std::uint64_t& out) {
  const TracepointField* const field = format.find(name);
  if (field == nullptr) return false;
  raw.seek(field->offset);
  switch (field->size) {
    case 1:
      out = raw.u8();
      break;
    case 2:
      out = raw.u16();
      break;
    case 4:
      out = raw.u32();
      break;
    case 8:
      out = raw.u64();
      break;
    default:
      return false;
  }
  return raw.ok();
}

bool read_tid(const TracepointFormat& format, ByteCursor raw, std::string_view name, std::uint32_t& out) {
  std::uint64_t value = 0;
  if (!read_field(format, raw, name, value)) return false;
  out = static_cast<std::uint32_t>(value);
  return true;
}

std::string_view text_of(const TracepointFormat& format, ByteCursor raw, std::string_view name) {
  const TracepointField* const field = format.find(name);
  if (field == nullptr) return {};
  raw.seek(field->offset);
  const std::string_view padded = raw.text(field->size);
  return padded.substr(0, padded.find('\0'));
}

bool read_formats(ByteCursor& in, std::string_view system, std::uint64_t n, TracepointFormats& out) {
  for (std::uint64_t i = 0; i < n && in.ok(); ++i) {
    const std::string_view text = in.text(in.u64());
    if (in.ok() && !system.empty()) read_format_text(system, text, out);
  }
  return in.ok();
}

}  // namespace

const TracepointField* TracepointFormat::find(std::string_view field) const {
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [&](const TracepointField& candidate) { return candidate.name == field; });
  return at == fields.end() ? nullptr : &*at;
}

std::optional<std::uint64_t> read_format_text(std::string_view system, std::string_view text,
                                              TracepointFormats& out) {
  TracepointFormat format;
  std::optional<std::uint64_t> id;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("name: ")) {
      format.name = std::string(system) + ":" + repair_utf8(line.substr(6));
    } else if (line.starts_with("ID: ")) {
      id = number_behind(line, "ID: ");
    } else if (const std::string_view name = name_of_field(line);
               !name.empty() && format.fields.size() < kMaxFields) {
      const auto offset = number_behind(line, "offset:"), size = number_behind(line, "size:");
      if (offset && size && *offset <= kNone && *size <= kNone)
        format.fields.push_back(
            {std::string(name), static_cast<std::uint32_t>(*offset), static_cast<std::uint32_t>(*size)});
    }
  }
  if (!id || format.name.empty() || out.size() >= kMaxFormats) return std::nullopt;
  out.insert_or_assign(*id, std::move(format));
  return id;
}

bool read_tracing_data(ByteCursor in, TracepointFormats& out) {
  const std::string_view magic = in.text(10);
  if (magic != std::string_view("\x17\x08\x44tracing")) return false;
  in.text_to_nul();                       // version
  in.skip(1 + 1 + 4);                     // byte order, size of a long, of a page
  for (int part = 0; part < 2; ++part) {  // header_page, header_event
    in.text_to_nul();
    in.skip(in.u64());
  }
  if (!read_formats(in, {}, in.u32(), out)) return false;  // of ftrace itself
  for (std::uint32_t n_systems = in.u32(); n_systems > 0 && in.ok(); --n_systems) {
    const std::string_view system = in.text_to_nul();
    if (!read_formats(in, system, in.u32(), out)) return false;
  }
  return in.ok();
}

const TracepointFormat& usual_format(SchedulerTracepoint kind) {
  static const TracepointFormat switches{"sched:sched_switch",
                                         {{"common_flags", 2, 1},
                                          {"prev_pid", 24, 4},
                                          {"prev_state", 32, 8},
                                          {"next_comm", 40, 16},
                                          {"next_pid", 56, 4}}};
  static const TracepointFormat wakings{
      "sched:sched_waking", {{"common_flags", 2, 1}, {"common_pid", 4, 4}, {"comm", 8, 16}, {"pid", 24, 4}}};
  return kind == SchedulerTracepoint::switches ? switches : wakings;
}

bool decode_switch(const TracepointFormat& format, ByteCursor raw, SchedulerSwitch& out) {
  std::uint64_t state = 0;
  if (!read_tid(format, raw, "prev_pid", out.prev_tid) || !read_tid(format, raw, "next_pid", out.next_tid) ||
      !read_field(format, raw, "prev_state", state))
    return false;
  out.out = left_in_state(state);
  out.next_name = text_of(format, raw, "next_comm");
  return true;
}

bool decode_waking(const TracepointFormat& format, ByteCursor raw, SchedulerWaking& out) {
  out.name = text_of(format, raw, "comm");
  return read_tid(format, raw, "pid", out.tid);
}

std::uint32_t thread_of(const TracepointFormat& format, ByteCursor raw) {
  std::uint32_t tid = kNone;
  return read_tid(format, raw, "common_pid", tid) ? tid : kNone;
}

bool is_in_interrupt(const TracepointFormat& format, ByteCursor raw) {
  constexpr std::uint64_t kHard = 0x08, kSoft = 0x10;
  std::uint64_t flags = 0;
  return read_field(format, raw, "common_flags", flags) && (flags & (kHard | kSoft)) != 0;
}

}  // namespace profd::perf_data
