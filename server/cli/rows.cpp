#include "server/cli/rows.h"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

#include "formats/writers/view_rows.h"
#include "server/feature/escape.h"

namespace profd {
namespace {

std::string_view text_at(const std::vector<std::string>& texts, std::int32_t at) {
  return at < 0 ? std::string_view() : std::string_view(texts[static_cast<std::size_t>(at)]);
}

void add_line(RowText& rows, std::uint32_t line) {
  if (line == 0)
    rows.nothing();
  else
    rows.count(line);
}

void add_head(RowText& rows, const ViewHead& head) {
  rows.text(head.metric);
  rows.text(head.unit);
  rows.text(head.profile);
}

void add_estimates(RowText& rows, std::uint32_t flags) {
  rows.flag((flags & box_flag::kSelfEstimated) != 0);
  rows.flag((flags & box_flag::kTotalEstimated) != 0);
}

void add_metrics(RowText& rows, const std::vector<MetricRows>& columns, std::optional<std::size_t> row) {
  const auto add = [&](const std::vector<std::optional<Value>>& values) {
    if (row && values[*row])
      rows.number(*values[*row]);
    else
      rows.nothing();
  };
  for (const MetricRows& column : columns) {
    add(column.self);
    add(column.total);
  }
}

// The usual columns, then both numbers of every further metric, whose names `texts` keeps.
std::vector<std::string_view> with_metrics(std::vector<std::string_view> columns,
                                           const std::vector<MetricRows>& metrics,
                                           std::vector<std::string>& texts) {
  texts.reserve(metrics.size() * 2);
  for (const MetricRows& metric : metrics) {
    columns.push_back(texts.emplace_back(metric.metric + " self"));
    columns.push_back(texts.emplace_back(metric.metric + " total"));
  }
  return columns;
}

void add_kind(RowText& rows, const std::optional<FrameKind>& kind) {
  if (kind)
    rows.text(writers::text_of(*kind));
  else
    rows.nothing();
}

}  // namespace

void add_row_options(CLI::App& app, RowOptions& options) {
  CLI::Option* csv = app.add_flag("--csv", options.csv, "Rows as CSV with a header; see docs/cli.md");
  CLI::Option* objects = app.add_flag("--rows", options.objects, "Rows as JSON, an object a line");
  csv->excludes(objects);
  if (CLI::Option* json = app.get_option_no_throw("--json"); json != nullptr) {
    csv->excludes(json);
    objects->excludes(json);
  }
}

RowText::RowText(const RowOptions& options, std::vector<std::string_view> columns, bool safe)
    : csv_(options.csv), safe_(safe), columns_(std::move(columns)) {
  if (!csv_ || !options.header) return;
  for (const std::string_view column : columns_) table_.text(column);
  table_.end_row();
}

void RowText::begin_cell() {
  if (csv_) return;
  if (next_ == 0) object_.begin_object();
  object_.name(columns_[next_]);
}

void RowText::end_cell() {
  if (++next_ < columns_.size()) return;
  next_ = 0;
  if (csv_) return table_.end_row();
  object_.end_object();
  objects_ += std::move(object_).take();
  objects_ += '\n';
  object_ = {};
}

void RowText::text(std::string_view text) {
  if (text.empty()) return nothing();
  begin_cell();
  if (!csv_)
    object_.string(text);
  else if (safe_)
    table_.text(sanitize_text(text));
  else
    table_.text(text);
  end_cell();
}

void RowText::number(const Value& value) {
  begin_cell();
  if (csv_)
    table_.number(value);
  else if (const auto* whole = std::get_if<std::int64_t>(&value))
    object_.integer(*whole);
  else
    object_.real(std::get<double>(value));
  end_cell();
}

void RowText::count(std::uint64_t value) {
  begin_cell();
  if (csv_)
    table_.number(value);
  else
    object_.natural(value);
  end_cell();
}

void RowText::flag(bool value) {
  begin_cell();
  if (csv_)
    table_.number(std::uint64_t{value});
  else
    object_.boolean(value);
  end_cell();
}

void RowText::nothing() {
  begin_cell();
  if (csv_)
    table_.text("");
  else
    object_.null();
  end_cell();
}

std::string RowText::take() {
  return csv_ ? table_.take() : std::exchange(objects_, {});
}

void add_place(RowText& rows, const RowsAnswer& answer, std::size_t row) {
  add_place(rows, answer, row, answer.names[answer.rows.name[row]]);
}

void add_place(RowText& rows, const RowsAnswer& answer, std::size_t row, std::string_view path) {
  const RowColumns& columns = answer.rows;
  rows.text(path);
  rows.text(text_at(answer.files, columns.file[row]));
  add_line(rows, columns.line[row]);
  rows.text(text_at(answer.modules, columns.module[row]));
}

std::string rows_text(const RowOptions& options, const Console& console, const RowsAnswer& answer,
                      const std::vector<MetricRows>& metrics) {
  std::vector<std::string> texts;
  RowText rows(options,
               with_metrics({"name", "file", "line", "module", "kind", "self", "total", "selfEstimated",
                             "totalEstimated", "metric", "unit", "profile"},
                            metrics, texts),
               console.out.is_terminal);
  const RowColumns& columns = answer.rows;
  for (std::size_t i = 0; i < columns.name.size(); ++i) {
    add_place(rows, answer, i);
    add_kind(rows, columns.kind[i]);
    rows.number(columns.self[i]);
    rows.number(columns.total[i]);
    add_estimates(rows, columns.flags[i]);
    add_head(rows, answer.head);
    add_metrics(rows, metrics, i);
  }
  return rows.take();
}

std::string rows_text(const RowOptions& options, const Console& console, const FlameAnswer& answer) {
  std::vector<std::string> texts;
  RowText rows(
      options,
      with_metrics({"id", "parent", "depth", "name", "file", "line", "module", "kind", "inlined", "self",
                    "total", "selfEstimated", "totalEstimated", "joined", "metric", "unit", "profile"},
                   answer.columns, texts),
      console.out.is_terminal);
  const BoxColumns& boxes = answer.boxes;
  const NameColumns& named = answer.named;
  const auto add_parent = [&](std::int32_t parent) {
    if (parent < 0)
      rows.nothing();
    else
      rows.count(static_cast<std::uint64_t>(parent));
  };
  // Where a layout does not say which of its numbers are estimates, all of them may be.
  constexpr std::uint32_t kEstimated = box_flag::kSelfEstimated | box_flag::kTotalEstimated;
  const bool any = std::any_of(boxes.flags.begin(), boxes.flags.end(),
                               [](std::uint32_t flags) { return (flags & kEstimated) != 0; });
  const std::uint32_t all = any || answer.head.estimated.empty() ? 0 : kEstimated;
  for (std::size_t i = 0; i < boxes.name.size(); ++i) {
    const std::uint32_t name = boxes.name[i];
    rows.count(i);
    add_parent(boxes.parent[i]);
    rows.count(boxes.depth[i]);
    rows.text(answer.names[name]);
    rows.text(named.file ? text_at(answer.files, (*named.file)[name]) : "");
    add_line(rows, named.line ? (*named.line)[name] : 0);
    rows.text(named.module ? text_at(answer.modules, (*named.module)[name]) : "");
    add_kind(rows, boxes.kind[i]);
    rows.flag((boxes.flags[i] & box_flag::kInlined) != 0);
    rows.number(boxes.self[i]);
    rows.number(boxes.total[i]);
    add_estimates(rows, boxes.flags[i] | all);
    rows.count(0);
    add_head(rows, answer.head);
    add_metrics(rows, answer.columns, i);
  }
  const RemainderColumns& rest = answer.remainder;
  for (std::size_t i = 0; i < rest.count.size(); ++i) {
    rows.count(boxes.name.size() + i);
    add_parent(rest.parent[i]);
    rows.count(rest.depth[i]);
    for (int unknown = 0; unknown < 5; ++unknown) rows.nothing();
    rows.flag(false);
    rows.nothing();
    rows.number(rest.width[i]);
    rows.flag(false);
    rows.flag(!answer.head.estimated.empty());
    rows.count(rest.count[i]);
    add_head(rows, answer.head);
    add_metrics(rows, answer.columns, std::nullopt);
  }
  return rows.take();
}

std::string rows_text(const RowOptions& options, const Console& console, const ViewHead& head,
                      const std::vector<Place>& places) {
  RowText rows(options,
               {"name", "file", "line", "module", "kind", "inlined", "path", "self", "total", "metric",
                "unit", "profile"},
               console.out.is_terminal);
  for (const Place& place : places) {
    rows.text(place.name);
    rows.text(place.file);
    add_line(rows, place.line);
    rows.text(place.module);
    add_kind(rows, place.kind);
    rows.flag(place.inlined);
    rows.text(place.path);
    rows.number(place.self);
    rows.number(place.total);
    add_head(rows, head);
  }
  return rows.take();
}

void note_rest(const ViewHead& head, const std::optional<Remainder>& remainder, const Console& console) {
  if (remainder) console.note(remainder->text + "; -n 0 gives all rows");
  if (head.excluded) console.note(head.excluded->text);
  if (!head.estimated.empty()) console.note(head.estimated);
}

}  // namespace profd
