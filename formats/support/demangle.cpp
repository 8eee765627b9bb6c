#include "formats/support/demangle.h"

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

#include "formats/support/rust_v0.h"

namespace profd {
namespace {

std::string cxx_demangle(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : std::string();
}

// "S_", "S1A_", "T0_": what stood before stands here again. Each level that names the one before it three
// times makes the text three times as long: 250 bytes can stand for more than all memory holds. Of 80,000
// names of LLVM, clang and profd itself one in 1,500 has more references than this.
constexpr std::size_t kMaxReferences = 20;

std::size_t count_references(std::string_view symbol) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < symbol.size(); ++i) {
    if (symbol[i] != 'S' && symbol[i] != 'T') continue;
    std::size_t end = i + 1;
    while (end < symbol.size() &&
           ((symbol[end] >= '0' && symbol[end] <= '9') || (symbol[end] >= 'A' && symbol[end] <= 'Z')))
      ++end;
    n += end < symbol.size() && symbol[end] == '_';
    i = end;
  }
  return n;
}

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Legacy Rust names are Itanium ones whose last part is "h" and 16 hex digits, with $..$ for what a C
// identifier cannot hold.
constexpr std::size_t kRustHash = 19;  // "::h0123456789abcdef"

bool has_rust_hash(std::string_view name) {
  if (name.size() <= kRustHash) return false;
  const std::string_view hash = name.substr(name.size() - kRustHash);
  if (!hash.starts_with("::h")) return false;
  for (const char c : hash.substr(3))
    if (!is_hex(c)) return false;
  return true;
}

std::string rust_legacy(std::string_view name) {
  static constexpr std::pair<std::string_view, char> kEscapes[] = {
      {"$SP$", '@'},   {"$BP$", '*'},  {"$RF$", '&'},  {"$LT$", '<'},  {"$GT$", '>'},
      {"$LP$", '('},   {"$RP$", ')'},  {"$C$", ','},   {"$u7e$", '~'}, {"$u20$", ' '},
      {"$u27$", '\''}, {"$u3d$", '='}, {"$u22$", '"'}, {"$u5b$", '['}, {"$u5d$", ']'},
      {"$u7b$", '{'},  {"$u7d$", '}'}, {"$u3b$", ';'}, {"$u2b$", '+'}};
  name.remove_suffix(kRustHash);
  std::string out;
  bool part_begins = true;
  while (!name.empty()) {
    // A part that would begin with an escape is preceded by "_".
    if (part_begins && name.starts_with("_$")) name.remove_prefix(1);
    part_begins = false;
    if (name.starts_with("..")) {
      out += "::";
      name.remove_prefix(2);
      continue;
    }
    bool found = false;
    for (const auto& [escape, c] : kEscapes) {
      if (!name.starts_with(escape)) continue;
      out += c;
      name.remove_prefix(escape.size());
      found = true;
      break;
    }
    if (found) continue;
    part_begins = name.front() == ':';
    out += name.front();
    name.remove_prefix(1);
  }
  return out;
}

}  // namespace

std::string demangle(std::string_view symbol) {
  if (symbol.size() > kMaxMangledName) return std::string(symbol);
  // macOS puts one more underscore before.
  std::string_view core = symbol.starts_with("__Z") ? symbol.substr(1) : symbol;
  const bool is_rust = is_rust_v0(symbol);
  if (!is_rust && !core.starts_with("_Z")) return std::string(symbol);
  std::string_view suffix;
  if (const std::size_t at = core.find('@'); at != std::string_view::npos) {
    suffix = core.substr(at);
    core = core.substr(0, at);
  }
  if (is_rust) {
    const std::optional<std::string> text = demangle_rust_v0(core);
    return text ? *text + std::string(suffix) : std::string(symbol);
  }
  if (count_references(core) > kMaxReferences) return std::string(symbol);
  std::string text = cxx_demangle(std::string(core));
  if (text.empty()) return std::string(symbol);
  if (has_rust_hash(text)) text = rust_legacy(text);
  text += suffix;
  return text;
}

}  // namespace profd
