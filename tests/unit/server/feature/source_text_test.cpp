#include <filesystem>
#include <fstream>

#include <sys/stat.h>

#include "server/feature/source_text_answer.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using profd::test::TempFolder;
namespace fs = std::filesystem;

namespace {

std::string put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

}  // namespace

TEST_CASE("source text: only what lies in the folders once every link is followed") {
  const TempFolder folder;
  const fs::path top = fs::canonical(folder.path.string());
  const std::vector<std::string> roots = {(top / "work").string(), (top / "mapped").string()};
  const std::string inside = put(top / "work/src/a.c", "int a;\n");
  const std::string mapped = put(top / "mapped/b.c", "int b;");
  const std::string outside = put(top / "secret", "key");
  put(top / "work-and-more/c.c", "int c;");
  fs::create_symlink("src/a.c", top / "work/link-within");
  fs::create_symlink(top / "mapped/b.c", top / "work/link-to-mapped");
  fs::create_symlink(outside, top / "work/link-out");
  fs::create_directory_symlink(top, top / "work/folder-out");
  fs::create_symlink(top / "work/nothing", top / "work/dangling");
  ::mkfifo((top / "work/pipe").c_str(), 0600);

  CHECK(source_text(roots, inside, {})->text == "int a;\n");
  CHECK(source_text(roots, mapped, {})->n_lines == 1);
  CHECK(source_text(roots, (top / "work/link-within").string(), {})->text == "int a;\n");
  CHECK(source_text(roots, (top / "work/link-to-mapped").string(), {})->text == "int b;");
  for (const char* path : {"secret", "work/link-out", "work/folder-out/secret", "work/../secret",
                           "work/dangling", "work/nothing", "work-and-more/c.c", "nothing"}) {
    INFO(path);
    const auto text = source_text(roots, (top / path).string(), {});
    REQUIRE_FALSE(text);
    // What is not there and what is elsewhere say the same.
    CHECK(text.error().code == ErrorCode::not_found);
    CHECK(text.error().message.find("is not a file of the workspace") != std::string::npos);
  }
  for (const char* path : {"work/pipe", "work/src"}) {
    INFO(path);
    CHECK_FALSE(source_text(roots, (top / path).string(), {}));
  }
  CHECK_FALSE(source_text({}, inside, {}));
  CHECK_FALSE(source_text({"/nowhere"}, inside, {}));
  CHECK_FALSE(source_text({""}, "a.c", {}));

  // A root that is a link itself is that folder.
  fs::create_directory_symlink(top / "work", top / "alias");
  CHECK(source_text({(top / "alias").string()}, (top / "alias/src/a.c").string(), {})->text == "int a;\n");
}

TEST_CASE("source text: a file is shown up to a size") {
  const TempFolder folder;
  const std::string most = put(fs::path(folder.path.string()) / "most.c", std::string(kMaxShownSource, 'x'));
  const std::string more =
      put(fs::path(folder.path.string()) / "more.c", std::string(kMaxShownSource + 1, 'x'));
  CHECK(source_text({folder.path.string()}, most, {})->bytes == kMaxShownSource);
  const auto refused = source_text({folder.path.string()}, more, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::limit);
}

TEST_CASE("source text: the encoding is told, and the text is UTF-8") {
  const auto decoded = [](std::string bytes) {
    const DecodedText text = decode_text(std::move(bytes));
    return text.encoding + ": " + text.text;
  };
  CHECK(decoded("a\xC3\xBC") == "utf-8: a\xC3\xBC");
  CHECK(decoded("\xEF\xBB\xBF"
                "a") == "utf-8: a");
  CHECK(decoded("a\xFC") == "latin-1: a\xC3\xBC");
  CHECK(decoded(std::string("\xFF\xFE"
                            "a\0\x3D\xD8\x00\xDE",
                            8)) == "utf-16le: a\xF0\x9F\x98\x80");
  CHECK(decoded(std::string("\xFE\xFF\0a\xD8\x3D\xDE\x00", 8)) == "utf-16be: a\xF0\x9F\x98\x80");
  CHECK(decoded(std::string("\xFF\xFE\x3D\xD8"
                            "a\0b",
                            7)) ==
        "utf-16le: \xEF\xBF\xBD"
        "a\xEF\xBF\xBD");
  CHECK(decoded("") == "utf-8: ");
}
