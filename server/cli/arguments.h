// Options whose values are checked with a sentence, help without the parser's own words, and what is said of
// a command line that cannot be read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace profd {

// The index of `given` among the choices; throws CLI::ValidationError that lists them.
std::size_t choice_of(const std::string& option, const std::string& given,
                      std::span<const std::string_view> choices);
// Both ends are allowed; throw CLI::ValidationError that says so.
std::uint64_t whole_number(const std::string& option, const std::string& given, std::uint64_t low,
                           std::uint64_t high);
double real_number(const std::string& option, const std::string& given, double low, double high);

// More than anything has, so that a slip is seen.
constexpr std::uint64_t kMostRows = 1'000'000'000, kMostLevels = 1'000'000;

template <class T>
using Choices = std::vector<std::pair<std::string_view, T>>;

// `shown`: how errors call the option. `value` is set when the option is given.
template <class T>
CLI::Option* add_choice(CLI::App& app, const std::string& names, const std::string& shown, T& value,
                        const Choices<T>& choices, const std::string& help) {
  std::string text;
  for (const auto& [word, unused] : choices) text += (text.empty() ? "" : "|") + std::string(word);
  return app
      .add_option_function<std::string>(
          names,
          [&value, choices, shown](const std::string& given) {
            std::vector<std::string_view> words;
            for (const auto& [word, unused] : choices) words.push_back(word);
            value = choices[choice_of(shown, given, words)].second;
          },
          help)
      ->option_text(text);
}

template <class T>
CLI::Option* add_number(CLI::App& app, const std::string& names, const std::string& shown, T& value,
                        std::uint64_t low, std::uint64_t high, const std::string& help) {
  return app
      .add_option_function<std::string>(
          names,
          [&value, low, high, shown](const std::string& given) {
            value = static_cast<T>(whole_number(shown, given, low, high));
          },
          help)
      ->type_name("N");
}

inline CLI::Option* add_real(CLI::App& app, const std::string& names, const std::string& shown, double& value,
                             double low, double high, const std::string& help) {
  return app.add_option_function<std::string>(
      names,
      [&value, low, high, shown](const std::string& given) { value = real_number(shown, given, low, high); },
      help);
}

// Before anything is added to it, so that its commands have it too.
void use_plain_help(CLI::App& root);

// One sentence without its full stop.
std::string usage_error_text(const CLI::App& root, const CLI::ParseError& error);

}  // namespace profd
