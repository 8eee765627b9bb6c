// Rows of an answer in the terminal.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "server/feature/path_rows.h"

namespace profd {

// Where a row is: file and line, else the module.
std::string place_text(const RowsAnswer& answer, std::size_t row);
// By row of the answer.
std::vector<std::string> row_names(const RowsAnswer& answer, bool full_names);
// The same of paths, root first; cut to `columns`, or whole.
std::vector<std::string> path_names(const PathRows& answer, std::optional<std::size_t> columns);

}  // namespace profd
