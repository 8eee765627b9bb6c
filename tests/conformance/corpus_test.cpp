// Every corpus file in the folder of a reader is opened with its name hidden.
#include <fstream>
#include <map>
#include <string>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// "FILE TEXT" lines. corpus_refused.txt: files of the corpus that are refused, each with the reason.
// corpus_readers.txt: files that another reader than that of their folder takes.
std::map<std::string, std::string> listed(const std::string& name) {
  std::map<std::string, std::string> reasons;
  std::ifstream in(std::filesystem::path(PROFD_SOURCE_DIR) / "tests/conformance" / name);
  for (std::string line; std::getline(in, line);) {
    const std::size_t blank = line.find(' ');
    if (!line.starts_with('#') && blank != std::string::npos)
      reasons[line.substr(0, blank)] = line.substr(blank + 1);
  }
  return reasons;
}

}  // namespace

TEST_CASE("corpus files are read by the reader of their folder") {
  if (warn_without_corpus()) return;
  const auto reasons = listed("corpus_refused.txt");
  const auto readers = listed("corpus_readers.txt");
  for (const FormatReader* reader : all_readers()) {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(*corpus() / reader->info().id, none)) {
      if (!entry.is_regular_file()) continue;
      INFO(entry.path());
      const std::string key = std::string(reader->info().id) + "/" + entry.path().filename().string();
      const auto opened = open_hidden(read_bytes(entry.path()));
      if (opened) {
        CHECK_FALSE(reasons.contains(key));
        const auto other = readers.find(key);
        CHECK(opened->decision.format == (other == readers.end() ? reader->info().id : other->second));
        for (const ProfilePtr& profile : opened->profiles) CHECK(broken_invariant(*profile) == "");
      } else {
        INFO(describe(opened.error()));
        CHECK(reasons.contains(key));
      }
    }
  }
}
