// profd timeline: when threads ran, as load and flame chart in the terminal, as a page (-o out.svg), or as
// the answer of view/timeline (--json).
#include "server/dialect/psp/timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/support/base_name.h"
#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/file_error.h"
#include "server/cli/page_output.h"
#include "server/cli/print_answer.h"
#include "server/cli/report_text.h"
#include "server/cli/time_options.h"
#include "server/feature/counters_answer.h"
#include "server/feature/fitted_name.h"
#include "server/feature/text.h"
#include "server/feature/timeline_svg.h"

namespace profd {
namespace {

struct TimelineOptions : OverTimeOptions {
  std::vector<std::string> threads;
  std::size_t tracks = 20;
  std::uint32_t depth = 20;
};

constexpr std::size_t kTrackNameColumns = 24, kLoadColumns = 9;
constexpr std::uint32_t kMostTracks = 1000;

// An eighth of a line at a time.
std::string load_line(const std::vector<double>& load, double full) {
  constexpr std::array<const char*, 9> kBlocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string out;
  for (const double value : load) {
    const double share = full > 0 ? std::clamp(value / full, 0.0, 1.0) : 0;
    // What is there at all is seen.
    const long block = value > 0 ? std::max(1L, std::lround(share * 8)) : 0;
    out += kBlocks[static_cast<std::size_t>(block)];
  }
  return out;
}

// Moments below each other's marks, as many as fit.
std::string axis_line(const TimelineAnswer& answer, std::size_t columns) {
  std::string out;
  std::size_t used = 0;
  const std::int64_t length = answer.to - answer.from;
  constexpr std::size_t kApart = 16;
  for (std::size_t column = 0; column + kApart <= columns; column += kApart) {
    const std::int64_t at = column_edge(answer.from, answer.to, column, columns);
    const std::string text =
        "|" + moment_text(at, std::max<std::int64_t>(1, length / static_cast<std::int64_t>(columns)));
    out += std::string(column - used, ' ') + text;
    used = column + display_width(text);
  }
  return out;
}

struct DrawnBox {
  std::size_t from, to, box;
};

std::string chart_text(const Terminal& terminal, const TimelineAnswer& answer,
                       const TimelineAnswer::Chart& chart, std::size_t columns, std::uint32_t most_rows) {
  const double px = static_cast<double>(columns) / static_cast<double>(answer.to - answer.from);
  const auto column_at = [&](double ns) {
    return static_cast<std::size_t>(std::lround(std::clamp(ns * px, 0.0, static_cast<double>(columns))));
  };
  std::vector<std::vector<DrawnBox>> rows;
  for (std::size_t i = 0; i < chart.boxes.depth.size(); ++i) {
    if (rows.size() <= chart.boxes.depth[i]) rows.resize(chart.boxes.depth[i] + 1);
    const double x = as_double(chart.boxes.x[i]);
    const std::size_t from = column_at(x);
    rows[chart.boxes.depth[i]].push_back(
        {from, std::max(from + 1, column_at(x + as_double(chart.boxes.width[i]))), i});
  }
  std::string out;
  const std::string margin(kTrackNameColumns + 1, ' ');
  for (std::size_t row = 0; row < rows.size() && row < most_rows; ++row) {
    std::string line;
    std::size_t at = 0;
    const auto fill = [&](std::size_t until) {
      // Where there are no samples the first row says so.
      for (; at < until; ++at) {
        bool gap = false;
        for (std::size_t g = 0; row == 0 && g < chart.gap_x.size() && !gap; ++g)
          gap = at >= column_at(static_cast<double>(chart.gap_x[g])) &&
                at < column_at(static_cast<double>(chart.gap_x[g] + chart.gap_width[g]));
        line += gap ? terminal.dim("╱") : " ";
      }
    };
    for (const DrawnBox& box : rows[row]) {
      const std::size_t from = std::max(box.from, at), to = std::min(box.to, columns);
      if (to <= from) continue;
      fill(from);
      at = to;
      if (chart.boxes.name[box.box] < 0) {
        for (std::size_t i = from; i < to; ++i) line += terminal.dim("░");
        continue;
      }
      const std::size_t width = to - from;
      const std::string& label = answer.labels[static_cast<std::size_t>(chart.boxes.name[box.box])];
      line +=
          width == 1 ? "|" : "|" + left_aligned(width > 2 ? fitted_name(label, width - 1) : "", width - 1);
    }
    if (row == 0) fill(columns);
    while (line.ends_with(' ')) line.pop_back();
    out += margin + line + "\n";
  }
  if (rows.size() > most_rows)
    out += margin +
           terminal.dim(fmt::format("{} more below; --depth shows them",
                                    count_of(rows.size() - most_rows, "row", "rows"))) +
           "\n";
  for (const std::string& note : chart.notes) out += margin + terminal.dim(sanitize_text(note)) + "\n";
  return out;
}

std::string timeline_text(const Terminal& terminal, const TimelineAnswer& answer, std::size_t columns,
                          std::uint32_t rows) {
  std::string out = fmt::format("{}  {} from {}\n{}\n", terminal.bold(sanitize_text(answer.head.metric)),
                                sanitize_text(answer.head.view_total.text), answer.window_text,
                                terminal.dim(sanitize_text(answer.basis)));
  out += std::string(kTrackNameColumns + 1, ' ') + terminal.dim(axis_line(answer, columns)) + "\n";
  for (const TimelineAnswer::Track& track : answer.tracks) {
    out += left_aligned(cut_to_width(sanitize_text(track.name), kTrackNameColumns), kTrackNameColumns) + " " +
           load_line(track.load, answer.full) + std::string(columns - track.load.size(), ' ') +
           right_aligned(track.load_text, kLoadColumns) + "\n";
    for (const TimelineAnswer::Chart& chart : answer.charts)
      if (chart.track == track.id) out += chart_text(terminal, answer, chart, columns, rows);
  }
  if (answer.left) out += terminal.dim(sanitize_text(answer.left->text) + "; --tracks shows more") + "\n";
  return out;
}

// Below the threads, each from the least to the most that it has here.
std::string counters_text(const Terminal& terminal, const CountersAnswer& answer, std::size_t columns) {
  std::string out;
  const double length = static_cast<double>(answer.to - answer.from);
  for (const CountersAnswer::Counter& counter : answer.counters) {
    const double low = std::min(0.0, counter.low), high = std::max(0.0, counter.high);
    std::vector<double> levels;
    double value = counter.points.before.value_or(low);
    std::size_t point = 0;
    for (std::size_t column = 0; column < columns; ++column) {
      double level = value;
      for (; point < counter.points.size(); ++point) {
        const double at = static_cast<double>(counter.points.time[point] - answer.from) / length;
        if (at * static_cast<double>(columns) >= static_cast<double>(column + 1)) break;
        level = std::max(level, counter.points.high[point]);
        value = counter.points.last[point];
      }
      levels.push_back(level - low);
    }
    out += left_aligned(cut_to_width(sanitize_text(counter.name), kTrackNameColumns), kTrackNameColumns) +
           " " + terminal.dim(load_line(levels, high - low)) +
           right_aligned(counter.last_text, kLoadColumns) + "\n";
  }
  if (!answer.left_text.empty())
    out += terminal.dim(sanitize_text(answer.left_text) + "; --tracks shows more") + "\n";
  return out;
}

bool is_meant(const TimelineAnswer::Track& track, const std::vector<std::string>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
    return track.name == name || track.name.starts_with(name + " ") || track.name.ends_with(" " + name);
  });
}

int timeline(const TimelineOptions& options, const Console& console) {
  const std::string file = shown_file(options.profile);
  TimelineRequest request;
  if (!options.time.empty()) {
    const auto window = window_of(options.time);
    if (!window) return console.fail(window.error().message, kExitUsage);
    request.from = window->from_ns;
    request.to = window->to_ns;
  }
  const bool page = !options.output.path.empty();
  if (page)
    if (const auto free = check_output(options.output, options.profile.file); !free)
      return console.fail(free.error().message);
  ThreadExecutor executor;
  auto view = open_view(options.profile, console, executor);
  if (!view) return console.fail(view.error().message);
  const std::size_t columns =
      static_cast<std::size_t>(std::max(40, console.out.columns)) - kTrackNameColumns - 1 - kLoadColumns;
  request.open = view->open;
  request.spec = view->spec;
  request.max_tracks = options.threads.empty() ? static_cast<std::uint32_t>(options.tracks) : kMostTracks;
  request.columns = page || options.json ? 400 : static_cast<std::uint32_t>(columns);
  request.width_px = page ? kTimelineSvgWidth : options.json ? 1200 : static_cast<double>(columns);
  request.min_width_px = page || options.json ? 2 : 1;
  request.max_boxes = 5000;
  auto answer = timeline_answer(*view->views, request, StopToken{});
  if (answer && !options.threads.empty()) {
    std::erase_if(answer->tracks, [&](const auto& track) { return !is_meant(track, options.threads); });
    if (answer->tracks.empty())
      return console.fail(fmt::format("{}: no thread is called {}; without --thread all are shown", file,
                                      fmt::join(options.threads, " or ")));
    std::vector<TimelineAnswer::Track> tracks = std::move(answer->tracks);
    request.charts.emplace();
    for (std::size_t i = 0; i < tracks.size() && i < 32; ++i) request.charts->push_back(tracks[i].id);
    answer = timeline_answer(*view->views, request, StopToken{});
    if (answer) {
      answer->tracks = std::move(tracks);
      answer->left.reset();
    }
  }
  if (!answer) return console.fail(file_error_text(file, answer.error()));
  int code = kExitOk;
  if (options.json) {
    code = print_answer<psp::TimelineRequest>(std::move(answer), file, console);
  } else if (page) {
    code = print_page(options.output, timeline_svg(*answer, std::string(base_name(file))), console);
  } else {
    std::string text =
        timeline_text(console.out, *answer, columns, options.depth == 0 ? kNone : options.depth);
    if (options.threads.empty()) {
      CountersRequest counters;
      counters.open = request.open;
      counters.spec = request.spec;
      counters.from = answer->from;
      counters.to = answer->to;
      counters.columns = static_cast<std::uint32_t>(columns);
      counters.limit = static_cast<std::uint32_t>(options.tracks);
      const auto counted = counters_answer(*view->views, counters, StopToken{});
      if (!counted) return console.fail(file_error_text(file, counted.error()));
      text += counters_text(console.out, *counted, columns);
    }
    code = console.print(text);
  }
  keep_in_cache(*view);
  return end_process(code);
}

}  // namespace

void add_timeline(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<TimelineOptions>();
  CLI::App* app =
      root.add_subcommand("timeline", "When threads ran: their load, and a flame chart over time");
  add_over_time_options(*app, *options, "view/timeline");
  app->add_option("--thread", options->threads,
                  "Only threads of this name or number, each with its flame chart; may be given again")
      ->type_name("NAME");
  add_number(*app, "--tracks", "--tracks", options->tracks, 1, kMostTracks, "Threads listed at most");
  add_number(*app, "--depth", "--depth", options->depth, 0, kMostLevels,
             "Rows of a flame chart; 0 shows all");
  app->footer(
      "Examples:\n  profd timeline perf.data\n  profd timeline --time 1.2s..1.3s --thread worker-1 "
      "perf.data\n"
      "  profd timeline -o trace.svg trace.json\n  profd timeline --filter 'drop thread swapper' perf.data\n"
      "  profd top --filter 'time 1.2s..1.3s' perf.data     the same window as a table");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return timeline(*options, console); };
  });
}

}  // namespace profd
