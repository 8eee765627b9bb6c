// What is no file opens like one: handles, revisions, freshness and policy are the origin's.
#include <atomic>

#include "server/engine/engine.h"
#include "tests/support/catch.h"
#include "tests/support/strand.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

// A profile that is made anew whenever its number is another.
class Counter final : public Origin {
 public:
  explicit Counter(std::chrono::milliseconds tell_every = {}) : tell_every_(tell_every) {}
  const std::string& key() const override { return key_; }
  const std::string& uri() const override { return key_; }
  std::string name() const override { return "counter"; }
  const std::string& place() const override { return key_; }
  Result<Load> load(const LoadContext&) const override {
    Load out;
    out.profiles = std::make_shared<LoadedProfiles>();
    out.profiles->freshness = std::to_string(number.load());
    out.profiles->decision.format = "counter";
    out.profiles->profiles = {profile_from_text("main;work " + std::to_string(number.load()))};
    out.profiles->memory = out.profiles->profiles[0]->memory();
    return out;
  }
  std::optional<std::string> freshness() const override { return std::to_string(number.load()); }
  OriginPolicy policy() const override { return {false, tell_every_}; }

  std::atomic<int> number{7};

 private:
  std::string key_ = "counter:one";
  std::chrono::milliseconds tell_every_;
};

struct ChangeListener final : EngineListener {
  std::vector<ProfileChange> changes;
  void on_profile_changed(ProfileChange change, const std::string&, std::uint32_t, const std::string&,
                          const std::string&, std::size_t) override {
    changes.push_back(change);
  }
  void on_selection_changed(const std::optional<SharedSelection>&, ClientId) override {}
  void on_activity_changed(const std::string&) override {}
};

struct Opened {
  Engine engine{{}, [](UniqueFunction<void()> task) { task(); }};
  ChangeListener listener;
  ClientId client = engine.add_client(&listener);
  std::shared_ptr<Counter> origin;
  OpenProfilePtr first;

  explicit Opened(std::chrono::milliseconds tell_every = {}) : origin(std::make_shared<Counter>(tell_every)) {
    open();
  }
  bool open() {
    bool already = false;
    engine.open(client, origin, OpenRequest{}, {}, [&](Result<OpenAnswer> answer) {
      REQUIRE(answer);
      first = answer->profile;
      already = answer->already_open;
    });
    return already;
  }
};

std::int64_t total(const OpenProfile& open) {
  return std::get<std::int64_t>(open.profile->total(open.metric));
}

}  // namespace

TEST_CASE("a profile that is no file has a handle, a name and a place in the list") {
  Opened opened;
  CHECK(opened.first->name == "counter");
  CHECK(opened.first->uri == "counter:one");
  CHECK(opened.first->revision == 1);
  REQUIRE(opened.engine.list().size() == 1);
  CHECK(opened.engine.list()[0].uri == "counter:one");
  CHECK(opened.engine.list()[0].format == "counter");
  const std::string handle = opened.first->handle;
  CHECK(opened.open());
  CHECK(opened.first->handle == handle);
}

TEST_CASE("an origin is loaded again when its freshness is another, and only then") {
  Opened opened;
  opened.engine.origin_changed("counter:one");
  CHECK(opened.engine.find("")->get()->revision == 1);
  opened.origin->number = 8;
  opened.engine.origin_changed("counter:one");
  const OpenProfilePtr now = *opened.engine.find("");
  CHECK(now->revision == 2);
  CHECK(total(*now) == 8);
  CHECK(opened.listener.changes.back() == ProfileChange::reloaded);
  // Who holds the older one still has it.
  CHECK(total(*opened.first) == 7);
}

TEST_CASE("an origin that changes all the time is told of as often as its policy says") {
  Opened opened(std::chrono::hours(1));
  opened.origin->number = 8;
  opened.engine.origin_changed("counter:one");
  CHECK(opened.engine.find("")->get()->revision == 1);
}

TEST_CASE("opening an origin again when it has changed gives the newer revision") {
  Opened opened;
  opened.origin->number = 9;
  opened.open();
  CHECK(opened.first->revision == 2);
  CHECK(total(*opened.first) == 9);
}

TEST_CASE("a change that may not be told yet is told when the policy allows it") {
  Strand strand;
  Engine engine({}, strand.post());
  ChangeListener listener;
  const ClientId client = engine.add_client(&listener);
  const auto origin = std::make_shared<Counter>(std::chrono::milliseconds(200));
  engine.open(client, origin, OpenRequest{}, {}, [](const Result<OpenAnswer>& answer) { REQUIRE(answer); });
  const auto revision = [&] { return engine.n_profiles() == 0 ? 0 : engine.find("")->get()->revision; };
  REQUIRE(strand.run_until([&] { return revision() == 1; }));
  origin->number = 8;
  engine.origin_changed("counter:one");
  origin->number = 9;
  engine.origin_changed("counter:one");
  CHECK(revision() == 1);
  REQUIRE(strand.run_until([&] { return revision() > 1; }));
  // Both changes are one revision.
  CHECK(revision() == 2);
  CHECK(total(**engine.find("")) == 9);
}

TEST_CASE("a revised profile is the next revision of its handle, until its origin gives another") {
  Opened opened;
  const std::string handle = opened.first->handle;
  const auto revised = opened.engine.revise(handle, profile_from_text("main;named 7"));
  REQUIRE(revised);
  CHECK((*revised)->handle == handle);
  CHECK((*revised)->revision == 2);
  CHECK((*revised)->view_id > opened.first->view_id);
  CHECK(opened.engine.view_ids() == std::vector{(*revised)->view_id});
  CHECK(opened.listener.changes.back() == ProfileChange::reloaded);
  CHECK(*opened.engine.find(handle) == *revised);
  CHECK(opened.engine.list()[0].revision == 2);
  CHECK(opened.engine.profile_memory() == (*revised)->profile->memory());
  // Who holds the older one still has it.
  CHECK(opened.first->profile != (*revised)->profile);
  opened.engine.origin_changed("counter:one");
  CHECK(opened.engine.find(handle)->get()->revision == 2);  // the origin has what it had
  opened.origin->number = 8;
  opened.engine.origin_changed("counter:one");
  CHECK(opened.engine.find(handle)->get()->revision == 3);
  CHECK(total(**opened.engine.find(handle)) == 8);
}

TEST_CASE("a revision that needs more than there is is refused, and the older one stays") {
  EngineOptions options;
  options.memory_budget = 64 << 10;
  Engine engine(options, [](UniqueFunction<void()> task) { task(); });
  ChangeListener listener;
  const ClientId client = engine.add_client(&listener);
  const auto origin = std::make_shared<Counter>();
  engine.open(client, origin, OpenRequest{}, {}, [](const Result<OpenAnswer>& answer) { REQUIRE(answer); });
  const OpenProfilePtr before = *engine.find("");
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "main;f" + std::to_string(i) + " 1\n";
  const auto refused = engine.revise(before->handle, profile_from_text(text));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::limit);
  CHECK(*engine.find("") == before);
  CHECK_FALSE(engine.revise("p99", before->profile));
}
