// profd top: the flat list.
#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/view/table.h"
#include "server/cli/align.h"
#include "server/cli/json_writer.h"
#include "server/cli/profile_options.h"
#include "server/cli/report_text.h"
#include "server/feature/escape.h"
#include "server/feature/estimate.h"
#include "server/feature/exclusion.h"
#include "server/feature/names.h"
#include "server/feature/text.h"
#include "server/platform/memory.h"

namespace profd {
namespace {

struct TopOptions {
  ProfileOptions profile;
  std::size_t n = 20;
  SortBy sort = SortBy::self;
  bool json = false;
  bool full_names = false;
};

std::string top_json(const OpenView& view, const FlatView& flat, const TablePage& page) {
  const Selection& selection = *view.selection;
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.field("metric", view.metric().name);
  json.field("unit", view.metric().unit);
  json.field("total", selection.total);
  json.key("rows");
  json.begin_array();
  for (const std::uint32_t row : page.rows) {
    const Key key = flat.key[row];
    const KeyPlace place = key_place(*view.profile, *selection.keys, key);
    json.begin_object();
    json.field("name", key_name(*view.profile, *selection.keys, key));
    json.field("file", place.file);
    json.field("line", place.line);
    json.field("module", place.module);
    json.field("self", flat.self[row]);
    json.field("total", flat.total[row]);
    if (flat.estimate_of(row) != kExact) json.field("estimated", true);
    json.end_object();
  }
  json.end_array();
  json.field("remainder", page.self_left_out);
  if (const std::string excluded = exclusion_text(selection); !excluded.empty())
    json.field("excluded", selection.excluded[selection.metric.v]);
  if (selection.saturated) json.field("saturated", true);
  if (const std::string estimated = estimate_text(selection, flat); !estimated.empty())
    json.field("estimated", estimated);
  json.end_object();
  out += '\n';
  return out;
}

std::string place_text(const KeyPlace& place) {
  if (place.file.empty()) return std::string(base_name(place.module));
  std::string text(base_name(place.file));
  if (place.line > 0) text += fmt::format(":{}", place.line);
  return text;
}

std::string top_text(const TopOptions& options, const Console& console, const OpenView& view,
                     const FlatView& flat, const TablePage& page) {
  const Selection& selection = *view.selection;
  const std::string& unit = view.metric().unit;
  std::vector<std::string> full;
  std::vector<KeyPlace> places;
  for (const std::uint32_t row : page.rows) {
    full.push_back(key_name(*view.profile, *selection.keys, flat.key[row]));
    places.push_back(key_place(*view.profile, *selection.keys, flat.key[row]));
  }
  std::vector<NameAndPlace> frames;
  for (std::size_t i = 0; i < full.size(); ++i) frames.push_back({full[i], places[i].file});
  const std::vector<std::string> names =
      options.full_names ? distinct_names(frames) : distinct_short_names(frames);

  std::string out = fmt::format("{} {}", console.out.bold(sanitize_text(view.metric().name)),
                                sanitize_text(format_value(selection.total, unit)));
  if (!view.spec.filters.empty()) {
    out += fmt::format(", {} of the whole profile", format_share(selection.total, selection.profile_total));
  }
  if (selection.saturated) out += ", at least: a sum passed 2^63";
  if (const std::string excluded = exclusion_text(selection); !excluded.empty())
    out += "\n" + console.out.warning(sanitize_text(excluded));
  if (const std::string estimated = estimate_text(selection, flat); !estimated.empty())
    out += "\n" + console.out.dim(estimated + ", " + kEstimateMark + " marks estimates");
  out += "\n" + console.out.dim(fmt::format("{:>18}  {:>18}", "self", "total")) + "\n";
  const auto columns = static_cast<std::size_t>(console.out.columns);
  for (std::size_t i = 0; i < page.rows.size(); ++i) {
    const Value self = flat.self[page.rows[i]], total = flat.total[page.rows[i]];
    const double heat = std::abs(as_double(self) / std::max(1e-300, std::abs(as_double(selection.total))));
    std::string numbers = right_aligned(sanitize_text(format_value(self, unit)), 9) + "  ";
    numbers += right_aligned(format_share(self, selection.total), 7);
    out += console.out.heat(numbers, heat) + "  ";
    const bool estimated = flat.estimate_of(page.rows[i]) != kExact;
    out += right_aligned(sanitize_text(marked(format_value(total, unit), estimated)), 9) + "  " +
           right_aligned(format_share(total, selection.total), 7);
    const std::string place = sanitize_text(place_text(places[i]));
    const std::size_t room = columns > 60 ? columns - 40 : 20;
    std::string name = sanitize_text(names[i]);
    if (!options.full_names) name = cut_to_width(name, room);
    out += "  " + name;
    // What the name says already is not said twice.
    if (!place.empty() && name.find(place) == std::string::npos &&
        display_width(name) + display_width(place) + 2 <= room) {
      out += "  " + console.out.dim(place);
    }
    out += '\n';
  }
  if (page.n_left_out > 0) {
    out += console.out.dim(fmt::format(
        "{:>9}  {:>7}  in {} more; -n shows more of them", format_value(page.self_left_out, unit),
        format_share(page.self_left_out, selection.total), format_count(std::uint64_t{page.n_left_out})));
    out += '\n';
  }
  return out;
}

int top(const TopOptions& options, const Console& console) {
  ThreadExecutor executor;
  auto view = open_view(options.profile, console, executor);
  if (!view) return console.fail(view.error().message);
  const auto flat = flat_view(*view->selection, StopToken{});
  if (!flat) return console.fail(file_message(options.profile.file, flat.error()));
  TableRequest request;
  request.sort = options.sort;
  request.limit = options.n == 0 ? flat->key.size() : options.n;
  const TablePage page = page_of(*view->selection, *flat, request);
  const int code = console.print(options.json ? top_json(*view, *flat, page)
                                              : top_text(options, console, *view, *flat, page));
  keep_in_cache(*view);
  return end_process(code);
}

}  // namespace

void add_top(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<TopOptions>();
  CLI::App* app = root.add_subcommand("top", "The hottest functions, lines, files or modules");
  add_profile_options(*app, options->profile);
  app->add_option("-n", options->n, "Rows; 0 shows all")->capture_default_str()->type_name("N");
  app->add_option("--sort", options->sort, "By self or by total")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, SortBy>{{"self", SortBy::self}, {"total", SortBy::total}}))
      ->option_text("self|total");
  app->add_flag("--full", options->full_names, "Whole names, however long");
  app->add_flag("--json", options->json, "One JSON object, see docs/cli.md");
  app->footer(
      "Examples:\n  profd top cpu.pprof\n  profd top --sort total -n 50 --granularity file cpu.pprof\n"
      "  profd top --filter 'keep function /^http/' --json cpu.pprof");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return top(*options, console); };
  });
}

}  // namespace profd
