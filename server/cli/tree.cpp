// profd tree: a view as an indented text tree with shares.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "core/layout/flame.h"
#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/file_error.h"
#include "server/cli/metric_options.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/cli/report_text.h"
#include "server/cli/row_text.h"
#include "server/cli/rows.h"
#include "server/feature/escape.h"
#include "server/feature/estimate.h"
#include "server/feature/fitted_name.h"
#include "server/feature/hot_path_answer.h"
#include "server/feature/names.h"
#include "server/feature/text.h"

namespace profd {
namespace {

// Below it a tree can have more entries than an answer has otherwise.
constexpr double kUsualLeast = 0.02;
// As view/hotPath gives at most.
constexpr std::uint32_t kMostHotLevels = 1000;

struct TreeOptions {
  ProfileOptions profile;
  std::string shape;
  std::uint32_t depth = 0;
  double min_share = 1;  // percent
  bool full_names = false;
  bool hot = false;
  bool json = false;
  RowOptions rows;
};

// Children of every box, in the layout's order.
struct Children {
  std::vector<std::uint32_t> first, next;
  explicit Children(const FlameLayout& layout) : first(layout.size(), kNone), next(layout.size(), kNone) {
    for (std::size_t i = layout.size(); i-- > 1;) {
      const std::uint32_t parent = layout.parent[i];
      if (parent == kNone) continue;
      next[i] = first[parent];
      first[parent] = static_cast<std::uint32_t>(i);
    }
  }
};

std::vector<std::string> box_names(const OpenView& view, const FlameLayout& layout, bool full_names) {
  std::vector<std::string> full(layout.size());
  std::vector<NameAndPlace> frames;
  std::vector<std::size_t> boxes;
  for (std::size_t i = 0; i < layout.size(); ++i) {
    if (layout.key[i] == kNoKey) continue;
    full[i] = key_name(view.profile(), *view.selection().boxes->keys, layout.key[i]);
    const KeyPlace place = key_place(view.profile(), *view.selection().boxes->keys, layout.key[i]);
    frames.push_back({full[i], place.file.empty() ? place.module : place.file});
    boxes.push_back(i);
  }
  const std::vector<std::string> texts = full_names ? distinct_names(frames) : distinct_short_names(frames);
  std::vector<std::string> out(layout.size());
  for (std::size_t n = 0; n < boxes.size(); ++n) out[boxes[n]] = sanitize_text(texts[n]);
  return out;
}

std::string_view mark(const FlameLayout& layout, std::size_t i) {
  if (layout.inlined[i] != 0) return " (inlined)";
  switch (layout.kind[i]) {
    case FrameKind::kernel:
      return " [k]";
    case FrameKind::jit:
      return " [j]";
    case FrameKind::interpreted:
      return " [i]";
    default:
      return "";
  }
}

std::string truncated_text(std::size_t n) {
  return fmt::format(
      "The {} largest entries are shown; a larger --min-share or a smaller --depth shows a whole tree, and "
      "`profd convert --view top-down --to csv` writes every row.",
      format_count(std::uint64_t{n}));
}

constexpr std::size_t kChangeColumns = 26;

// "[+]  +350 ms (+18 %)  "
std::string change_text(const Console& console, const BoxChanges& changes, std::uint32_t i, bool remainder,
                        const std::string& unit) {
  if (remainder) return std::string(kChangeColumns, ' ');
  const std::string text =
      std::string(change_mark(changes.change[i])) + " " +
      right_aligned(sanitize_text(format_delta(changes.before[i], changes.after[i], unit)),
                    kChangeColumns - 6) +
      "  ";
  if (changes.change[i] == Change::same) return console.out.dim(text);
  const bool more = as_double(changes.after[i]) > as_double(changes.before[i]);
  return more ? console.out.more(text) : console.out.less(text);
}

std::string tree_text(const TreeOptions& options, const Console& console, const OpenView& view,
                      const FlameLayout& layout, const BoxChanges* changes,
                      const std::vector<MetricRows>& more) {
  const Selection& selection = view.selection();
  const std::string& unit = view.metric().unit;
  const bool counted = counts_calls(view.profile(), selection.metric());
  const std::vector<std::string> names = box_names(view, layout, options.full_names);
  const Children children(layout);
  const double whole = std::max(1e-300, std::abs(as_double(selection.sums->total)));
  const auto columns = static_cast<std::size_t>(console.out.columns);
  const MetricHeads heads = metric_heads(more);
  // The widths of cells are those of the heads, two blanks before each.
  const std::size_t more_width = display_width(heads.text);
  std::string out;
  if (!more.empty()) {
    const std::size_t before = 19 + (changes == nullptr ? 0 : kChangeColumns);
    out += console.out.dim(std::string(before, ' ') + heads.text) + "\n";
  }

  struct Entry {
    std::uint32_t box;
    std::string indent;  // of this box's own line, up to its branch
    bool branch, last;
  };
  std::vector<Entry> open;
  open.push_back({0, "", false, true});
  while (!open.empty()) {
    const Entry entry = std::move(open.back());
    open.pop_back();
    const std::uint32_t i = entry.box;
    const bool remainder = layout.key[i] == kNoKey && layout.parent[i] != kNone;
    const Estimate estimate = layout.estimate.empty() ? kExact : layout.estimate[i];
    const bool estimated = ((counted && !remainder ? kSelfEstimated : kTotalEstimated) & estimate) != 0;
    // How often a function was called says nothing of what is below it.
    const Value& value =
        counted && !remainder && layout.parent[i] != kNone ? layout.self[i] : layout.total[i];
    std::string line = right_aligned(marked(format_share(value, selection.sums->total), estimated), 8) + "  ";
    line += right_aligned(marked(sanitize_text(format_value(value, unit)), estimated), 9) + "  ";
    line = console.out.heat(line, remainder ? 0 : std::abs(as_double(layout.total[i])) / whole);
    if (changes != nullptr) line += change_text(console, *changes, i, remainder, unit);
    if (!more.empty())
      line += (remainder ? std::string(more_width, ' ') : metric_cells(more, heads, i)).substr(2) + "  ";
    line += console.out.dim(entry.indent + (entry.branch ? (entry.last ? "└ " : "├ ") : ""));
    const std::size_t used = 21 + (changes == nullptr ? 0 : kChangeColumns) + more_width +
                             display_width(entry.indent) + (entry.branch ? 2 : 0);
    if (layout.parent[i] == kNone) {
      line += console.out.bold("all") + " " + console.out.dim(sanitize_text(view.metric().name));
    } else if (remainder) {
      line += console.out.dim(fmt::format("{} more", format_count(std::uint64_t{layout.n_merged[i]})));
    } else {
      const std::string name = names[i] + std::string(mark(layout, i));
      line += options.full_names ? name : fitted_name(name, columns > used + 24 ? columns - used : 24);
      if (!counted && as_double(layout.self[i]) != 0 && children.first[i] != kNone) {
        line += console.out.dim("  self " + marked(format_share(layout.self[i], selection.sums->total),
                                                   (estimate & kSelfEstimated) != 0));
      }
    }
    out += line + "\n";

    std::vector<std::uint32_t> below;
    for (std::uint32_t child = children.first[i]; child != kNone; child = children.next[child]) {
      below.push_back(child);
    }
    // A child with no sibling stays in its parent's column: only branches indent, so deep chains fit.
    const std::string indent = entry.indent + (entry.branch ? (entry.last ? "  " : "│ ") : "");
    for (std::size_t n = below.size(); n-- > 0;) {
      open.push_back({below[n], indent, below.size() > 1, n + 1 == below.size()});
    }
  }
  if (layout.truncated) out += console.out.dim(truncated_text(layout.size())) + "\n";
  return out;
}

std::string hot_path_text(const TreeOptions& options, const Console& console, const OpenView& view,
                          const HotPathAnswer& answer) {
  const RowColumns& rows = answer.rows;
  const double whole = std::max(1e-300, std::abs(as_double(view.prepared.whole.total)));
  const auto columns = static_cast<std::size_t>(console.out.columns);
  const auto numbers = [](const std::string& share, const std::string& value) {
    return right_aligned(share, 8) + "  " + right_aligned(sanitize_text(value), 9) + "  ";
  };
  const Amount& all = answer.from_total;
  std::string out = numbers(all.share_text, all.text) + console.out.bold("all") + " " +
                    console.out.dim(sanitize_text(answer.head.metric)) + "\n";
  const std::vector<std::string> names = row_names(answer, options.full_names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double heat = std::abs(as_double(rows.total[i])) / whole;
    out += console.out.heat(numbers(rows.total_share[i], rows.total_text[i]), heat);
    const std::size_t room = columns > 45 ? columns - 21 : 24;
    const std::string name = options.full_names ? names[i] : fitted_name(names[i], room);
    const std::string place = sanitize_text(place_text(answer, i));
    out += name;
    if (!place.empty() && display_width(name) + display_width(place) + 2 <= room)
      out += "  " + console.out.dim(place);
    out += "\n";
  }
  if (answer.end == HotPathEnd::spread) out += console.out.dim("No box below has half of the last.") + "\n";
  if (answer.end == HotPathEnd::limit)
    out += console.out.dim("It goes on; a larger --depth shows more.") + "\n";
  return out;
}

int print_hot_path(const TreeOptions& options, const ProfileOptions& file, const FileTurn& turn,
                   const Console& console, const OpenView& view) {
  HotPathAnswerRequest request;
  request.open = view.open;
  request.spec = view.spec;
  request.limit = options.depth == 0 ? kMostHotLevels : std::min(options.depth, kMostHotLevels);
  auto answer = hot_path_answer(*view.views, request, StopToken{});
  if (options.json || !answer)
    return print_answer<psp::HotPathRequest>(std::move(answer), shown_file(file), console);
  if (!options.rows.any()) return console.print(hot_path_text(options, console, view, *answer));
  RowOptions rows = options.rows;
  rows.header = turn.first();
  return console.print(rows_text(rows, console, *answer));
}

int tree_of(const TreeOptions& options, const ProfileOptions& file, const FileTurn& turn,
            const Console& console) {
  ThreadExecutor executor;
  int code = kExitOk;
  auto opened = open_tree(file, options.shape, "a flat view has no tree; `profd top` shows it", console,
                          executor, code);
  if (!opened) return code;
  const OpenView* view = &opened->view;
  const std::vector<std::string> metrics = column_metrics(file);
  if (code = check_metrics(file, *view, metrics, console); code != kExitOk) return code;
  if (options.hot) {
    code = print_hot_path(options, file, turn, console, *view);
    keep_in_cache(*view);
    return turn.end(code);
  }
  LayoutRequest& request = opened->request.layout;
  // A viewport of one pixel per smallest share; 0 joins nothing.
  request.min_width_px = options.min_share > 0 ? 1 : 0;
  if (options.min_share > 0) request.viewport_px = 100.0 / options.min_share;
  if (options.min_share < kUsualLeast) request.max_boxes = 0;
  request.max_depth = options.depth;
  request.order = SiblingOrder::weight;
  if (options.json || options.rows.any()) {
    opened->request.details = options.rows.any();
    opened->request.metrics = metrics;
    auto answer = flame_answer(*view->views, opened->request, StopToken{});
    if (answer && options.rows.any()) {
      RowOptions rows = options.rows;
      rows.header = turn.first();
      code = console.print(rows_text(rows, console, *answer));
      if (!answer->truncated.empty()) console.note(truncated_text(answer->boxes.name.size()));
    } else {
      code = print_answer<psp::FlameGraphRequest>(std::move(answer), shown_file(file), console);
    }
  } else {
    const auto layout = flame_layout(*view->views, opened->request, view->prepared, StopToken{});
    if (!layout) return console.fail(file_error_text(shown_file(file), layout.error()));
    const auto changes = changes_of_boxes(*view->views, *view->open, view->spec, view->prepared,
                                          {layout->parent, layout->key, layout->divided}, StopToken{});
    if (!changes) return console.fail(file_error_text(shown_file(file), changes.error()));
    std::vector<MetricRows> more;
    for (const std::string& name : metrics) {
      auto numbers = metric_of_boxes(*view->views, *view->open, view->spec, name, view->prepared.focus,
                                     {layout->parent, layout->key, layout->divided},
                                     BoxValuesWanted::totals_and_selves, StopToken{});
      if (!numbers) return console.fail(file_error_text(shown_file(file), numbers.error()));
      more.push_back(metric_rows(*view->open, name, std::move(*numbers)));
    }
    code = console.print(tree_text(options, console, *view, *layout, *changes ? &**changes : nullptr, more));
  }
  keep_in_cache(*view);
  return turn.end(code);
}

int tree(const TreeOptions& options, const Console& console) {
  return for_each_file(options.profile, console, !options.json && !options.rows.any(),
                       [&](const ProfileOptions& file, const FileTurn& turn) {
                         return tree_of(options, file, turn, console);
                       });
}

}  // namespace

void add_tree(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<TreeOptions>();
  CLI::App* app = root.add_subcommand("tree", "The calling tree as text, with shares");
  add_profile_options(*app, options->profile, true);
  add_shape(*app, options->shape);
  add_number(*app, "--depth", "--depth", options->depth, 0, kMostLevels,
             "Levels shown; 0, as without it, shows all");
  CLI::Option* least =
      add_real(*app, "--min-share", "--min-share", options->min_share, 0, 100,
               "Smallest share shown, in percent, otherwise 1; the rest is joined. 0 joins nothing");
  least->type_name("PERCENT");
  app->add_flag("--hot", options->hot,
                "Only the hot path: down the heaviest child as long as it has half of its parent")
      ->excludes(least);
  add_derive_option(*app, options->profile);
  add_column_option(*app, options->profile);
  app->add_flag("--full", options->full_names, "Whole names, however long");
  app->add_flag("--json", options->json,
                "The answer of view/flameGraph, the heaviest first; with --hot that of view/hotPath");
  add_row_options(*app, options->rows);
  app->footer(
      "Examples:\n  profd tree cpu.pprof\n  profd tree --shape bottom-up --depth 3 cpu.pprof\n"
      "  profd tree --hot cpu.pprof\n"
      "  profd tree --shape 'callers of runtime.mallocgc' heap.pprof\n"
      "  profd tree --derive 'cpi=cycles / instructions' perf.data");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return tree(*options, console); };
  });
}

}  // namespace profd
