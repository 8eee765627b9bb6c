#include "server/feature/report_page.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/feature/names.h"

namespace profd {
namespace {

constexpr std::size_t kNamesInLine = 3;
using PageRows = std::vector<std::vector<PageCell>>;

void write_heading(PageWriter& page, const OpenProfile& open, const std::string& what, const Whole& whole) {
  page.line("# " + what);
  page.line();
  page.line(fmt::format("{}: {} · {}", page_name(open.name).text, page_name(open.metric_info().name).text,
                        page_value(whole.text(whole.total)).text));
  page.line();
}

void write_places(PageWriter& page, const Places& places) {
  PageRows rows;
  for (const Place& place : places.places)
    rows.push_back({page_value(places.whole.text(place.self)),
                    {places.whole.share_text(place.self)},
                    page_value(total_text(place, places.whole)),
                    {total_share(place, places.whole)},
                    page_name(place.name),
                    page_place(place.path, place.file, place.module, place.line)});
  page.table({" self", " ", " total", " ", "function", "place"}, rows);
  if (!places.remainder) return;
  page.line();
  page.sentence(places.remainder->text);
}

std::string path_in(const SourceMap* sources, const std::string& file) {
  const std::string* path = sources != nullptr && !file.empty() ? sources->file_of(file) : nullptr;
  return path != nullptr ? *path : std::string();
}

void write_calls(PageWriter& page, const CallersAnswer& answer, bool callers, const SourceMap* sources) {
  PageRows rows;
  for (const Caller& caller : answer.callers)
    rows.push_back({page_value(marked(answer.whole.text(caller.total), caller.estimated)),
                    {marked(format_share(caller.total, answer.total), caller.estimated)},
                    page_name(caller.name),
                    page_place(path_in(sources, caller.file), caller.file, "", caller.line)});
  if (as_double(answer.none) != 0)
    rows.push_back({page_value(answer.whole.text(answer.none)),
                    {format_share(answer.none, answer.total)},
                    {callers ? "nobody: stacks begin here" : "itself"},
                    {}});
  page.table({" total", " share", callers ? "caller" : "callee", "place"}, rows);
  if (answer.n_left == 0) return;
  page.line();
  page.line(fmt::format("{} more: {}", format_count(answer.n_left),
                        page_value(answer.whole.text(answer.left)).text));
}

// A line of source in a table: without what it is indented by.
std::string code_text(std::string source) {
  source.erase(0, source.find_first_not_of(" \t"));
  std::replace(source.begin(), source.end(), '\t', ' ');
  return source;
}

std::string first_of(std::size_t i) {
  return i == 0 ? "" : " · ";
}

}  // namespace

ReportPage places_page(const OpenProfile& open, const Places& places, const Places* lines) {
  PageWriter page;
  write_heading(page, open, "Hot spots", places.whole);
  if (places.head.excluded) {
    page.sentence(places.head.excluded->text);
    page.line();
  }
  write_places(page, places);
  if (lines != nullptr && !lines->places.empty()) {
    page.line();
    page.line("## Lines");
    page.line();
    write_places(page, *lines);
  }
  std::string line = open.name + ": ";
  for (std::size_t i = 0; i < std::min(places.places.size(), kNamesInLine); ++i)
    line += first_of(i) + places.places[i].short_name + " " + places.whole.share_text(places.places[i].self);
  if (places.places.empty()) line += "nothing was measured";
  return page.finish(std::move(line));
}

ReportPage callers_page(const OpenProfile& open, const std::string& function, const CallersAnswer& callers,
                        const CallersAnswer* callees, const SourceMap* sources) {
  PageWriter page;
  write_heading(page, open, "Callers of " + page_name(function).text, callers.whole);
  page.line(fmt::format("{} · {} in all", page_value(callers.whole.text(callers.total)).text,
                        callers.whole.share_text(callers.total)));
  page.line();
  write_calls(page, callers, true, sources);
  if (callees != nullptr) {
    page.line();
    page.line("## What it calls");
    page.line();
    write_calls(page, *callees, false, sources);
  }
  std::string line = short_name(function) + " is called by ";
  for (std::size_t i = 0; i < std::min(callers.callers.size(), kNamesInLine); ++i)
    line += first_of(i) + short_name(callers.callers[i].name) + " " +
            format_share(callers.callers[i].total, callers.total);
  if (callers.callers.empty()) line += "nobody: the stacks start there";
  return page.finish(std::move(line));
}

ReportPage summary_page(const OpenProfile& open, const Summary& summary, const SourceMap* sources) {
  PageWriter page;
  write_heading(page, open, "Summary", {summary.total, open.metric_info().unit});
  const auto fact = [&](std::string_view what, const std::string& value) {
    if (!value.empty()) page.line(fmt::format("- {}: {}", what, page_name(value).text));
  };
  fact("program", summary.program);
  fact("profiler", summary.profiler);
  fact("recorded", summary.time_text);
  fact("duration", summary.duration_text);
  for (const SummaryMetric& metric : summary.metrics)
    page.line(fmt::format("- {}: {}{}", page_name(metric.name).text, page_value(metric.total_text).text,
                          metric.is_default ? ", which is shown" : ""));
  page.line();
  PageRows rows;
  for (const SummaryFunction& function : summary.hottest)
    rows.push_back(
        {page_value(function.self_text),
         {function.self_share},
         page_value(function.total_text),
         {function.total_share},
         page_name(function.name),
         page_place(path_in(sources, function.file), function.file, function.module, function.line)});
  page.table({" self", " ", " total", " ", "hottest function", "place"}, rows);
  if (!summary.heaviest.empty()) {
    page.line();
    page.line("## Heaviest paths");
    page.line();
    if (!summary.estimated.empty()) {
      page.sentence(summary.estimated);
      page.line();
    }
  }
  for (const SummaryPath& path : summary.heaviest)
    page.line(fmt::format("- {} {}", path.self_share,
                          page_name(fmt::format("{}", fmt::join(path.short_names, " > "))).text));
  if (!summary.report.empty() || !summary.missing.empty()) {
    page.line();
    page.line("## What to know of it");
    page.line();
  }
  for (const ReportRow& row : summary.report) page.item(row.message);
  for (const MissingPart& part : summary.missing)
    page.item(part.text + (part.advice.empty() ? "" : " " + part.advice));
  std::string line = open.name + ": " + summary.total_text;
  for (std::size_t i = 0; i < std::min(summary.hottest.size(), kNamesInLine); ++i)
    line += " · " + summary.hottest[i].short_name + " " + summary.hottest[i].self_share;
  return page.finish(std::move(line));
}

ReportPage within_page(const OpenProfile& open, const RangesAnswer& ranges) {
  PageWriter page;
  write_heading(page, open, "Within " + page_name(ranges.name).text,
                {ranges.head.view_total.value, open.metric_info().unit});
  page.line(fmt::format("self {} · {}, total {} · {}", page_value(ranges.self.text).text,
                        ranges.self.share_text, page_value(ranges.total.text).text, ranges.total.share_text));
  page.line();
  if (!ranges.head.note.empty()) {
    page.sentence(ranges.head.note);
    page.line();
  }
  const RangeColumns& columns = ranges.rows;
  PageRows rows;
  std::string line = ranges.label + ": ";
  for (std::size_t i = 0; i < columns.place.size(); ++i) {
    const auto file = static_cast<std::size_t>(columns.file[i]);
    const bool known = columns.file[i] >= 0 && !ranges.paths[file].empty() && columns.line[i] != 0;
    rows.push_back(
        {page_value(columns.self_text[i]),
         {columns.share[i]},
         {columns.running_share[i]},
         known ? page_place(ranges.paths[file], "", "", columns.line[i]) : page_name(columns.place[i]),
         columns.source[i].empty() ? PageCell{} : page_name(code_text(columns.source[i]))});
    if (i < kNamesInLine) line += first_of(i) + columns.place[i] + " " + columns.share[i];
  }
  page.table({" self", " of it", " so far", "place", "source"}, rows);
  if (ranges.remainder) {
    page.line();
    page.sentence(ranges.remainder->text);
  }
  if (columns.place.empty()) line += "no value of its own";
  return page.finish(std::move(line));
}

ReportPage changes_page(const OpenProfile& open, const std::string& metric, const TableAnswer& table,
                        const SourceMap* sources) {
  PageWriter page;
  const SideTotals& sides = *table.sides;
  page.line("# What changed");
  page.line();
  page.line(fmt::format("{}: {} {} → {}, {}", page_name(open.name).text, page_name(metric).text,
                        page_value(sides.before.text).text, page_value(sides.after.text).text,
                        page_value(sides.change).text));
  page.line();
  page.sentence(sides.scale);
  page.sentence(sides.verdict);
  for (const std::string& warning : sides.warnings) page.sentence(warning);
  page.line();
  const ChangeColumns& changes = *table.changes;
  PageRows rows;
  std::string line = fmt::format("{} {} → {}, {}", metric, sides.before.text, sides.after.text, sides.change);
  for (std::size_t i = 0; i < table.rows.name.size(); ++i) {
    const std::string& name = table.names[table.rows.name[i]];
    const std::int32_t at = table.rows.file[i];
    const std::string file = at < 0 ? "" : table.files[static_cast<std::size_t>(at)];
    rows.push_back({page_value(changes.self_change[i]), page_value(changes.self_before_text[i]),
                    page_value(changes.self_after_text[i]), page_value(changes.total_change[i]),
                    page_name(name), page_place(path_in(sources, file), file, "", table.rows.line[i])});
    if (i < kNamesInLine)
      line += fmt::format(" · {} {}", table.labels[table.rows.name[i]], changes.self_change[i]);
  }
  if (rows.empty())
    page.line("Nothing became more or less.");
  else
    page.table({" self", " before", " after", " total", "function", "place"}, rows);
  if (table.remainder) {
    page.line();
    page.sentence(table.remainder->text);
  }
  return page.finish(std::move(line));
}

}  // namespace profd
