#include "server/engine/workspace_files.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "server/engine/source_text.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;

namespace {

std::size_t n_files(const TempFolder& folder, const WalkLimits& limits, bool& complete) {
  std::size_t n = 0;
  complete = walk_files(folder.path.string(), limits, [&](const std::string&) { return ++n > 0; });
  return n;
}

}  // namespace

TEST_CASE("a workspace is looked at as deep and as far as its limits say") {
  const TempFolder folder;
  std::string deep;
  for (int i = 0; i < 50; ++i) {
    folder.file(deep + "a.c", "");
    deep += "d/";
  }
  bool complete = false;
  CHECK(n_files(folder, {}, complete) == 41);  // in the root, and in forty folders below each other
  CHECK(complete);
  CHECK(n_files(folder, {400'000, 3}, complete) == 4);
  CHECK(n_files(folder, {11, 40}, complete) <= 11);
  CHECK_FALSE(complete);
}

TEST_CASE("a source that is no file, or a large one, has no text to compare") {
  const TempFolder folder;
  CHECK(read_source(folder.file("most.c", std::string(kMaxSourceBytes, 'x')))->size() == kMaxSourceBytes);
  CHECK_FALSE(read_source(folder.file("more.c", std::string(kMaxSourceBytes + 1, 'x'))));
  CHECK_FALSE(read_source(folder.path.string()));
  CHECK_FALSE(read_source((folder.path / "none.c").string()));
}
