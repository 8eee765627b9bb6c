// Folder formats keep their testdata in tar archives: the members are damaged there, one byte at a time.
#include <random>

#include <fmt/format.h>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("single-byte mutations of the members of an archive give profiles or errors") {
  for (const TestFile& file : testdata()) {
    if (file.path.extension() != ".tar") continue;
    const std::string bytes = read_bytes(file.path);
    std::mt19937 random(20260102);
    for (int i = 0; i < 1500; ++i) {
      std::string mutated = bytes;
      const std::size_t at = random() % mutated.size();
      // Headers have checksums, and padding says nothing.
      if (mutated[at] == 0 && i % 4 != 0) continue;
      mutated[at] = static_cast<char>(random() % 256);
      OpenOptions options;
      options.format = file.format;
      options.partial = i % 2 == 0;
      const auto opened = open_hidden(mutated, options);
      INFO(file.path << " byte " << at);
      if (!opened) {
        if (opened.error().message.empty()) FAIL("an error without a message");
        continue;
      }
      for (const ProfilePtr& profile : opened->profiles) {
        const std::string broken = broken_invariant(*profile);
        if (!broken.empty()) FAIL(broken);
      }
    }
  }
  SUCCEED();
}
