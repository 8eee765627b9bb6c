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
    KernelSymbol symbol;
    if (!parse_hex(line.substr(0, blank), symbol.address) || symbol.address == 0) continue;
    const std::string_view rest = line.substr(blank + 3);
    symbol.name = rest.substr(0, rest.find_first_of(" \t"));
    const std::size_t open = rest.find('['), close = rest.rfind(']');
    if (open != std::string_view::npos && close != std::string_view::npos && open < close)
      symbol.module = rest.substr(open + 1, close - open - 1);
    symbols_.push_back(symbol);
  }
  std::stable_sort(symbols_.begin(), symbols_.end(),
                   [](const KernelSymbol& a, const KernelSymbol& b) { return a.address < b.address; });
  std::size_t kept = 0;
  for (const KernelSymbol& symbol : symbols_) {
    if (kept > 0 && symbols_[kept - 1].address == symbol.address)
      aliases_.push_back(symbol);
    else
      symbols_[kept++] = symbol;
  }
  symbols_.resize(kept);
}

const KernelSymbol* Kallsyms::symbol_at(std::uint64_t address) const {
  const auto after =
      std::upper_bound(symbols_.begin(), symbols_.end(), address,
                       [](std::uint64_t at, const KernelSymbol& symbol) { return at < symbol.address; });
  return after == symbols_.begin() ? nullptr : &*(after - 1);
}

std::string_view Kallsyms::find(std::uint64_t address) const {
  const KernelSymbol* symbol = symbol_at(address);
  return symbol == nullptr ? std::string_view() : symbol->name;
}

std::uint64_t Kallsyms::address_of(std::string_view name) const {
  for (const std::vector<KernelSymbol>* symbols : {&symbols_, &aliases_}) {
    const auto found = std::find_if(symbols->begin(), symbols->end(),
                                    [&](const KernelSymbol& symbol) { return symbol.name == name; });
    if (found != symbols->end()) return found->address;
  }
  return 0;
}

}  // namespace profd
