// profd search: how much of a profile matches a pattern, and which names do.
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "core/view/pattern.h"
#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/cli/rows.h"
#include "server/feature/escape.h"
#include "server/feature/fitted_name.h"
#include "server/feature/search_answer.h"

namespace profd {
namespace {

struct SearchOptions {
  ProfileOptions profile;
  std::string pattern;
  std::size_t n = 20;
  bool json = false;
  RowOptions rows;
};

std::string search_text(const Console& console, const SearchAnswer& answer) {
  std::string out = console.out.bold(sanitize_text(answer.text)) + "\n";
  if (answer.head.excluded) out += console.out.warning(sanitize_text(answer.head.excluded->text)) + "\n";
  if (!answer.head.estimated.empty()) out += console.out.dim(answer.head.estimated) + "\n";
  if (answer.matches.empty()) return out;
  out += console.out.dim(fmt::format("{:>18}  {:>18}", "self", "total")) + "\n";
  const auto columns = static_cast<std::size_t>(console.out.columns);
  const auto number = [&](const Value& value, bool estimated) {
    return right_aligned(marked(sanitize_text(answer.whole.text(value)), estimated), 9) + "  " +
           right_aligned(marked(answer.whole.share_text(value), estimated), 7);
  };
  for (const Place& place : answer.matches)
    out += number(place.self, false) + "  " + number(place.total, place.total_estimated) + "  " +
           fitted_name(place.name, columns > 60 ? columns - 40 : 20) + "\n";
  if (answer.n_names > answer.matches.size())
    out += console.out.dim(fmt::format("{} more names match; -n shows more of them\n",
                                       format_count(answer.n_names - answer.matches.size())));
  return out;
}

int search_in(const SearchOptions& options, const ProfileOptions& file, const FileTurn& turn,
              const Console& console) {
  ThreadExecutor executor;
  auto view = open_view(file, console, executor);
  if (!view) return console.fail(view.error().message);
  SearchAnswerRequest request;
  request.open = view->open;
  request.spec = view->spec;
  request.pattern = options.pattern;
  request.limit = options.n == 0 ? std::numeric_limits<std::size_t>::max() : options.n;
  auto answer = search_answer(*view->views, request, StopToken{});
  int code = kExitOk;
  if (answer && options.rows.any()) {
    RowOptions rows = options.rows;
    rows.header = turn.first();
    code = console.print(rows_text(rows, console, answer->head, answer->matches));
    note_rest(answer->head, std::nullopt, console);
    if (answer->n_names > answer->matches.size())
      console.note(fmt::format("{} more names match; -n 0 gives all rows",
                               format_count(answer->n_names - answer->matches.size())));
  } else if (options.json || !answer) {
    code = print_answer<psp::SearchRequest>(std::move(answer), shown_file(file), console);
  } else {
    code = console.print(search_text(console, *answer));
  }
  keep_in_cache(*view);
  return turn.end(code);
}

int search_command(const SearchOptions& options, const Console& console) {
  if (const int code = refuse_trees(options.profile, console); code != kExitOk) return code;
  return for_each_file(options.profile, console, !options.json && !options.rows.any(),
                       [&](const ProfileOptions& file, const FileTurn& turn) {
                         return search_in(options, file, turn, console);
                       });
}

}  // namespace

void add_search(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<SearchOptions>();
  CLI::App* app =
      root.add_subcommand("search", "How much of a profile matches a pattern, each stack counted once");
  app->add_option("PATTERN", options->pattern, "An RE2 regular expression over names of functions")
      ->required()
      ->option_text(" ")
      ->check([](const std::string& text) {
        if (const auto pattern = Pattern::compile(text, true); !pattern)
          throw CLI::ValidationError(pattern.error().message);
        return std::string();
      });
  add_profile_options(*app, options->profile, true);
  add_number(*app, "-n", "-n", options->n, 0, kMostRows, "Names listed; 0 lists all, otherwise 20");
  app->add_flag("--json", options->json, "The answer of view/search, see docs/protocol.md");
  add_row_options(*app, options->rows);
  app->footer(
      "Examples:\n  profd search malloc heap.pprof\n  profd search '^net/http' --granularity file cpu.pprof\n"
      "  profd search --json 'parse|decode' cpu.pprof");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return search_command(*options, console); };
  });
}

}  // namespace profd
