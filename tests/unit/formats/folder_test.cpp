#include "formats/folder.h"

#include "formats/open.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/formats/make_archive.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::uint64_t kLimit = 1u << 20;

Result<OpenedFile> open_path(const std::string& path, const OpenOptions& options = {}) {
  SerialExecutor executor;
  auto input = open_input(path, kLimit);
  if (!input) return tl::unexpected<Error>(std::move(input).error());
  return open_profiles(*input, options, executor, {});
}

std::uint64_t reported(const OpenedFile& opened, std::string_view kind) {
  for (const ReportRow& row : opened.report.rows())
    if (row.kind == kind) return row.count;
  return 0;
}

}  // namespace

TEST_CASE("names with numbers sort as people count") {
  CHECK(natural_less("rank-2", "rank-10"));
  CHECK_FALSE(natural_less("rank-10", "rank-2"));
  CHECK(natural_less("a", "a0"));
  CHECK(natural_less("a9b", "a10a"));
  CHECK(natural_less("x99999999999999999999999999998", "x99999999999999999999999999999"));
  // Equal as numbers, different as names: one of them comes first.
  CHECK(natural_less("p01", "p1") != natural_less("p1", "p01"));
  CHECK_FALSE(natural_less("p1", "p1"));
}

TEST_CASE("a folder lists regular files below it, and gives no others") {
  const TempFolder temp;
  temp.file("b10", "x");
  temp.file("b9", "y");
  temp.file("sub/deep/c", gzip_of("packed"));
  temp.file(".hidden", "x");
  temp.file(".git/config", "x");
  std::filesystem::create_symlink("/etc/passwd", temp.path / "link");
  const auto folder = open_folder(temp.path.string(), kLimit);
  REQUIRE(folder);
  CHECK((*folder)->files() == std::vector<std::string>{"b9", "b10", "sub/deep/c"});
  CHECK((*folder)->open("b9")->text() == "y");
  CHECK((*folder)->open("sub/deep/c")->text() == "packed");
  for (const char* outside : {"link", "../x", "/etc/passwd", "sub", "", ".hidden", "b1"}) {
    INFO(outside);
    CHECK_FALSE((*folder)->has(outside));
    const auto opened = (*folder)->open(outside);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == ErrorCode::not_found);
  }
  const auto sub = sub_folder(**folder, "sub");
  CHECK(sub->files() == std::vector<std::string>{"deep/c"});
  CHECK(sub->open("deep/c")->text() == "packed");
}

TEST_CASE("beside a file only its own directory is seen") {
  const TempFolder temp;
  const std::string path = temp.file("in/main", "x");
  temp.file("in/other", "o");
  temp.file("secret", "s");
  temp.file("in/deeper/f", "f");
  const auto beside = folder_beside(path, kLimit);
  CHECK(beside->has("other"));
  CHECK(beside->open("other")->text() == "o");
  for (const char* outside : {"../secret", "deeper/f", "/etc/passwd", ".", "..", "missing"}) {
    INFO(outside);
    CHECK_FALSE(beside->has(outside));
    CHECK_FALSE(beside->open(outside));
  }
  CHECK(beside->files() == std::vector<std::string>{"main", "other"});
}

TEST_CASE("archive members with unsafe names are in no folder") {
  const std::string tar = tar_of({{"a/x", "1"}, {"../up", "2"}, {"/root", "3"}, {"a/x", "4"}});
  SerialExecutor executor;
  // A set of one readable member shows the path; the folder itself is what this is about.
  std::vector<ArchiveMember> members;
  for (const char* name : {"a/x", "../up", "/root", "a/../b", "a/x"}) {
    ArchiveMember member;
    member.name = name;
    members.push_back(member);
  }
  const auto folder = archive_folder(memory_source(tar, "t.tar"), members, kLimit);
  CHECK(folder->files() == std::vector<std::string>{"a/x"});
}

TEST_CASE("a folder of profiles opens as a set in natural order, the rest is counted") {
  const TempFolder temp;
  temp.file("rank-10.folded", "main;a 10\n");
  temp.file("rank-2.folded.gz", gzip_of("main;a 2\n"));
  temp.file("more/last.folded", "main;a 3\n");
  temp.file("notes.txt", "Dear diary,\nno profile here.\n");
  temp.file("empty", "");
  const auto opened = open_path(temp.path.string());
  REQUIRE(opened);
  REQUIRE(opened->profiles.size() == 3);
  CHECK(opened->profiles[0]->info().name == "more/last.folded");
  CHECK(opened->profiles[1]->info().name == "rank-2.folded.gz");
  CHECK(opened->profiles[2]->info().name == "rank-10.folded");
  CHECK(std::get<std::int64_t>(opened->profiles[2]->total(MetricId{0u})) == 10);
  CHECK(reported(*opened, "member-not-read") == 2);
  CHECK(opened->looked_around);
}

TEST_CASE("a broken file does not take its folder with it") {
  const TempFolder temp;
  temp.file("good.folded", "main;a 10\n");
  temp.file("bad.folded.gz", gzip_of("main;a 10\nmain;b 11\n").substr(0, 20));
  const auto opened = open_path(temp.path.string());
  REQUIRE(opened);
  CHECK(opened->profiles.size() == 1);
  CHECK(reported(*opened, "member-broken") == 1);
}

namespace {

// Files in memory; those without content cannot be opened.
class FolderInMemory final : public Folder {
 public:
  FolderInMemory(std::vector<std::pair<std::string, std::optional<std::string>>> files,
                 std::vector<Error> unreadable)
      : content_(std::move(files)), unreadable_(std::move(unreadable)) {
    for (const auto& [name, content] : content_) names_.push_back(name);
  }
  const std::string& name() const override { return name_; }
  const std::vector<std::string>& files() const override { return names_; }
  bool has(std::string_view file) const override {
    return std::find(names_.begin(), names_.end(), file) != names_.end();
  }
  Result<ByteSource> open(std::string_view file) const override {
    for (const auto& [name, content] : content_)
      if (name == file && content) return memory_source(*content, name);
    return fail(ErrorCode::io, "cannot be read: Permission denied");
  }
  std::vector<Error> unreadable() const override { return unreadable_; }

 private:
  std::string name_ = "runs";
  std::vector<std::pair<std::string, std::optional<std::string>>> content_;
  std::vector<std::string> names_;
  std::vector<Error> unreadable_;
};

Result<OpenedFile> open_in_memory(std::shared_ptr<const Folder> folder, OpenOptions options = {}) {
  SerialExecutor executor;
  return open_profiles(OpenInput{{}, nullptr, std::move(folder)}, options, executor, {});
}

std::string message_of(const OpenedFile& opened, std::string_view kind) {
  for (const ReportRow& row : opened.report.rows())
    if (row.kind == kind) return row.message;
  return "";
}

}  // namespace

TEST_CASE("what cannot be read of a folder is named by its path, the rest opens") {
  const std::string broken = gzip_of("main;a 10\nmain;b 11\n").substr(0, 20);
  const auto folder = std::make_shared<FolderInMemory>(
      std::vector<std::pair<std::string, std::optional<std::string>>>{
          {"a.folded", "main;a 10\n"}, {"b/locked.folded", std::nullopt}, {"c.folded", "main;a 3\n"}},
      std::vector<Error>{});
  const auto one = open_in_memory(folder);
  REQUIRE(one);
  CHECK(one->profiles.size() == 2);
  CHECK(message_of(*one, "member-broken") ==
        "a file could not be read: cannot be read: Permission denied (in b/locked.folded)");

  const auto several = open_in_memory(std::make_shared<FolderInMemory>(
      std::vector<std::pair<std::string, std::optional<std::string>>>{
          {"a.folded", "main;a 10\n"}, {"b.folded.gz", broken}, {"c.folded", std::nullopt}},
      std::vector<Error>{
          {ErrorCode::io, "the folder cannot be listed: Permission denied", std::nullopt, {"d"}}}));
  REQUIRE(several);
  CHECK(several->profiles.size() == 1);
  CHECK(reported(*several, "member-broken") == 3);
  CHECK(message_of(*several, "member-broken") ==
        "files could not be read, the first: the folder cannot be listed: Permission denied (in d); then "
        "b.folded.gz, c.folded");
}

TEST_CASE("a file of a folder that is beyond a limit does not take the others with it") {
  OpenOptions options;
  options.limits.input_bytes = 20;
  const auto opened = open_in_memory(
      std::make_shared<FolderInMemory>(
          std::vector<std::pair<std::string, std::optional<std::string>>>{
              {"large.folded", "main;a 10\nmain;b 10\nmain;c 10\n"}, {"small.folded", "main;a 3\n"}},
          std::vector<Error>{}),
      options);
  REQUIRE(opened);
  CHECK(opened->profiles.size() == 1);
  CHECK(message_of(*opened, "member-broken").find("input_bytes") != std::string::npos);
  CHECK(message_of(*opened, "member-broken").find("large.folded") != std::string::npos);
}

TEST_CASE("folders without a profile say so") {
  const TempFolder temp;
  auto opened = open_path(temp.path.string());
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message.find("no files") != std::string::npos);
  temp.file("notes.txt", "Dear diary,\nno profile here.\n");
  opened = open_path(temp.path.string());
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::unsupported);
  CHECK(opened.error().message.find("folder") != std::string::npos);
}
