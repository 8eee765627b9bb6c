#include "server/cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/support/near_miss.h"
#include "formats/support/text_number.h"
#include "server/feature/text.h"

namespace profd {
namespace {

class PlainHelp : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    const std::string name = CLI::Formatter::make_option_name(option, is_positional);
    return name.substr(0, name.find('{'));
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (!option->get_option_text().empty()) return " " + option->get_option_text();
    if (option->get_type_size() == 0) return {};
    const std::string type = option->get_type_name();
    std::string text = " " + type.substr(0, type.find(':'));
    if (option->get_positional()) text.clear();
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
    return text;
  }
};

// What is left over, the first option before anything else.
std::string leftover_text(const CLI::App& root) {
  const std::vector<std::string> left = root.remaining(true);
  const auto is_option = [](const std::string& word) { return word.size() > 1 && word.front() == '-'; };
  const auto option = std::find_if(left.begin(), left.end(), is_option);
  const CLI::App& app = root.get_subcommands().empty() ? root : *root.get_subcommands().front();
  if (option != left.end()) {
    const std::string given = option->substr(0, option->find('='));
    std::vector<std::string> names;
    for (const CLI::Option* known : app.get_options())
      for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
    const std::vector<std::string_view> choices(names.begin(), names.end());
    return fmt::format("there is no option {}{}", given, did_you_mean(given, choices));
  }
  if (left.empty()) return "something on the command line was not expected";
  return fmt::format("{} was not expected{}", left.front(),
                     &app == &root ? "; before it is neither a command nor the only file" : "");
}

std::string mismatch_text(const std::string& what) {
  const std::string option = what.substr(0, what.find(": "));
  if (what.ends_with("missing")) return option + " needs a value";
  if (what.find("received") != std::string::npos) return option + " is given more than once";
  return what;
}

}  // namespace

std::size_t choice_of(const std::string& option, const std::string& given,
                      std::span<const std::string_view> choices) {
  const auto found = std::find(choices.begin(), choices.end(), given);
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  throw CLI::ValidationError(option, fmt::format("\"{}\" is not one of {}{}", given, fmt::join(choices, ", "),
                                                 did_you_mean(given, choices)));
}

std::uint64_t whole_number(const std::string& option, const std::string& given, std::uint64_t low,
                           std::uint64_t high) {
  std::uint64_t number = 0;
  const char* const last = given.data() + given.size();
  const auto [end, error] = std::from_chars(given.data(), last, number);
  if (error == std::errc{} && end == last && number >= low && number <= high) return number;
  throw CLI::ValidationError(option, fmt::format("\"{}\" is not a whole number from {} to {}", given,
                                                 format_exact(low), format_exact(high)));
}

double real_number(const std::string& option, const std::string& given, double low, double high) {
  double number = 0;
  // Not a number is in no range.
  if (parse_double(given, number) && number >= low && number <= high) return number;
  throw CLI::ValidationError(option, fmt::format("\"{}\" is not a number from {} to {}", given, low, high));
}

void use_plain_help(CLI::App& root) {
  root.formatter(std::make_shared<PlainHelp>());
}

std::string usage_error_text(const CLI::App& root, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return leftover_text(root);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) return mismatch_text(error.what());
  return error.what();
}

}  // namespace profd
