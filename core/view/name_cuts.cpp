#include "core/view/name_cuts.h"

#include <algorithm>
#include <array>

#include "core/view/name_scan.h"

namespace profd {
namespace {

constexpr std::size_t kMaxCuts = 6;  // of a path

// The end of a file's name or what a compiler added to a symbol.
bool is_ending(std::string_view part) {
  static constexpr std::array kEndings = {
      packed("c"),   packed("cc"),   packed("cpp"), packed("cxx"),   packed("h"),     packed("hh"),
      packed("hpp"), packed("go"),   packed("rs"),  packed("py"),    packed("pyx"),   packed("pyc"),
      packed("rb"),  packed("js"),   packed("mjs"), packed("cjs"),   packed("jsx"),   packed("ts"),
      packed("tsx"), packed("java"), packed("kt"),  packed("php"),   packed("lua"),   packed("so"),
      packed("dll"), packed("exe"),  packed("jar"), packed("dylib"), packed("class"), packed("erb")};
  if (is_added_to_symbols(part)) return true;
  return part.size() <= 5 && std::find(kEndings.begin(), kEndings.end(), packed(part)) != kEndings.end();
}

// What says nothing without the name before it: closures, lambdas, numbers, call operators.
bool is_weak(std::string_view part) {
  if (part.empty() || is_digit(part.front()) || is_ending(part)) return true;
  switch (part.front()) {
    case '{':
    case '<':
    case '[':
    case '$':
      return true;
    case '(':
      return part.starts_with("(anon");
    case 'f':
      return part.size() > 4 && part.starts_with("func") && is_digit(part[4]);
    case 'l':
      return part.starts_with("lambda");
    case 'o':
      return part.starts_with("operator");
    default:
      return part.starts_with("λ");
  }
}

// How many characters part names at `i`: "::", ".", "/", "\\", "#" of Ruby, "->" of PHP.
std::size_t separator_length(std::string_view name, std::size_t i) {
  const char next = i + 1 < name.size() ? name[i + 1] : '\0';
  switch (name[i]) {
    case '.':
    case '/':
    case '\\':
    case '#':
      return 1;
    case ':':
      return next == ':' ? 2 : 0;
    case '-':
      return next == '>' ? 2 : 0;
    default:
      return 0;
  }
}

// Where the name begins in what CPython says of its own functions: "<built-in method builtins.sum>",
// "{method 'append' of 'list' objects}". 0 for every other name.
std::size_t python_prefix(std::string_view name) {
  if (name.empty() || (name[0] != '<' && name[0] != '{')) return 0;
  for (const std::string_view words : {"built-in method ", "built-in function ", "method "})
    if (name.substr(1, words.size()) == words && name.size() > 1 + words.size()) return 1 + words.size();
  return 0;
}

std::vector<std::uint32_t> cuts_of_path(std::string_view name) {
  std::vector<std::uint32_t> cuts;
  // "(garbage collector)", "[unknown]", "-[NSArray count]" are names as they stand.
  if (name.size() < 2 || name[0] == '(' || name[0] == '[' || name[1] == '[' || name[0] == '{') return cuts;
  std::vector<std::uint32_t> begins;  // of parts; the last one ends where the name or its first blank does
  std::size_t end = name.size();
  int depth = 0;
  for (std::size_t i = 0; i < name.size();) {
    if (const std::size_t n = operator_length(name, i); n > 0) {
      i += n;
      continue;
    }
    const char c = name[i];
    const std::size_t separator = separator_length(name, i);
    if (depth == 0 && separator > 0) {
      i += separator;
      begins.push_back(static_cast<std::uint32_t>(i));
      continue;
    }
    if (separator == 2) {
      i += 2;
      continue;
    }
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if ((c == '>' || c == ')' || c == ']' || c == '}') && depth > 0) --depth;
    if (depth == 0 && c == ' ') {
      end = i;
      break;
    }
    ++i;
  }
  for (std::size_t k = 0; k < begins.size(); ++k) {
    const std::size_t stop = k + 1 < begins.size() ? begins[k + 1] : end;
    std::string_view part = name.substr(begins[k], stop - begins[k]);
    while (!part.empty() && (part.back() == ':' || part.back() == '.' || part.back() == '/' ||
                             part.back() == '\\' || part.back() == '#'))
      part.remove_suffix(1);
    if (begins[k] < name.size() && !is_weak(part)) cuts.push_back(begins[k]);
  }
  if (cuts.size() > kMaxCuts) cuts.erase(cuts.begin(), cuts.end() - kMaxCuts);
  return cuts;
}

}  // namespace

std::vector<std::uint32_t> name_cuts(std::string_view name) {
  const auto prefix = static_cast<std::uint32_t>(python_prefix(name));
  std::vector<std::uint32_t> cuts = cuts_of_path(name.substr(prefix));
  if (prefix == 0) return cuts;
  for (std::uint32_t& cut : cuts) cut += prefix;
  cuts.insert(cuts.begin(), prefix);
  return cuts;
}

}  // namespace profd
