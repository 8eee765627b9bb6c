// A table of bad inputs for one reader: each is refused with the code and a word of the sentence, or read
// with a row of the report.
#pragma once

#include <string>
#include <vector>

namespace profd::test {

struct BadInput {
  std::string what;  // shown when the check fails
  std::string bytes;
  // "error CODE: words" or "report KIND", as the reader answers when its format is named.
  std::string expected;
};

void check_bad_inputs(const std::string& format, const std::vector<BadInput>& table);

}  // namespace profd::test
