// Answers as rows for scripts: CSV (--csv), or a JSON object a line (--rows). The columns are the same in
// both, whatever the metric and the file; docs/cli.md lists them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/csv_text.h"
#include "protocol/json_text.h"
#include "server/cli/console.h"
#include "server/feature/flame_answer.h"
#include "server/feature/places.h"
#include "server/feature/rows_answer.h"

namespace CLI {
class App;
}

namespace profd {

struct RowOptions {
  bool csv = false, objects = false;
  bool header = true;  // of CSV; not again for a further file

  bool any() const { return csv || objects; }
};

// Declares --csv and --rows, which exclude each other and --json.
void add_row_options(CLI::App& app, RowOptions& options);

// One table being written: every row has a cell for every column, in their order.
class RowText {
 public:
  // `safe`: control characters are escaped in CSV, too, as a terminal would obey them.
  RowText(const RowOptions& options, std::vector<std::string_view> columns, bool safe);

  void text(std::string_view text);  // "" is unknown: null in JSON
  void number(const Value& value);
  void count(std::uint64_t value);
  void flag(bool value);  // 0 and 1 in CSV
  void nothing();

  std::string take();

 private:
  void begin_cell();
  void end_cell();

  bool csv_, safe_;
  std::vector<std::string_view> columns_;
  std::size_t next_ = 0;
  CsvText table_;
  protocol::JsonText object_;  // the row that is being written
  std::string objects_;
};

// Name, file, line and module of a row: four cells. `path`: in place of the name.
void add_place(RowText& rows, const RowsAnswer& answer, std::size_t row);
void add_place(RowText& rows, const RowsAnswer& answer, std::size_t row, std::string_view path);
// Both numbers of every further metric come last.
std::string rows_text(const RowOptions& options, const Console& console, const RowsAnswer& answer,
                      const std::vector<MetricRows>& metrics = {});
// Boxes in the order of the layout: parents before their children. Siblings that were joined are one row,
// whose `joined` says how many they are.
std::string rows_text(const RowOptions& options, const Console& console, const FlameAnswer& answer);
std::string rows_text(const RowOptions& options, const Console& console, const ViewHead& head,
                      const std::vector<Place>& places);

// What is on no row, on stderr: rows that were left out, stacks without a frame, what filters cannot decide
// on, why numbers are estimates.
void note_rest(const ViewHead& head, const std::optional<Remainder>& remainder, const Console& console);

}  // namespace profd
