// The messages of script.proto as plain structs, written and read. What is read by the daemon comes from a
// process that ran a script of anybody: every count is checked against the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/support/context_edits.h"
#include "core/support/result.h"

namespace profd::worker {

enum class ScriptType : std::uint8_t { text, number, integer, boolean };
constexpr std::uint8_t kNScriptTypes = 4;

struct ScriptRecords {
  std::string name;
  std::vector<std::string> roles, metrics;
};
struct ScriptProfile {
  std::string name, program;
  std::uint64_t duration_ns = 0;
  std::uint32_t metric = 0;
  std::vector<std::string> metric_names, metric_units;
  std::vector<ScriptRecords> records;
};
struct ScriptArgument {
  std::string name;
  ScriptType type = ScriptType::text;
  std::string value;
};
struct ScriptRun {
  std::string name, text;
  std::vector<ScriptArgument> arguments;
};
using ScriptOrder = std::variant<ScriptProfile, ScriptRun>;

struct ScriptHello {
  std::string version;
  bool confined = false;
};
struct ScriptMetric {
  std::string name, unit;
  std::vector<double> values;
};
struct ScriptCell {
  std::string text;
  double number = 0;
  bool is_number = false;
};
struct ScriptTable {
  std::string title;
  std::vector<std::string> columns, units;
  std::vector<ScriptCell> cells;  // row by row
  std::uint64_t left = 0;

  [[nodiscard]] std::size_t n_rows() const { return columns.empty() ? 0 : cells.size() / columns.size(); }
};
struct ScriptNote {
  std::string file;
  std::uint32_t line = 0;
  std::string text;
};
struct ScriptNotes {
  std::vector<ScriptNote> notes;
};
struct ScriptDone {
  std::string error;
  std::uint32_t line = 0;
  std::string text;
  std::uint64_t text_left = 0, notes_left = 0;
};
using ScriptReport =
    std::variant<ScriptHello, ContextEdits, ScriptMetric, ScriptTable, ScriptNotes, ScriptDone>;

// What a script may give; more is counted, or an error of the script.
constexpr std::size_t kMaxScriptText = std::size_t{1} << 20;  // bytes printed
constexpr std::size_t kMaxScriptCell = 4096;                  // bytes of any other text
constexpr std::size_t kMaxScriptTables = 16;
constexpr std::size_t kMaxScriptColumns = 32;
constexpr std::size_t kMaxScriptRows = 1000;
constexpr std::size_t kMaxScriptNotes = 1000;
constexpr std::size_t kMaxScriptMetrics = 8;
constexpr std::size_t kMetricPiece = std::size_t{1} << 22;  // values of a metric in one message

// Of the script's own heap, columns of all nodes among it; more is an error that the script can catch.
constexpr std::size_t kScriptHeap = std::size_t{256} << 20;
constexpr std::size_t kScriptHeapOfNode = 64;
// Of the process beside that: sums that are worked out, results on their way.
constexpr std::size_t kScriptMemory = std::size_t{256} << 20;
constexpr std::size_t kScriptMemoryOfNode = 128;

std::string encode(const ScriptOrder& order);
std::string encode(const ScriptReport& report);
Result<ScriptOrder> decode_script_order(std::string_view bytes);
// Fields that are not known are skipped; `malformed` where columns differ in length or a bound is passed.
Result<ScriptReport> decode_script_report(std::string_view bytes);

}  // namespace profd::worker
