#include "formats/perf_script/frame_line.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace profd::perf_script {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

// The last (...) of `text`, brackets balanced, when a blank stands before it; npos otherwise.
std::size_t last_group(std::string_view text) {
  if (!text.ends_with(')')) return std::string_view::npos;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return i > 0 && is_blank(text[i - 1]) ? i : std::string_view::npos;
  }
  const std::size_t open = text.rfind(" (");
  return open == std::string_view::npos ? open : open + 1;
}

// "symbol+0x1f": where the offset begins, npos when there is none.
std::size_t offset_at(std::string_view symbol) {
  const std::size_t plus = symbol.rfind("+0x");
  if (plus == std::string_view::npos || plus == 0 || plus + 3 == symbol.size()) return std::string_view::npos;
  return std::all_of(symbol.begin() + static_cast<std::ptrdiff_t>(plus) + 3, symbol.end(), is_hex)
             ? plus
             : std::string_view::npos;
}

// Branch entries: 0xFROM/0xTO/P/-/-/4/ ….
std::size_t branches_at(std::string_view text) {
  for (std::size_t at = text.find("0x"); at != std::string_view::npos; at = text.find("0x", at + 2)) {
    if (at > 0 && !is_blank(text[at - 1])) continue;
    std::size_t end = at + 2;
    while (end < text.size() && is_hex(text[end])) ++end;
    if (text.substr(end).starts_with("/0x")) return at;
  }
  return std::string_view::npos;
}

FrameKind kind_of(std::string_view module) {
  const std::string_view base = module.substr(module.rfind('/') + 1);
  if (base.starts_with("perf-") && base.ends_with(".map")) return FrameKind::jit;
  if (base.starts_with("jitted-") || module.starts_with("[JIT]")) return FrameKind::jit;
  if (base.starts_with("vmlinux") || base.ends_with(".ko")) return FrameKind::kernel;
  constexpr std::array<std::string_view, 8> kUser{"[unknown]", "[vdso]", "[vsyscall]", "[heap]",
                                                  "[stack]",   "[anon]", "[uprobes]",  "[vectors]"};
  const bool user = std::find(kUser.begin(), kUser.end(), module) != kUser.end();
  return module.starts_with('[') && !user ? FrameKind::kernel : FrameKind::native;
}

// "Lorg/mozilla/Foo;.bar" and "Lorg/mozilla/Foo;::bar" (perf-map-agent) -> "org/mozilla/Foo.bar".
bool is_java(std::string_view symbol) {
  const std::size_t semicolon = symbol.find(';');
  return symbol.starts_with('L') && semicolon != std::string_view::npos &&
         (symbol.substr(semicolon + 1).starts_with('.') || symbol.substr(semicolon + 1).starts_with("::"));
}

Symbol java_symbol(std::string_view text) {
  const std::size_t semicolon = text.find(';');
  const std::string_view method = text.substr(semicolon + (text[semicolon + 1] == '.' ? 2 : 3));
  Symbol symbol;
  symbol.name = std::string(text.substr(1, semicolon - 1)) + "." + std::string(method);
  symbol.system_name = text;
  symbol.kind = FrameKind::jit;
  return symbol;
}

// V8: "JS:*fib /opt/demo.js:2:13": tier mark (~ interpreted), name, place of the definition.
bool v8_symbol(std::string_view text, Symbol& symbol) {
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

Symbol jit_symbol(std::string_view text) {
  if (is_java(text)) return java_symbol(text);
  Symbol symbol;
  if (!v8_symbol(text, symbol)) symbol.name = std::string(text);
  if (symbol.kind == FrameKind::native) symbol.kind = FrameKind::jit;
  return symbol;
}

}  // namespace

bool looks_like_frame(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size() && is_blank(line[at])) ++at;
  const std::size_t begin = at;
  while (at < line.size() && is_hex(line[at])) ++at;
  return begin > 0 && at > begin && at - begin <= 16 && (at == line.size() || is_blank(line[at]));
}

FrameLine parse_frame_line(std::string_view line) {
  FrameLine frame;
  line = trim(line);
  const char* const end = line.data() + line.size();
  const auto [after, error] = std::from_chars(line.data(), end, frame.address, 16);
  line = trim(line.substr(static_cast<std::size_t>(after - line.data())));
  if (const std::size_t branches = branches_at(line); branches != std::string_view::npos) {
    frame.has_branches = true;
    line = trim(line.substr(0, branches));
  }
  if (const std::size_t open = last_group(line); open != std::string_view::npos) {
    const std::string_view inside = line.substr(open + 1, line.size() - open - 2);
    if (inside == "inlined")
      frame.inlined = true;
    else
      frame.module = inside;
    line = trim(line.substr(0, open));
  }
  if (const std::size_t plus = offset_at(line); plus != std::string_view::npos) line = line.substr(0, plus);
  frame.symbol = line.empty() ? "[unknown]" : line;
  return frame;
}

SourcePlace parse_source_line(std::string_view line) {
  SourcePlace place;
  line = trim(line);
  if (line.ends_with(" (inlined)")) {
    place.inlined = true;
    line = trim(line.substr(0, line.size() - 10));
  }
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return place;
  const std::string_view file = line.substr(0, colon), digits = line.substr(colon + 1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size() || file == "??")
    return place;
  place.file = file;
  place.line = number;
  return place;
}

std::vector<Symbol> symbols_of(const FrameLine& frame) {
  std::vector<Symbol> out;
  const FrameKind kind = kind_of(frame.module);
  if (frame.symbol == "[unknown]") {
    Symbol symbol;
    const std::string_view base = frame.module.substr(frame.module.rfind('/') + 1);
    if (base.empty())
      symbol.name = "[unknown]";
    else if (base.front() == '[')
      symbol.name = std::string(base);
    else
      symbol.name = "[" + std::string(base) + "]";
    symbol.unresolved = true;
    symbol.kind = kind;
    out.push_back(std::move(symbol));
    return out;
  }
  if (kind != FrameKind::jit) {
    Symbol symbol;
    symbol.name = std::string(frame.symbol);
    symbol.kind = kind;
    out.push_back(std::move(symbol));
    return out;
  }
  // perf-map-agent: "Lx;::a->Ly;::b", the method compiled and what was inlined into it.
  std::string_view rest = frame.symbol;
  while (is_java(rest)) {
    const std::size_t arrow = rest.find("->L");
    if (arrow == std::string_view::npos || !is_java(rest.substr(arrow + 2))) break;
    out.push_back(java_symbol(rest.substr(0, arrow)));
    rest = rest.substr(arrow + 2);
  }
  out.push_back(jit_symbol(rest));
  return out;
}

}  // namespace profd::perf_script
