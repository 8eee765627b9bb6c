// The words of a spec's text, and what makes a name in it one word: for whoever writes, reads or offers them.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/view/spec.h"

namespace profd {

// Each in the order of its enum.
inline constexpr std::array<std::string_view, 5> kShapeWords = {"top-down", "bottom-up", "flat", "callers",
                                                                "callees"};
inline constexpr std::array<std::string_view, 5> kGranularityWords = {"address", "line", "function", "file",
                                                                      "module"};
inline constexpr std::array<std::string_view, 4> kOpWords = {"keep", "drop", "hide", "collapse"};
inline constexpr std::array<std::string_view, 15> kByWords = {
    "function", "module", "file",  "package", "code",   "kind",      "work", "fragment",
    "path",     "thread", "label", "time",    "marker", "recursion", "mine"};
static_assert(kShapeWords.size() == static_cast<std::size_t>(Shape::callees) + 1);
static_assert(kGranularityWords.size() == static_cast<std::size_t>(Granularity::module) + 1);
static_assert(kOpWords.size() == static_cast<std::size_t>(FilterOp::collapse) + 1);
static_assert(kByWords.size() == static_cast<std::size_t>(FilterBy::mine) + 1);
// What an operator may stand before: all but `mine`, which stands alone.
inline constexpr std::span<const std::string_view> kByWordsOfOps =
    std::span(kByWords).first(kByWords.size() - 1);
// Divided and proven, as ViewSpec::proven.
inline constexpr std::array<std::string_view, 2> kPathsWords = {"divided", "proven"};
// Before a role and a clause.
inline constexpr std::string_view kLinkedWord = "linked";
// Begin a clause that is no filter.
inline constexpr std::string_view kMetricWord = "metric", kPathsWord = "paths";

// Follows a window of time that comes again.
inline constexpr std::string_view kEveryWord = "every";

// What begins no name that stands without quotes.
inline constexpr std::array<std::string_view, 4> kReservedWords = {">", "=", "by", "of"};

template <class Enum, std::size_t N>
constexpr std::string_view word_of(const std::array<std::string_view, N>& words, Enum value) {
  return words[static_cast<std::size_t>(value)];
}
template <class Enum>
std::optional<Enum> meant_by(std::span<const std::string_view> words, std::string_view word) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == word) return static_cast<Enum>(i);
  return std::nullopt;
}
inline bool is_one_of(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
// "keep, drop, hide or collapse".
std::string listed(std::span<const std::string_view> words, std::string_view before_last = "or");

// '<' that are not closed; below zero when more are closed. Those of operators and arrows are none.
inline int open_angles(std::string_view text) {
  constexpr std::string_view kOperator = "operator";
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, kOperator.size()) == kOperator) {
      i += kOperator.size();
      while (i < text.size() && (text[i] == '<' || text[i] == '>' || text[i] == '=' || text[i] == '-')) ++i;
      if (i >= text.size()) break;
    }
    if (text[i] == '<') ++depth;
    if (text[i] == '>' && (i == 0 || (text[i - 1] != '-' && text[i - 1] != '='))) --depth;
  }
  return depth;
}

}  // namespace profd
