// `--- symbol`: what `pprof --raw` puts in front of a profile, so that it can be read without the program.
#include "formats/pprof_legacy/text.h"
#include "formats/support/text_number.h"

namespace profd::pprof_legacy {
namespace {

// Names that stand for several functions end in <the function's offset>.
std::string_view without_place(std::string_view name) {
  if (name.size() < 18 || name.back() != '>' || name[name.size() - 18] != '<') return name;
  std::uint64_t offset;
  return parse_hex(name.substr(name.size() - 17, 16), offset) ? name.substr(0, name.size() - 18) : name;
}

}  // namespace

Result<void> read_symbols(std::string_view text, std::size_t& at, ReadContext& context, Records& out) {
  LineReader lines(text, at);
  std::string_view line;
  lines.next(line);
  while (lines.next(line)) {
    if (line.starts_with("binary=")) {
      out.program = trim(line.substr(7));
      continue;
    }
    if (line.starts_with("---")) {
      // `---` ends the table, `--- profile` begins what follows.
      at = lines.offset();
      if (trim(line) == "---") at = lines.position();
      std::string_view next;
      LineReader rest(text, at);
      if (!rest.next(next) || !next.starts_with("--- "))
        return fail(ErrorCode::truncated, "the file ends after its symbols", text.size());
      // A profile whose own first line begins with dashes has no line of its own in front of it.
      if (!next.starts_with("--- contentionz") && !next.starts_with("--- threadz")) at = rest.position();
      return {};
    }
    const std::size_t blank = line.find(' ');
    std::uint64_t address;
    if (blank == std::string_view::npos || !parse_hex(line.substr(0, blank), address)) {
      if (!trim(line).empty())
        PROFD_CHECK(bad_line(context, "a line is no address with its name", lines.offset()));
      continue;
    }
    // Outermost first; what is inlined follows behind `--`.
    std::vector<Line> symbol;
    std::string_view names = line.substr(blank + 1);
    for (std::size_t end = 0; end != std::string_view::npos;) {
      end = names.find("--");
      // operator--
      if (end != std::string_view::npos && names.substr(0, end).ends_with("operator"))
        end = names.find("--", end + 2);
      const std::string_view name = without_place(trim(names.substr(0, end)));
      if (!name.empty() && symbol.size() < 1000) symbol.insert(symbol.begin(), {name, {}, 0});
      if (end != std::string_view::npos) names.remove_prefix(end + 2);
    }
    if (!symbol.empty()) out.symbols.try_emplace(address, std::move(symbol));
  }
  return fail(ErrorCode::truncated, "the file ends in its symbols", text.size());
}

}  // namespace profd::pprof_legacy
