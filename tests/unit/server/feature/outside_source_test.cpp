#include "server/feature/outside_source.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"
#include "tests/support/text_profile.h"

using namespace profd;
using profd::test::TempFolder;
namespace fs = std::filesystem;

TEST_CASE("outside source: one answer opens a library or the file's own folder, and never what is private") {
  const std::string home = "/home/me";
  const std::pair<const char*, const char*> opened[] = {
      {"/usr/local/go/src/runtime/proc.go", "/usr/local/go/src"},
      {"/usr/lib/go-1.19/src/sort/sort.go", "/usr/lib/go-1.19/src"},
      {"/home/me/go/pkg/mod/github.com/u/m@v1.2/a.go", "/home/me/go/pkg/mod"},
      {"/usr/include/c++/12/vector", "/usr/include"},
      {"/usr/include/c++/12/bits/stl_vector.h", "/usr/include"},
      {"/usr/lib/gcc/x86_64-linux-gnu/12/include/stddef.h", "/usr/lib/gcc"},
      {"/usr/lib/python3.11/json/encoder.py", "/usr/lib/python3.11"},
      {"/home/me/.venv/lib/python3.11/site-packages/x/y.py", "/home/me/.venv/lib/python3.11"},
      {"/opt/app/node_modules/left-pad/index.js", "/opt/app/node_modules"},
      {"/home/me/.cargo/registry/src/index/serde-1.0/lib.rs", "/home/me/.cargo/registry/src"},
      {"/home/me/.rustup/toolchains/s/lib/rustlib/src/rust/library/core/mem.rs",
       "/home/me/.rustup/toolchains/s/lib/rustlib/src"},
      {"/build/app/src/row.cc", "/build/app/src"},
      {"/home/me/other/main.cc", "/home/me/other"},
  };
  for (const auto& [path, root] : opened) {
    INFO(path);
    CHECK(root_of_source(path, home) == root);
  }
  for (const char* path : {"",
                           "row.cc",
                           "/row.cc",
                           "/usr/row.cc",
                           "/tmp/row.cc",
                           "/etc/shadow",
                           "/etc/app/settings.py",
                           "/proc/self/environ.c",
                           "/sys/a/b.c",
                           "/dev/shm/a.c",
                           "/run/user/a/b.py",
                           "/var/lib/app/a.py",
                           "/home/me/main.cc",
                           "/home/main.cc",
                           "/home/you/src/main.cc",
                           "/root/src/main.cc",
                           "/home/me/.ssh/id_rsa",
                           "/home/me/.ssh/config.py",
                           "/home/me/.config/app/settings.py",
                           "/home/me/src/.env",
                           "/home/me/src/.git/hook.py",
                           "/home/me/src/passwords.txt",
                           "/home/me/src/key",
                           "/home/me/go/pkg/mod/.netrc",
                           "/usr/lib/python3.11/.hidden/a.py"}) {
    INFO(path);
    CHECK(root_of_source(path, home).empty());
  }
  // Without a home everything below the folders of homes is somebody else's; one's own may be /root.
  CHECK(root_of_source("/home/me/other/main.cc", "").empty());
  CHECK(root_of_source("/root/src/main.cc", "/root") == "/root/src");
  CHECK(root_of_source("/build/app/main.cc", "/build/app/me").empty());
}

TEST_CASE("outside source: a file that the profile names, where it is once every link is followed") {
  const TempFolder folder;
  const fs::path top = fs::canonical(folder.path.string());
  fs::create_directories(top / "lib");
  fs::create_directories(top / ".keys");
  for (const char* name : {"lib/a.py", "lib/unnamed.py", ".keys/b.py"}) std::ofstream(top / name) << "text\n";
  fs::create_symlink(top / ".keys/b.py", top / "lib/link.py");
  fs::create_directory_symlink(top / "lib", top / "alias");
  std::string stacks;
  for (const char* name : {"lib/a.py", "alias/a.py", "lib/link.py", "lib/gone.py", "lib"})
    stacks += fmt::format("f[{}:1] 1\n", (top / name).string());
  const auto profile = test::profile_from_text(stacks);
  const auto outside = [&](const char* name) { return outside_source(*profile, (top / name).string(), ""); };
  REQUIRE(outside("lib/a.py"));
  CHECK(outside("lib/a.py")->root == (top / "lib").string());
  REQUIRE(outside("alias/a.py"));
  CHECK(outside("alias/a.py")->path == (top / "lib/a.py").string());
  CHECK(outside("alias/a.py")->root == (top / "lib").string());
  CHECK(outside("lib/unnamed.py").error().code == ErrorCode::not_found);
  CHECK(outside("lib/gone.py").error().code == ErrorCode::not_found);
  CHECK(outside("lib").error().code == ErrorCode::not_found);
  CHECK(outside("lib/link.py").error().code == ErrorCode::unsupported);
}
