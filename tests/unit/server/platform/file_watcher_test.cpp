#include "server/platform/file_watcher.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>

#include <unistd.h>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;

namespace {

struct Changes {
  std::mutex mutex;
  std::condition_variable changed;
  int n = 0;
  FileWatcher::Callback callback() {
    return [this](const std::string&) {
      const std::lock_guard lock(mutex);
      ++n;
      changed.notify_all();
    };
  }
  bool wait_for(int wanted, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, timeout, [&] { return n >= wanted; });
  }
};

}  // namespace

TEST_CASE("a file that is written, replaced or changed before it was watched is reported once settled") {
  char pattern[] = "/tmp/profd-watch-XXXXXX";
  const std::string folder = ::mkdtemp(pattern);
  const std::string path = folder + "/cpu.pprof";
  std::ofstream(path) << "one";
  Changes changes;
  {
    FileWatcher watcher(changes.callback(), std::chrono::milliseconds(30));
    watcher.watch(path, stamp_of(path).value());
    CHECK_FALSE(changes.wait_for(1, std::chrono::milliseconds(100)));

    std::ofstream(path) << "longer than before";
    CHECK(changes.wait_for(1, std::chrono::seconds(20)));

    std::ofstream(folder + "/new") << "replacement";
    REQUIRE(std::rename((folder + "/new").c_str(), path.c_str()) == 0);
    CHECK(changes.wait_for(2, std::chrono::seconds(20)));

    ::unlink(path.c_str());  // gone is no change; back is one
    CHECK_FALSE(changes.wait_for(3, std::chrono::milliseconds(150)));
    std::ofstream(path) << "back again, and different";
    CHECK(changes.wait_for(3, std::chrono::seconds(20)));

    watcher.unwatch(path);
    std::ofstream(path) << "nobody cares";
    CHECK_FALSE(changes.wait_for(4, std::chrono::milliseconds(150)));

    watcher.watch(path, FileStamp{1, 2, 3});  // it is not what was read
    CHECK(changes.wait_for(4, std::chrono::seconds(20)));
  }
  static_cast<void>(std::system(("rm -rf " + folder).c_str()));
}

TEST_CASE("that a file is gone is told to who asks, once it stays gone, and so is that it is there") {
  const test::TempFolder folder;
  const std::string path = (folder.path / ".profd.toml").string();
  Changes changes;
  FileWatcher watcher(changes.callback(), std::chrono::milliseconds(60));
  watcher.watch(path, FileStamp{}, WhenGone::told);
  CHECK_FALSE(changes.wait_for(1, std::chrono::milliseconds(200)));
  static_cast<void>(folder.file(".profd.toml", "one"));
  CHECK(changes.wait_for(1, std::chrono::seconds(20)));
  std::filesystem::rename(path, folder.path / "backup");  // as some editors save
  static_cast<void>(folder.file(".profd.toml", "two and more"));
  CHECK(changes.wait_for(2, std::chrono::seconds(20)));
  CHECK_FALSE(changes.wait_for(3, std::chrono::milliseconds(200)));
  std::filesystem::remove(path);
  CHECK(changes.wait_for(3, std::chrono::seconds(20)));
}

TEST_CASE("who comes later and has seen a newer state takes no change away from those before") {
  const test::TempFolder folder;
  const std::string path = folder.file("a", "one");
  Changes changes;
  FileWatcher watcher(changes.callback(), std::chrono::milliseconds(60));
  const FileStamp before = stamp_of(path).value();
  watcher.watch(path, before);
  static_cast<void>(folder.file("a", "longer"));
  watcher.watch(path, stamp_of(path).value());
  CHECK(changes.wait_for(1, std::chrono::seconds(20)));
}

#ifdef __linux__
TEST_CASE("a watch is given back with the last file of its folder") {
  char pattern[] = "/tmp/profd-watch-XXXXXX";
  const std::string folder = ::mkdtemp(pattern);
  for (const char* name : {"/a", "/b"}) std::ofstream(folder + name) << "x";
  Changes changes;
  {
    FileWatcher watcher(changes.callback());
    const auto watch = [&](const std::string& path) { return watcher.watch(path, stamp_of(path).value()); };
    CHECK(watch(folder + "/a") == WatchKind::watched);
    watch(folder + "/a");
    watch(folder + "/b");
    watch(folder + "/../" + folder.substr(5) + "/b");  // another name of the same folder
    CHECK(watcher.n_watches() == 1);
    watcher.unwatch(folder + "/a");
    watcher.unwatch(folder + "/never");
    watcher.unwatch(folder + "/b");
    CHECK(watcher.n_watches() == 1);
    watcher.unwatch(folder + "/../" + folder.substr(5) + "/b");
    CHECK(watcher.n_watches() == 0);
    CHECK(watch(folder + "/a") == WatchKind::watched);
  }
  static_cast<void>(std::system(("rm -rf " + folder).c_str()));
}
#endif
