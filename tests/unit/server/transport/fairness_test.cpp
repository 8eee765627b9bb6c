// Nobody waits for another's work: what one client does to the strand and the workers, and how soon it ends
// when it is not wanted any more.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "core/model/profile_builder.h"
#include "tests/support/catch.h"
#include "tests/support/slow_build.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_client.h"

using namespace profd;
using namespace profd::test;

namespace {

using Clock = std::chrono::steady_clock;

const json kViewport = {{"width", 1000}};

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Profiles that are made in memory.
class MadeOrigin final : public Origin {
 public:
  using Make = std::function<Result<std::vector<ProfilePtr>>(const LoadContext&)>;
  MadeOrigin(std::string key, Make make) : key_(std::move(key)), make_(std::move(make)) {}
  const std::string& key() const override { return key_; }
  const std::string& uri() const override { return key_; }
  std::string name() const override { return key_; }
  const std::string& place() const override { return key_; }
  Result<Load> load(const LoadContext& context) const override {
    Load out;
    out.profiles = std::make_shared<LoadedProfiles>();
    PROFD_TRY(out.profiles->profiles, make_(context));
    for (const ProfilePtr& profile : out.profiles->profiles) out.profiles->memory += profile->memory();
    return out;
  }
  std::optional<std::string> freshness() const override { return ""; }
  OriginPolicy policy() const override { return {false, {}}; }

 private:
  std::string key_;
  Make make_;
};

// Many different stacks: some two million contexts.
Result<std::vector<ProfilePtr>> big_profile(const LoadContext& context) {
  constexpr std::size_t kStacks = 120'000, kDepth = 24;
  std::mt19937 random(11);
  ProfileBuilder builder;
  builder.add_metric("cpu", "ns");
  builder.add_metric("alloc", "bytes");
  std::vector<FrameId> frames;
  for (int f = 0; f < 4000; ++f) {
    FrameSpec frame;
    frame.function = builder.function("f" + std::to_string(f), "/src/file" + std::to_string(f % 40) + ".cc");
    frame.line = static_cast<std::uint32_t>(1 + f / 40);
    frames.push_back(builder.frame(frame));
  }
  std::vector<FrameId> stack(kDepth);
  for (std::size_t s = 0; s < kStacks; ++s) {
    for (std::size_t d = 0; d < kDepth; ++d)
      if (d < 4 || random() % 3 != 0 || s == 0) stack[d] = frames[random() % (d < 4 ? 3 + d * 20 : 4000)];
    const std::int64_t values[] = {static_cast<std::int64_t>(1 + random() % 1000), 64};
    builder.add_sample(stack, values);
  }
  PROFD_TRY(ProfilePtr profile, std::move(builder).finish(context.executor, context.stop));
  return std::vector<ProfilePtr>{std::move(profile)};
}

Result<std::vector<ProfilePtr>> many_profiles(std::size_t n) {
  std::vector<ProfilePtr> profiles;
  for (std::size_t i = 0; i < n; ++i) {
    ProfileBuilder builder;
    builder.info().name = "part " + std::to_string(i);
    const MetricId metric = builder.add_metric("cpu", "ns");
    FrameSpec frame;
    frame.function = builder.function("main");
    const FrameId frames[] = {builder.frame(frame)};
    builder.add_self(builder.context_of(frames), metric, std::int64_t{1});
    SerialExecutor serial;
    PROFD_TRY(ProfilePtr profile, std::move(builder).finish(serial, StopToken{}));
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

// Opens for a client of the engine that is no session; waits for it.
std::string open_made(TestDaemon& daemon, ClientId client, const std::string& key, MadeOrigin::Make make) {
  std::promise<std::string> handle;
  daemon.run_on_strand([&] {
    daemon.engine().open(client, std::make_shared<MadeOrigin>(key, std::move(make)), OpenRequest{}, {},
                         [&](Result<OpenAnswer> answer) {
                           handle.set_value(answer ? answer->profile->handle : describe(answer.error()));
                         });
  });
  return handle.get_future().get();
}

struct SilentListener final : EngineListener {
  void on_profile_changed(ProfileChange, const std::string&, std::uint32_t, const std::string&,
                          const std::string&, std::size_t) override {}
  void on_selection_changed(const std::optional<SharedSelection>&, ClientId) override {}
  void on_activity_changed(const std::string&) override {}
};

ClientId add_client(TestDaemon& daemon, EngineListener& listener) {
  ClientId client = 0;
  daemon.run_on_strand([&] { client = daemon.engine().add_client(&listener); });
  return client;
}

// The longest of answers that are ready at once, while something goes on.
class Probe {
 public:
  explicit Probe(TestDaemon& daemon)
      : client_(daemon), thread_([this] {
          while (!over_) {
            const auto begin = Clock::now();
            client_.call("metric/list", json::object());
            times_.push_back(ms_since(begin));
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
          }
        }) {}
  // All but one in a hundred were answered within so many milliseconds.
  double p99() {
    over_ = true;
    thread_.join();
    std::sort(times_.begin(), times_.end());
    return times_.empty() ? 0 : times_[times_.size() * 99 / 100];
  }

 private:
  TestClient client_;
  std::atomic<bool> over_{false};
  std::vector<double> times_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("work that is cancelled, at whatever moment, stops and is answered soon", "[fair]") {
  TestDaemon daemon(3);
  SilentListener listener;
  const ClientId owner = add_client(daemon, listener);
  const std::string handle = open_made(daemon, owner, "big", big_profile);
  REQUIRE(handle == "p1");
  TestClient client(daemon);
  std::mt19937 random(3);
  int n_made = 0;
  struct Asked {
    const char* method;
    const char* shape;
    json more;
  };
  const json focus = json::array({"f1000"});
  const std::vector<Asked> asked = {
      {"view/flameGraph", "topDown", {{"viewport", kViewport}}},
      {"view/flameGraph", "bottomUp", {{"viewport", kViewport}}},
      {"view/flameGraph", "callers", {{"viewport", kViewport}}},
      {"view/table", "flat", json::object()},
      {"view/table", "bottomUp", json::object()},
      {"view/search", "topDown", {{"pattern", "f.*[13579]$"}}},
      {"profile/export", "topDown", {{"format", "folded"}}},
      {"profile/export", "topDown", {{"format", "pprof"}}},
      {"profile/export", "topDown", {{"format", "profd"}}},
      {"profile/export", "topDown", {{"format", "speedscope"}}},
  };
  for (const Asked& one : asked) {
    // Another view every time, so that nothing is at hand.
    const auto params = [&] {
      json out = one.more;
      const std::string other = "f" + std::to_string(n_made++);
      out["spec"] = {{"profile", handle},
                     {"shape", one.shape},
                     {"filters", {{{"op", "drop"}, {"by", "function"}, {"pattern", other}}}}};
      if (std::string_view(one.shape) == "callers") out["spec"]["focus"] = focus;
      return out;
    };
    double worst = 0, worst_after = 0;
    int n_cancelled = 0;
    for (int i = 0; i < 12; ++i) {
      const std::int64_t id = client.start(one.method, params());
      const int wait_ms = static_cast<int>(random() % (i % 3 == 0 ? 400 : 60));
      std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
      // Of this process, which does nothing else: other programs of the machine do not count.
      const std::clock_t begin = std::clock();
      client.notify("$/cancelRequest", {{"id", id}});
      const json answer = client.wait(id);
      CHECK(holds_soon([&] {
        return daemon.engine().scheduler().n_tasks(Lane::bulk) == 0 &&
               daemon.engine().scheduler().n_tasks(Lane::interactive) == 0;
      }));
      const double took = 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      if (!answer.contains("error")) continue;
      CHECK(answer["error"].dump().find("\"code\":-32800") != std::string::npos);
      ++n_cancelled;
      if (took > worst) worst_after = wait_ms;
      worst = std::max(worst, took);
    }
    INFO(one.method << " " << one.shape << " " << one.more.dump() << ": " << n_cancelled
                    << " cancelled, the worst took " << worst << " ms of processor after " << worst_after
                    << " ms");
    CHECK(worst < 200);  // a hundred, on two workers
  }
  daemon.run_on_strand([&] { daemon.engine().remove_client(owner); });
}

TEST_CASE("work inside of one match that is cancelled stops", "[fair]") {
  // One name, and an expression that is as slow in it as there are.
  const auto one_long_name = [](const LoadContext& context) -> Result<std::vector<ProfilePtr>> {
    std::mt19937 random(5);
    std::string name(48 << 20, 'a');
    for (char& c : name) c = random() % 2 == 0 ? 'a' : 'b';
    ProfileBuilder builder;
    builder.add_metric("cpu", "ns");
    FrameSpec frame;
    frame.function = builder.function(name);
    const FrameId stack[] = {builder.frame(frame)};
    const std::int64_t values[] = {1};
    builder.add_sample(stack, values);
    PROFD_TRY(ProfilePtr profile, std::move(builder).finish(context.executor, context.stop));
    return std::vector<ProfilePtr>{std::move(profile)};
  };
  TestDaemon daemon(3);
  SilentListener listener;
  const ClientId owner = add_client(daemon, listener);
  const std::string handle = open_made(daemon, owner, "long name", one_long_name);
  TestClient client(daemon);
  const std::string slow = "[ab]*a[ab]{180}[ab]{180}c";
  const json filter = {{"op", "drop"}, {"by", "function"}, {"pattern", slow}, {"regex", true}};
  const auto n_tasks = [&] {
    const Scheduler& scheduler = daemon.engine().scheduler();
    return scheduler.n_tasks(Lane::bulk) + scheduler.n_tasks(Lane::interactive);
  };
  for (const auto& [method, params] :
       {std::pair("view/search", json{{"profile", handle}, {"spec", "top-down"}, {"pattern", slow}}),
        std::pair("view/table",
                  json{{"spec", {{"profile", handle}, {"shape", "flat"}, {"filters", {filter}}}}})}) {
    // What is made ahead of the profile, with names of this length, is other work.
    CHECK(holds_soon([&] { return n_tasks() == 0; }));
    const std::int64_t id = client.start(method, params);
    CHECK(holds_soon([&] { return n_tasks() > 0; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::clock_t begin = std::clock();
    client.notify("$/cancelRequest", {{"id", id}});
    const json answer = client.wait(id);
    CHECK(holds_soon([&] { return n_tasks() == 0; }));
    const double took = 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    INFO(method << " took " << took << " ms of processor: " << answer.dump().substr(0, 300));
    CHECK(answer["error"]["code"] == -32800);
    CHECK(took < 200 * kSlowBuild);
  }
  daemon.run_on_strand([&] { daemon.engine().remove_client(owner); });
}

TEST_CASE("a client's new view waits for at most one of another's", "[fair]") {
  TestDaemon daemon(3);
  SilentListener listener;
  const ClientId owner = add_client(daemon, listener);
  const std::string handle = open_made(daemon, owner, "big", big_profile);
  TestClient busy(daemon), other(daemon);
  const auto view = [&](int i) {
    return json{
        {"viewport", kViewport},
        {"spec",
         {{"profile", handle},
          {"filters", {{{"op", "drop"}, {"by", "function"}, {"pattern", "f" + std::to_string(i)}}}}}}};
  };
  const auto one = Clock::now();
  other.result("view/flameGraph", view(3999));
  const double alone = ms_since(one);
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 300; ++i) ids.push_back(busy.start("view/flameGraph", view(i)));
  const auto begin = Clock::now();
  other.result("view/flameGraph", view(3998));
  const double took = ms_since(begin);
  INFO("alone " << alone << " ms, beside 300 " << took << " ms");
  CHECK(took < 8 * alone + 200);  // three views share the processors, and one may have to end
  // Those that wait are answered at once when they are not wanted any more.
  for (const std::int64_t id : ids) busy.notify("$/cancelRequest", {{"id", id}});
  const auto cancelled = Clock::now();
  int n_cancelled = 0;
  for (const std::int64_t id : ids) n_cancelled += busy.wait(id).contains("error") ? 1 : 0;
  CHECK(n_cancelled > 250);
  CHECK(ms_since(cancelled) < 5 * alone + 2000);
}

TEST_CASE("a client may have a thousand requests, and is told so", "[fair]") {
  TestDaemon daemon(2);
  SilentListener listener;
  const ClientId owner = add_client(daemon, listener);
  const std::string handle = open_made(daemon, owner, "big", big_profile);
  TestClient client(daemon);
  std::vector<std::int64_t> ids;
  for (int i = 0; i < 1050; ++i)
    ids.push_back(client.start(
        "view/flameGraph",
        {{"viewport", kViewport},
         {"spec",
          {{"profile", handle},
           {"filters", {{{"op", "drop"}, {"by", "function"}, {"pattern", "f" + std::to_string(i)}}}}}}}));
  const json refused = client.wait(ids.back());
  CHECK(refused["error"]["code"] == -32802);
  CHECK(refused["error"]["message"] ==
        "1000 requests of this client wait for an answer, the most there may be; ask again when some are "
        "answered");
  client.vanish();
  CHECK(holds_soon([&] { return daemon.engine().scheduler().n_tasks(Lane::bulk) == 0; }));
}

TEST_CASE("what a client does with 60,000 profiles of a file keeps nobody waiting", "[fair]") {
  TestDaemon daemon(3);
  SilentListener listener;
  const ClientId owner = add_client(daemon, listener);
  Probe probe(daemon);
  const std::string handle =
      open_made(daemon, owner, "many", [](const LoadContext&) { return many_profiles(60'000); });
  REQUIRE(handle == "p1");
  {
    TestClient client(daemon);
    CHECK(client.result("profile/list", json::object())["profiles"].size() == 60'000);
    CHECK(client.result("profile/summary", {{"profile", "p59999"}})["name"] == "many · part 59998");
    const auto begin = Clock::now();
    daemon.run_on_strand([&] { daemon.engine().remove_client(owner); });
    CHECK(ms_since(begin) < 1000);
    // A hundred are told one by one, and how many more there are.
    std::int64_t left = 0;
    int n_told = 0;
    while (left == 0) {
      const json told = client.expect("profile/changed");
      REQUIRE(told["reason"] == "closed");
      ++n_told;
      left = told.value("left", std::int64_t{0});
    }
    CHECK(n_told == 100);
    CHECK(left == 59'900);
    CHECK(client.result("profile/list", json::object())["profiles"].empty());
  }
  const double p99 = probe.p99();
  INFO("p99 " << p99 << " ms");
  CHECK(p99 < 250);  // 50 on a machine that does nothing else
}

TEST_CASE("globs over a whole disk and 40,000 of them keep nobody waiting, and what is cut is said",
          "[fair]") {
  const TempFolder folder;
  for (int i = 0; i < 300; ++i) folder.file("d" + std::to_string(i % 60) + "/f" + std::to_string(i), "x");
  std::string globs = "profiles = [\"/**/*.no-such-profile\"";
  for (int i = 0; i < 40'000; ++i) globs += ", \"g" + std::to_string(i) + "/**/*.x\"";
  folder.file(".profd.toml", globs + "]\n");
  TestDaemon daemon(3);
  Probe probe(daemon);
  TestClient client(daemon.connect());
  client.initialize(json::object(), folder.path.string());
  const std::string refused = client.expect("window/showMessage")["message"];
  CHECK(refused.find("leads out of the folder of the project file") != std::string::npos);
  const std::string said = client.expect("window/showMessage")["message"];
  CHECK(said.find("`profiles` has 40000 patterns; the first 256 are looked for") != std::string::npos);
  client.vanish();  // and with it the walk
  CHECK(holds_soon([&] { return daemon.engine().scheduler().n_tasks(Lane::bulk) == 0; }));
  CHECK(probe.p99() < 250);
}

TEST_CASE("globs that nearly match, in several sessions, keep nobody waiting and end with them", "[fair]") {
  const TempFolder folder;
  std::string deep;
  for (int i = 0; i < 15; ++i) {
    deep += std::string(200, 'a') + "/";
    folder.file(deep + std::string(250, 'a'), "x");
  }
  std::string globs = "profiles = [\"**/*.no-such-profile\"";
  for (int i = 0; i < 250; ++i)
    globs += ", \"**/*" + std::string(600 + static_cast<std::size_t>(i), 'a') + "b\"";
  folder.file(".profd.toml", globs + "]\n");
  const std::string other = folder.file("other/a.folded", "main;work 3\n");
  TestDaemon daemon(3);
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<TestClient>(daemon.connect()));
    clients.back()->initialize(json::object(), folder.path.string());
  }
  Probe probe(daemon);
  TestClient neighbour(daemon);
  const json opened = neighbour.result("profile/open", {{"uri", other}});
  CHECK(neighbour.result("view/table",
                         {{"profile", opened["profile"]}, {"spec", "bottom-up"}})["viewTotal"]["value"] == 3);
  for (const auto& client : clients) client->vanish();
  CHECK(holds_soon([&] { return daemon.engine().scheduler().n_tasks(Lane::bulk) == 0; }));
  CHECK(probe.p99() < 250);
}

TEST_CASE("edits of huge documents keep nobody waiting", "[fair]") {
  TestDaemon daemon(3);
  Probe probe(daemon);
  TestClient client(daemon);
  const json document = {{"uri", "file:///tmp/huge.c"}, {"languageId", "c"}, {"version", 1}};
  const auto open = [&](std::string text) {
    json opened = document;
    opened["text"] = std::move(text);
    client.notify("textDocument/didOpen", {{"textDocument", opened}});
  };
  open(std::string(40 << 20, 'x'));
  for (int i = 0; i < 300; ++i) {
    const json at = {{"line", 0}, {"character", 20'000'000 + i}};
    client.notify("textDocument/didChange",
                  {{"textDocument", {{"uri", document["uri"]}, {"version", i}}},
                   {"contentChanges", {{{"range", {{"start", at}, {"end", at}}}, {"text", "y"}}}}});
  }
  const auto begin = Clock::now();
  client.result("profile/list", json::object());  // behind them
  CHECK(ms_since(begin) < 10'000);
  open(std::string(20 << 20, '\n'));
  const json said = client.expect("window/logMessage");
  CHECK(said["message"] == "/tmp/huge.c: a document may have 64 MiB and 2,000,000 lines");
  CHECK(probe.p99() < 250);
}

TEST_CASE("a message of as many values as may be keeps nobody waiting; one with more is refused", "[fair]") {
  TestDaemon daemon(3);
  Probe probe(daemon);
  TestClient client(daemon);
  const std::string uri = "file:///tmp/edited.c";
  client.notify("textDocument/didOpen",
                {{"textDocument", {{"uri", uri}, {"languageId", "c"}, {"version", 1}, {"text", "x\n"}}}});
  json changes = json::array();
  const json at = {{"line", 0}, {"character", 0}};
  for (int i = 0; i < 25'000; ++i)
    changes.push_back({{"range", {{"start", at}, {"end", at}}}, {"text", "y"}});
  for (int i = 0; i < 10; ++i)
    client.notify("textDocument/didChange",
                  {{"textDocument", {{"uri", uri}, {"version", 2}}}, {"contentChanges", changes}});
  client.result("profile/list", json::object());  // behind them
  CHECK(probe.p99() < 250);
  std::string many = "[0";
  for (int i = 0; i < 250'000; ++i) many += ",0";
  const auto parsed = protocol::parse_json(many + "]");
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().message.find("more than 250000 values") != std::string::npos);
}
