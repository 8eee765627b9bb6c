// Words of a command as a person types them.
#pragma once

#include <string>
#include <vector>

namespace profd {

// One line that a shell reads as these words.
std::string typed_line(const std::vector<std::string>& argv);

}  // namespace profd
