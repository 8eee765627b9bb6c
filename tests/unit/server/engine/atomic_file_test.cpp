#include "server/engine/atomic_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/catch.h"
#include "tests/support/not_run.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;
namespace fs = std::filesystem;

namespace {

std::string content_of(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

Result<void> write_text(const std::string& path, bool overwrite, std::string_view text) {
  PROFD_TRY(AtomicFile file, AtomicFile::create_named(path, overwrite));
  PROFD_CHECK(file.write(std::as_bytes(std::span(text.data(), text.size()))));
  return file.commit();
}

}  // namespace

TEST_CASE("a file is replaced whole, or kept when that was not asked for") {
  const TempFolder folder;
  const std::string path = folder.file("a.svg", "before");
  CHECK_FALSE(write_text(path, false, "after"));
  CHECK(content_of(path) == "before");
  CHECK(write_text(path, true, "after"));
  CHECK(content_of(path) == "after");
  CHECK(write_text((folder.path / "new").string(), false, "new"));
  CHECK(content_of(folder.path / "new") == "new");
  {
    auto given_up = AtomicFile::create_named(path, true);
    REQUIRE(given_up);
  }
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 2);
}

TEST_CASE("devices, pipes, sockets and folders are not replaced, nor what links to them") {
  const TempFolder folder;
  const auto in = [&](const char* name) { return (folder.path / name).string(); };
  REQUIRE(::mkfifo(in("pipe").c_str(), 0600) == 0);
  fs::create_directory(in("folder"));
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  in("socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  fs::create_symlink("pipe", in("link-to-pipe"));
  // A device of our own, which only root can make: a failure must not cost the machine its /dev/null.
  const bool device = ::mknod(in("device").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0;
  fs::create_symlink("device", in("link-to-device"));
  fs::create_symlink("folder", in("link-to-folder"));
  fs::create_symlink("gone", in("link-to-nothing"));
  for (const auto& [name, what] : {std::pair{"pipe", "is a pipe"},
                                   {"folder", "is a folder"},
                                   {"socket", "is a socket"},
                                   {"link-to-pipe", "is a pipe"},
                                   {"device", "is a device"},
                                   {"link-to-device", "is a device"},
                                   {"link-to-folder", "is a folder"},
                                   {"link-to-nothing", "leads nowhere"}}) {
    if (std::string_view(name).ends_with("device") && !device) continue;
    const auto before = fs::symlink_status(in(name)).type();
    const auto written = write_text(in(name), true, "x");
    REQUIRE_FALSE(written);
    CHECK(written.error().message.find(what) != std::string::npos);
    CHECK(fs::symlink_status(in(name)).type() == before);
  }
  CHECK(fs::is_fifo(in("pipe")));
  ::close(fd);
}

TEST_CASE("a link to a regular file is followed, and stays") {
  const TempFolder folder;
  const std::string target = folder.file("real/a.svg", "before");
  const fs::path link = folder.path / "link.svg";
  fs::create_symlink(target, link);
  auto file = AtomicFile::create_named(link.string(), true);
  REQUIRE(file);
  CHECK(file->path() == fs::canonical(target).string());
  REQUIRE(file->commit());
  CHECK(content_of(target).empty());
  CHECK(fs::is_symlink(link));
}

TEST_CASE("a link that another user made is not followed") {
  if (::geteuid() != 0) return not_run("needs root to make a link of another user");
  const TempFolder folder;
  const std::string target = folder.file("mine", "before");
  const std::string link = (folder.path / "link").string();
  fs::create_symlink(target, link);
  REQUIRE(::lchown(link.c_str(), 12345, 12345) == 0);
  CHECK_FALSE(write_text(link, true, "after"));
  CHECK(content_of(target) == "before");
}
