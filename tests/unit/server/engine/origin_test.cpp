// What is no file opens like one: handles, revisions, freshness and policy are the origin's.
#include <atomic>

#include "server/engine/engine.h"
#include "tests/support/catch.h"
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
    out.profiles->opened.decision.format = "counter";
    out.profiles->opened.profiles = {profile_from_text("main;work " + std::to_string(number.load()))};
    out.profiles->memory = out.profiles->opened.profiles[0]->memory();
    return out;
  }
  std::optional<std::string> freshness() const override { return std::to_string(number.load()); }
  OriginPolicy policy() const override { return {false, tell_every_}; }

  std::atomic<int> number{7};

 private:
  std::string key_ = "counter:one";
  std::chrono::milliseconds tell_every_;
};

struct Listener final : EngineListener {
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
  Listener listener;
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
  CHECK(opened.engine.origin_changed("counter:one"));
  CHECK(opened.engine.find("")->get()->revision == 1);
  opened.origin->number = 8;
  CHECK(opened.engine.origin_changed("counter:one"));
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
  CHECK_FALSE(opened.engine.origin_changed("counter:one"));
  CHECK(opened.engine.find("")->get()->revision == 1);
}

TEST_CASE("opening an origin again when it has changed gives the newer revision") {
  Opened opened;
  opened.origin->number = 9;
  opened.open();
  CHECK(opened.first->revision == 2);
  CHECK(total(*opened.first) == 9);
}
