#include "core/view/names.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "core/support/base_name.h"
#include "core/support/hash.h"
#include "core/support/interner.h"
#include "core/view/java_name.h"
#include "core/view/name_differences.h"
#include "core/view/name_scan.h"

namespace profd {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string_view without_rust_hash(std::string_view name) {
  if (name.size() < 20) return name;
  const std::string_view tail = name.substr(name.size() - 19);
  if (tail.substr(0, 3) != "::h" || !std::all_of(tail.begin() + 3, tail.end(), is_hex)) return name;
  return name.substr(0, name.size() - 19);
}

// "<alloc::vec::Vec<T> as core::ops::Drop>::drop" -> "<Vec<…> as Drop>::drop".
std::optional<std::string> rust_qualified(std::string_view name) {
  if (name.empty() || name[0] != '<') return std::nullopt;
  const std::size_t end = after_closing(name, 0, '<', '>');
  if (end == std::string_view::npos || name.substr(end, 2) != "::") return std::nullopt;
  const std::string_view inside = name.substr(1, end - 2);
  const auto last_element = [](std::string_view path) {
    const std::size_t args = path.find('<');
    const std::string_view head = path.substr(0, args);
    const std::size_t colon = head.rfind("::");
    std::string out(colon == std::string_view::npos ? head : head.substr(colon + 2));
    if (args != std::string_view::npos) out += "<…>";
    return out;
  };
  const std::size_t as = inside.rfind(" as ");
  std::string out = "<";
  if (as == std::string_view::npos) {
    out += last_element(inside);
  } else {
    out += last_element(inside.substr(0, as)) + " as " + last_element(inside.substr(as + 4));
  }
  return out + ">" + std::string(name.substr(end));
}

// C++ and Rust: template arguments become <…>, parameters and what follows them go, lambdas become λ.
std::string short_cpp(std::string_view name) {
  name = without_rust_hash(name);
  std::string rust;
  std::size_t start = 0;
  if (auto qualified = rust_qualified(name)) {
    rust = std::move(*qualified);
    name = rust;
    start = name.find(">::") + 1;
  }
  std::string out(name.substr(0, start));
  bool templated = start > 0;
  bool had_parameters = false;
  std::size_t last_space = std::string::npos;
  for (std::size_t i = start; i < name.size();) {
    const char c = name[i];
    if (const std::size_t n = operator_length(name, i); n > 0) {
      out += name.substr(i, n);
      i += n;
      if (name.substr(i, 2) == " <") {  // the arguments of "operator<< <char>"
        out += ' ';
        ++i;
        const std::size_t end = after_closing(name, i, '<', '>');
        if (end == std::string_view::npos) return std::string(name);
        out += "<…>";
        templated = true;
        i = end;
      }
    } else if (c == '<' && !out.empty() && (is_word(out.back()) || out.ends_with("operator<"))) {
      const std::size_t end = after_closing(name, i, '<', '>');
      if (end == std::string_view::npos) return std::string(name);
      out += "<…>";
      templated = true;
      i = end;
    } else if (c == '(' && name.substr(i, 21) == "(anonymous namespace)") {
      out += "(anon)";
      i += 21;
    } else if (c == '(' && !out.empty() && out.back() != ' ' && out.back() != ':') {
      const std::size_t end = after_closing(name, i, '(', ')');
      if (end == std::string_view::npos) return std::string(name);
      had_parameters = true;
      const std::string_view rest = name.substr(end);
      const std::size_t scope = rest.find("::");
      if (scope == std::string_view::npos) break;  // "const", "[clone .cold]", "&&"
      i = end + scope;
    } else {
      if (c == ' ') last_space = out.size();
      std::size_t end = i + 1;
      while (end < name.size() && !is_a(kCppMark, name[end])) ++end;
      out += name.substr(i, end - i);
      i = end;
    }
  }
  // Demanglers give a return type for instances of function templates only.
  if (templated && had_parameters && last_space != std::string::npos && start == 0 &&
      !std::string_view(out).substr(0, last_space).ends_with("operator")) {
    out.erase(0, last_space + 1);
  }
  replace_all(out, "{{closure}}", "λ");
  replace_all(out, "::λ::operator()", "::λ");
  return out;
}

// "{lambda(int)#2}::operator()" -> "λ2", clang's "$_3::operator()" -> "λ3". Before parameters are dropped.
// `out` holds the answer when it is not the name as it stands.
std::string_view without_cpp_lambdas(std::string_view name, std::string& out) {
  if (name.find('{') == std::string_view::npos && name.find('$') == std::string_view::npos) return name;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = std::string_view::npos;
    std::string_view number;
    if (name.substr(i, 8) == "{lambda(") {
      const std::size_t close = name.find('}', i);
      const std::size_t hash = name.rfind('#', close);
      if (close != std::string_view::npos && hash != std::string_view::npos && hash > i) {
        number = name.substr(hash + 1, close - hash - 1);
        end = close + 1;
      }
    } else if (name.substr(i, 2) == "$_" && i + 2 < name.size() && is_digit(name[i + 2])) {
      end = i + 2;
      while (end < name.size() && is_digit(name[end])) ++end;
      number = name.substr(i + 2, end - i - 2);
    }
    if (end == std::string_view::npos) {
      out += name[i++];
      continue;
    }
    out += "λ";
    out += number;
    i = end;
    if (name.substr(i, 12) == "::operator()") i += 12;
  }
  return out;
}

// The package path goes but its last element; type arguments become […].
std::string short_go(std::string_view name) {
  const std::size_t stop = std::min(name.find('('), name.find('['));
  std::size_t slash = name.substr(0, stop).rfind('/');
  // badger/v2.Open: the version of a module says nothing without its name.
  const auto is_version = [&](std::size_t at) {
    std::size_t end = at + 2;  // after "/v"
    while (end < name.size() && is_digit(name[end])) ++end;
    return name.substr(at + 1, 1) == "v" && end > at + 2 && end < name.size() && name[end] == '.';
  };
  if (slash != std::string_view::npos && slash > 0 && is_version(slash)) slash = name.rfind('/', slash - 1);
  if (slash != std::string_view::npos) name = name.substr(slash + 1);
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    const std::size_t end = name[i] == '[' ? after_closing(name, i, '[', ']') : std::string_view::npos;
    if (end == std::string_view::npos) {
      const std::size_t next = std::min(name.find('[', i + 1), name.size());
      out += name.substr(i, next - i);
      i = next;
    } else {
      out += "[…]";
      i = end;
    }
  }
  return out;
}

// "java/util/TreeMap.java" is the path of a file and no method called "java".
bool is_jvm_source(std::string_view name) {
  return name.find('/') != std::string_view::npos && (name.ends_with(".java") || name.ends_with(".kt") ||
                                                      name.ends_with(".scala") || name.ends_with(".groovy"));
}

// lambda$main$3 -> λ3; Demo$$Lambda$14/0x00000008 or Demo$$Lambda.0x7f -> Demo$λ14, Demo$λ.
std::string without_java_lambdas(std::string_view part) {
  static constexpr std::string_view kMethod = "lambda$";
  if (part.starts_with(kMethod)) {
    const std::size_t dollar = part.rfind('$');
    return "λ" + std::string(part.substr(dollar + 1));
  }
  static constexpr std::string_view kClass = "$$Lambda";
  const std::size_t at = part.find(kClass);
  if (at == std::string_view::npos) return std::string(part);
  std::string out = std::string(part.substr(0, at)) + ".λ";
  for (std::size_t i = at + kClass.size(); i < part.size() && (part[i] == '$' || is_digit(part[i])); ++i) {
    if (is_digit(part[i])) out += part[i];
  }
  return out;
}

std::string short_java(const JavaName& java) {
  std::string out;
  for (std::size_t i = 0; i < java.parts.size(); ++i) {
    const std::string_view part = java.parts[i];
    const bool address = i > java.n_packages && part.substr(0, 2) == "0x";  // of a hidden class
    if (address) continue;
    if (!out.empty()) out += '.';
    out += i < java.n_packages ? std::string(part.substr(0, 1)) : without_java_lambdas(part);
  }
  return out;
}

// No package, or one that is not shortened: only the lambda noise goes.
std::string short_java_lambda(std::string_view name) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && name[i] != '.' && name[i] != '/') continue;
    const std::string_view part = name.substr(begin, i - begin);
    if (!(part.substr(0, 2) == "0x" && !out.empty())) {
      if (begin > 0) out += name[begin - 1];
      out += without_java_lambdas(part);
    }
    begin = i + 1;
  }
  return out;
}

bool has_java_lambda(std::string_view name) {
  return name.find(".lambda$") != std::string_view::npos || name.find("$$Lambda") != std::string_view::npos;
}

// Texts, once each, and how often each was added.
class TextCounts {
 public:
  explicit TextCounts(std::size_t n) {
    rows_.reserve(n);
    texts_.reserve(n);
    counts_.reserve(n);
  }
  // Its row.
  std::uint32_t add(std::string text) {
    const auto next = static_cast<std::uint32_t>(texts_.size());
    const std::uint32_t row =
        rows_.find_or_add(hash_bytes(text), next, [&](std::uint32_t r) { return texts_[r] == text; });
    if (row == next) {
      texts_.push_back(std::move(text));
      counts_.push_back(0);
    }
    ++counts_[row];
    return row;
  }
  std::uint32_t count(std::uint32_t row) const { return counts_[row]; }
  const std::string& operator[](std::uint32_t row) const { return texts_[row]; }

 private:
  RowSet rows_;
  std::vector<std::string> texts_;
  std::vector<std::uint32_t> counts_;
};

using Candidate = std::function<std::string(const NameAndPlace&)>;

// Each entry gets the first candidate that no other entry has at that level; the last level adds a number.
std::vector<std::string> distinct(std::span<const NameAndPlace> frames, std::span<const Candidate> levels) {
  RowSet ids;
  ids.reserve(frames.size());
  std::vector<NameAndPlace> unique;
  unique.reserve(frames.size());
  std::vector<std::uint32_t> id_of(frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const NameAndPlace& frame = frames[i];
    const auto next = static_cast<std::uint32_t>(unique.size());
    id_of[i] = ids.find_or_add(hash_combine(hash_bytes(frame.name), hash_bytes(frame.place)), next,
                               [&](std::uint32_t row) {
                                 return unique[row].name == frame.name && unique[row].place == frame.place;
                               });
    if (id_of[i] == next) unique.push_back(frame);
  }
  TextCounts texts(unique.size());
  std::vector<std::uint32_t> text(unique.size());  // its row there
  std::vector<std::uint32_t> open(unique.size());
  std::iota(open.begin(), open.end(), 0u);
  for (const Candidate& level : levels) {
    for (const std::uint32_t i : open) text[i] = texts.add(level(unique[i]));
    std::erase_if(open, [&](std::uint32_t i) { return texts.count(text[i]) == 1; });
    if (open.empty()) break;
  }
  for (const std::uint32_t i : open) {
    const std::string base(texts[text[i]]);
    std::uint32_t n = 2;
    do {
      text[i] = texts.add(base + " #" + std::to_string(n++));
    } while (texts.count(text[i]) > 1);
  }
  std::vector<std::string> out(frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) out[i] = texts[text[id_of[i]]];
  return out;
}

// Of names that share their short form: what tells them from the others of their group.
std::unordered_map<std::string_view, std::string> names_by_difference(std::span<const NameAndPlace> frames) {
  std::unordered_map<std::string, std::vector<std::string_view>> groups;
  std::unordered_set<std::string_view> seen;
  for (const NameAndPlace& frame : frames) {
    if (frame.name.find_first_of("<([") == std::string_view::npos || !seen.insert(frame.name).second)
      continue;
    groups[short_name(frame.name)].push_back(frame.name);
  }
  std::unordered_map<std::string_view, std::string> out;
  for (const auto& [label, names] : groups) {
    if (names.size() < 2) continue;
    std::vector<std::string> plain;
    for (const std::string_view name : names) {
      std::string lambdas;
      plain.emplace_back(without_rust_hash(without_cpp_lambdas(name, lambdas)));
    }
    std::vector<std::string> parts = differing_parts(plain);
    for (std::size_t i = 0; i < names.size(); ++i) out.emplace(names[i], std::move(parts[i]));
  }
  return out;
}

std::string with_place(std::string_view name, std::string_view place) {
  std::string out(name);
  if (!place.empty()) out.append(" (").append(place).append(")");
  return out;
}

}  // namespace

std::string short_name(std::string_view name) {
  // "(garbage collector)", "[unknown]", "-[NSArray count]" are names as they stand.
  if (name.size() < 2 || name[0] == '(' || name[0] == '[' || name[1] == '[') return std::string(name);
  const bool scoped = name.find("::") != std::string_view::npos;
  if (name[0] == '/' && name.find('(') == std::string_view::npos) return std::string(base_name(name));
  if (!scoped) {
    if (is_jvm_source(name)) return std::string(base_name(name));
    if (const auto java = parse_java(name)) return short_java(*java);
    if (has_java_lambda(name)) return short_java_lambda(name);
    const std::string_view head = name.substr(0, std::min(name.find('('), name.find('[')));
    const std::size_t slash = head.rfind('/');
    const std::size_t dot = head.find('.', slash == std::string_view::npos ? 0 : slash);
    const bool has_space = head.find(' ') != std::string_view::npos;
    if (dot != std::string_view::npos && !has_space &&
        (slash != std::string_view::npos || name.find(".(") != std::string_view::npos ||
         name.find('[') != std::string_view::npos)) {
      return short_go(name);
    }
    // Parameters without a scope are C++ only when nothing but a name stands before them.
    if (has_space && name.find('<') == std::string_view::npos && !name.starts_with("operator "))
      return std::string(name);
  }
  std::string plain;
  std::string out = short_cpp(without_cpp_lambdas(name, plain));
  return out.empty() ? std::string(name) : out;
}

std::vector<std::string> distinct_short_names(std::span<const NameAndPlace> frames) {
  const std::unordered_map<std::string_view, std::string> differing = names_by_difference(frames);
  const Candidate levels[] = {
      [](const NameAndPlace& f) { return short_name(f.name); },
      [&](const NameAndPlace& f) {
        const auto found = differing.find(f.name);
        return found == differing.end() ? std::string(f.name) : found->second;
      },
      [](const NameAndPlace& f) { return std::string(f.name); },
      [](const NameAndPlace& f) { return with_place(f.name, base_name(f.place)); },
      [](const NameAndPlace& f) { return with_place(f.name, f.place); },
  };
  return distinct(frames, levels);
}

std::vector<std::string> distinct_names(std::span<const NameAndPlace> frames) {
  const Candidate levels[] = {
      [](const NameAndPlace& f) { return std::string(f.name); },
      [](const NameAndPlace& f) { return with_place(f.name, base_name(f.place)); },
      [](const NameAndPlace& f) { return with_place(f.name, f.place); },
  };
  return distinct(frames, levels);
}

}  // namespace profd
