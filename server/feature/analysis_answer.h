// What a script gave, as people read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/engine/script_run.h"

namespace profd {

struct AnalysisColumn {
  std::string title, unit;
  bool is_number = false;  // of every cell that is not empty
};
struct AnalysisTable {
  std::string title;
  std::vector<AnalysisColumn> columns;
  std::vector<std::vector<std::string>> cells;             // by row, as shown
  std::vector<std::vector<std::optional<double>>> values;  // beside them; nothing where it is no number
  std::uint64_t left = 0;
};

AnalysisTable analysis_table(const worker::ScriptTable& table);
// With what was left out, as a last line.
std::string analysis_text(const ScriptOutcome& outcome);

}  // namespace profd
