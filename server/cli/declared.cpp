#include "server/cli/declared.h"

#include <algorithm>
#include <string_view>

#include <CLI/CLI.hpp>

#include "server/cli/command.h"

namespace profd {
namespace {

// "self|total" of an option with choices.
std::vector<std::string> choices_in(std::string_view text) {
  std::vector<std::string> choices;
  if (text.find('|') == text.npos || text.find_first_of("<[ ") != text.npos) return choices;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('|', at), text.size());
    choices.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return choices;
}

DeclaredOption declared(const CLI::Option& option) {
  DeclaredOption out;
  out.description = option.get_description();
  out.is_positional = option.get_positional();
  out.is_repeatable = option.get_expected_max() > 1;
  if (out.is_positional) {
    out.names = {option.get_single_name()};
    return out;
  }
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  if (option.get_type_size() == 0) return out;
  const std::string text = option.get_option_text();
  out.choices = choices_in(text);
  const std::string type = option.get_type_name();
  out.value = text.empty() ? type.substr(0, type.find(':')) : text;
  return out;
}

DeclaredCommand declared(const CLI::App& app, std::string name) {
  DeclaredCommand out;
  out.name = std::move(name);
  out.description = app.get_description();
  out.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) out.options.push_back(declared(*option));
  return out;
}

}  // namespace

std::vector<DeclaredCommand> declared_commands() {
  Commands commands;
  CLI::App root;
  declare_commands(root, commands, "");
  std::vector<DeclaredCommand> out{declared(root, "")};
  for (const CLI::App* command : root.get_subcommands(nullptr))
    out.push_back(declared(*command, command->get_name()));
  return out;
}

}  // namespace profd
