#include "server/cli/declared.h"

#include <algorithm>
#include <string_view>

#include <CLI/CLI.hpp>

#include "formats/open.h"
#include "server/cli/command.h"
#include "server/feature/exports.h"

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

// What stands for a value in help tells what it is.
bool names_file(std::string_view value) {
  for (const std::string_view word : {"FILE", "FOLDER", "PATH", "OUT"})
    if (value.starts_with(word)) return true;
  return false;
}

// Too many for the help.
std::vector<std::string> formats_of(const DeclaredOption& option) {
  std::vector<std::string> ids;
  const std::string& name = option.names.back();
  if (name == "--to") {
    for (const FormatWriter* writer : all_exports()) ids.emplace_back(writer->info().id);
  } else if (name == "--format" || name == "ID") {
    for (const FormatReader* reader : all_readers()) ids.emplace_back(reader->info().id);
  }
  return ids;
}

DeclaredOption declared(const CLI::Option& option) {
  DeclaredOption out;
  out.description = option.get_description();
  out.is_positional = option.get_positional();
  out.is_repeatable = option.get_expected_max() > 1;
  if (out.is_positional) {
    out.names = {option.get_single_name()};
    out.choices = choices_in(option.get_option_text());
    if (out.choices.empty()) out.choices = formats_of(out);
    out.is_file = names_file(out.names.front());
    return out;
  }
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  if (option.get_type_size() == 0) return out;
  const std::string text = option.get_option_text();
  out.choices = choices_in(text);
  const std::string type = option.get_type_name();
  out.value = text.empty() ? type.substr(0, type.find(':')) : text;
  if (out.choices.empty()) out.choices = formats_of(out);
  out.is_file = out.choices.empty() && names_file(out.value);
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
