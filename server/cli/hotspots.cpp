// profd hotspots: the hottest places, one a line as editors and grep write them.
#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/file_error.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/cli/project_here.h"
#include "server/cli/report_text.h"
#include "server/cli/rows.h"
#include "server/feature/escape.h"

namespace profd {
namespace {

struct HotspotOptions {
  ProfileOptions profile;
  std::vector<std::string> folders;
  std::size_t n = 20;
  SortBy sort = SortBy::self;
  RowOptions rows;
};

// "src/a.cc:17: 34.5 % 1.2 s in parse": what `:cexpr`, compile-mode and terminals make a link of.
std::string places_text(const Places& answer) {
  std::string out;
  for (const Place& place : answer.places) {
    std::string at(place.path.empty() ? place.file : place.path);
    if (at.empty()) at = place.module.empty() ? "?" : place.module;
    if (place.line != 0) at += fmt::format(":{}", place.line);
    out += sanitize_text(at) + ": " +
           fmt::format("{} {} self, {} total in ", answer.whole.share_text(place.self),
                       sanitize_text(answer.whole.text(place.self)),
                       sanitize_text(answer.whole.text(place.total))) +
           sanitize_text(place.name) + "\n";
  }
  return out;
}

int hotspots_of(const HotspotOptions& options, const ProjectSources& sources, const ProfileOptions& file,
                const FileTurn& turn, const Console& console) {
  ThreadExecutor executor;
  auto view = open_view(file, console, executor);
  if (!view) return console.fail(view.error().message);
  PlacesRequest request;
  request.open = view->open;
  request.workspace = sources.workspace;
  request.spec = view->spec;
  request.spec.shape = Shape::flat;
  request.spec.focus.clear();
  if (!file.granularity && file.spec.empty()) request.spec.granularity = Granularity::line;
  request.sort = options.sort;
  request.limit = options.n == 0 ? std::numeric_limits<std::size_t>::max() : options.n;
  const auto answer = hot_places(*view->views, request, StopToken{});
  if (!answer) return console.fail(file_error_text(shown_file(file), answer.error()));
  RowOptions rows = options.rows;
  rows.header = turn.first();
  const int code = console.print(rows.any() ? rows_text(rows, console, answer->head, answer->places)
                                            : places_text(*answer));
  note_rest(answer->head, answer->remainder, console);
  keep_in_cache(*view);
  return turn.end(code);
}

int hotspots(const HotspotOptions& options, const Console& console) {
  if (const int code = refuse_trees(options.profile, console); code != kExitOk) return code;
  const ProjectSources sources = sources_here(options.folders, console);
  return for_each_file(options.profile, console, !options.rows.any(),
                       [&](const ProfileOptions& file, const FileTurn& turn) {
                         return hotspots_of(options, sources, file, turn, console);
                       });
}

}  // namespace

void add_hotspots(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<HotspotOptions>();
  CLI::App* app =
      root.add_subcommand("hotspots", "The hottest lines as places to jump to: FILE:LINE and cost");
  add_profile_options(*app, options->profile, true);
  add_number(*app, "-n", "-n", options->n, 0, kMostRows, "Places; 0 shows all, otherwise 20");
  add_choice(*app, "--sort", "--sort", options->sort,
             Choices<SortBy>{{"self", SortBy::self}, {"total", SortBy::total}},
             "What they are ordered by; otherwise self");
  app->add_option("--source", options->folders,
                  "A folder with sources beside the project around the current one; may be given again")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  add_row_options(*app, options->rows);
  app->footer(
      "Examples:\n  profd hotspots cpu.pprof\n  profd hotspots --granularity function --rows cpu.pprof | jq "
      ".path\n"
      "  vim -q <(profd hotspots cpu.pprof)");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return hotspots(*options, console); };
  });
}

}  // namespace profd
