// What is made ahead of time on a big profile, and that nobody waits for it.
#include "server/engine/warm_up.h"

#include <cstdlib>
#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/test_client.h"

using namespace profd;
using namespace profd::test;

namespace {

class BigProfile {
 public:
  explicit BigProfile(int n_lines) {
    char pattern[] = "/tmp/profd-test-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    std::ofstream out(path());
    for (int i = 0; i < n_lines; ++i)
      out << "main;f" << i % 97 << ";g" << i % 1009 << ";h" << i << ";i" << (i * 7) % 50'021 << ' '
          << 1 + i % 9 << '\n';
  }
  ~BigProfile() { static_cast<void>(std::system(("rm -rf " + folder_).c_str())); }
  [[nodiscard]] std::string path() const { return folder_ + "/big.folded"; }
  [[nodiscard]] std::string uri() const { return "file://" + path(); }

 private:
  std::string folder_;
};

TestClient watching_client(TestDaemon& daemon) {
  TestClient client(daemon.connect());
  client.call("initialize", {{"capabilities", {{"profd", {{"status", true}}}}}});
  client.notify("initialized", json::object());
  return client;
}

void wait_until_prepared(TestClient& client) {
  bool preparing = false;
  for (json status; !(preparing && status["state"] == "idle");) {
    status = client.expect("profd/status");
    for (const json& task : status["tasks"])
      preparing = preparing || task["title"].get<std::string>().find("Preparing") == 0;
  }
}

}  // namespace

TEST_CASE("what the first requests on a big profile need is made when nobody waits") {
  const BigProfile file(120'000);
  TestDaemon daemon;
  TestClient client = watching_client(daemon);
  client.result("profile/open", {{"uri", file.uri()}});
  wait_until_prepared(client);
  bool ready = false, ready_by_line = false;
  std::uint64_t memory = 0;
  daemon.run_on_strand([&] {
    const OpenProfilePtr open = daemon.engine().meant();
    REQUIRE(open);
    REQUIRE(!Views::is_small(*open));
    ready = daemon.engine().views().has(
        *open, Needs{{Part::flat, {}}, {Part::lines, {}}, {Part::one_function, {}}, {Part::neighbours, {}}});
    ViewSpec by_line;
    by_line.granularity = Granularity::line;
    ready_by_line =
        daemon.engine().views().has(*open, Needs{{Part::selection, by_line}, {Part::neighbours, by_line}});
    memory = daemon.engine().views().memory();
  });
  CHECK(ready);
  CHECK(ready_by_line);       // hovers
  CHECK(memory > 1'000'000);  // counted: totals and the index of contexts by function
}

TEST_CASE("nothing is made ahead of time while a client's work is being done") {
  const BigProfile file(120'000);
  TestDaemon daemon;
  TestClient client = watching_client(daemon);
  std::promise<void> over;
  const std::shared_future<void> end = over.get_future().share();
  daemon.engine().scheduler().submit(Lane::interactive, 99, "hover", [end] { end.wait(); });
  client.result("profile/open", {{"uri", file.uri()}});
  std::this_thread::sleep_for(std::chrono::seconds(1));
  bool preparing = false;
  daemon.run_on_strand([&] { preparing = !daemon.engine().activities().empty(); });
  CHECK(preparing);
  over.set_value();
  wait_until_prepared(client);
}

TEST_CASE("closing a profile stops what is made for it and gives its memory back") {
  const BigProfile file(120'000);
  TestDaemon daemon;
  TestClient client = watching_client(daemon);
  const json opened = client.result("profile/open", {{"uri", file.uri()}});
  client.result("profile/close", {{"profile", opened["profile"]}});
  CHECK(holds_soon([&] {
    bool idle = false;
    daemon.run_on_strand([&] {
      idle = daemon.engine().activities().empty() && daemon.engine().scheduler().n_tasks(Lane::bulk) == 0;
    });
    return idle;
  }));
  std::uint64_t memory = 1;
  daemon.run_on_strand([&] { memory = daemon.engine().views().memory() + daemon.engine().profile_memory(); });
  CHECK(memory == 0);
}

TEST_CASE("a profile is prepared once, whoever opens it") {
  const BigProfile file(120'000);
  TestDaemon daemon;
  TestClient first = watching_client(daemon);
  first.result("profile/open", {{"uri", file.uri()}});
  wait_until_prepared(first);
  TestClient second(daemon);
  second.result("profile/open", {{"uri", file.uri()}});
  std::vector<Activity> activities(1);
  daemon.run_on_strand([&] { activities = daemon.engine().activities(); });
  CHECK(activities.empty());
}

// The text of a view says that a filter goes by whose code it is, and not whose that is.
TEST_CASE("a profile is prepared for each rule of whose code is whose") {
  const BigProfile file(120'000);
  TestDaemon daemon;
  TestClient client = watching_client(daemon);
  client.result("profile/open", {{"uri", file.uri()}});
  wait_until_prepared(client);
  const auto under = [](const char* id, bool own) {
    Filter mine;
    mine.op = FilterOp::collapse;
    mine.by = FilterBy::mine;
    auto rule = std::make_shared<FrameRule>();
    rule->id = id;
    rule->matches = [own](const Profile& profile, StopToken) -> Result<std::vector<std::uint8_t>> {
      return std::vector<std::uint8_t>(profile.frames().size(), own ? 1 : 0);
    };
    mine.rule = std::move(rule);
    ViewSpec spec;
    spec.filters.push_back(std::move(mine));
    return Needs{{Part::flat, spec}};
  };
  for (const Needs& needs : {under("all of it", true), under("none", false)}) {
    daemon.run_on_strand([&] { daemon.engine().prepare(daemon.engine().meant(), {{needs.front(), 0}}); });
    CHECK(holds_soon([&] {
      bool has = false;
      daemon.run_on_strand([&] { has = daemon.engine().views().has(*daemon.engine().meant(), needs); });
      return has;
    }));
  }
}

TEST_CASE("small profiles are not prepared") {
  TestDaemon daemon;
  TestClient client(daemon);
  client.result("profile/open", {{"uri", "file://" + go_demo("cpu.pprof")}});
  std::vector<Activity> activities(1);
  daemon.run_on_strand([&] { activities = daemon.engine().activities(); });
  CHECK(activities.empty());
}
