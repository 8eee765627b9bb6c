// profd flame: in the terminal, as a page (-o out.svg), or as the answer of view/flameGraph (--json).
#include "core/layout/flame.h"

#include <cerrno>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/support/base_name.h"
#include "formats/loss_texts.h"
#include "server/cli/arguments.h"
#include "server/cli/file_error.h"
#include "server/cli/flame_terminal.h"
#include "server/cli/metric_options.h"
#include "server/cli/page_output.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/cli/report_text.h"
#include "server/cli/sets_here.h"
#include "server/cli/write_file.h"
#include "server/feature/exports.h"
#include "server/feature/flame_svg.h"
#include "server/feature/names.h"
#include "server/feature/text.h"
#include "server/platform/memory.h"

namespace profd {
namespace {

struct FlameOptions {
  ProfileOptions profile;
  std::string shape;
  OutputFile output;
  bool json = false;
  double width = 0;  // pixels; 0 by kind of output
  int depth = -1;    // rows; -1 by kind of output, 0 all
  FlameScheme scheme = FlameScheme::module;
  bool inverted = false;
  std::string title;
  std::string color;  // a metric; "" none
};

constexpr double kJsonWidth = 1200;
constexpr std::uint32_t kTerminalRows = 40;

// What boxes are coloured by beside their names; nothing where a palette says it.
struct BoxGround {
  std::optional<BoxColors> colors;
  std::optional<BoxWork> work;
};
Result<BoxGround> box_ground(const FlameOptions& options, const OpenView& view, const FlameLayout& layout) {
  BoxGround out;
  if (!options.color.empty()) {
    PROFD_TRY(out.colors, box_colors(*view.views, *view.open, view.spec, options.color, view.prepared.focus,
                                     layout, StopToken{}));
  } else if (options.scheme == FlameScheme::work) {
    PROFD_TRY(out.work,
              work_of_boxes(*view.views, *view.open, view.spec, *sets_here(true), layout, StopToken{}));
  }
  return out;
}

// What the name of the file asks for: a page of SVG, or of HTML. A name that asks for anything else would
// hold what it does not say.
Result<bool> html_is_asked_for(const std::string& output) {
  if (output.empty() || output == "-" || is_written_through(output)) return false;
  const std::string_view name = base_name(output);
  const std::size_t dot = name.rfind('.');
  if (dot == name.npos || dot == 0) return false;
  const FormatWriter* writer = writer_for_path(output, all_exports());
  const std::string_view id = writer != nullptr ? writer->info().id : "";
  if (id == "svg" || id == "html") return id == "html";
  const std::string_view ending = name.substr(dot);
  if (writer != nullptr)
    return fail(ErrorCode::unsupported,
                fmt::format("profd flame writes pages, .svg or .html; `profd convert` writes {}", ending));
  const bool picture =
      ending == ".png" || ending == ".jpg" || ending == ".jpeg" || ending == ".webp" || ending == ".pdf";
  return fail(
      ErrorCode::unsupported,
      fmt::format("profd flame writes pages, .svg or .html, not {}{}", ending,
                  picture ? "; a browser makes that of one, and Export in `profd view` writes .png" : ""));
}

int write_page(const FlameOptions& options, bool html, const Console& console, const OpenView& view,
               const FlameLayout& layout, const BoxGround& ground) {
  FlameSvgOptions svg;
  svg.html = html;
  svg.title = options.title.empty() ? std::string(base_name(shown_file(options.profile))) : options.title;
  svg.scheme = options.scheme;
  svg.inverted = options.inverted;
  svg.notes = loss_texts(view.loaded().report);
  svg.view = view.spec;
  const auto changes = changes_of_boxes(*view.views, *view.open, view.spec, view.prepared,
                                        {layout.parent, layout.key, layout.divided}, StopToken{});
  if (!changes) return console.fail(file_error_text(shown_file(options.profile), changes.error()));
  if (*changes) svg.changes = &**changes;
  svg.colors = ground.colors ? &*ground.colors : nullptr;
  svg.work = ground.work ? &*ground.work : nullptr;
  return print_page(options.output, flame_svg(view.selection(), layout, svg), console);
}

int flame(const FlameOptions& options, const Console& console) {
  const auto html = html_is_asked_for(options.output.path);
  if (!html) return console.fail(html.error().message, kExitUsage);
  if (!options.output.path.empty())
    if (const auto free = check_output(options.output, options.profile.file); !free)
      return console.fail(free.error().message);
  ThreadExecutor executor;
  int code = kExitOk;
  auto opened = open_tree(options.profile, options.shape,
                          "a flat view has no flame graph; `profd top` shows it", console, executor, code);
  if (!opened) return code;
  const OpenView* view = &opened->view;
  if (!options.color.empty())
    if (code = check_metrics(options.profile, *view, {options.color}, console); code != kExitOk) return code;
  opened->request.color_metric = options.color;
  if (options.json && options.scheme == FlameScheme::work) {
    opened->request.work = true;
    opened->request.sets = sets_here(true);
  }
  LayoutRequest& request = opened->request.layout;
  std::uint32_t rows = options.depth > 0 ? static_cast<std::uint32_t>(options.depth) : 0;
  const bool svg = !options.output.path.empty();
  if (options.json) {
    request.viewport_px = options.width > 0 ? options.width : kJsonWidth;
  } else if (svg) {
    request.viewport_px = options.width > 0 ? options.width : kFlameSvgWidth;
    request.max_boxes = kFlameSvgBoxes;
  } else {
    request.viewport_px = console.out.columns;
    request.min_width_px = 1;
    if (options.depth < 0) rows = kTerminalRows;
  }
  // One row more than is drawn tells that there is more below.
  request.max_depth = rows > 0 && !options.json && !svg ? rows + 1 : rows;
  if (options.json) {
    code = print_answer<psp::FlameGraphRequest>(flame_answer(*view->views, opened->request, StopToken{}),
                                                shown_file(options.profile), console);
  } else {
    const auto layout = flame_layout(*view->views, opened->request, view->prepared, StopToken{});
    if (!layout) return console.fail(file_error_text(shown_file(options.profile), layout.error()));
    const auto ground = box_ground(options, *view, *layout);
    if (!ground) return console.fail(file_error_text(shown_file(options.profile), ground.error()));
    FlameTextOptions how{options.scheme, rows > 0 ? rows : kNone, options.inverted};
    how.colors = ground->colors ? &*ground->colors : nullptr;
    how.work = ground->work ? &*ground->work : nullptr;
    code = svg ? write_page(options, *html, console, *view, *layout, *ground)
               : console.print(flame_text(console.out, *view, *layout, how));
  }
  keep_in_cache(*view);
  return end_process(code);
}

}  // namespace

void add_flame(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<FlameOptions>();
  CLI::App* app = root.add_subcommand("flame", "The flame graph: in the terminal, or as a page with -o");
  add_profile_options(*app, options->profile);
  app->add_option("-o,--output", options->output.path,
                  "Write a self-contained page, SVG or HTML by its name; - is stdout")
      ->type_name("FILE.svg|.html");
  add_force(*app, options->output);
  app->add_flag("--json", options->json, "The answer of view/flameGraph, see docs/protocol.md")
      ->excludes("--output");
  add_real(*app, "--width", "--width", options->width, 1, 1'000'000, "Pixels the layout is made for")
      ->type_name("PX");
  add_shape(*app, options->shape);
  add_number(*app, "--depth", "--depth", options->depth, 0, kMostLevels,
             "Rows shown; 0 shows all (in the terminal: 40)");
  add_choice(*app, "--palette,--scheme", "--palette", options->scheme,
             Choices<FlameScheme>{{"module", FlameScheme::module},
                                  {"file", FlameScheme::file},
                                  {"kind", FlameScheme::kind},
                                  {"work", FlameScheme::work},
                                  {"warm", FlameScheme::warm},
                                  {"cool", FlameScheme::cool}},
             "Colours by module or package, by file, by kind of frame, by kind of work, or warm or cool ones "
             "by name");
  app->add_option_function<std::string>(
         "--color-by",
         [options](const std::string& name) {
           options->color = name;
           options->profile.names_metrics = true;
         },
         "Colours by this metric, stored or by formula, in place of a palette")
      ->type_name("METRIC");
  add_derive_option(*app, options->profile);
  app->add_flag("--inverted", options->inverted,
                "The root at the bottom: flames grow upwards; not with --json")
      ->excludes("--json");
  app->add_option("--title", options->title, "The title of the page of -o; otherwise the file's name")
      ->needs("--output")
      ->type_name("NAME");
  app->footer(
      "Examples:\n  profd flame cpu.pprof\n  profd flame -o cpu.svg cpu.pprof\n"
      "  profd flame -o cpu.html cpu.pprof\n"
      "  profd flame --inverted --title 'after the fix' -o cpu.svg cpu.pprof\n"
      "  profd flame --shape bottom-up --filter 'hide module libc.so.6' cpu.pprof\n"
      "  profd flame --derive 'cpi=cycles / instructions' --color-by cpi -o cpi.svg perf.data\n"
      "  profd flame --json --width 800 cpu.pprof");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return flame(*options, console); };
  });
}

}  // namespace profd
