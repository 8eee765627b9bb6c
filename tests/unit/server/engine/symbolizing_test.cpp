// Names from binaries as revisions of open profiles.
#include "server/engine/symbolizing.h"

#include <algorithm>
#include <filesystem>

#include "core/model/profile_builder.h"
#include "server/engine/composed_origin.h"
#include "server/engine/engine.h"
#include "tests/support/catch.h"
#include "tests/support/own_image.h"
#include "tests/support/strand.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;

namespace {

const std::filesystem::path kSymbolFixtures =
    std::filesystem::path(PROFD_SOURCE_DIR) / "tests/fixtures/symbols";

struct RevisionListener final : EngineListener {
  std::vector<std::pair<ProfileChange, std::uint32_t>> changes;
  void on_profile_changed(ProfileChange change, const std::string&, std::uint32_t revision,
                          const std::string&, const std::string&, std::size_t) override {
    changes.emplace_back(change, revision);
  }
  void on_selection_changed(const std::optional<SharedSelection>&, ClientId) override {}
  void on_activity_changed(const std::string&) override {}
};

EngineOptions with_symbols(bool on_open, unsigned n_threads) {
  EngineOptions options;
  options.n_threads = n_threads;
  options.symbols.program = PROFD_SYMBOLIZE;
  options.symbols.on_open = on_open;
  return options;
}

// A copy of the fixture, whose binary can be taken away.
struct Addresses {
  TempFolder folder;
  std::string path = (folder.path / "addresses.pprof").string();
  Strand strand;
  Engine engine;
  RevisionListener listener;
  ClientId client = engine.add_client(&listener);

  explicit Addresses(bool on_open = true, unsigned n_threads = 0)
      : engine(with_symbols(on_open, n_threads),
               n_threads == 0 ? Post([](UniqueFunction<void()> task) { task(); }) : strand.post()) {
    for (const char* name : {"app", "addresses.pprof"})
      std::filesystem::copy_file(kSymbolFixtures / name, folder.path / name);
  }
  [[nodiscard]] SymbolPlaces places() const {
    SymbolPlaces places = usual_symbol_places(path);
    places.system = false;
    places.home.clear();
    return places;
  }
  OpenProfilePtr open(bool wants_symbols = true) {
    OpenRequest request;
    request.uri = "file://" + path;
    if (wants_symbols) request.symbols = std::make_shared<const SymbolPlaces>(places());
    OpenProfilePtr out;
    engine.open(client, request, {}, [&](Result<OpenAnswer> answer) {
      REQUIRE(answer);
      out = answer->profile;
    });
    if (!out) REQUIRE(strand.run_until([&] { return out != nullptr; }));
    return out;
  }
  OpenProfilePtr now(const OpenProfilePtr& open) { return engine.find(open->handle).value(); }
};

std::uint64_t n_unnamed(const Profile& profile) {
  std::uint64_t n = 0;
  const std::vector<BinaryCode> all = gather_code(profile).value();
  for (const BinaryCode& code : all) n += code.n_unnamed;
  return n;
}

bool has_function(const OpenProfilePtr& open, std::string_view name) {
  const Profile& profile = *open->profile;
  for (std::size_t f = 0; f < profile.functions().size(); ++f)
    if (profile.strings()[profile.functions().name[f]] == name) return true;
  return false;
}

}  // namespace

TEST_CASE("a profile that is opened is answered without names, and has them in its next revision") {
  Addresses here;
  const OpenProfilePtr opened = here.open();
  CHECK(opened->revision == 1);
  CHECK_FALSE(has_function(opened, "fill"));
  const OpenProfilePtr named = here.now(opened);
  CHECK(named->revision == 2);
  CHECK(has_function(named, "fill"));
  CHECK(has_function(named, "mix"));
  CHECK(named->profile->total(MetricId{0u}) == opened->profile->total(MetricId{0u}));
  CHECK(here.listener.changes == std::vector<std::pair<ProfileChange, std::uint32_t>>{
                                     {ProfileChange::opened, 1}, {ProfileChange::reloaded, 2}});
  const auto lookups = here.engine.symbolizing().lookups(opened->handle);
  REQUIRE(lookups);
  CHECK(lookups->size() == 4);
  CHECK_FALSE(here.engine.symbolizing().is_busy(opened->handle));
}

TEST_CASE("who does not want names gets none, and nothing is looked for twice") {
  Addresses here;
  const OpenProfilePtr opened = here.open(false);
  CHECK(here.now(opened)->revision == 1);
  here.open();
  CHECK(here.now(opened)->revision == 2);
  here.open();
  CHECK(here.now(opened)->revision == 2);
}

TEST_CASE("a file that is read again has its names again") {
  Addresses here;
  const OpenProfilePtr opened = here.open();
  REQUIRE(here.engine.reload(opened->handle));
  const OpenProfilePtr again = here.now(opened);
  CHECK(again->revision == 4);  // what the file has, and that with names
  CHECK(has_function(again, "mix"));
}

TEST_CASE("a profile whose binaries are missing stays as it is, and gets its names when they are there") {
  Addresses here;
  std::filesystem::rename(here.folder.path / "app", here.folder.path / "away");
  const OpenProfilePtr opened = here.open();
  CHECK(here.now(opened)->revision == 1);
  std::filesystem::create_directories(here.folder.path / "debug");
  std::filesystem::rename(here.folder.path / "away", here.folder.path / "debug/app");
  SymbolizeRequest request;
  request.places = here.places();
  request.places.directories = {(here.folder.path / "debug").string()};
  Result<OpenProfilePtr> done = fail(ErrorCode::internal, "not answered");
  std::uint64_t reported = 0;
  here.engine.symbolizing().start(
      here.now(opened), here.client, request, [&](std::uint64_t n, std::uint64_t) { reported = n; },
      [&](Result<OpenProfilePtr> now) { done = std::move(now); });
  REQUIRE(done);
  CHECK((*done)->revision == 2);
  CHECK(has_function(*done, "mix"));
  CHECK(reported > 0);
}

TEST_CASE("only the modules that are named are looked at") {
  Addresses here(false);
  const OpenProfilePtr opened = here.open();
  CHECK(here.now(opened)->revision == 1);
  for (const auto& [module, found] : {std::pair("gone.so", false), std::pair("/build/app", true)}) {
    SymbolizeRequest request;
    request.places = here.places();
    request.modules = {module};
    bool answered = false;
    here.engine.symbolizing().start(here.now(opened), here.client, request, {},
                                    [&](Result<OpenProfilePtr> now) { answered = now.has_value(); });
    CHECK(answered);
    CHECK(has_function(here.now(opened), "mix") == found);
  }
}

TEST_CASE("where more takes its time, what is known by then is told on the way") {
  // A profile of so much code of this program that it is answered in parts. Its image begins at vaddr 0.
  const AddressKind kind = GENERATE(AddressKind::vaddr, AddressKind::image_offset);
  const OwnImage own = own_image();
  const std::string path = own_path();
  ProfileBuilder builder;
  ModuleSpec module;
  module.name = path;
  module.build_id = own.build_id;
  module.addresses = kind;
  const ModuleId of = builder.module(module);
  const FunctionId unknown =
      builder.function(FunctionSpec{.name = builder.string("[here]"), .unresolved = true});
  const MetricId metric = builder.add_metric("samples", "count");
  for (std::uint64_t i = 0; i < 5000; ++i) {
    FrameSpec frame;
    frame.function = unknown;
    frame.module = of;
    frame.address = reinterpret_cast<std::uint64_t>(&n_unnamed) - own.base + i;
    builder.add_self(builder.context(ContextId{0u}, builder.frame(frame)), metric, std::int64_t{1});
  }
  const ProfilePtr profile = std::move(builder).finish().value();
  SymbolizeRequest request;
  request.places.system = false;
  request.places.files = {{own_path(), own_path()}};
  const SymbolCache none("", 0);
  SymbolizeMeans means{PROFD_SYMBOLIZE, none};
  means.between_revisions = std::chrono::milliseconds(0);
  std::vector<ProfilePtr> better;
  SymbolizeCalls calls;
  calls.better = [&](ProfilePtr one) { better.push_back(std::move(one)); };
  const auto symbolized = symbolize_profile(profile, request, means, calls, StopToken{});
  REQUIRE(symbolized);
  REQUIRE_FALSE(better.empty());
  CHECK(n_unnamed(*better.front()) < n_unnamed(*profile));
  CHECK(n_unnamed(*symbolized->profile) <= n_unnamed(*better.back()));
  // And in the end there is all that is found at once.
  const auto at_once = symbolize_profile(profile, request, means, {}, StopToken{});
  REQUIRE(at_once);
  CHECK(n_unnamed(*symbolized->profile) == n_unnamed(*at_once->profile));
  for (const ProfilePtr& one : better) CHECK(one->total(MetricId{0u}) == profile->total(MetricId{0u}));
}

TEST_CASE("what is put together of several profiles has the names of each") {
  Addresses here;
  ComposeSpec spec;
  spec.kind = Composed::diff;
  for (const bool before : {true, false}) {
    ComposedPart part;
    part.origin = file_origin(here.path, {});
    part.before = before;
    spec.parts.push_back(part);
  }
  OpenRequest request;
  request.symbols = std::make_shared<const SymbolPlaces>(here.places());
  OpenProfilePtr diff;
  here.engine.open(here.client, composed_origin(spec).value(), request, {}, [&](Result<OpenAnswer> answer) {
    REQUIRE(answer);
    diff = answer->profile;
  });
  REQUIRE(diff);
  CHECK(diff->revision == 1);
  CHECK(has_function(diff, "mix"));
}

TEST_CASE("a run that is stopped, or whose profile is closed, changes nothing and is answered or forgotten") {
  Addresses here(false, 2);
  const OpenProfilePtr opened = here.open();
  SymbolizeRequest request;
  request.places = here.places();
  std::optional<ErrorCode> error;
  const auto cancel = here.engine.symbolizing().start(here.now(opened), here.client, request, {},
                                                      [&](Result<OpenProfilePtr> now) {
                                                        if (!now) error = now.error().code;
                                                      });
  CHECK(here.engine.symbolizing().is_busy(opened->handle));
  REQUIRE(here.strand.run_until([&] { return here.engine.n_activities() == 1; }));
  cancel();
  CHECK(error == ErrorCode::cancelled);
  REQUIRE(here.strand.run_until([&] { return !here.engine.symbolizing().is_busy(opened->handle); }));
  CHECK(here.now(opened)->revision == 1);

  bool answered = false;
  here.engine.symbolizing().start(here.now(opened), here.client, request, {},
                                  [&](Result<OpenProfilePtr>) { answered = true; });
  REQUIRE(here.engine.close(here.client, opened->handle));
  CHECK_FALSE(here.engine.symbolizing().is_busy(opened->handle));
  while (here.strand.run_one(std::chrono::milliseconds(500))) {
  }
  CHECK_FALSE(answered);
}
