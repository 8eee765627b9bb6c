// How a sub-command joins the command line: add_<name>(app, commands) declares options and what to run.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "server/cli/console.h"

namespace CLI {
class App;
}

namespace profd {

struct Commands {
  // Set by the parse: what the given sub-command does. Empty when none was given.
  std::function<int(const Console&)> action;
  ColorMode color = ColorMode::automatic;
  // What followed "--" on the line of `profd record` or `profd lsp`, as it was typed.
  std::vector<std::string> command_line;
};

void add_first_glance(CLI::App& root, Commands& commands);
void add_summary(CLI::App& root, Commands& commands);
void add_top(CLI::App& root, Commands& commands);
void add_tree(CLI::App& root, Commands& commands);
void add_flame(CLI::App& root, Commands& commands);
void add_timeline(CLI::App& root, Commands& commands);
void add_markers(CLI::App& root, Commands& commands);
void add_heatmap(CLI::App& root, Commands& commands);
void add_search(CLI::App& root, Commands& commands);
void add_sets(CLI::App& root, Commands& commands);
void add_diff(CLI::App& root, Commands& commands);
void add_aggregate(CLI::App& root, Commands& commands);
void add_join(CLI::App& root, Commands& commands);
void add_correlate(CLI::App& root, Commands& commands);
void add_offcpu(CLI::App& root, Commands& commands);
void add_leaks(CLI::App& root, Commands& commands);
void add_gate(CLI::App& root, Commands& commands);
void add_list(CLI::App& root, Commands& commands);
void add_hotspots(CLI::App& root, Commands& commands);
void add_completion(CLI::App& root, Commands& commands);
void add_man(CLI::App& root, Commands& commands);
void add_check(CLI::App& root, Commands& commands);
void add_convert(CLI::App& root, Commands& commands);
void add_symbolize(CLI::App& root, Commands& commands);
void add_analyse(CLI::App& root, Commands& commands);
void add_annotate(CLI::App& root, Commands& commands);
void add_report(CLI::App& root, Commands& commands);
void add_formats(CLI::App& root, Commands& commands);
void add_serve(CLI::App& root, Commands& commands);
void add_connect(CLI::App& root, Commands& commands);
void add_lsp(CLI::App& root, Commands& commands);
void add_query(CLI::App& root, Commands& commands);
void add_view(CLI::App& root, Commands& commands);

// Everything the command line takes. `only`: the first argument; when it is a command, the others are not
// declared, which takes half a millisecond that nobody asked for.
void declare_commands(CLI::App& root, Commands& commands, std::string_view only);

// The whole of main(): parses, runs, and never throws.
int run_command_line(int argc, char** argv);

}  // namespace profd
