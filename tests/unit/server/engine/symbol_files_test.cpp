// Where files of modules are looked for, and which are never opened.
#include "server/engine/symbol_files.h"

#include <filesystem>
#include <fstream>

#include <sys/stat.h>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace profd {
namespace {

namespace files = std::filesystem;
using worker::Wish;
using worker::WishKind;

constexpr const char* kId = "0123456789abcdef0123456789abcdef01234567";

void put(const files::path& path, const std::string& text = "x") {
  files::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

Wish wish_of(WishKind kind, std::string name = "", std::string id = kId) {
  Wish wish;
  wish.kind = kind;
  wish.name = std::move(name);
  wish.build_id = std::move(id);
  return wish;
}

// All that is offered for a wish, each refused.
std::vector<std::string> offered(SymbolSearch& search, Wish wish) {
  std::vector<std::string> out;
  while (auto file = search.next(wish)) {
    out.push_back(file->path);
    wish.refused = "no";
  }
  return out;
}

SymbolPlaces no_places() {
  SymbolPlaces places;
  places.system = false;
  return places;
}

}  // namespace

TEST_CASE("a binary is looked for by build id, where its profile says, and beside the recording") {
  const test::TempFolder folder;
  const files::path root = folder.path;
  const std::string by_id = ".build-id/01/" + std::string(kId).substr(2);
  put(root / "debug" / by_id);
  put(root / "debug/home/me/app");
  put(root / "debug/app");
  put(root / "home/.debug" / by_id / "elf");
  put(root / "work/app");
  put(root / "recording/app");
  SymbolPlaces places = no_places();
  places.directories = {(root / "debug").string()};
  places.home = (root / "home").string();
  places.recording = (root / "recording").string();
  places.mappings = {{"/home/me", (root / "work").string()}};
  SymbolSearch search(places, "/home/me/app (deleted)", kId);
  CHECK(offered(search, wish_of(WishKind::binary)) ==
        std::vector<std::string>{(root / "debug" / by_id).string(),
                                 (root / "home/.debug" / by_id / "elf").string(),
                                 (root / "debug/home/me/app").string(), (root / "debug/app").string(),
                                 (root / "work/app").string(), (root / "recording/app").string()});
}

TEST_CASE(
    "what a profile names is opened in the folders that somebody named, with links followed, and nowhere "
    "else") {
  const test::TempFolder folder;
  const files::path root = folder.path;
  put(root / "secret/key");
  put(root / "work/app");
  files::create_directories(root / "work/links");
  files::create_symlink(root / "secret/key", root / "work/links/out");
  SymbolPlaces places = no_places();
  places.roots = {(root / "work").string()};
  {
    SymbolSearch search(places, (root / "work/app").string(), kId);
    CHECK(offered(search, wish_of(WishKind::binary)).size() == 1);
  }
  for (const files::path& path :
       {root / "secret/key", root / "work/links/out", root / "work/../secret/key"}) {
    INFO(path);
    SymbolSearch search(places, path.string(), kId);
    CHECK(offered(search, wish_of(WishKind::binary)).empty());
    CHECK(search.outside() == files::canonical(root / "secret/key").string());
  }
  // Names in binaries are no better than those in profiles.
  SymbolSearch search(places, (root / "work/app").string(), kId);
  REQUIRE(search.next(wish_of(WishKind::binary)));
  CHECK(offered(search, wish_of(WishKind::split, (root / "secret/key").string())).empty());
  CHECK(offered(search, wish_of(WishKind::split, "../secret/key")).empty());
  CHECK(offered(search, wish_of(WishKind::debug_link, "../secret/key")).empty());
  CHECK(offered(search, wish_of(WishKind::debug_file, "", "../../secret")).empty());
}

TEST_CASE("a package of split units is looked for beside the binary, by build id and by name") {
  const test::TempFolder folder;
  const files::path root = folder.path;
  const std::string by_id = ".build-id/01/" + std::string(kId).substr(2) + ".dwp";
  put(root / "work/app");
  put(root / "work/app.dwp");
  put(root / "debug" / by_id);
  put(root / "debug/app.dwp");
  put(root / "recording/app.dwp");
  SymbolPlaces places = no_places();
  places.roots = {(root / "work").string()};
  places.directories = {(root / "debug").string()};
  places.recording = (root / "recording").string();
  SymbolSearch search(places, (root / "work/app").string(), kId);
  REQUIRE(search.next(wish_of(WishKind::binary)));
  CHECK(offered(search, wish_of(WishKind::package)) ==
        std::vector<std::string>{(root / "work/app.dwp").string(), (root / "debug" / by_id).string(),
                                 (root / "debug/app.dwp").string(), (root / "recording/app.dwp").string()});
}

TEST_CASE("pipes, devices and folders are no binaries") {
  const test::TempFolder folder;
  const files::path root = folder.path;
  REQUIRE(::mkfifo((root / "app").c_str(), 0600) == 0);
  files::create_directories(root / "dir");
  SymbolPlaces places = no_places();
  places.roots = {root.string(), "/dev"};
  for (const std::string& path :
       {(root / "app").string(), (root / "dir").string(), std::string("/dev/null")}) {
    SymbolSearch search(places, path, kId);
    CHECK(offered(search, wish_of(WishKind::binary)).empty());
  }
}

TEST_CASE("without a build id only files that a person names are taken, and marked") {
  const test::TempFolder folder;
  const files::path root = folder.path;
  put(root / "work/app");
  put(root / "mine/app");
  SymbolPlaces places = no_places();
  places.roots = {(root / "work").string()};
  places.directories = {(root / "work").string()};
  {
    SymbolSearch search(places, (root / "work/app").string(), "");
    CHECK(offered(search, wish_of(WishKind::binary, "", "")).empty());
  }
  places.files = {{"app", (root / "mine/app").string()}};
  SymbolSearch search(places, (root / "work/app").string(), "");
  REQUIRE(search.next(wish_of(WishKind::binary, "", "")));
  search.finish();
  CHECK(search.unchecked());
  REQUIRE(search.used().size() == 1);
  CHECK(search.used()[0].path == (root / "mine/app").string());
}

TEST_CASE("what became of every file that was looked at is told") {
  const test::TempFolder folder;
  const files::path root = folder.path;
  put(root / "one/app");
  put(root / "two/app");
  SymbolPlaces places = no_places();
  places.directories = {(root / "one").string(), (root / "two").string()};
  SymbolSearch search(places, "/home/me/app", kId);
  Wish wish = wish_of(WishKind::binary);
  REQUIRE(search.next(wish));
  wish.refused = "another build: ff";
  wish.other_build = true;
  REQUIRE(search.next(wish));
  // A further wish: what came last is used.
  CHECK(offered(search, wish_of(WishKind::debug_link, "app.debug")).empty());
  search.finish();
  REQUIRE(search.tried().size() == 2);
  CHECK(search.tried()[0].path == (root / "one/app").string());
  CHECK(search.tried()[0].why == "another build: ff");
  CHECK(search.tried()[0].other_build);
  CHECK(search.tried()[1].path == (root / "two/app").string());
  CHECK(search.tried()[1].why == "used");
}

TEST_CASE("a debug link is looked for beside the binary") {
  const test::TempFolder folder;
  const files::path root = folder.path;
  put(root / "bin/app");
  put(root / "bin/app.debug");
  put(root / "bin/.debug/app.debug");
  SymbolPlaces places = no_places();
  places.roots = {root.string()};
  SymbolSearch search(places, (root / "bin/app").string(), kId);
  REQUIRE(search.next(wish_of(WishKind::binary)));
  CHECK(
      offered(search, wish_of(WishKind::debug_link, "app.debug")) ==
      std::vector<std::string>{(root / "bin/app.debug").string(), (root / "bin/.debug/app.debug").string()});
}

}  // namespace profd
