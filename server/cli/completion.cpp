// profd completion SHELL.
#include "server/cli/completion.h"

#include <memory>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/cli/arguments.h"
#include "server/cli/command.h"

namespace profd {
namespace {

// Inside single quotes of a POSIX shell.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

// Inside single quotes of fish, where a backslash escapes.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::vector<std::string> names_of(const DeclaredCommand& command) {
  std::vector<std::string> names;
  for (const DeclaredOption& option : command.options)
    if (!option.is_positional) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> command_names(const std::vector<DeclaredCommand>& commands) {
  std::vector<std::string> names;
  for (const DeclaredCommand& command : commands)
    if (!command.name.empty()) names.push_back(command.name);
  return names;
}

// Of an option's description in `_arguments`: brackets end it, a colon ends what comes before a value.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_value(const DeclaredOption& option) {
  if (option.value.empty()) return "";
  if (!option.choices.empty()) return fmt::format(":value:({})", fmt::join(option.choices, " "));
  return fmt::format(":{}:_files", zsh_text(option.value));
}

}  // namespace

std::string bash_completion(const std::vector<DeclaredCommand>& commands) {
  std::string out =
      "# bash completion of profd; load it with: source <(profd completion bash)\n"
      "_profd() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= at\n"
      "  for ((at = 1; at < COMP_CWORD; at++)); do\n"
      "    case ${COMP_WORDS[at]} in\n";
  out += fmt::format("      {}) command=${{COMP_WORDS[at]}}; break ;;\n",
                     fmt::join(command_names(commands), "|"));
  out +=
      "    esac\n"
      "  done\n"
      "  case $command:$before in\n";
  for (const DeclaredCommand& command : commands) {
    for (const DeclaredOption& option : command.options) {
      if (option.choices.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) patterns.push_back(command.name + ":" + name);
      out += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n",
                         fmt::join(patterns, "|"), fmt::join(option.choices, " "));
    }
  }
  out +=
      "  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    case $command in\n";
  for (const DeclaredCommand& command : commands)
    out += fmt::format("      {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n",
                       shell_quoted(command.name), fmt::join(names_of(command), " "));
  out += fmt::format(
      "    esac\n"
      "    return\n"
      "  fi\n"
      "  [[ -z $command ]] && COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n"
      "  local IFS=$'\\n'\n"
      "  COMPREPLY+=($(compgen -f -- \"$word\"))\n"
      "}}\n"
      "complete -o filenames -F _profd profd\n",
      fmt::join(command_names(commands), " "));
  return out;
}

std::string zsh_completion(const std::vector<DeclaredCommand>& commands) {
  std::string out =
      "#compdef profd\n"
      "# zsh completion of profd; load it with: source <(profd completion zsh)\n"
      "_profd() {\n"
      "  local -a commands=(\n";
  for (const DeclaredCommand& command : commands)
    if (!command.name.empty()) out += "    " + shell_quoted(command.name + ":" + command.description) + "\n";
  out +=
      "  )\n"
      "  local command= at\n"
      "  for ((at = 2; at < CURRENT; at++)); do\n"
      "    if [[ -n ${(M)commands:#${words[at]}:*} ]]; then command=${words[at]}; break; fi\n"
      "  done\n"
      "  if [[ -n $command ]]; then\n"
      "    words=(\"${(@)words[at,-1]}\")\n"
      "    (( CURRENT -= at - 1 ))\n"
      "  fi\n"
      "  case $command in\n";
  for (const DeclaredCommand& command : commands) {
    out += fmt::format("    {})\n      _arguments -s", shell_quoted(command.name));
    for (const DeclaredOption& option : command.options) {
      if (option.is_positional) continue;
      for (const std::string& name : option.names)
        out += " \\\n        " + shell_quoted(fmt::format("{}{}[{}]{}", option.is_repeatable ? "*" : "", name,
                                                          zsh_text(option.description), zsh_value(option)));
    }
    // A first word can be a command or a file.
    out +=
        command.name.empty()
            ? " \\\n        '1:command or file:{ _describe command commands; _files }' '*:file:_files' ;;\n"
            : " \\\n        '*:file:_files' ;;\n";
  }
  out +=
      "  esac\n"
      "}\n"
      "if [[ $funcstack[1] == _profd ]]; then _profd \"$@\"; else compdef _profd profd; fi\n";
  return out;
}

std::string fish_completion(const std::vector<DeclaredCommand>& commands) {
  const std::string names = fmt::format("{}", fmt::join(command_names(commands), " "));
  std::string out = "# fish completion of profd; load it with: profd completion fish | source\n";
  for (const DeclaredCommand& command : commands) {
    const std::string where = command.name.empty() ? "not __fish_seen_subcommand_from " + names
                                                   : "__fish_seen_subcommand_from " + command.name;
    if (!command.name.empty())
      out += fmt::format("complete -c profd -n {} -a {} -d {}\n",
                         fish_quoted("not __fish_seen_subcommand_from " + names), command.name,
                         fish_quoted(command.description));
    for (const DeclaredOption& option : command.options) {
      if (option.is_positional) continue;
      std::string line = "complete -c profd -n " + fish_quoted(where);
      for (const std::string& name : option.names)
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.value.empty()) line += " -r";
      if (!option.choices.empty())
        line += " -f -a " + fish_quoted(fmt::format("{}", fmt::join(option.choices, " ")));
      out += line + " -d " + fish_quoted(option.description) + "\n";
    }
  }
  return out;
}

void add_completion(CLI::App& root, Commands& commands) {
  enum class Shell { bash, zsh, fish };
  const auto shell = std::make_shared<Shell>(Shell::bash);
  CLI::App* app = root.add_subcommand("completion", "Completions of this command line for a shell");
  add_choice(*app, "SHELL", "SHELL", *shell,
             Choices<Shell>{{"bash", Shell::bash}, {"zsh", Shell::zsh}, {"fish", Shell::fish}},
             "The shell that is to complete")
      ->required();
  app->footer(
      "Examples:\n  source <(profd completion bash)       in ~/.bashrc\n"
      "  source <(profd completion zsh)        in ~/.zshrc, after compinit\n"
      "  profd completion fish | source        in ~/.config/fish/config.fish");
  app->callback([&commands, shell] {
    commands.action = [shell](const Console& console) {
      const std::vector<DeclaredCommand> declared = declared_commands();
      return console.print(*shell == Shell::bash  ? bash_completion(declared)
                           : *shell == Shell::zsh ? zsh_completion(declared)
                                                  : fish_completion(declared));
    };
  });
}

}  // namespace profd
