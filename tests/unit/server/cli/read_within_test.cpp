#include "server/cli/read_within.h"

#include <zlib.h>

#include "formats/open.h"
#include "server/runtime/executor.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using profd::test::TempFolder;

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// So many MiB of stacks in a few KiB.
std::string write_bomb(const TempFolder& folder, std::size_t mib) {
  const std::string path = folder.file("bomb.folded.gz", "");
  std::string text;
  while (text.size() < kMiB) text += "main;parse;read 1\n";
  const gzFile out = gzopen(path.c_str(), "wb9");
  for (std::size_t i = 0; i < mib; ++i)
    REQUIRE(gzwrite(out, text.data(), static_cast<unsigned>(text.size())) > 0);
  REQUIRE(gzclose(out) == Z_OK);
  return path;
}

Result<void> read_it(const std::string& path, std::uint64_t bytes) {
  ThreadExecutor executor;
  return read_within(bytes, [&](const StopToken& stop) -> Result<void> {
    PROFD_TRY(const OpenInput input, open_input(path, ReadLimits().input_bytes));
    PROFD_TRY(const OpenedFile opened, open_profiles(input, OpenOptions(), executor, stop));
    return {};
  });
}

}  // namespace

TEST_CASE("what a command reads stays within its part of the machine, and what does not fit is said",
          "[memory]") {
  const TempFolder folder;
  const std::string bomb = write_bomb(folder, 200);
  const auto refused = read_it(bomb, 64 * kMiB);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::limit);
  CHECK_THAT(refused.error().message, Catch::Matchers::Contains("half of this machine's memory"));
  CHECK(read_it(bomb, 1024 * kMiB));
  const auto all = read_within(64 * kMiB, [](const StopToken&) -> Result<void> {
    const std::vector<char> much(100 * kMiB);
    return much.empty() ? Result<void>() : fail(ErrorCode::internal, "there was room");
  });
  REQUIRE_FALSE(all);
  CHECK_THAT(all.error().message,
             Catch::Matchers::Contains("reading this file takes at least 100 MiB of memory, more than half"));
}
