#include "server/engine/project_watch.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <utility>

#include "server/engine/engine.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
namespace fs = std::filesystem;

namespace {

// The strand is the test's own thread.
class Strand {
 public:
  Post post() {
    return [this](UniqueFunction<void()> task) {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      posted_.notify_all();
    };
  }
  template <class Condition>
  bool run_until(Condition condition, std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
    const auto end = std::chrono::steady_clock::now() + timeout;
    std::unique_lock lock(mutex_);
    while (!condition()) {
      if (!posted_.wait_until(lock, end, [&] { return !tasks_.empty(); })) return false;
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<UniqueFunction<void()>> tasks_;
};

struct Followed {
  explicit Followed(std::vector<std::string> roots) {
    ProjectFound first = find_project(roots);
    watch.start(engine.add_client(nullptr), std::move(roots), first.places, [this](ProjectFound found) {
      last = std::move(found);
      ++n_told;
    });
  }
  ~Followed() { watch.stop(); }
  bool next() {
    return strand.run_until([this, before = n_told] { return n_told > before; });
  }
  [[nodiscard]] std::string path() const { return last.file ? last.file->path : ""; }

  Strand strand;
  Engine engine{{}, strand.post()};
  ProjectWatch watch{engine};
  ProjectFound last;
  int n_told = 0;
};

}  // namespace

TEST_CASE("a project file is followed as it is edited, broken, repaired, replaced and removed") {
  const test::TempFolder folder;
  const std::string path = folder.file(".profd.toml", "metric = \"a\"\n");
  Followed followed({folder.path.string()});
  static_cast<void>(folder.file(".profd.toml", "metric = \"other\"\n"));
  REQUIRE(followed.next());
  CHECK(followed.last.file->settings.metric == "other");
  static_cast<void>(folder.file(".profd.toml", "metric = \n"));
  REQUIRE(followed.next());
  CHECK(followed.last.broken);
  REQUIRE(followed.last.problems.size() == 1);
  CHECK(followed.last.problems[0].find(path + ":1:") == 0);
  fs::rename(folder.file("new", "metric = \"repaired\"\n"), path);
  REQUIRE(followed.next());
  CHECK_FALSE(followed.last.broken);
  CHECK(followed.last.file->settings.metric == "repaired");
  fs::remove(path);
  REQUIRE(followed.next());
  CHECK_FALSE(followed.last.file);
  CHECK_FALSE(followed.last.broken);
  static_cast<void>(folder.file(".profd.toml", "metric = \"again\"\n"));
  REQUIRE(followed.next());
  CHECK(followed.last.file->settings.metric == "again");
}

TEST_CASE("a nearer project file takes over, and gives way again") {
  const test::TempFolder folder;
  const std::string above = folder.file(".profd.toml", "");
  static_cast<void>(folder.file("a/b/x", ""));
  Followed followed({(folder.path / "a/b").string()});
  const std::string nearer = folder.file("a/.profd.toml", "code_lens = true\n");
  REQUIRE(followed.next());
  CHECK(followed.path() == nearer);
  fs::remove(nearer);
  REQUIRE(followed.next());
  CHECK(followed.path() == above);
}

TEST_CASE("who stopped following hears nothing, and what did not change is not told") {
  const test::TempFolder folder;
  const std::string path = folder.file(".profd.toml", "");
  Followed followed({folder.path.string()}), other({folder.path.string()});
  followed.watch.stop();
  static_cast<void>(folder.file("beside", "x"));
  static_cast<void>(folder.file(".profd.toml", "code_lens = true\n"));
  REQUIRE(other.next());
  CHECK_FALSE(other.strand.run_until([&] { return other.n_told > 1; }, std::chrono::milliseconds(400)));
  CHECK_FALSE(followed.strand.run_until([&] { return followed.n_told > 0; }, std::chrono::milliseconds(100)));
}
