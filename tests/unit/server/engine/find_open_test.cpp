// Which open profile a person means by what was typed.
#include "server/engine/find_open.h"

#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

ProfileEntry listed_as(std::string handle, const std::string& path, std::string member = "") {
  ProfileEntry out;
  out.handle = std::move(handle);
  out.uri = "file://" + path;
  out.name = path.substr(path.rfind('/') + 1);
  out.member_name = std::move(member);
  return out;
}

std::vector<ProfileEntry> three_open() {
  return {listed_as("p1", "/w/a/cpu.pprof"), listed_as("p2", "/w/b/cpu.pprof"),
          listed_as("p3", "/w/heap.pprof", "inuse")};
}

std::string found_open(const std::string& named) {
  auto handle = find_open(three_open(), nullptr, named);
  if (!handle) FAIL(handle.error().message);
  return *handle;
}

// A file of two profiles, as it is open: the rows of the list, and one of its profiles.
struct FileOfTwo {
  std::vector<ProfileEntry> rows;
  OpenProfilePtr meant;
  FileOfTwo() {
    auto loaded = std::make_shared<LoadedProfiles>();
    for (const char* name : {"cpu", "heap"}) {
      ProfileBuilder builder;
      add_text(builder, "f 1\n");
      builder.info().name = name;
      SerialExecutor serial;
      loaded->profiles.push_back(std::move(builder).finish(serial, StopToken{}).value());
    }
    for (std::uint32_t number = 1; number <= 2; ++number) {
      auto open = std::make_shared<OpenProfile>();
      open->number = number;
      open->profile = loaded->profiles[number - 1];
      open->loaded = loaded;
      ProfileEntry row = listed_as("p" + std::to_string(6 + number), "/w/both.json", open->member_name());
      row.number = number;
      row.n_in_file = 2;
      row.profile = open;
      meant = open;
      rows.push_back(std::move(row));
    }
  }
};

}  // namespace

TEST_CASE("find open: a handle is itself") {
  CHECK(found_open("p2") == "p2");
}

TEST_CASE("find open: by name, URI, path, the end of a path, and what the file calls it") {
  CHECK(found_open("heap.pprof") == "p3");
  CHECK(found_open("file:///w/b/cpu.pprof") == "p2");
  CHECK(found_open("/w/b/cpu.pprof") == "p2");
  CHECK(found_open("b/cpu.pprof") == "p2");
  CHECK(found_open("/b/cpu.pprof") == "p2");
  CHECK(found_open("inuse") == "p3");
}

TEST_CASE("find open: several that are meant are listed, and none is taken") {
  const auto several = find_open(three_open(), nullptr, "cpu.pprof");
  REQUIRE_FALSE(several);
  CHECK(several.error().code == ErrorCode::invalid);
  CHECK(several.error().message ==
        "\"cpu.pprof\" is 2 open profiles: p1 cpu.pprof (/w/a/cpu.pprof), p2 cpu.pprof (/w/b/cpu.pprof); a "
        "handle picks one");
}

TEST_CASE("find open: one that is none says what is open; a part of a name is none") {
  for (const char* named : {"pu.pprof", "", "p9", "w", "cpu"}) {
    CAPTURE(named);
    const auto none = find_open(three_open(), nullptr, named);
    REQUIRE_FALSE(none);
    CHECK(none.error().code == ErrorCode::not_found);
    CHECK(none.error().message.find("open: p1 cpu.pprof (/w/a/cpu.pprof), p2") != std::string::npos);
  }
  CHECK(find_open({}, nullptr, "x").error().message == "no profile \"x\" is open, and no other");
}

TEST_CASE("find open: of very many the first eight are told") {
  std::vector<ProfileEntry> many;
  for (int i = 0; i < 30; ++i)
    many.push_back(listed_as("p" + std::to_string(i), "/w/" + std::to_string(i) + "/cpu.pprof"));
  const auto several = find_open(many, nullptr, "cpu.pprof");
  REQUIRE_FALSE(several);
  CHECK(several.error().message.find("/w/7/cpu.pprof), …") != std::string::npos);
  CHECK(several.error().message.find("/w/8/") == std::string::npos);
}

TEST_CASE("find open: a number or name of a profile is one of the file that is meant, before others") {
  const FileOfTwo file;
  std::vector<ProfileEntry> open = three_open();
  open.insert(open.end(), file.rows.begin(), file.rows.end());
  CHECK(find_open(open, file.meant, "1").value() == "p7");
  CHECK(find_open(open, file.meant, "2").value() == "p8");
  CHECK(find_open(open, file.meant, "cpu").value() == "p7");
  CHECK(find_open(open, file.meant, "heap").value() == "p8");
  // Of no file in particular a number is nothing, and a name still one.
  CHECK_FALSE(find_open(open, nullptr, "1"));
  CHECK(find_open(open, nullptr, "heap").value() == "p8");
  // A handle goes before a number.
  open[0].handle = "2";
  CHECK(find_open(open, file.meant, "2").value() == "2");
}
