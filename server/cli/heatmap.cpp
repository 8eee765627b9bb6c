// profd heatmap: when things happened, to the part of a second: in the terminal, as a page (-o out.svg), or
// as the answer of view/heatMap (--json).
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/file_error.h"
#include "server/cli/page_output.h"
#include "server/cli/print_answer.h"
#include "server/cli/report_text.h"
#include "server/cli/time_options.h"
#include "server/dialect/psp/heat_map.h"
#include "server/feature/heat_map_answer.h"
#include "server/feature/heat_map_svg.h"
#include "server/feature/text.h"
#include "server/feature/timeline_answer.h"

namespace profd {
namespace {

struct HeatMapOptions : OverTimeOptions {
  std::string column;
  std::uint32_t rows = 0;
};

constexpr std::size_t kMarginColumns = 10, kMarkColumns = 12, kWidestCell = 6;
// Of a terminal; --rows asks for more.
constexpr std::uint32_t kUsualRows = 25;

// Cells of one line of text, from the last row of a column down to the first.
std::string heat_text(const Terminal& terminal, const HeatMapAnswer& answer, std::size_t columns) {
  constexpr std::array<const char*, 5> kShades{" ", "░", "▒", "▓", "█"};
  std::string out =
      fmt::format("{}  {} from {}\n{}\n", terminal.bold(sanitize_text(answer.head.metric)),
                  sanitize_text(answer.held.text), moment_text(answer.from, answer.column / answer.rows),
                  terminal.dim(sanitize_text(answer.basis)));
  const double full = as_double(answer.full);
  const std::size_t wide = std::clamp<std::size_t>(columns / std::max(1u, answer.columns), 1, kWidestCell);
  for (std::uint32_t row = answer.rows; row-- > 0;) {
    // Every fourth row says which part of a column it is.
    const bool named = row % 4 == 0 || row + 1 == answer.rows;
    const std::string moment = named
                                   ? "+" + moment_text(heat_row_edge(answer.column, row, answer.rows),
                                                       std::max<std::int64_t>(1, answer.column / answer.rows))
                                   : std::string();
    std::string line = terminal.dim(right_aligned(moment, kMarginColumns - 1)) + " ";
    for (std::uint32_t column = 0; column < answer.columns; ++column) {
      const double value = as_double(answer.values[std::size_t{column} * answer.rows + row]);
      const double share = full > 0 ? std::clamp(value / full, 0.0, 1.0) : 0;
      // What is there at all is seen.
      const long shade = value > 0 ? std::max(1L, std::lround(std::sqrt(share) * 4)) : 0;
      std::string block;
      for (std::size_t i = 0; i < wide; ++i) block += kShades[static_cast<std::size_t>(shade)];
      line += terminal.colors == Colors::none || shade == 0 ? block : terminal.heat(block, share);
    }
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }
  std::string axis(kMarginColumns, ' ');
  const auto step = static_cast<std::uint32_t>((kMarkColumns + wide - 1) / wide);
  std::size_t used = kMarginColumns;
  for (std::uint32_t column = 0; column < answer.columns; column += step) {
    const std::size_t at = kMarginColumns + column * wide;
    const std::string text = "|" + moment_text(answer.from + answer.column * column, answer.column);
    axis += std::string(at - std::min(used, at), ' ') + text;
    used = at + display_width(text);
  }
  out += terminal.dim(axis) + "\n";
  const auto hottest = static_cast<std::size_t>(
      std::max_element(answer.values.begin(), answer.values.end(),
                       [](const Value& a, const Value& b) { return as_double(a) < as_double(b); }) -
      answer.values.begin());
  out += fmt::format("Most, {}: --filter '{}'\n", sanitize_text(answer.full_text),
                     heat_map_filter(answer, hottest, hottest));
  return out;
}

int heatmap(const HeatMapOptions& options, const Console& console) {
  const std::string file = shown_file(options.profile);
  HeatMapAsked request;
  if (!options.time.empty()) {
    const auto window = window_of(options.time);
    if (!window) return console.fail(window.error().message, kExitUsage);
    request.grid.from = window->from_ns;
    request.grid.to = window->to_ns;
  }
  if (!options.column.empty()) {
    const auto length = length_of("--column", options.column);
    if (!length) return console.fail(length.error().message, kExitUsage);
    request.grid.column = *length;
  }
  const bool page = !options.output.path.empty();
  if (page)
    if (const auto free = check_output(options.output, options.profile.file); !free)
      return console.fail(free.error().message);
  ThreadExecutor executor;
  auto view = open_view(options.profile, console, executor);
  if (!view) return console.fail(view.error().message);
  request.open = view->open;
  request.spec = view->spec;
  request.grid.rows = options.rows;
  const std::size_t columns = static_cast<std::size_t>(std::max(40, console.out.columns)) - kMarginColumns;
  const bool here = !page && !options.json;
  if (here) request.grid.max_columns = static_cast<std::uint32_t>(columns);
  auto answer = heat_map_answer(*view->views, request, StopToken{});
  if (here && answer && options.rows == 0 && answer->rows > kUsualRows) {
    request.grid.rows = kUsualRows;
    answer = heat_map_answer(*view->views, request, StopToken{});
  }
  if (!answer) return console.fail(file_error_text(file, answer.error()));
  int code = kExitOk;
  if (options.json) {
    code = print_answer<psp::HeatMapRequest>(std::move(answer), file, console);
  } else if (page) {
    code = print_page(options.output, heat_map_svg(*answer, std::string(base_name(file))), console);
  } else {
    code = console.print(heat_text(console.out, *answer, columns));
  }
  keep_in_cache(*view);
  return end_process(code);
}

}  // namespace

void add_heatmap(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<HeatMapOptions>();
  CLI::App* app = root.add_subcommand("heatmap", "When things happened, to the part of a second");
  add_over_time_options(*app, *options, "view/heatMap");
  app->add_option("--column", options->column, "How long a column is: 1s, 100ms")->type_name("LENGTH");
  add_number(*app, "--rows", "--rows", options->rows, 1, kMaxHeatRows, "Rows of a column");
  app->footer(
      "Examples:\n  profd heatmap perf.data\n  profd heatmap --filter 'thread worker-1' perf.data\n  profd "
      "heatmap "
      "-o heat.svg perf.data\n  profd top --filter 'time 12s..12.5s' perf.data     what ran in a part of it");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return heatmap(*options, console); };
  });
}

}  // namespace profd
