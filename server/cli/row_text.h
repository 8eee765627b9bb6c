// Rows of an answer in the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "server/feature/rows_answer.h"

namespace profd {

// Where a row is: file and line, else the module.
std::string place_text(const RowsAnswer& answer, std::size_t row);
// By row of the answer.
std::vector<std::string> row_names(const RowsAnswer& answer, bool full_names);

}  // namespace profd
