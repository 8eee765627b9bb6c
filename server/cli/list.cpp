// profd list: the source of functions with what each line costs.
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/file_error.h"
#include "server/cli/profile_options.h"
#include "server/cli/project_here.h"
#include "server/cli/report_text.h"
#include "server/cli/rows.h"
#include "server/feature/escape.h"
#include "server/feature/estimate.h"
#include "server/feature/listing.h"

namespace profd {
namespace {

struct ListOptions {
  ProfileOptions profile;
  std::string pattern;
  std::vector<std::string> folders;
  std::size_t n = 10;
  RowOptions rows;
};

// Tabs as spaces, so that the columns of code stay one below the other.
std::string code_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\t')
      out.append(4 - out.size() % 4, ' ');
    else
      out += c;
  }
  return sanitize_text(out);
}

std::string value_cell(const Whole& whole, const Value& value) {
  return as_double(value) == 0 ? std::string(".") : sanitize_text(whole.text(value));
}

std::string delta_text(const CostChange& change, const std::string& unit, bool of_self) {
  return format_delta(of_self ? change.self_before : change.total_before,
                      of_self ? change.self_after : change.total_after, unit,
                      of_self ? change.is_judged && change.self_standing != Standing::stands_out &&
                                    change.self_before != change.self_after
                              : change.within_noise());
}

// "1.96 s", "2.31 s", "+350 ms (+18 %)": of the totals.
constexpr std::size_t kChangeWidth = 20;
std::string change_cells(const Whole& whole, const CostChange& change, bool stale) {
  return right_aligned(value_cell(whole, change.total_before), 10) + "  " +
         right_aligned((stale ? "~" : "") + value_cell(whole, change.total_after), 10) + "  " +
         right_aligned(delta_text(change, whole.unit, false), kChangeWidth);
}

std::string listing_text(const Console& console, const ListingAnswer& answer, const Listing& listing) {
  const Whole& whole = answer.whole;
  std::string out = console.out.bold(sanitize_text(listing.name));
  const std::string& place = listing.path.empty() ? listing.file : listing.path;
  if (!place.empty()) out += "  " + console.out.dim(sanitize_text(place));
  if (listing.change)
    out += fmt::format("\nself {} to {}: {}; total {} to {}: {}\n", whole.text(listing.change->self_before),
                       whole.text(listing.change->self_after), delta_text(*listing.change, whole.unit, true),
                       whole.text(listing.change->total_before), whole.text(listing.change->total_after),
                       delta_text(*listing.change, whole.unit, false));
  else
    out += fmt::format("\n{} self, {} total ({})\n", sanitize_text(whole.text(listing.self)),
                       marked(sanitize_text(whole.text(listing.total)), listing.total_estimated),
                       whole.share_text(listing.total));
  if (!listing.note.empty()) out += console.out.warning(sanitize_text(listing.note)) + "\n";
  if (listing.lines.empty()) return out;
  const std::size_t width = listing.change ? 24 + kChangeWidth : 22;
  out += console.out.dim(listing.change ? fmt::format("{:>10}  {:>10}  {:>{}}  {:>6}", "before", "after",
                                                      "change", kChangeWidth, "line")
                                        : fmt::format("{:>10}  {:>10}  {:>6}", "self", "total", "line")) +
         "\n";
  const auto columns = static_cast<std::size_t>(console.out.columns);
  std::uint32_t before = 0;
  for (const ListedLine& line : listing.lines) {
    if (before != 0 && line.line > before + 1)
      out += console.out.dim(fmt::format("{:>{}}", "…", width + 10)) + "\n";
    before = line.line;
    const std::string numbers =
        line.change      ? change_cells(whole, *line.change, line.stale)
        : line.has_value ? right_aligned(value_cell(whole, line.self), 10) + "  " +
                               right_aligned((line.stale ? "~" : "") + value_cell(whole, line.total), 10)
                         : std::string(width, ' ');
    const double heat = line.has_value ? std::abs(whole.share(line.total)) : 0;
    out += (line.change      ? (line.change->within_noise() ? console.out.dim(numbers) : numbers)
            : line.has_value ? console.out.heat(numbers, heat)
                             : numbers) +
           console.out.dim(fmt::format("  {:>6}  ", line.line));
    const std::string code = code_text(line.text);
    out +=
        (console.out.is_terminal && columns > width + 30 ? cut_to_width(code, columns - width - 10) : code) +
        "\n";
  }
  return out;
}

std::string list_rows(const RowOptions& options, const Console& console, const ListingAnswer& answer) {
  const bool of_diff = !answer.functions.empty() && answer.functions.front().change.has_value();
  std::vector<std::string_view> names{"name", "file", "path", "line", "self", "total"};
  if (of_diff) names.insert(names.end(), {"self_before", "total_before", "within_noise"});
  names.insert(names.end(), {"stale", "text", "metric", "unit", "profile"});
  RowText rows(options, std::move(names), console.out.is_terminal);
  for (const Listing& listing : answer.functions) {
    for (const ListedLine& line : listing.lines) {
      rows.text(listing.name);
      rows.text(listing.file);
      rows.text(listing.path);
      rows.count(line.line);
      const auto number = [&](const Value* value) {
        if (value != nullptr)
          rows.number(*value);
        else
          rows.nothing();
      };
      number(line.has_value ? &line.self : nullptr);
      number(line.has_value ? &line.total : nullptr);
      if (of_diff) {
        number(line.change ? &line.change->self_before : nullptr);
        number(line.change ? &line.change->total_before : nullptr);
        rows.flag(line.change && line.change->within_noise());
      }
      rows.flag(line.stale);
      rows.text(line.text);
      rows.text(answer.head.metric);
      rows.text(answer.head.unit);
      rows.text(answer.head.profile);
    }
  }
  return rows.take();
}

int list_in(const ListOptions& options, const ProjectSources& sources, const ProfileOptions& file,
            const FileTurn& turn, const Console& console) {
  ThreadExecutor executor;
  auto view = open_view(file, console, executor);
  if (!view) return console.fail(view.error().message);
  ListingRequest request;
  request.open = view->open;
  request.workspace = sources.workspace;
  request.folders = sources.folders;
  request.spec = view->spec;
  request.pattern = options.pattern;
  request.limit = options.n == 0 ? std::numeric_limits<std::size_t>::max() : options.n;
  const auto answer = list_functions(*view->views, request, StopToken{});
  if (!answer) {
    // A pattern is an expression only where no function has it as its name, which the profile decides.
    const bool misspelt = answer.error().code == ErrorCode::invalid;
    return console.fail(file_error_text(shown_file(file), answer.error()),
                        misspelt ? kExitUsage : kExitInput);
  }
  std::string out;
  if (options.rows.any()) {
    RowOptions rows = options.rows;
    rows.header = turn.first();
    out = list_rows(rows, console, *answer);
    for (const Listing& listing : answer->functions)
      if (!listing.note.empty()) console.note(fmt::format("{}: {}", listing.name, listing.note));
  } else {
    for (const Listing& listing : answer->functions)
      out += (out.empty() ? "" : "\n") + listing_text(console, *answer, listing);
  }
  note_rest(answer->head, std::nullopt, console);
  if (answer->n_left_out > 0)
    console.note(fmt::format("{} more functions match; -n shows more of them", answer->n_left_out));
  const int code = console.print(out);
  keep_in_cache(*view);
  return turn.end(code);
}

int list(const ListOptions& options, const Console& console) {
  if (const int code = refuse_trees(options.profile, console); code != kExitOk) return code;
  if (options.profile.granularity && *options.profile.granularity != Granularity::line)
    return console.fail("a listing is of lines; `profd top` has other granularities", kExitUsage);
  const ProjectSources sources = sources_here(options.folders, console);
  return for_each_file(options.profile, console, !options.rows.any(),
                       [&](const ProfileOptions& file, const FileTurn& turn) {
                         return list_in(options, sources, file, turn, console);
                       });
}

}  // namespace

void add_list(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<ListOptions>();
  CLI::App* app = root.add_subcommand("list", "The source of functions, with what each line costs");
  app->add_option("FUNCTION", options->pattern, "A name as profd shows it, or an RE2 expression over names")
      ->required()
      ->option_text(" ");
  add_profile_options(*app, options->profile, true);
  app->add_option("--source", options->folders,
                  "A folder with sources beside the project around the current one; may be given again")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  add_number(*app, "-n", "-n", options->n, 0, kMostRows, "Functions listed; 0 lists all, otherwise 10");
  add_row_options(*app, options->rows);
  app->footer(
      "Examples:\n  profd list main.work cpu.pprof\n  profd list '^parse' --metric alloc_space heap.pprof\n"
      "  profd list --source /usr/lib/go runtime.mallocgc cpu.pprof");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return list(*options, console); };
  });
}

}  // namespace profd
