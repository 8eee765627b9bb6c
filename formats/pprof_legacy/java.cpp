// --- heapz 1 --- and --- contentionz 1 --- with `format = java`: ids instead of addresses, names at the end.
#include "core/support/checked.h"
#include "formats/pprof_legacy/text.h"
#include "formats/support/text_number.h"

namespace profd::pprof_legacy {

Result<void> read_java(std::string_view text, std::size_t& at, ReadContext& context, Records& out) {
  LineReader lines(text, at);
  std::string_view line;
  lines.next(line);
  const bool heap = line.find("heapz") != std::string_view::npos;
  out.ids_only = true;
  out.kind = FrameKind::jit;
  out.period_type = heap ? "" : "contentions";
  out.period_unit = heap ? "" : "count";
  std::string unit = heap ? "bytes" : "nanoseconds";
  constexpr std::int64_t kHeapRate = 524288;
  while (lines.next(line)) {
    const std::string_view part = trim(line);
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    if (equals != std::string_view::npos && part.find('@') == std::string_view::npos &&
        out.n_samples() == 0) {
      const std::string_view key = trim(part.substr(0, equals)), value = trim(part.substr(equals + 1));
      std::int64_t number = 0;
      if (key == "resolution") unit = value;
      if (key == "sampling period") {
        if (!parse_int(value, out.period))
          return fail(ErrorCode::malformed, "the sampling period is no number", lines.offset());
      }
      if (key == "ms since reset" && parse_int(value, number) &&
          !mul_overflows<std::int64_t>(number, 1'000'000, number))
        out.duration_ns = number;
      out.properties.emplace_back(key, value);
      continue;
    }
    std::string_view rest = part;
    std::int64_t size = 0, count = 0;
    if (!take_number(rest, size) || !take_number(rest, count) || !take(rest, "@")) break;
    const std::size_t begin = out.frames.size();
    if (!add_addresses(rest, 0, out, context.limits.stack_depth, begin))
      return fail(ErrorCode::malformed, "an id is no number, or there are too many", lines.offset());
    if (heap && count == 0) return fail(ErrorCode::malformed, "a sample has no objects", lines.offset());
    if (heap) {
      out.block_size.push_back(count == -1 ? 0 : size / count);
      unsample_heap(count, size, kHeapRate);
    } else if (out.period != 0 &&
               (mul_overflows(count, out.period, count) || mul_overflows(size, out.period, size))) {
      return fail(ErrorCode::malformed, "a value is too large", lines.offset());
    }
    out.values.push_back(count);
    out.values.push_back(size);
    out.stack_end.push_back(out.frames.size());
  }
  if (heap)
    out.metrics = {{"inuse_objects", "count"}, {"inuse_space", unit}};
  else
    out.metrics = {{"contentions", "count"}, {"delay", unit}};
  at = lines.offset();
  read_java_locations(text, at, out);
  at = text.size();
  return {};
}

void read_java_locations(std::string_view text, std::size_t at, Records& out) {
  LineReader lines(text, at);
  for (std::string_view line; lines.next(line);) {
    line = trim(line);
    const std::size_t blank = line.find_first_of(" \t");
    std::uint64_t id;
    if (!line.starts_with("0x") || blank == std::string_view::npos || !parse_hex(line.substr(0, blank), id))
      continue;
    std::string_view name = trim(line.substr(blank));
    Line symbol;
    const std::size_t open = name.rfind(" (");
    if (open != std::string_view::npos && name.ends_with(')')) {
      symbol.file = name.substr(open + 2, name.size() - open - 3);
      name = trim(name.substr(0, open));
      const std::size_t colon = symbol.file.rfind(':');
      std::int64_t number = 0;
      if (colon != std::string_view::npos && parse_int(symbol.file.substr(colon + 1), number)) {
        symbol.file = symbol.file.substr(0, colon);
        if (number > 0 && number < kNone) symbol.line = static_cast<std::uint32_t>(number);
      } else {
        symbol.file = symbol.file.substr(symbol.file.rfind('/') + 1);
      }
    } else if (name.find("generated stub/JIT") != std::string_view::npos) {
      name = "STUB";
    }
    symbol.name = name;
    out.symbols.try_emplace(id).first->second = {symbol};
  }
}

}  // namespace profd::pprof_legacy
