#include "formats/support/kallsyms.h"

#include <algorithm>

#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"

namespace profd {

Kallsyms::Kallsyms(std::string_view text) {
  LineReader lines(text);
  for (std::string_view line; lines.next(line);) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos || blank + 3 >= line.size() || line[blank + 2] != ' ') continue;
    if (std::string_view("tTwW").find(line[blank + 1]) == std::string_view::npos) continue;
    Symbol symbol;
    if (!parse_hex(line.substr(0, blank), symbol.address) || symbol.address == 0) continue;
    symbol.name = line.substr(blank + 3);
    symbol.name = symbol.name.substr(0, symbol.name.find_first_of(" \t"));
    symbols_.push_back(symbol);
  }
  std::stable_sort(symbols_.begin(), symbols_.end(),
                   [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
                             [](const Symbol& a, const Symbol& b) { return a.address == b.address; }),
                 symbols_.end());
}

std::string_view Kallsyms::find(std::uint64_t address) const {
  const auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](std::uint64_t at, const Symbol& symbol) { return at < symbol.address; });
  return after == symbols_.begin() ? std::string_view{} : (after - 1)->name;
}

std::uint64_t Kallsyms::address_of(std::string_view name) const {
  const auto found = std::find_if(symbols_.begin(), symbols_.end(),
                                  [&](const Symbol& symbol) { return symbol.name == name; });
  return found == symbols_.end() ? 0 : found->address;
}

}  // namespace profd
