// Each script that profd brings finds what was planted, first.
#include <fmt/format.h>

#include "tests/support/text_profile.h"
#include "tests/unit/script/run_script.h"

using namespace profd;
using namespace profd::test;

namespace {

ScriptOutcome bundled(const std::string& name, const std::vector<ProfilePtr>& profiles,
                      const GivenArguments& given = {}) {
  const auto analysis = read_analysis(AnalysisOrigin::bundled, name, "");
  REQUIRE(analysis);
  CHECK(analysis->head.title.size() > 20);
  CHECK(profiles.size() >= analysis->head.min_profiles);
  ScriptOutcome outcome = run_of(analysis->text, profiles, given);
  INFO(outcome.error << " in line " << outcome.line);
  REQUIRE(outcome.error.empty());
  return outcome;
}

// A row as its cells.
std::vector<std::string> row_of(const ScriptOutcome& outcome, std::size_t table = 0, std::size_t row = 0) {
  REQUIRE(outcome.tables.size() > table);
  REQUIRE(outcome.tables[table].n_rows() > row);
  std::vector<std::string> out;
  const std::size_t n = outcome.tables[table].columns.size();
  for (std::size_t c = 0; c < n; ++c) {
    const worker::ScriptCell& cell = outcome.tables[table].cells[row * n + c];
    out.push_back(cell.is_number ? fmt::format("{:g}", cell.number) : cell.text);
  }
  return out;
}

using Row = std::vector<std::string>;

}  // namespace

TEST_CASE("recursion_collapse makes recursive calls one with the first, whatever is between them") {
  const ScriptOutcome outcome =
      bundled("recursion_collapse",
              {profile_from_text(
                  "main[module=app];walk[module=app] 5\n"
                  "main[module=app];walk[module=app];visit[module=app];walk[module=app];leaf[module=app] 30\n"
                  "main[module=app];walk[module=app];visit[module=app];walk[module=app] 7\n"
                  "main[module=app];sort[module=libc];sort[module=libc] 2\n")});
  CHECK(row_of(outcome) == Row{"app", "7"});
  CHECK(row_of(outcome, 0, 1) == Row{"libc", "2"});
  REQUIRE(outcome.profile != nullptr);
  CHECK(outcome.profile->tree().size() == 6);  // with the root: main, walk, leaf, visit, sort
  CHECK(outcome.profile->total(MetricId{0u}) == Value(std::int64_t{44}));
}

TEST_CASE("gc_share tells who caused collections") {
  const ScriptOutcome outcome = bundled(
      "gc_share",
      {profile_from_text(
          "main;parse;runtime.mallocgc;runtime.gcAssistAlloc;runtime.scanobject 30\nmain;parse 10\n"
          "main;draw;runtime.gcStart 5\nruntime.gcBgMarkWorker;runtime.scanobject 20\nmain;draw 35\n")});
  CHECK(outcome.text == "garbage collection: 55.0 % of samples\n");
  CHECK(row_of(outcome) == Row{"runtime.mallocgc", "30", fmt::format("{:g}", 100 * 30 / 55.0), "100"});
  CHECK(row_of(outcome, 0, 1)[0] == "(the collector's own threads)");
  CHECK(row_of(outcome, 0, 2) == Row{"draw", "5", fmt::format("{:g}", 100 * 5 / 55.0), "12.5"});
}

TEST_CASE("scaling_loss names what costs more with more workers") {
  const ProfilePtr one = profile_from_text("main;work 100\nmain;lock 2\n"),
                   four = profile_from_text("main;work 101\nmain;lock 60\n");
  const ScriptOutcome outcome = bundled("scaling_loss", {one, four}, {{"few", "1"}, {"many", "4"}});
  CHECK(row_of(outcome) == Row{"lock", "2", "60", "58", fmt::format("{:g}", 100 * 58 / 161.0)});
  CHECK(outcome.text == "4 workers need 57.8 % more samples than 1 would that scale\n");
}

TEST_CASE("false_sharing sums pairs of places, whichever side comes first") {
  ProfileBuilder builder;
  add_text(builder, "main;put[q.cc:10] 5\nmain;take[q.cc:40] 7\nmain;other[o.cc:3] 1\n");
  const auto at = [&](const char* name, const char* file, std::uint32_t line) {
    const FrameId main = builder.frame({.function = builder.function("main")});
    FrameSpec spec{.function = builder.function(name, file)};
    spec.file = builder.string(file);
    spec.line = line;
    return builder.context(builder.context(kRootContext, main), builder.frame(spec)).v;
  };
  const std::uint32_t put = at("put", "q.cc", 10), take = at("take", "q.cc", 40),
                      other = at("other", "o.cc", 3);
  AssociationTable table;
  table.name = "false sharing";
  table.roles = {"one", "two"};
  table.contexts = {Column<std::uint32_t>(std::vector<std::uint32_t>{put, take, other}),
                    Column<std::uint32_t>(std::vector<std::uint32_t>{take, put, put})};
  table.metrics = {{"count", "count"}};
  table.values = {Column<std::int64_t>(std::vector<std::int64_t>{10, 20, 25})};
  builder.add_association(std::move(table));
  const ScriptOutcome outcome = bundled("false_sharing", {std::move(builder).finish().value()});
  CHECK(row_of(outcome) == Row{"false sharing", "put (q.cc:10)", "take (q.cc:40)", "30", "2"});
  REQUIRE(outcome.notes.size() == 4);
  CHECK(outcome.notes[0].line == 10);
  CHECK(outcome.notes[0].text == "false sharing with take (q.cc:40): 30");
}

TEST_CASE("allocation_churn is what was allocated and did not stay") {
  const ScriptOutcome outcome = bundled(
      "allocation_churn", {profile_from_text("# metrics: alloc_space/bytes inuse_space/bytes\nmain;cache "
                                             "1000 1000\nmain;format 800 0\nmain;load 300 200\n")});
  CHECK(row_of(outcome) == Row{"format", "800", "800", "100"});
  REQUIRE(outcome.profile != nullptr);
  CHECK(outcome.profile->metrics()[2].name == "churn");
  CHECK(outcome.profile->total(MetricId{2u}) == Value(std::int64_t{900}));
}

TEST_CASE("lock_hot_spots goes by the line that takes the lock") {
  const ScriptOutcome outcome = bundled(
      "lock_hot_spots",
      {profile_from_text(
          "main;put[q.cc:10];pthread_mutex_lock;__lll_lock_wait;futex_wait 40\n"
          "main;put[q.cc:12];pthread_mutex_lock 5\nmain;take[q.cc:40];pthread_mutex_lock 7\nmain 48\n")});
  CHECK(outcome.text == "locks: 52.0 % of samples\n");
  CHECK(row_of(outcome) == Row{"put", "q.cc:10", "pthread_mutex_lock", "40", "40"});
  REQUIRE(outcome.notes.size() == 3);
  CHECK(outcome.notes[0].file == "q.cc");
  CHECK(outcome.notes[0].line == 10);
}

TEST_CASE("lock_holders puts who holds beside who waits, whichever profile is which") {
  const ProfilePtr waits = profile_from_text(
                       "# metrics: contentions/count delay/nanoseconds\n"
                       "main.main;main.(*Shop).Sell[s.go:10];sync.(*Mutex).Lock;internal/sync.(*Mutex).lockSlow 3 60\n"
                       "main.main;main.(*Shop).Close[s.go:20];sync.(*Once).Do;sync.(*Mutex).Lock 1 10\n"
                       "main.main;main.peek[s.go:40];sync.(*RWMutex).RLock 1 30\n"
                       "main.main;runtime.chanrecv1 2 300\n"),
                   holds = profile_from_text(
                       "# metrics: contentions/count delay/nanoseconds\n"
                       "main.main;main.(*Shop).Count[s.go:33];sync.(*Mutex).Unlock 3 50\n"
                       "main.main;main.(*Shop).Sell[s.go:12];sync.(*Mutex).Unlock 1 30\n");
  for (const auto& both : {std::vector{waits, holds}, std::vector{holds, waits}}) {
    const ScriptOutcome outcome = bundled("lock_holders", both);
    CHECK(outcome.text.substr(0, 37) == "25.0 % of the waiting is for locks, t");
    CHECK(row_of(outcome) ==
          Row{"main.(*Shop)", "70", "70", "main.(*Shop).Sell", "main.(*Shop).Count", "62.5"});
    CHECK(row_of(outcome, 0, 1) == Row{"main", "30", "30", "main.peek", "(not seen)", ""});
    CHECK(row_of(outcome, 1) == Row{"main.(*Shop).Count", "s.go:33", "50", "62.5", "0"});
    CHECK(row_of(outcome, 1, 1) == Row{"main.(*Shop).Sell", "s.go:12", "30", "37.5", "60"});
    CHECK(row_of(outcome, 2) == Row{"main.(*Shop).Sell", "s.go:10", "60", "60", "30"});
    CHECK(row_of(outcome, 2, 2) == Row{"main.(*Shop).Close", "s.go:20", "10", "10", "0"});
    CHECK(outcome.notes.size() == 5);
  }
}

TEST_CASE("lock_holders says which profile is missing") {
  const auto analysis = read_analysis(AnalysisOrigin::bundled, "lock_holders", "");
  REQUIRE(analysis);
  const ProfilePtr waits = profile_from_text("# metrics: delay/nanoseconds\nmain.f;sync.(*Mutex).Lock 10\n");
  const ScriptOutcome outcome = run_of(analysis->text, {waits, waits});
  CHECK(outcome.error.find("mutex profile") != std::string::npos);
}

TEST_CASE("startup_only keeps the first seconds") {
  const ScriptOutcome outcome = bundled(
      "startup_only",
      {profile_from_text(
          "main;load 30 {time=1000}\nmain;init 10 {time=900000000}\nmain;serve 500 {time=1500000000}\n")});
  CHECK(row_of(outcome) == Row{"load", "30", "75"});
  REQUIRE(outcome.profile != nullptr);
  CHECK(outcome.profile->metrics()[1].name == "samples of start-up");
  CHECK(outcome.profile->total(MetricId{1u}) == Value(std::int64_t{40}));
}

TEST_CASE("request_breakdown has a row for each value of the label") {
  const ScriptOutcome outcome =
      bundled("request_breakdown",
              {profile_from_text("main;a 30 {label:request=checkout}\nmain;b 10 "
                                 "{label:request=checkout}\nmain;c 20 {label:request=list}\nmain 40\n")});
  CHECK(row_of(outcome) == Row{"checkout", "40", "40", "2", "a", "75"});
  CHECK(outcome.text == "2 values of request; 40.0 % of samples has none\n");
}

TEST_CASE("thread_imbalance names the busy thread and what it does") {
  const ScriptOutcome outcome = bundled(
      "thread_imbalance", {profile_from_text("main;work 10 {thread=a}\nmain;work 10 {thread=b}\nmain;merge "
                                             "40 {thread=b}\nmain;work 12 {thread=c}\n")});
  CHECK(row_of(outcome)[1] == "50");
  CHECK(row_of(outcome)[0].substr(0, 1) == "b");
  CHECK(row_of(outcome, 1)[0] == "merge");
  CHECK(outcome.text.substr(0, 9) == "3 threads");
}

TEST_CASE("top_regressions puts what grew most first") {
  const ScriptOutcome outcome = bundled(
      "top_regressions", {profile_from_text("main;a 10\nmain;b 50\n"),
                          profile_from_text("main;a 12\nmain;b 40\nmain;fresh[f.cc:3 start=3] 30\n")});
  CHECK(row_of(outcome) == Row{"fresh", "0", "30", "30", ""});
  CHECK(row_of(outcome, 0, 1) == Row{"a", "10", "12", "2", "20"});
}
