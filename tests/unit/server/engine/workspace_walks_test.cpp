// Ten clients of one project: its folders are read once, by one worker, and leave room for those of others.
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/engine/engine.h"
#include "server/engine/one_at_a_time.h"
#include "server/engine/workspace.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("workspaces of the same roots are walked once and share what is made of them") {
  TempFolder folder;
  folder.file("src/a.cc", "int main() {}\n");
  Engine engine({}, [](UniqueFunction<void()> task) { task(); });
  std::vector<std::unique_ptr<Workspace>> clients;
  int n_told = 0;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(std::make_unique<Workspace>(engine));
    clients.back()->set_roots({folder.path.string()}, {}, [&] { ++n_told; });
  }
  CHECK(engine.walks().n_walked() == 1);
  CHECK(n_told == 10);
  for (const auto& client : clients) {
    CHECK(client->snapshot().files == clients.front()->snapshot().files);
    CHECK(client->snapshot().key == clients.front()->snapshot().key);
  }
  // Another root, another walk; a document outside the roots is of its own client.
  TempFolder other;
  Workspace elsewhere(engine);
  elsewhere.set_roots({other.path.string()}, {}, {});
  CHECK(engine.walks().n_walked() == 2);
  REQUIRE(clients[0]->put_document("/somewhere/else.cc", std::make_shared<Document>("text", 1)));
  CHECK(clients[0]->snapshot().key != clients[1]->snapshot().key);
}

TEST_CASE("a project that nobody works on any more is walked again for the next client") {
  TempFolder folder;
  Engine engine({}, [](UniqueFunction<void()> task) { task(); });
  for (int i = 0; i < 2; ++i) Workspace(engine).set_roots({folder.path.string()}, {}, {});
  CHECK(engine.walks().n_walked() == 2);
}

namespace {

struct Crowd {
  EngineOptions options;
  std::unique_ptr<Engine> engine;

  explicit Crowd(std::uint64_t budget) {
    options.memory_budget = budget;
    engine = std::make_unique<Engine>(options, [](UniqueFunction<void()> task) { task(); });
  }
  std::unique_ptr<Workspace> workspace(const TempFolder& folder, std::size_t n_files) const {
    for (std::size_t i = 0; i < n_files; ++i)
      folder.file("a-file-of-some-length-" + std::to_string(i) + ".c", "");
    auto out = std::make_unique<Workspace>(*engine);
    out->set_roots({folder.path.string()}, {}, {});
    return out;
  }
};

std::size_t n_known(const Workspace& workspace) {
  return workspace.snapshot().files->index.size();
}

}  // namespace

TEST_CASE(
    "a large workspace leaves room for those of others, and what has none is told, and looked at when there "
    "is") {
  const Crowd crowd(std::uint64_t{1} << 20);
  const TempFolder large, small, medium, late;
  auto first = crowd.workspace(large, 2000);
  CHECK(n_known(*first) < 2000);
  CHECK(n_known(*first) > 100);
  CHECK(first->no_room().find("--memory-budget") != std::string::npos);
  const auto second = crowd.workspace(small, 50);
  CHECK(n_known(*second) == 50);
  CHECK(second->no_room().empty());
  const auto third = crowd.workspace(medium, 250);
  CHECK(n_known(*third) < 250);
  CHECK_FALSE(third->no_room().empty());
  // Whoever comes later takes nothing from those who are there, and gets something.
  std::vector<std::unique_ptr<Workspace>> many;
  const TempFolder folders[20];
  for (const TempFolder& folder : folders) {
    many.push_back(crowd.workspace(folder, 3));
    CHECK(n_known(*many.back()) == 3);
  }
  CHECK(n_known(*second) == 50);
  many.clear();
  first.reset();
  CHECK(n_known(*third) == 250);
  CHECK(third->no_room().empty());
}

TEST_CASE("of the walks of one project one is made at a time, whoever asks, and each is made once for all") {
  Scheduler scheduler(4);
  std::mutex mutex;
  std::deque<UniqueFunction<void()>> strand;
  OneAtATime turns(scheduler, [&](UniqueFunction<void()> task) {
    const std::lock_guard lock(mutex);
    strand.push_back(std::move(task));
  });
  std::atomic<int> n_running{0}, most{0}, n_done{0}, n_other{0};
  const auto count = [&](std::atomic<int>& running) {
    const int now = ++running;
    int seen = most.load();
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::yield();
    --running;
    ++n_done;
  };
  for (ClientId client = 1; client <= 8; ++client)
    for (int i = 0; i < 5; ++i) {
      const auto task = turns.make("project", [&] { count(n_running); });
      for (const ClientId waiting : {client, client + 100}) turns.submit("project", waiting, "walk", task);
    }
  const auto other = turns.make("another", [&] { ++n_other; });
  turns.submit("another", 9, "walk", other);
  while (n_done < 40 || n_other < 1) {
    std::unique_lock lock(mutex);
    if (strand.empty()) {
      lock.unlock();
      std::this_thread::yield();
      continue;
    }
    UniqueFunction<void()> task = std::move(strand.front());
    strand.pop_front();
    lock.unlock();
    task();
  }
  CHECK(most == 1);
  CHECK(n_done == 40);
}

TEST_CASE("patterns that nearly match stop when they are not wanted any more") {
  const TempFolder folder;
  std::string deep;
  for (int i = 0; i < 20; ++i) {
    deep += std::string(200, 'a') + "/";
    if (folder.path.string().size() + deep.size() > 3800) break;
    folder.file(deep + std::string(250, 'a'), "");
  }
  std::vector<std::string> globs;
  for (int i = 0; i < 250; ++i) globs.push_back(folder.path.string() + "/**/*" + std::string(900, 'a') + "b");
  // Linear: the clock has nothing to cut.
  GlobLimits limits;
  limits.max_time = std::chrono::hours(1);
  CHECK(match_globs(globs, limits, StopToken{}).cut.empty());
  StopSource stop;
  stop.request_stop();
  CHECK(match_globs(globs, limits, StopToken(stop)).paths.empty());
}
