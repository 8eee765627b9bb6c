// profd man: the manual page.
#include <memory>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "server/cli/command.h"
#include "server/cli/completion.h"

#ifndef PROFD_VERSION
#define PROFD_VERSION "unknown"
#endif

namespace profd {
namespace {

// Text of a line: nothing in it is a request or an escape of roff.
std::string roff(std::string_view text) {
  std::string out;
  bool at_begin = true;
  for (const char c : text) {
    if (at_begin && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    at_begin = c == '\n';
  }
  return out;
}

std::string names_text(const DeclaredOption& option) {
  std::string out;
  for (const std::string& name : option.names) out += (out.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  if (!option.value.empty()) out += " \\fI" + roff(option.value) + "\\fR";
  return out;
}

std::string options_text(const DeclaredCommand& command) {
  std::string out;
  for (const DeclaredOption& option : command.options) {
    if (option.description.empty()) continue;
    out += ".TP\n" +
           (option.is_positional ? "\\fI" + roff(option.names.front()) + "\\fR" : names_text(option)) + "\n" +
           roff(option.description) + "\n";
  }
  return out;
}

std::string synopsis(const DeclaredCommand& command) {
  std::string out = "\\fBprofd";
  if (!command.name.empty()) out += " " + roff(command.name);
  out += "\\fR [\\fIOPTIONS\\fR]";
  for (const DeclaredOption& option : command.options)
    if (option.is_positional)
      out += " \\fI" + roff(option.names.front()) + "\\fR" + (option.is_repeatable ? "..." : "");
  return out;
}

std::string footer_text(const std::string& footer) {
  return footer.empty() ? "" : ".PP\n.nf\n" + roff(footer) + "\n.fi\n";
}

}  // namespace

std::string man_page(const std::vector<DeclaredCommand>& commands) {
  std::string out = ".TH PROFD 1 \"\" \"profd " PROFD_VERSION "\" \"User Commands\"\n";
  const DeclaredCommand& program = commands.front();
  out += ".SH NAME\nprofd \\- " + roff(program.description) + "\n.SH SYNOPSIS\n";
  for (const DeclaredCommand& command : commands) out += synopsis(command) + "\n.br\n";
  out += ".SH OPTIONS\n" + options_text(program) + ".SH COMMANDS\n";
  for (const DeclaredCommand& command : commands) {
    if (command.name.empty()) continue;
    out += ".SS " + synopsis(command) + "\n" + roff(command.description) + "\n" + options_text(command) +
           footer_text(command.footer);
  }
  return out + ".SH NOTES\n" + footer_text(program.footer);
}

void add_man(CLI::App& root, Commands& commands) {
  CLI::App* app = root.add_subcommand("man", "The manual page of this command line");
  app->footer("Examples:\n  profd man | man -l -\n  profd man > ~/.local/share/man/man1/profd.1");
  app->callback([&commands] {
    commands.action = [](const Console& console) { return console.print(man_page(declared_commands())); };
  });
}

}  // namespace profd
