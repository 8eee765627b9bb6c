#include "tests/conformance/expected.h"

#include <fstream>
#include <sstream>

namespace profd::test {

std::vector<std::pair<std::string, std::string>> ExpectedRow::top_entries() const {
  std::vector<std::pair<std::string, std::string>> entries;
  std::size_t at = 0;
  while (at < top.size()) {
    const std::size_t end = std::min(top.find(" | ", at), top.size());
    const std::string entry = top.substr(at, end - at);
    const std::size_t equals = entry.rfind('=');
    if (equals != std::string::npos) entries.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
    at = end + 3;
  }
  return entries;
}

std::vector<ExpectedRow> expected_rows(const std::filesystem::path& corpus, const std::string& folder) {
  std::vector<ExpectedRow> rows;
  std::ifstream in(corpus / "EXPECTED.tsv");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(folder + "/")) continue;
    std::vector<std::string> cells;
    std::istringstream cut(line);
    for (std::string cell; std::getline(cut, cell, '\t');) cells.push_back(cell);
    cells.resize(8);
    rows.push_back({cells[0], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7]});
  }
  return rows;
}

}  // namespace profd::test
