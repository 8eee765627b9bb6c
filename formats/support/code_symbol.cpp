#include "formats/support/code_symbol.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace profd {
namespace {

// "Lorg/mozilla/Foo;.bar" and "Lorg/mozilla/Foo;::bar" (perf-map-agent) -> "org/mozilla/Foo.bar".
bool is_java(std::string_view symbol) {
  const std::size_t semicolon = symbol.find(';');
  return symbol.starts_with('L') && semicolon != std::string_view::npos &&
         (symbol.substr(semicolon + 1).starts_with('.') || symbol.substr(semicolon + 1).starts_with("::"));
}

CodeSymbol java_symbol(std::string_view text) {
  const std::size_t semicolon = text.find(';');
  const std::string_view method = text.substr(semicolon + (text[semicolon + 1] == '.' ? 2 : 3));
  CodeSymbol symbol;
  symbol.name = std::string(text.substr(1, semicolon - 1)) + "." + std::string(method);
  symbol.system_name = text;
  symbol.kind = FrameKind::jit;
  return symbol;
}

// V8: "JS:*fib /opt/demo.js:2:13": tier mark (~ interpreted), name, place of the definition.
bool v8_symbol(std::string_view text, CodeSymbol& symbol) {
  constexpr std::array<std::string_view, 5> kPrefixes{"JS:", "LazyCompile:", "Function:", "Eval:", "Script:"};
  const auto prefix = std::find_if(kPrefixes.begin(), kPrefixes.end(),
                                   [&](std::string_view p) { return text.starts_with(p); });
  if (prefix == kPrefixes.end()) return false;
  std::string_view rest = text.substr(prefix->size());
  const bool marked = !rest.empty() && std::string_view("~*^+").find(rest.front()) != std::string_view::npos;
  const bool interpreted = marked && rest.front() == '~';
  if (marked) rest.remove_prefix(1);
  const std::size_t blank = rest.rfind(' ');
  if (blank == std::string_view::npos) return false;
  // file:line[:column]
  std::string_view file = rest.substr(blank + 1);
  std::array<std::uint32_t, 2> numbers{};
  std::size_t n = 0;
  for (; n < 2; ++n) {
    const std::size_t colon = file.rfind(':');
    if (colon == std::string_view::npos) break;
    const std::string_view digits = file.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), numbers[n]);
    if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) break;
    file = file.substr(0, colon);
  }
  if (n == 0 || file.empty()) return false;
  symbol.name = blank == 0 ? "(anonymous)" : std::string(rest.substr(0, blank));
  symbol.system_name = text;
  symbol.file = file;
  symbol.start_line = numbers[n - 1];
  symbol.kind = interpreted ? FrameKind::interpreted : FrameKind::jit;
  return true;
}

CodeSymbol jit_symbol(std::string_view text) {
  if (is_java(text)) return java_symbol(text);
  CodeSymbol symbol;
  if (!v8_symbol(text, symbol)) symbol.name = std::string(text);
  if (symbol.kind == FrameKind::native) symbol.kind = FrameKind::jit;
  return symbol;
}

}  // namespace

FrameKind kind_of_module(std::string_view module) {
  const std::string_view base = module.substr(module.rfind('/') + 1);
  if (base.starts_with("perf-") && base.ends_with(".map")) return FrameKind::jit;
  if (base.starts_with("jitted-") || module.starts_with("[JIT]")) return FrameKind::jit;
  if (base.starts_with("vmlinux") || base.ends_with(".ko") || base.find(".ko.") != std::string_view::npos)
    return FrameKind::kernel;
  if (module.starts_with("[anon:") || module.starts_with("[stack:")) return FrameKind::native;
  constexpr std::array<std::string_view, 8> kUser{"[unknown]", "[vdso]", "[vsyscall]", "[heap]",
                                                  "[stack]",   "[anon]", "[uprobes]",  "[vectors]"};
  const bool user = std::find(kUser.begin(), kUser.end(), module) != kUser.end();
  return module.starts_with('[') && !user ? FrameKind::kernel : FrameKind::native;
}

std::string unresolved_name(std::string_view module) {
  const std::string_view base = module.substr(module.rfind('/') + 1);
  if (base.empty()) return "[unknown]";
  return base.front() == '[' ? std::string(base) : "[" + std::string(base) + "]";
}

std::vector<CodeSymbol> jit_symbols(std::string_view symbol) {
  std::vector<CodeSymbol> out;
  // perf-map-agent: "Lx;::a->Ly;::b", the method compiled and what was inlined into it.
  while (is_java(symbol)) {
    const std::size_t arrow = symbol.find("->L", symbol.find(';'));
    if (arrow == std::string_view::npos || !is_java(symbol.substr(arrow + 2))) break;
    out.push_back(java_symbol(symbol.substr(0, arrow)));
    symbol = symbol.substr(arrow + 2);
  }
  out.push_back(jit_symbol(symbol));
  return out;
}

std::vector<CodeSymbol> code_symbols(std::string_view symbol, std::string_view module) {
  const FrameKind kind = kind_of_module(module);
  const bool unresolved = symbol == "[unknown]";
  if (kind == FrameKind::jit && !unresolved) return jit_symbols(symbol);
  CodeSymbol plain;
  plain.name = unresolved ? unresolved_name(module) : std::string(symbol);
  plain.unresolved = unresolved;
  plain.kind = kind;
  return {std::move(plain)};
}

}  // namespace profd
