// Call paths as lines of a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace profd {

// Names from the root to the leaf, one line a path: the root, then as much of the leaf's end as fits in
// `columns`. Where that makes two lines the same, the frame they differ in stands in the middle.
std::vector<std::string> path_texts(const std::vector<std::vector<std::string>>& paths, std::size_t columns);

}  // namespace profd
