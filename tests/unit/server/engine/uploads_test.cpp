#include "server/engine/uploads.h"

#include <filesystem>
#include <fstream>

#include <sys/stat.h>

#include "server/runtime/base64.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using profd::test::TempFolder;
namespace fs = std::filesystem;

namespace {

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
}

}  // namespace

TEST_CASE("uploads: pieces make a private file that goes with the client") {
  const TempFolder folder;
  UploadRoom room(folder.path.string());
  std::string path;
  {
    Uploads uploads(room);
    const auto id = uploads.begin("../../etc/cpu.pprof", 7);
    REQUIRE(id);
    CHECK(room.taken() == 7);
    REQUIRE(uploads.piece(*id, 0, 4)->write("four") == 4u);
    CHECK(uploads.end(*id).error().code == ErrorCode::truncated);
    REQUIRE(uploads.piece(*id, 4, 3)->write("end") == 7u);
    const auto whole = uploads.end(*id);
    REQUIRE(whole);
    path = whole->path;
    CHECK(whole->name == "cpu.pprof");
    CHECK(fs::path(path).filename() == "cpu.pprof");
    CHECK(content_of(path) == "fourend");
    CHECK(mode_of(path) == 0600);
    CHECK(mode_of(fs::path(path).parent_path()) == 0700);
    CHECK(mode_of(fs::path(path).parent_path().parent_path()) == 0700);
    CHECK(uploads.piece(*id, 7, 0).error().message == "the upload " + *id + " has ended");
  }
  CHECK_FALSE(fs::exists(path));
  CHECK(room.taken() == 0);
  CHECK(room.is_of_uploads(path));
  CHECK(UploadRoom(folder.path.string()).is_of_uploads(path));
  CHECK_FALSE(room.is_of_uploads(folder.path.string() + "/uploads.pprof"));
  CHECK_FALSE(room.is_of_uploads("/home/me/uploads/cpu.pprof"));
}

TEST_CASE("uploads: one piece at a time, in order, of a bounded size, and no more than was said") {
  const TempFolder folder;
  UploadRoom room(folder.path.string(), {4, 16, 100});
  Uploads uploads(room);
  const std::string id = *uploads.begin("a", 10);
  {
    auto piece = uploads.piece(id, 0, 4);
    REQUIRE(piece);
    CHECK(uploads.piece(id, 0, 4).error().code == ErrorCode::invalid);
    REQUIRE(piece->write("1234"));
    CHECK(uploads.piece(id, 4, 4));  // this one is dropped, and its turn with it
  }
  CHECK(uploads.piece(id, 0, 4).error().code == ErrorCode::invalid);
  CHECK(uploads.piece(id, 5, 4).error().code == ErrorCode::invalid);
  CHECK(uploads.piece(id, 4, 5).error().code == ErrorCode::limit);
  REQUIRE(uploads.piece(id, 4, 4)->write("5678"));
  CHECK(uploads.piece(id, 8, 3).error().code == ErrorCode::limit);
  REQUIRE(uploads.piece(id, 8, 2)->write("90"));
  CHECK(content_of(uploads.end(id)->path) == "1234567890");
  CHECK(uploads.piece("u99", 0, 1).error().code == ErrorCode::not_found);
  CHECK(uploads.cancel("u99").error().code == ErrorCode::not_found);
}

TEST_CASE("uploads: files and bytes are bounded, and what is cancelled makes room") {
  const TempFolder folder;
  UploadRoom room(folder.path.string(), {4, 2, 100});
  Uploads mine(room), others(room);
  const std::string first = *mine.begin("a", 60);
  CHECK(others.begin("b", 41).error().code == ErrorCode::limit);
  CHECK(others.begin("b", 40));
  CHECK(mine.begin("c", 0));
  CHECK(mine.begin("d", 0).error().code == ErrorCode::limit);
  REQUIRE(mine.cancel(first));
  CHECK(mine.begin("d", 60));
  CHECK(mine.begin("e", std::uint64_t{1} << 63).error().code == ErrorCode::limit);
}

TEST_CASE("uploads: a piece may still be written when its upload is cancelled, and harms nobody") {
  const TempFolder folder;
  UploadRoom room(folder.path.string());
  Uploads uploads(room);
  const std::string id = *uploads.begin("a", 4);
  auto piece = uploads.piece(id, 0, 4);
  REQUIRE(uploads.cancel(id));
  CHECK(piece->write("1234"));
}

TEST_CASE("uploads: what a daemon that is gone left is removed, what a living one has is not") {
  const TempFolder folder;
  fs::create_directories(fs::path(folder.path.string()) / "uploads" / "999999999-gone" / "u1");
  fs::permissions(fs::path(folder.path.string()) / "uploads", fs::perms::owner_all);
  UploadRoom living(folder.path.string());
  REQUIRE(living.folder());
  {
    UploadRoom room(folder.path.string());
    REQUIRE(room.folder());
    room.remove_leftovers();
    CHECK_FALSE(fs::exists(fs::path(folder.path.string()) / "uploads" / "999999999-gone"));
    CHECK(fs::exists(*living.folder()));
    CHECK(fs::exists(*room.folder()));
  }
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry :
       fs::directory_iterator(fs::path(folder.path.string()) / "uploads"))
    ++n;
  CHECK(n == 1);
}

TEST_CASE("uploads: a folder that others may enter is refused") {
  const TempFolder folder;
  fs::create_directories(fs::path(folder.path.string()) / "uploads");
  fs::permissions(fs::path(folder.path.string()) / "uploads", fs::perms::all);
  UploadRoom room(folder.path.string());
  Uploads uploads(room);
  CHECK(uploads.begin("a", 1).error().code == ErrorCode::io);
}

TEST_CASE("uploads: a name is the last part of a path and fits a file system") {
  CHECK(upload_name("cpu.pprof") == "cpu.pprof");
  CHECK(upload_name("/a/b\\c.json") == "c.json");
  CHECK(upload_name("") == "profile");
  CHECK(upload_name("..") == "profile");
  CHECK(upload_name("a/") == "profile");
  CHECK(upload_name("a\nb\x1b[31m\x7f") == "a_b_[31m_");
  CHECK(upload_name("bad\xff.gz") == "bad\xEF\xBF\xBD.gz");
  const std::string long_name = upload_name(std::string(1000, 'x') + ".pb.gz");
  CHECK(long_name.size() <= 200);
  CHECK(long_name.substr(long_name.size() - 3) == ".gz");
}

TEST_CASE("base64: what is written is read again, what is broken is not") {
  for (const std::string& bytes : {std::string(), std::string("a"), std::string("ab"), std::string("abc"),
                                   std::string("\x00\xff\xfe\x01", 4), std::string(1000, '\x9c')}) {
    CHECK(from_base64(to_base64(bytes)) == bytes);
    CHECK(bytes_in_base64(to_base64(bytes)) == bytes.size());
  }
  for (const char* wrong : {"A", "AB", "ABC", "====", "AB=C", "A===", "AB C", "AB-_", "ABCD=", "AA==AAAA"}) {
    INFO(wrong);
    CHECK_FALSE(from_base64(wrong).has_value());
  }
  CHECK(to_base64url("\xfb\xff\xfe") == "-__-");
}
