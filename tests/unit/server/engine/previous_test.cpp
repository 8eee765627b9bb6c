// What a profile was before its file was recorded again: kept, compared, and the first thing to go.
#include <filesystem>
#include <fstream>

#include "server/engine/engine.h"
#include "server/engine/previous_origin.h"
#include "server/engine/uri.h"
#include "server/feature/recorded_again.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;

namespace {

struct SilentListener final : EngineListener {
  void on_profile_changed(ProfileChange, const std::string&, std::uint32_t, const std::string&,
                          const std::string&, std::size_t) override {}
  void on_selection_changed(const std::optional<SharedSelection>&, ClientId) override {}
  void on_activity_changed(const std::string&) override {}
};

EngineOptions with_budget(std::uint64_t budget) {
  EngineOptions options;
  options.memory_budget = budget;
  return options;
}

// A file that is open, and recorded again as often as is asked.
struct Recorded {
  TempFolder folder;
  std::string path = folder.file("cpu.folded", text(100, 50));
  Engine engine;
  SilentListener listener;
  ClientId client = engine.add_client(&listener);
  OpenProfilePtr open;

  explicit Recorded(std::uint64_t budget = std::uint64_t{1} << 30)
      : engine(with_budget(budget), [](UniqueFunction<void()> task) { task(); }) {
    open = opened("file://" + path).value();
  }

  static std::string text(int f, int g) {
    return "main;f " + std::to_string(f * 10) + "\nmain;g " + std::to_string(g * 10) + "\n";
  }
  Result<OpenProfilePtr> opened(const std::string& uri) {
    OpenRequest request;
    request.uri = uri;
    Result<OpenProfilePtr> out = fail(ErrorCode::internal, "not answered");
    engine.open(client, request, {}, [&](Result<OpenAnswer> answer) {
      out = std::move(answer).map([](const OpenAnswer& of) { return of.profile; });
    });
    return out;
  }
  void record(const std::string& content) {
    const std::string next = folder.file("next", content);
    std::filesystem::rename(next, path);
    REQUIRE(engine.reload(open->handle));
    open = engine.find(open->handle).value();
  }
  std::string said() {
    SerialExecutor serial;
    const auto before = engine.previous(open->handle);
    REQUIRE(before);
    return recorded_again_text(*before, *open, open->name, serial, {}).value();
  }
};

std::int64_t total_of(const OpenProfile& open, const std::string& metric) {
  return static_cast<std::int64_t>(as_double(open.profile->total(open.profile->find_metric(metric).value())));
}

}  // namespace

TEST_CASE(
    "of a file that is recorded again, what it was before is kept, and nothing of what it was before that") {
  Recorded recorded;
  CHECK_FALSE(recorded.engine.previous(recorded.open->handle));
  recorded.record(Recorded::text(100, 90));
  const OriginPtr first = recorded.engine.previous(recorded.open->handle).value();
  CHECK(first->name() == "cpu.folded (recording 1)");
  recorded.record(Recorded::text(300, 90));
  CHECK(recorded.engine.previous(recorded.open->handle).value()->name() == "cpu.folded (recording 2)");
  CHECK(recorded.engine.previous(recorded.open->handle, 3));
  CHECK_FALSE(recorded.engine.previous(recorded.open->handle, 2));
}

TEST_CASE("what is read again as it was has the same before it") {
  Recorded recorded;
  recorded.record(Recorded::text(100, 90));
  REQUIRE(recorded.engine.reload(recorded.open->handle));
  CHECK(recorded.engine.find(recorded.open->handle).value()->revision == 3);
  CHECK(recorded.engine.previous(recorded.open->handle).value()->name() == "cpu.folded (recording 1)");
  CHECK_FALSE(recorded.engine.previous(recorded.open->handle, 3));
}

TEST_CASE("a diff with what was before stays with that recording, whatever is recorded next") {
  Recorded recorded;
  recorded.record(Recorded::text(100, 90));
  const std::string before = recorded.engine.previous(recorded.open->handle).value()->uri();
  const auto encoded = [](const std::string& uri) { return percent_encoded(uri); };
  const std::string uri =
      "diff://?before=" + encoded(before) + "&after=" + encoded("file://" + recorded.path);
  const OpenProfilePtr diff = recorded.opened(uri).value();
  CHECK(diff->name == "cpu.folded (recording 1) → cpu.folded");
  CHECK(total_of(*diff, "samples before") == 1500);
  CHECK(total_of(*diff, "samples") == 1900);
  recorded.record(Recorded::text(300, 90));
  recorded.record(Recorded::text(310, 90));
  const OpenProfilePtr again = recorded.opened(uri).value();
  CHECK(total_of(*again, "samples before") == 1500);
  CHECK(total_of(*again, "samples") == 4000);
}

TEST_CASE("what nobody holds any more is refused by its URI, with a sentence") {
  Recorded recorded;
  recorded.record(Recorded::text(100, 90));
  const std::string before = recorded.engine.previous(recorded.open->handle).value()->uri();
  CHECK(recorded.opened(before));
  recorded.record(Recorded::text(300, 90));
  recorded.record(Recorded::text(310, 90));
  REQUIRE(recorded.engine.close(recorded.client, recorded.engine.list().back().handle));
  const auto gone = recorded.opened(before);
  REQUIRE_FALSE(gone);
  CHECK(
      gone.error().message ==
      "recording 1 of cpu.folded is kept no more: it is as long as the file is open and memory is not short");
}

TEST_CASE("only what a file was is named by such a URI") {
  for (const char* uri :
       {"previous://", "previous://?of=diff%3A%2F%2F&revision=1", "previous://?of=&revision=1",
        "previous://?of=file%3A%2F%2F%2Fa&revision=one", "previous://?of=%2Fa&other=1"})
    CHECK_FALSE(parse_previous(uri));
  CHECK(parse_previous("previous://?of=file%3A%2F%2F%2Fa&revision=12")->revision == 12);
}

TEST_CASE("what is kept of before is counted, and goes first when memory is short") {
  std::string large;
  for (int i = 0; i < 20'000; ++i) large += "main;f" + std::to_string(i) + " 1\n";
  Recorded roomy;
  roomy.record(large);
  const std::uint64_t one = roomy.engine.profile_memory();
  roomy.record(large + "main;g 1\n");
  CHECK(roomy.engine.profile_memory() > one * 3 / 2);
  CHECK(roomy.engine.previous(roomy.open->handle));

  Recorded tight(one * 3);
  tight.record(large);
  tight.record(large + "main;g 1\n");
  CHECK(tight.open->revision == 3);
  CHECK_FALSE(tight.engine.previous(tight.open->handle));
  CHECK(tight.engine.profile_memory() < one * 3 / 2);
}

TEST_CASE(
    "a recording is said to have changed where it stands out from noise, and what else would be missed") {
  Recorded recorded;
  recorded.record(Recorded::text(100, 90));
  CHECK(recorded.said() ==
        "cpu.folded recorded again: samples 1,500 → 1,900, +400 (+27 %). [+] g +400 (+80 %), beyond sampling "
        "noise.");
  recorded.record(Recorded::text(101, 89));
  const std::string nothing = recorded.said();
  CAPTURE(nothing);
  CHECK(nothing.starts_with(
      "cpu.folded recorded again: samples 1,900 → 1,900, ±0. No change of a function seen; "
      "at a share of 5 %, below +"));
  CHECK(nothing.ends_with(" % would be missed."));
  recorded.record("main;f 1010\nmain;h 5000\n");
  const std::string more = recorded.said();
  CAPTURE(more);
  CHECK(more.find("[A] h +5,000") != more.npos);
  CHECK(more.find("[D] g -890 (-100 %)") != more.npos);
}
