#include "core/live/code_name.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/support/base_name.h"

namespace profd::live {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kOperator = "operator";

bool is_word_mark(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

// Behind `operator` and what belongs to it: "operator()", "operator<<", "operator new[]", "operator bool".
std::size_t after_operator(std::string_view name, std::size_t at) {
  at += kOperator.size();
  if (name.substr(at, 2) == "()" || name.substr(at, 2) == "[]") return at + 2;
  if (at < name.size() && name[at] == ' ') {
    while (at < name.size() && name[at] != '(') ++at;
    return at;
  }
  while (at < name.size() && std::string_view("<>=!+-*/%^&|~,").find(name[at]) != std::string_view::npos)
    ++at;
  return at;
}

// Behind the bracket that closes the one at `at`; npos: none does. Of templates' arguments the arrow and
// comparisons are in parentheses.
std::size_t after_bracket(std::string_view name, std::size_t at) {
  std::size_t depth = 0;
  for (; at < name.size(); ++at) {
    const char c = name[at];
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    const bool closes = c == '>' || c == ')' || c == ']' || c == '}';
    if (closes && !(c == '>' && at > 0 && name[at - 1] == '-') && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

struct CodeParts {
  std::vector<std::string> scopes;  // outermost first
  std::string method;
};

// What stands in template brackets is left out of scopes.
CodeParts parts_of_name(std::string_view name) {
  CodeParts parts;
  std::string part;                     // the one that is being read
  std::size_t begin = 0;                // of it
  std::size_t end = std::string::npos;  // of the method: where the last parameters begin
  bool has_parameters = false;          // what follows is local to a function
  for (std::size_t at = 0; at < name.size();) {
    const char c = name[at];
    const bool begins_word = at == 0 || !is_word_mark(name[at - 1]);
    if (begins_word && name.substr(at).starts_with(kOperator) &&
        (at + kOperator.size() >= name.size() || !is_word_mark(name[at + kOperator.size()]))) {
      const std::size_t behind = after_operator(name, at);
      part += name.substr(at, behind - at);
      at = behind;
    } else if (name.substr(at).starts_with(kAnonymous)) {
      part += kAnonymous;
      at += kAnonymous.size();
    } else if (c == '<' || c == '(' || c == '[' || c == '{') {
      const std::size_t behind = after_bracket(name, at);
      if (behind == std::string_view::npos) return {{}, std::string(name)};
      const bool ends_name = c == '(' && at > begin && part != "decltype";
      if (ends_name) {
        has_parameters = true;
        end = at;
      }
      if (c == '<' && at > begin)
        part += "<>";
      else if (!ends_name)
        part += name.substr(at, behind - at);
      at = behind;
    } else if (c == ':' && name.substr(at, 2) == "::") {
      if (!has_parameters) {
        parts.scopes.push_back(std::move(part));
        begin = at + 2;
      }
      part.clear();
      at += 2;
    } else if (c == ' ' && !has_parameters) {
      // What stood here is the type that a template returns.
      parts.scopes.clear();
      part.clear();
      begin = ++at;
    } else {
      if (c == ' ') {  // behind parameters: "const", "[clone .cold]"
        break;
      }
      part += c;
      ++at;
    }
  }
  const std::string_view own = name.substr(begin, end == std::string::npos ? end : end - begin);
  parts.method = own.find("::") == std::string_view::npos && !part.empty() && end == std::string::npos
                     ? std::move(part)
                     : std::string(own);
  return parts;
}

}  // namespace

CodeName code_name_of(std::string_view symbol, std::string_view file, std::string_view module) {
  CodeParts parts = parts_of_name(symbol);
  CodeName name;
  if (parts.method.empty()) {
    name.method = symbol;
    parts.scopes.clear();
  } else {
    name.method = std::move(parts.method);
  }
  // What has no name of its own ("{lambda(int)#1}") is a part of the function around it.
  const auto is_nameless = [](const std::string& scope) { return scope.starts_with('{'); };
  const auto nameless = std::find_if(parts.scopes.begin(), parts.scopes.end(), is_nameless);
  if (nameless != parts.scopes.end()) {
    const auto around = nameless == parts.scopes.begin() ? nameless : nameless - 1;
    std::string whole;
    for (auto scope = around; scope != parts.scopes.end(); ++scope)
      whole.append(*scope).append(kCodeSeparator);
    name.method.insert(0, whole);
    parts.scopes.erase(around, parts.scopes.end());
  }
  bool in_class = !parts.scopes.empty() && parts.scopes.back() != kAnonymous;
  if (in_class) {
    name.class_name = std::move(parts.scopes.back());
    parts.scopes.pop_back();
  }
  const auto add = [&](std::string_view part) {
    if (part.empty()) return;
    if (!name.package.empty()) name.package += kCodeSeparator;
    name.package += part;
  };
  for (const std::string& scope : parts.scopes)
    if (scope != kAnonymous) add(scope);
  if (!in_class) add(base_name(file.empty() ? module : file));
  return name;
}

}  // namespace profd::live
