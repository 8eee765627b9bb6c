// EXPECTED.tsv of the corpus: facts that other tools derived from its files.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace profd::test {

struct ExpectedRow {
  std::string file;  // "folded/simple.txt"
  std::string metric, unit, total, count, top, how;

  // "name=value | name=value".
  std::vector<std::pair<std::string, std::string>> top_entries() const;
};

// Rows of one folder, in order.
std::vector<ExpectedRow> expected_rows(const std::filesystem::path& corpus, const std::string& folder);

}  // namespace profd::test
