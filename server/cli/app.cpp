#include <algorithm>
#include <csignal>
#include <exception>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "core/support/near_miss.h"
#include "server/cli/arguments.h"
#include "server/cli/command.h"
#include "server/cli/live.h"
#include "server/cli/record.h"
#include "server/feature/escape.h"

#ifndef PROFD_VERSION
#define PROFD_VERSION "unknown"
#endif

namespace profd {
namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  profd cpu.pprof                     what it is, the hottest functions, the heaviest paths\n"
    "  profd flame cpu.pprof               the flame graph, here in the terminal\n"
    "  profd flame -o cpu.svg cpu.pprof    the same as a page to zoom, search and share\n"
    "  profd view cpu.pprof                in the browser, with everything to click\n"
    "  profd top --sort total cpu.pprof    the flat list\n"
    "  profd check *.json                  can they be read, and what is lost\n"
    "  profd formats                       what is read and written\n"
    "\n"
    "A file named like a command is opened as ./summary. Colours follow --color and NO_COLOR.\n"
    "Exit codes: 0 fine, 1 the file or request is at fault, 2 the command line is, 3 profd is.";

struct NamedCommand {
  std::string_view name;
  void (*add)(CLI::App& root, Commands& commands);
};
// In the order of the help.
constexpr NamedCommand kCommands[] = {
    {"summary", add_summary},
    {"top", add_top},
    {"tree", add_tree},
    {"flame", add_flame},
    {"hotspots", add_hotspots},
    {"list", add_list},
    {"timeline", add_timeline},
    {"markers", add_markers},
    {"heatmap", add_heatmap},
    {"live", add_live},
    {"record", add_record},
    {"search", add_search},
    {"sets", add_sets},
    {"diff", add_diff},
    {"aggregate", add_aggregate},
    {"join", add_join},
    {"correlate", add_correlate},
    {"offcpu", add_offcpu},
    {"leaks", add_leaks},
    {"gate", add_gate},
    {"check", add_check},
    {"convert", add_convert},
    {"symbolize", add_symbolize},
    {"analyse", add_analyse},
    {"annotate", add_annotate},
    {"report", add_report},
    {"formats", add_formats},
    {"view", add_view},
    {"serve", add_serve},
    {"connect", add_connect},
    {"lsp", add_lsp},
    {"query", add_query},
    {"completion", add_completion},
    {"man", add_man},
};

void add_commands(CLI::App& root, Commands& commands, std::string_view only) {
  add_first_glance(root, commands);
  const auto named = std::find_if(std::begin(kCommands), std::end(kCommands),
                                  [&](const NamedCommand& command) { return command.name == only; });
  if (named != std::end(kCommands)) return named->add(root, commands);
  for (const NamedCommand& command : kCommands) command.add(root, commands);
}

// The command that a first word was meant to be which names no file. "" when it is something else.
std::string_view meant_command(std::string_view word) {
  if (word.empty() || word.front() == '-' || word.find('/') != word.npos) return {};
  std::vector<std::string_view> names;
  for (const NamedCommand& command : kCommands) names.push_back(command.name);
  if (std::find(names.begin(), names.end(), word) != names.end()) return {};
  if (::access(std::string(word).c_str(), F_OK) == 0) return {};
  return near_miss(word, names);
}

int run(int argc, char** argv) {
  // What cannot be written is an error where it is written.
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  Commands commands;
  CLI::App root;
  declare_commands(root, commands, argc > 1 ? argv[1] : "");
  // The parser would read lists and braces in another program's words.
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "record" || first == "lsp") {
    char** const mark = std::find(argv + 2, argv + argc, std::string_view("--"));
    if (mark != argv + argc) commands.command_line.assign(mark + 1, argv + argc);
    argc = static_cast<int>(mark - argv);
  }
  const auto console = [&] {
    return Console{make_terminal(STDOUT_FILENO, commands.color),
                   make_terminal(STDERR_FILENO, commands.color)};
  };
  if (const std::string_view meant = meant_command(argc > 1 ? argv[1] : ""); !meant.empty())
    return console().fail(
        fmt::format("there is neither a command nor a file {}; did you mean `profd {}`?", argv[1], meant),
        kExitUsage);
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    CLI::App* shown = root.get_subcommands().empty() ? &root : root.get_subcommands().front();
    return console().print(shown->help(root.get_subcommands().empty() ? "" : "profd"));
  } catch (const CLI::CallForVersion&) {
    return console().print("profd " PROFD_VERSION "\n");
  } catch (const CLI::ParseError& error) {
    const std::string command =
        root.get_subcommands().empty() ? "profd" : "profd " + root.get_subcommands().front()->get_name();
    return console().fail(usage_error_text(root, error) + ". `" + command + " --help` says more.",
                          kExitUsage);
  }
  if (!commands.action) {
    console().print(root.help());
    return kExitUsage;
  }
  return commands.action(console());
}

}  // namespace

void declare_commands(CLI::App& root, Commands& commands, std::string_view only) {
  root.description("Reads what any profiler wrote, and answers.");
  root.name("profd");
  use_plain_help(root);
  root.set_version_flag("--version", "profd " PROFD_VERSION);
  root.footer(kFooter);
  root.require_subcommand(0, 1);
  root.set_help_flag("-h,--help", "This help; also after a command");
  add_commands(root, commands, only);
  const auto add_color = [&](CLI::App* app) {
    add_choice(
        *app, "--color", "--color", commands.color,
        Choices<ColorMode>{
            {"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}},
        "Colours; auto: on terminals");
  };
  add_color(&root);
  for (CLI::App* command : root.get_subcommands(nullptr)) add_color(command);
}

int run_command_line(int argc, char** argv) {
  const Console plain{};
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return plain.fail("out of memory", kExitInternal);
  } catch (const std::exception& error) {
    return plain.fail(std::string("internal error: ") + error.what(), kExitInternal);
  }
}

}  // namespace profd
