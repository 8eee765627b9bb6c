// profd markers: what the source noted, as a table of markers or of their names, or as the answer of
// view/markers (--json).
#include "server/dialect/psp/markers.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/file_error.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/cli/report_text.h"
#include "server/cli/time_options.h"
#include "server/feature/markers_answer.h"
#include "server/feature/text.h"

namespace profd {
namespace {

struct MarkersOptions {
  ProfileOptions profile;
  std::string search, time, min_length;
  bool json = false, by_name = false, ascending = false;
  std::optional<MarkerOrder> sort;
  std::size_t rows = 30;
};

constexpr std::size_t kMostThreadColumns = 24, kMostNameColumns = 40;

std::size_t width_of(const std::vector<std::string>& texts, std::string_view title, std::size_t most) {
  std::size_t width = display_width(title);
  for (const std::string& text : texts) width = std::max(width, display_width(sanitize_text(text)));
  return std::min(width, most);
}

std::string cell(const std::string& text, std::size_t width) {
  return left_aligned(cut_to_width(sanitize_text(text), width), width);
}

std::string without_end_spaces(std::string line) {
  while (line.ends_with(' ')) line.pop_back();
  return line + "\n";
}

std::string fields_text(const std::vector<MarkerField>& fields) {
  std::string out;
  for (const MarkerField& field : fields)
    out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", field.key, field.text);
  return out;
}

std::string rows_text(const Terminal& terminal, const MarkerRows& rows) {
  const std::size_t begin = width_of(rows.begin_text, "BEGIN", 20),
                    length = width_of(rows.length_text, "LENGTH", 20),
                    thread = width_of(rows.thread, "THREAD", kMostThreadColumns),
                    name = width_of(rows.name, "NAME", kMostNameColumns);
  std::string out = terminal.dim(without_end_spaces(
      fmt::format("{}  {}  {}  {}  FIELDS", right_aligned("BEGIN", begin), right_aligned("LENGTH", length),
                  left_aligned("THREAD", thread), left_aligned("NAME", name))));
  const std::size_t used = begin + length + thread + name + 8,
                    columns = static_cast<std::size_t>(std::max(40, terminal.columns));
  for (std::size_t i = 0; i < rows.id.size(); ++i) {
    const std::string fields = sanitize_text(fields_text(rows.fields[i]));
    // What goes into a file is whole.
    const bool fits = !terminal.is_terminal || columns < used + 10;
    out += without_end_spaces(fmt::format("{}  {}  {}  {}  {}", right_aligned(rows.begin_text[i], begin),
                                          right_aligned(rows.length_text[i], length),
                                          cell(rows.thread[i], thread), cell(rows.name[i], name),
                                          fits ? fields : cut_to_width(fields, columns - used)));
  }
  return out;
}

std::string groups_text(const Terminal& terminal, const MarkerGroups& groups) {
  const std::size_t count = width_of(groups.count_text, "COUNT", 20),
                    length = width_of(groups.length_text, "TOTAL", 20),
                    mean = width_of(groups.mean_text, "MEAN", 20),
                    most = width_of(groups.most_text, "LONGEST", 20);
  const auto line = [&](std::string_view c, std::string_view l, std::string_view m, std::string_view g,
                        const std::string& name) {
    return without_end_spaces(fmt::format("{}  {}  {}  {}  {}", right_aligned(c, count),
                                          right_aligned(l, length), right_aligned(m, mean),
                                          right_aligned(g, most), name));
  };
  std::string out = terminal.dim(line("COUNT", "TOTAL", "MEAN", "LONGEST", "NAME"));
  for (std::size_t i = 0; i < groups.name.size(); ++i)
    out += line(groups.count_text[i], groups.length_text[i], groups.mean_text[i], groups.most_text[i],
                sanitize_text(groups.name[i]) +
                    (groups.category[i].empty() ? std::string()
                                                : "  " + terminal.dim(sanitize_text(groups.category[i]))));
  return out;
}

std::string markers_text(const Terminal& terminal, const MarkersAnswer& answer) {
  std::string out = terminal.bold(answer.text) + "\n";
  std::size_t shown = 0;
  if (answer.table && !answer.table->id.empty()) {
    out += rows_text(terminal, *answer.table);
    shown = answer.table->id.size();
  } else if (answer.groups && !answer.groups->name.empty()) {
    out += groups_text(terminal, *answer.groups);
    shown = answer.groups->name.size();
  }
  if (shown < answer.rows)
    out += terminal.dim(fmt::format("{} more; -n 0 shows all", format_count(answer.rows - shown))) + "\n";
  return out;
}

int markers(const MarkersOptions& options, const Console& console) {
  const std::string file = shown_file(options.profile);
  MarkersRequest request;
  if (!options.time.empty()) {
    const auto window = window_of(options.time);
    if (!window) return console.fail(window.error().message, kExitUsage);
    request.from = window->from_ns;
    request.to = window->to_ns;
  }
  if (!options.min_length.empty()) {
    const auto length = length_of("--min-length", options.min_length);
    if (!length) return console.fail(length.error().message, kExitUsage);
    request.min_length = *length;
  }
  ThreadExecutor executor;
  auto view = open_view(options.profile, console, executor);
  if (!view) return console.fail(view.error().message);
  request.open = view->open;
  request.spec = view->spec;
  request.search = options.search;
  request.by_name = options.by_name;
  request.sort = options.sort;
  if (options.ascending) request.descending = false;
  request.limit = options.rows == 0 ? kNone : static_cast<std::uint32_t>(options.rows);
  auto answer = markers_answer(*view->views, request, StopToken{});
  if (!answer) return console.fail(file_error_text(file, answer.error()));
  const int code = options.json ? print_answer<psp::MarkersRequest>(std::move(answer), file, console)
                                : console.print(markers_text(console.out, *answer));
  keep_in_cache(*view);
  return end_process(code);
}

}  // namespace

void add_markers(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<MarkersOptions>();
  CLI::App* app =
      root.add_subcommand("markers", "What the source noted: markers, searched and summed up by name");
  add_profile_options(*app, options->profile);
  app->add_option(
         "--search", options->search,
         "Words that must all be there in name, category or fields: click, /ex.*/, name:gc, thread:main, "
         "type:load, -not")
      ->type_name("WORDS");
  app->add_option("--time", options->time, "Only what reaches into a window: 10ms..2s, 1.5s.. or ..300us")
      ->type_name("FROM..TO");
  app->add_option("--min-length", options->min_length, "Only what takes this long: 10ms")
      ->type_name("LENGTH");
  app->add_flag("--by-name", options->by_name, "One row for all of a name: how many, total, mean, longest");
  add_choice<std::optional<MarkerOrder>>(*app, "--sort", "--sort", options->sort,
                                         {{"begin", MarkerOrder::begin},
                                          {"length", MarkerOrder::length},
                                          {"name", MarkerOrder::name},
                                          {"category", MarkerOrder::category},
                                          {"thread", MarkerOrder::thread},
                                          {"count", MarkerOrder::count},
                                          {"mean", MarkerOrder::mean},
                                          {"longest", MarkerOrder::most}},
                                         "The order; amounts from the largest on");
  app->add_flag("--ascending", options->ascending, "The smallest first");
  add_number(*app, "-n,--limit", "-n", options->rows, 0, kMostRows, "Rows at most; 0 shows all");
  app->add_flag("--json", options->json, "The answer of view/markers, see docs/protocol.md");
  app->footer(
      "Examples:\n  profd markers profile.json.gz\n  profd markers --by-name trace.json\n  profd markers "
      "--search "
      "'name:GC -minor' --min-length 5ms profile.json.gz\n  profd top --filter 'marker GCMajor' "
      "profile.json.gz     "
      "the samples while one runs");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return markers(*options, console); };
  });
}

}  // namespace profd
