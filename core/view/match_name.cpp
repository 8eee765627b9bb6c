#include "core/view/match_name.h"

#include <algorithm>
#include <array>

#include "core/view/name_scan.h"

namespace profd {
namespace {

template <class Is>
std::size_t run_of(std::string_view text, std::size_t from, Is is) {
  std::size_t end = from;
  while (end < text.size() && is(text[end])) ++end;
  return end - from;
}

// Where the class that a JVM makes at run time is numbered: "/0x0000000800c03000", ".0x...", "+0x...",
// "/1234567".
std::size_t jvm_number_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || (text[at] != '/' && text[at] != '.' && text[at] != '+')) return 0;
  if (text.substr(at + 1, 2) == "0x") {
    const std::size_t digits = run_of(text, at + 3, is_hex);
    return digits == 0 ? 0 : 3 + digits;
  }
  const std::size_t digits = run_of(text, at + 1, is_digit);
  return digits == 0 || (at + 1 + digits < text.size() && is_word(text[at + 1 + digits])) ? 0 : 1 + digits;
}

void drop_jvm_numbers(std::string& name) {
  const auto erase_after = [&](std::string_view mark, auto length_of) {
    for (std::size_t at = 0; (at = name.find(mark, at)) != std::string::npos;) {
      at += mark.size();
      name.erase(at, length_of(at));
    }
  };
  erase_after("$$Lambda", [&](std::size_t at) {
    std::size_t n = 0;
    if (at < name.size() && name[at] == '$') {
      const std::size_t digits = run_of(name, at + 1, is_digit);
      n = digits == 0 ? 0 : 1 + digits;
    }
    // The address of a hidden class, and behind it what its name is made unique with.
    n += jvm_number_at(name, at + n);
    return n + jvm_number_at(name, at + n);
  });
  // The name of the form stands between: LambdaForm$DMH/0x...
  for (std::size_t at = 0; (at = name.find("LambdaForm$", at)) != std::string::npos;) {
    at += std::string_view("LambdaForm$").size();
    at += run_of(name, at, is_word);
    name.erase(at, jvm_number_at(name, at));
  }
  for (const std::string_view mark : {"GeneratedMethodAccessor", "GeneratedConstructorAccessor",
                                      "GeneratedSerializationConstructorAccessor", "$Proxy"})
    erase_after(mark, [&](std::size_t at) { return run_of(name, at, is_digit); });
}

// Length of one of a compiler's suffixes at the end; 0 without.
std::size_t compiler_suffix(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNumbered{".isra.", ".part.", ".constprop.", ".llvm.",
                                                      ".lto_priv."};
  if (name.ends_with(".cold")) return 5;
  std::size_t digits = 0;
  while (digits < name.size() && is_digit(name[name.size() - 1 - digits])) ++digits;
  if (digits == 0) return 0;
  const std::string_view before = name.substr(0, name.size() - digits);
  if (before.ends_with(".cold.")) return digits + 6;
  for (const std::string_view mark : kNumbered)
    if (before.ends_with(mark)) return digits + mark.size();
  return 0;
}

void drop_compiler_suffixes(std::string& name) {
  while (true) {
    if (name.ends_with("]")) {
      const std::size_t clone = name.rfind(" [clone ");
      if (clone == std::string::npos) return;
      const std::string_view inside = std::string_view(name).substr(clone + 8, name.size() - clone - 9);
      const std::size_t suffix = compiler_suffix(inside);
      if (suffix == 0 || suffix != inside.size()) return;
      name.erase(clone);
      continue;
    }
    const std::size_t suffix = compiler_suffix(name);
    if (suffix == 0 || suffix == name.size() || name[name.size() - suffix - 1] == ' ') return;
    name.erase(name.size() - suffix);
  }
}

void drop_rust_hash(std::string& name) {
  constexpr std::size_t kDigits = 16;
  const auto all_hex = [](std::string_view text) { return std::all_of(text.begin(), text.end(), is_hex); };
  if (const std::size_t at = name.rfind("::h"); at != std::string::npos && at != 0)
    if (name.size() - at == 3 + kDigits && all_hex(std::string_view(name).substr(at + 3)))
      return void(name.erase(at));
  if (name.rfind("_ZN", 0) != 0) return;
  const std::size_t at = name.rfind("17h");
  if (at != std::string::npos && at + 3 + kDigits + 1 == name.size() && name.back() == 'E' &&
      all_hex(std::string_view(name).substr(at + 3, kDigits)))
    name.erase(at, 3 + kDigits);
}

// Takes the digits at `at` out of the name and puts them with the others.
void take_number(MatchName& name, std::size_t at) {
  const std::size_t digits = run_of(name.text, at, is_digit);
  name.numbers.append(name.text, at, digits);
  name.numbers += ' ';
  name.text.erase(at, digits);
}

// Go: "main.work.func1", and inside it "main.work.func1.2" or "main.work.func1.func2".
void take_go_numbers(MatchName& name) {
  constexpr std::string_view kFunc = ".func";
  for (std::size_t at = 0; (at = name.text.find(kFunc, at)) != std::string::npos;) {
    at += kFunc.size();
    const auto ends_here = [&](std::size_t end) { return end == name.text.size() || name.text[end] == '.'; };
    std::size_t digits = run_of(name.text, at, is_digit);
    if (digits == 0 || !ends_here(at + digits)) continue;
    take_number(name, at);
    while (at + 1 < name.text.size() && name.text[at] == '.' && is_digit(name.text[at + 1])) {
      digits = run_of(name.text, at + 1, is_digit);
      if (!ends_here(at + 1 + digits)) break;
      take_number(name, at + 1);
      ++at;
    }
  }
}

// Rust and C++: "{closure#0}", "{lambda(int)#1}".
void take_braced_numbers(MatchName& name) {
  for (std::size_t at = 0; (at = name.text.find('#', at)) != std::string::npos;) {
    ++at;
    const std::size_t digits = run_of(name.text, at, is_digit);
    if (digits != 0 && at + digits < name.text.size() && name.text[at + digits] == '}') take_number(name, at);
  }
}

// Java: "lambda$work$0".
void take_java_numbers(MatchName& name) {
  constexpr std::string_view kLambda = "lambda$";
  for (std::size_t at = 0; (at = name.text.find(kLambda, at)) != std::string::npos;) {
    at += kLambda.size();
    std::size_t end = at + run_of(name.text, at, is_word);
    std::size_t first = end;
    while (first > at && is_digit(name.text[first - 1])) --first;
    if (first == end || first == at || name.text[first - 1] != '$') continue;
    take_number(name, first);
  }
}

}  // namespace

MatchName match_name(std::string_view name) {
  MatchName out;
  out.text = name;
  // A name without any of these has nothing to drop, and most have none.
  if (name.find_first_of("$.#]:17") == std::string_view::npos) return out;
  drop_jvm_numbers(out.text);
  drop_compiler_suffixes(out.text);
  drop_rust_hash(out.text);
  take_go_numbers(out);
  take_braced_numbers(out);
  take_java_numbers(out);
  return out;
}

std::string match_path(std::string_view path) {
  std::string out(path);
  std::size_t end = path.rfind('.');
  if (end == std::string_view::npos) return out;
  const std::string_view kind = path.substr(end + 1);
  // Of a class that a JVM makes there is no file; a reader calls it after the class.
  if (kind == "java") drop_jvm_numbers(out);
  if (kind != "js" && kind != "mjs" && kind != "cjs") return out;
  std::size_t begin = end;
  while (begin > 0 && (is_word(path[begin - 1]))) --begin;
  if (begin < 2 || (path[begin - 1] != '.' && path[begin - 1] != '-') || path[begin - 2] == '/') return out;
  const std::string_view hash = path.substr(begin, end - begin);
  const auto some = [&](auto is) { return std::any_of(hash.begin(), hash.end(), is); };
  const bool hex = hash.size() >= 8 && hash.size() <= 64 && std::all_of(hash.begin(), hash.end(), is_hex) &&
                   some(is_digit);
  const bool letters = hash.size() == 8 && some(is_digit) && some(is_upper);
  if (hex || letters) out.erase(begin - 1, end - begin + 1);
  return out;
}

}  // namespace profd
