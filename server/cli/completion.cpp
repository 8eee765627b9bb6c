// profd completion SHELL.
#include "server/cli/completion.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/cli/arguments.h"
#include "server/cli/command.h"

namespace profd {
namespace {

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
  if (!option.choices.empty()) return fmt::format("({})", fmt::join(option.choices, " "));
  // A space: something is expected, and nothing can be offered.
  return option.is_file ? "_files" : " ";
}

// `--sort=total` and `--sort total`; a short one takes the next word alone.
std::string zsh_option(const DeclaredOption& option, const std::string& name) {
  const bool has_value = !option.value.empty();
  std::string out = (option.is_repeatable ? "*" : "") + name;
  if (has_value && name.starts_with("--")) out += "=";
  out += "[" + zsh_text(option.description) + "]";
  if (has_value) out += ":" + zsh_text(option.value) + ":" + zsh_value(option);
  return shell_quoted(out);
}

std::string zsh_positional(const DeclaredOption& option) {
  return shell_quoted((option.is_repeatable ? "*:" : ":") + zsh_text(option.names.front()) + ":" +
                      zsh_value(option));
}

// The choices of a command's first argument; none where it takes any.
std::vector<std::string> choices_of(const DeclaredCommand& command) {
  const auto first = std::find_if(command.options.begin(), command.options.end(),
                                  [](const DeclaredOption& option) { return option.is_positional; });
  return first == command.options.end() ? std::vector<std::string>() : first->choices;
}

bool takes_files(const DeclaredCommand& command) {
  return std::any_of(command.options.begin(), command.options.end(),
                     [](const DeclaredOption& option) { return option.is_positional && option.is_file; });
}

}  // namespace

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

std::string bash_completion(const std::vector<DeclaredCommand>& commands) {
  // A file's name may hold spaces; `--sort=t` is three words to bash.
  std::string out =
      "# bash completion of profd; load it with: source <(profd completion bash)\n"
      "_profd_files() {\n"
      "  local IFS=$'\\n'\n"
      "  COMPREPLY+=($(compgen -f -- \"$1\"))\n"
      "}\n"
      "_profd() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= at\n"
      "  [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  [[ $word == = ]] && word=\n"
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
      if (option.is_positional || option.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) patterns.push_back(command.name + ":" + name);
      const std::string reply =
          option.is_file ? "_profd_files \"$word\"; "
          : option.choices.empty()
              ? ""
              : fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\")); ", fmt::join(option.choices, " "));
      out += fmt::format("    {}) {}return ;;\n", fmt::join(patterns, "|"), reply);
    }
  }
  out +=
      "  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    case $command in\n";
  for (const DeclaredCommand& command : commands)
    out += fmt::format("      {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n",
                       shell_quoted(command.name), fmt::join(names_of(command), " "));
  out +=
      "    esac\n"
      "    return\n"
      "  fi\n"
      "  case $command in\n";
  for (const DeclaredCommand& command : commands) {
    std::vector<std::string> words = command.name.empty() ? command_names(commands) : choices_of(command);
    std::string reply;
    if (!words.empty())
      reply = fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\")); ", fmt::join(words, " "));
    if (takes_files(command)) reply += "_profd_files \"$word\"; ";
    out += fmt::format("    {}) {};;\n", shell_quoted(command.name), reply);
  }
  return out +
         "  esac\n"
         "}\n"
         "complete -o filenames -F _profd profd\n";
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
      if (option.is_positional && command.name.empty()) continue;
      if (option.is_positional) {
        out += " \\\n        " + zsh_positional(option);
        continue;
      }
      for (const std::string& name : option.names) out += " \\\n        " + zsh_option(option, name);
    }
    // A first word can be a command or a file.
    if (command.name.empty())
      out += " \\\n        '1:command or file:{ _describe command commands; _files }' '*:file:_files'";
    out += " ;;\n";
  }
  out +=
      "  esac\n"
      "}\n"
      "if [[ $funcstack[1] == _profd ]]; then _profd \"$@\"; else compdef _profd profd; fi\n";
  return out;
}

std::string fish_completion(const std::vector<DeclaredCommand>& commands) {
  // The first word that is a command: an argument may be called like another one.
  std::string out = fmt::format(
      "# fish completion of profd; load it with: profd completion fish | source\n"
      "function __profd_at\n"
      "    set -l command ''\n"
      "    for word in (commandline -opc)\n"
      "        if contains -- $word {}\n"
      "            set command $word\n"
      "            break\n"
      "        end\n"
      "    end\n"
      "    test \"$command\" = \"$argv[1]\"\n"
      "end\n",
      fmt::join(command_names(commands), " "));
  for (const DeclaredCommand& command : commands) {
    const std::string here = "complete -c profd -n " + fish_quoted("__profd_at '" + command.name + "'");
    if (!command.name.empty()) {
      out += fmt::format("complete -c profd -n {} -a {} -d {}\n", fish_quoted("__profd_at ''"), command.name,
                         fish_quoted(command.description));
      if (!takes_files(command))
        out += here + " -f -a " + fish_quoted(fmt::format("{}", fmt::join(choices_of(command), " "))) + "\n";
    }
    for (const DeclaredOption& option : command.options) {
      if (option.is_positional) continue;
      std::string line = here;
      for (const std::string& name : option.names)
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (option.is_file) line += " -r -F";
      if (!option.is_file && !option.value.empty()) line += " -x";
      if (!option.choices.empty())
        line += " -a " + fish_quoted(fmt::format("{}", fmt::join(option.choices, " ")));
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
