#include "server/engine/analysis_head.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace profd {
namespace {

using worker::ScriptType;

constexpr std::array<std::string_view, worker::kNScriptTypes> kTypeWords = {"string", "number", "integer",
                                                                            "boolean"};
constexpr std::size_t kMaxArguments = 100;

std::string_view without_space(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// The first word, which is taken off.
std::string_view take_word(std::string_view& text) {
  text = without_space(text);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text = without_space(text.substr(end));
  return word;
}

std::optional<std::string> take_value(std::string_view& text) {
  text = without_space(text);
  if (text.empty()) return std::nullopt;
  if (text.front() != '"') return std::string(take_word(text));
  const std::size_t end = text.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  std::string value(text.substr(1, end - 1));
  text = without_space(text.substr(end + 1));
  return value;
}

std::optional<std::uint32_t> count_of(std::string_view text) {
  std::uint32_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 1 || out > kMostOfAnalysis)
    return std::nullopt;
  return out;
}

bool is_name(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
  });
}

bool is_of_type(ScriptType type, const std::string& value) {
  char* end = nullptr;
  switch (type) {
    case ScriptType::text:
      return true;
    case ScriptType::boolean:
      return value == "true" || value == "false";
    case ScriptType::number:
      return !value.empty() && std::isfinite(std::strtod(value.c_str(), &end)) && *end == '\0';
    case ScriptType::integer: {
      std::int64_t whole = 0;
      const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), whole);
      return error == std::errc() && stop == value.data() + value.size();
    }
  }
  return false;
}

// What is wrong with the line; "" nothing.
std::string take_argument(std::string_view rest, AnalysisHead& head) {
  AnalysisArgument out;
  out.name = take_word(rest);
  const std::string_view type = take_word(rest);
  const auto* const found = std::find(kTypeWords.begin(), kTypeWords.end(), type);
  if (!is_name(out.name) || found == kTypeWords.end())
    return "@arg takes a name, a type (string, number, integer, boolean), a default and what it means";
  out.type = static_cast<ScriptType>(found - kTypeWords.begin());
  auto value = take_value(rest);
  if (!value || !is_of_type(out.type, *value))
    return fmt::format("the default of {} is no {}", out.name, type);
  out.value = std::move(*value);
  out.documentation = rest;
  const auto same = [&](const AnalysisArgument& other) { return other.name == out.name; };
  if (std::any_of(head.arguments.begin(), head.arguments.end(), same))
    return fmt::format("there are two arguments {}", out.name);
  if (head.arguments.size() == kMaxArguments)
    return fmt::format("a script has at most {} arguments", kMaxArguments);
  head.arguments.push_back(std::move(out));
  return "";
}

std::string take_profiles(std::string_view rest, AnalysisHead& head) {
  const std::size_t dots = rest.find("..");
  const auto least = count_of(rest.substr(0, dots));
  const auto most = dots == std::string_view::npos ? least : count_of(rest.substr(dots + 2));
  if (!least || !most || *most < *least)
    return fmt::format("@profiles takes how many profiles the script is of, as 1 or 2..{}", kMostOfAnalysis);
  head.min_profiles = *least;
  head.max_profiles = *most;
  return "";
}

std::string take_line(std::string_view line, AnalysisHead& head) {
  const std::string_view word = take_word(line);
  if (word == "@title") {
    head.title = line;
    return "";
  }
  if (word == "@profiles") return take_profiles(line, head);
  if (word == "@arg") return take_argument(line, head);
  if (!word.empty() && word.front() == '@')
    return fmt::format("the head of a script has @title, @profiles and @arg, and no {}", word);
  return "";
}

}  // namespace

std::string profiles_text(const AnalysisHead& head) {
  if (head.min_profiles != head.max_profiles)
    return fmt::format("{} to {} profiles", head.min_profiles, head.max_profiles);
  return head.min_profiles == 1 ? "1 profile" : fmt::format("{} profiles", head.min_profiles);
}

std::string_view to_text(ScriptType type) {
  return kTypeWords[static_cast<std::size_t>(type)];
}

Result<AnalysisHead> parse_analysis_head(std::string_view text) {
  AnalysisHead head;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_space(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (line.substr(0, 2) != "--") break;
    if (const std::string problem = take_line(line.substr(2), head); !problem.empty())
      return tl::unexpected<Error>(
          Error{ErrorCode::malformed, problem, std::nullopt, {fmt::format("line {}", number)}});
  }
  return head;
}

Result<std::vector<worker::ScriptArgument>> bind_arguments(const AnalysisHead& head,
                                                           const GivenArguments& given) {
  std::vector<worker::ScriptArgument> out;
  for (const AnalysisArgument& argument : head.arguments)
    out.push_back({argument.name, argument.type, argument.value});
  for (const auto& [name, value] : given) {
    const auto found = std::find_if(out.begin(), out.end(), [&, &wanted = name](const auto& argument) {
      return argument.name == wanted;
    });
    if (found == out.end()) {
      std::vector<std::string_view> names;
      for (const AnalysisArgument& argument : head.arguments) names.push_back(argument.name);
      return fail(ErrorCode::invalid, names.empty()
                                          ? fmt::format("the script takes no arguments, and so no `{}`", name)
                                          : fmt::format("the script has no argument `{}`; it has: {}", name,
                                                        fmt::join(names, ", ")));
    }
    if (!is_of_type(found->type, value))
      return fail(ErrorCode::invalid, fmt::format("`{}` is no {}, which `{}` of the script is", value,
                                                  to_text(found->type), name));
    found->value = value;
  }
  return out;
}

}  // namespace profd
