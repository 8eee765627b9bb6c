#include "tests/support/objdump.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace profd::test {
namespace {

bool is_branch(std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t before = text.size(); before != begin;) {
    before = begin;
    for (const std::string_view prefix :
         {"bnd ", "notrack ", "repz ", "rep ", "data16 ", "rex.W ", "ds ", "cs "}) {
      if (text.substr(begin).starts_with(prefix)) begin += prefix.size();
    }
  }
  const std::string_view name = text.substr(begin, text.find(' ', begin) - begin);
  if (name.starts_with('j') || name.starts_with("call") || name.starts_with("loop") || name == "xbegin")
    return true;
  return name == "b" || name == "bl" || name.starts_with("b.") || name == "cbz" || name == "cbnz" ||
         name == "tbz" || name == "tbnz" || name == "blx";
}

// "je     c668" or "tbz w0, #3, c668": the number behind the last space.
std::uint64_t target_of(std::string_view text) {
  if (!is_branch(text)) return kNoTarget;
  const std::string number(text.substr(text.rfind(' ') + 1));
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(number.c_str(), &end, 16);
  return *end == 0 && end != number.c_str() ? value : kNoTarget;
}

// Without comments and symbols; one space where there are several.
std::string plain_text(std::string_view shown) {
  std::string text;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (shown[i] == '#' && (i + 1 >= shown.size() || shown[i + 1] == ' ')) break;
    if (shown.substr(i).starts_with("// ") || shown.substr(i).starts_with("; ")) break;
    if (shown.substr(i).starts_with(" <")) break;
    const char c = shown[i] == '\t' ? ' ' : shown[i];
    if (c != ' ' || (!text.empty() && text.back() != ' ')) text += c;
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

// "    c651:\t74 15      \tje     c668 <f+0x38>"
void add_line(std::string_view line, std::vector<ObjdumpRun>& runs) {
  const std::size_t colon = line.find(":\t");
  if (colon == std::string_view::npos) return;
  char* end = nullptr;
  ObjdumpRow row;
  row.address = std::strtoull(line.data(), &end, 16);
  if (end != line.data() + colon) return;
  const std::string_view rest = line.substr(colon + 2);
  const std::size_t tab = rest.find('\t');
  std::vector<std::uint8_t> bytes;
  std::size_t at = 0;
  const std::string_view hex = rest.substr(0, tab);
  while (at < hex.size() && hex[at] != ' ') {
    std::size_t stop = std::min(hex.find(' ', at), hex.size());
    const std::size_t unit = bytes.size();
    for (; at + 1 < stop + 1 && at < stop; at += 2) {
      const std::string digits(hex.substr(at, 2));
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(unit),
                   static_cast<std::uint8_t>(std::strtoul(digits.c_str(), nullptr, 16)));
    }
    at = stop + 1;
  }
  if (bytes.empty()) return;
  row.length = static_cast<std::uint8_t>(bytes.size());
  row.text = plain_text(tab == std::string_view::npos ? std::string_view() : rest.substr(tab + 1));
  row.target = target_of(row.text);
  if (runs.empty() || runs.back().start + runs.back().bytes.size() != row.address)
    runs.push_back({row.address, {}, {}});
  runs.back().bytes.insert(runs.back().bytes.end(), bytes.begin(), bytes.end());
  runs.back().rows.push_back(std::move(row));
}

}  // namespace

bool runs(const std::string& command) {
  return std::system(("(" + command + ") >/dev/null 2>&1").c_str()) == 0;
}

bool has_program(const std::string& name) {
  return runs("command -v " + name);
}

std::vector<ObjdumpRun> objdump_runs(const std::string& objdump, const std::string& options,
                                     const std::string& file) {
  const std::string command = objdump + " -d -z --insn-width=16 " + options + " '" + file + "' 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) throw std::runtime_error("objdump does not start");
  std::vector<ObjdumpRun> found;
  std::array<char, 1024> buffer;
  while (std::fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) {
    std::string_view line(buffer.data());
    if (line.ends_with('\n')) line.remove_suffix(1);
    add_line(line, found);
  }
  return found;
}

}  // namespace profd::test
