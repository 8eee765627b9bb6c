#include "server/feature/tips.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "core/model/profile_builder.h"
#include "server/engine/rule_sets.h"
#include "tests/support/catch.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

TipsAnswer tips_of(Viewed& viewed, const std::vector<TipRule>& own = {},
                   const std::vector<std::string>& off = {}, std::vector<FrameSet> sets = {},
                   std::string_view spec = "top-down") {
  TipsRequest request;
  request.open = viewed.open;
  request.spec = spec_from(spec);
  request.sets = frame_sets(std::move(sets), nullptr);
  request.rules = tip_rules(own, off);
  auto answer = tips_answer(viewed.views, request, {});
  if (!answer) FAIL(answer.error().message);
  return std::move(*answer);
}

std::string ids(const TipsAnswer& answer) {
  std::string out;
  for (const Tip& tip : answer.tips) out += (out.empty() ? "" : " ") + tip.id;
  return out;
}

std::string ids_of(std::string_view text) {
  Viewed viewed(text);
  return ids(tips_of(viewed));
}

// 30 lines or more, so that there are samples enough: `part` of 1,000 goes to the stack, the rest elsewhere.
std::string with_part(std::string_view stack, int part, std::string_view metric = "cpu/nanoseconds") {
  std::string text = fmt::format("# metrics: {}\n", metric);
  for (int i = 0; i < 10; ++i) text += fmt::format("{} {}\n", stack, part);
  for (int i = 0; i < 25; ++i) text += fmt::format("main;own{} {}\n", i, (1000 - part) * 10 / 25);
  return text;
}

}  // namespace

TEST_CASE("each rule about work fires from its share on, and not below") {
  struct Row {
    const char* id;
    std::string stack;
    int fires, silent;  // of 1,000
    const char* metric = "cpu/nanoseconds";
  };
  const std::vector<Row> rows = {
      {"kernel", "main;sys_x[kind=kernel]", 520, 480},
      {"allocator", "main.main;main.f[f.go:1];runtime.mallocgc;runtime.nextFreeFast", 120, 90},
      {"allocator", "main;parse;operator new(unsigned long);malloc;_int_malloc", 120, 90},
      {"gc", "runtime.gcBgMarkWorker;runtime.gcDrain;runtime.scanobject", 120, 90},
      {"gc", "(garbage collector)", 120, 90},
      {"copying", "main;f;__memmove_avx_unaligned_erms", 120, 90},
      {"copying", "Main.run;java.util.Arrays.copyOf;jbyte_disjoint_arraycopy", 120, 90},
      {"page-faults", "main;f;asm_exc_page_fault[kind=kernel];do_user_addr_fault[kind=kernel]", 70, 40},
      {"jit", "Thread::run;C2Compiler::compile_method;Compile::Compile", 120, 90},
      {"spinning", "main;f;pthread_mutex_lock;native_queued_spin_lock_slowpath[kind=kernel]", 70, 40},
      {"lock-wait", "App.run;java.util.concurrent.locks.ReentrantLock.lock", 120, 90, "wall/nanoseconds"},
      {"regex-compile", "App.run;java.util.regex.Pattern.compile;java.util.regex.Pattern.expr", 30, 10},
      {"regex-compile", "main.f[f.go:1];regexp.MustCompile;regexp/syntax.Parse", 30, 10},
      {"concatenation", "main.f[f.go:1];runtime.concatstrings;runtime.memmove", 70, 40},
      {"hashing", "main.f[f.go:1];runtime.mapaccess1_faststr;runtime.strhash", 120, 90},
      {"comparing", "main;std::sort;std::__introsort_loop;Row::operator<(Row const&)", 120, 90},
      {"reflection", "main.f[f.go:1];reflect.Value.Call;reflect.Value.call", 70, 40},
      {"logging", "App.run;org.slf4j.Logger.info;ch.qos.logback.classic.Logger.info;java.io.Writer.write", 70,
       40},
      {"logging", "work[app.py:3];info[/usr/lib/python3.11/logging/__init__.py:9]", 70, 40},
      {"exceptions", "main;f;__cxa_throw;_Unwind_RaiseException", 70, 40},
      {"boxing", "App.run;java.lang.Integer.valueOf", 220, 180, "alloc/bytes"},
      {"debug-build", "main;std::unique_ptr<Row>::get", 70, 40},
  };
  for (const Row& row : rows) {
    INFO(row.id << " " << row.stack);
    CHECK(ids_of(with_part(row.stack, row.fires, row.metric)).find(row.id) != std::string::npos);
    CHECK(ids_of(with_part(row.stack, row.silent, row.metric)).find(row.id) == std::string::npos);
  }
}

TEST_CASE("each rule about work has words for what it found, and every set that it names is there") {
  const auto sets = frame_sets({}, nullptr);
  for (const TipRule& rule : built_in_tips()) {
    INFO(rule.id);
    CHECK_FALSE(rule.title.empty());
    const bool of_set = rule.evidence == TipEvidence::work || rule.evidence == TipEvidence::self;
    if (of_set) CHECK(sets->find(rule.set));
    if (of_set) CHECK_FALSE(rule.subject.empty());
    if (rule.evidence != TipEvidence::nameless) CHECK_FALSE(rule.advice.empty());
  }
}

TEST_CASE("what a library calls back is not its own work") {
  CHECK(ids_of(with_part("App.main;java.lang.reflect.Method.invoke;com.acme.Job.run;com.acme.Job.step", 900))
            .empty());
  CHECK(ids_of(with_part("App.main;java.lang.reflect.Method.invoke;java.lang.reflect.Method.checkAccess;"
                         "java.util.HashMap.get",
                         900)) == "reflection");
  CHECK(ids_of(with_part("main;Interpreter;App.run;App.step", 900)).empty());
}

TEST_CASE("a library that profiles itself gets no advice against itself") {
  CHECK(ids_of("# metrics: cpu/nanoseconds\n" +
               [] {
                 std::string text;
                 for (int i = 0; i < 40; ++i)
                   text += fmt::format(
                       "testing.(*B).runN;go.uber.org/zap.BenchmarkX;go.uber.org/zap.f{} 10\n", i);
                 return text;
               }())
            .empty());
}

TEST_CASE("idle stacks are nobody's work") {
  CHECK(ids_of(with_part("App.run;org.slf4j.Logger.info;java.lang.Thread.sleep", 900, "wall/nanoseconds"))
            .empty());
}

TEST_CASE("a few samples say that they are few, and nothing else") {
  const std::string gc = "# metrics: samples/count\n(garbage collector) 5\nmain 1\n";
  Viewed few(gc);
  const TipsAnswer answer = tips_of(few);
  CHECK(ids(answer) == "few-samples");
  CHECK(answer.tips.front().text ==
        "There are 6 samples: a share of 50 % is 29.6 % to 70.4 % two times of three.");
  CHECK_FALSE(answer.tips.front().bound);
  // What is no sample is not few of them.
  CHECK(ids_of("# metrics: cpu/nanoseconds\n(garbage collector) 5\nmain 1\n").empty());
}

TEST_CASE("a tip has its evidence, its bound and who calls, and the bound is what dropping saves") {
  Viewed viewed(with_part("main;parse;operator new(unsigned long);malloc", 142));
  const TipsAnswer answer = tips_of(viewed);
  REQUIRE(ids(answer) == "allocator");
  const Tip& tip = answer.tips.front();
  CHECK(tip.text == "Allocating and freeing memory is 14.2 % of CPU time, 14.2 % from parse.");
  CHECK(tip.bound_text == "Gone entirely, this saves at most 14.2 % of CPU time.");
  CHECK(tip.filter == "keep work allocation");
  CHECK(tip.link == "tips.md#allocator");
  REQUIRE(tip.place);
  CHECK(tip.place->name == "parse");
  ViewSpec dropped = spec_from("top-down | drop work allocation");
  decide_sets(dropped.filters, [] { return frame_sets({}, nullptr); });
  const auto left = viewed.views.selection(*viewed.open, dropped, {});
  REQUIRE(left);
  CHECK(whole((*left)->sums->profile_total) - whole((*left)->sums->total) == whole(tip.bound->value));
}

TEST_CASE("what is part of a stronger one is not said again") {
  const std::string faults = "main;f;asm_exc_page_fault[kind=kernel];clear_page[kind=kernel]";
  CHECK(ids_of(with_part(faults, 600)) == "kernel");
  CHECK(ids_of(with_part(faults, 300)) == "page-faults");
}

TEST_CASE("three tips at most, those that can bring most first") {
  std::string text = "# metrics: cpu/nanoseconds\n";
  for (int i = 0; i < 30; ++i)
    text += fmt::format(
        "main.f{0}[f.go:1];runtime.mallocgc 20\nmain.f{0}[f.go:1];regexp.MustCompile 15\n"
        "main.f{0}[f.go:1];reflect.Value.Call 30\nmain.f{0}[f.go:1];runtime.concatstrings 10\nmain.g 25\n",
        i);
  Viewed viewed(text);
  const TipsAnswer answer = tips_of(viewed);
  CHECK(ids(answer) == "reflection allocator regex-compile");
  CHECK(answer.n_more == 1);
  CHECK(ids(tips_of(viewed, {}, {"reflection"})) == "allocator regex-compile concatenation");
  CHECK(tips_of(viewed, {}, {"all"}).tips.empty());
}

TEST_CASE("bytes and waits are not taken for time") {
  CHECK(ids_of(with_part("main.f[f.go:1];runtime.mallocgc", 900, "alloc_space/bytes")).empty());
  CHECK(ids_of(with_part("main.f[f.go:1];sync.(*Mutex).Unlock", 900, "delay/nanoseconds")).empty());
}

TEST_CASE("rules of a project are given beside those of profd, and in place of one of the same id") {
  Viewed viewed(with_part("main;sql::query;sql::send", 300));
  FrameSet sql;
  sql.name = "sql";
  sql.own = sql.kind = true;
  sql.patterns.push_back({Runtime::any, {"^sql::"}, {}, {}, {}});
  TipRule rule;
  rule.id = "database";
  rule.own = true;
  rule.set = "sql";
  rule.at_least = 0.2;
  rule.subject = "Asking the database";
  rule.link = "https://example.org/db";
  const TipsAnswer answer = tips_of(viewed, {rule}, {}, {sql});
  REQUIRE(answer.tips.size() == 1);
  CHECK(answer.tips.front().text == "Asking the database is 30.0 % of CPU time, 30.0 % from main.");
  CHECK(answer.tips.front().link == "https://example.org/db");
  rule.at_least = 0.4;
  CHECK(tips_of(viewed, {rule}, {}, {sql}).tips.empty());
}

TEST_CASE("threads of one name that do unequal work are told, equal ones are not") {
  const auto text = [](int first) {
    std::string out = "# metrics: cpu/nanoseconds\n";
    for (int i = 0; i < 40; ++i)
      for (int t = 0; t < 4; ++t)
        out += fmt::format("run;f{} {} {{thread=worker-{} time={}}}\n", i, t == 0 ? first : 100, t, i);
    return out;
  };
  CHECK(ids_of(text(160)) == "imbalance");
  CHECK(ids_of(text(110)).empty());
}

TEST_CASE("one thread that does all where others were seen is told") {
  const auto text = [](int others) {
    std::string out = "# metrics: cpu/nanoseconds\n";
    for (int i = 0; i < 40; ++i) out += fmt::format("run;f{} 1000 {{thread=main time={}}}\n", i, i);
    for (int t = 0; t < 4; ++t)
      out += fmt::format("wait;g{} {} {{thread=t{} time=1}}\n", t, others, char('a' + t));
    return out;
  };
  CHECK(ids_of(text(100)) == "one-thread");
  CHECK(ids_of(text(2000)).empty());
}

TEST_CASE("a function that waits for memory is told by its cycles an instruction") {
  const auto text = [](int instructions) {
    std::string out = "# metrics: cycles/count instructions/count\n";
    for (int i = 0; i < 40; ++i)
      out += fmt::format("main;walk 100 {}\nmain;add{} 100 200\n", instructions, i);
    return out;
  };
  Viewed slow(text(40));
  const TipsAnswer answer = tips_of(slow);
  REQUIRE(ids(answer) == "cpi");
  CHECK(answer.tips.front().text == "walk takes 2.50 cycles an instruction, and 50.0 % of all cycles.");
  CHECK(ids_of(text(60)).empty());
}

TEST_CASE("code without names is told from a tenth on") {
  CHECK(ids_of(with_part("main;app+0x10[unresolved module=app]", 120)) == "nameless");
  CHECK(ids_of(with_part("main;app+0x10[unresolved module=app]", 80)).empty());
}

TEST_CASE("what was lost or cut in recording is told from a hundredth on") {
  const auto ids_with = [](const char* kind, std::uint64_t n) {
    auto open = std::make_shared<OpenProfile>();
    Viewed viewed(with_part("main;f", 100));
    *open = *viewed.open;
    auto loaded = std::make_shared<LoadedProfiles>();
    loaded->profiles = {open->profile};
    loaded->report.add(kind, Severity::loss, "told", std::nullopt, n);
    open->loaded = loaded;
    viewed.open = open;
    return ids(tips_of(viewed));
  };
  CHECK(ids_with("lost-samples", 4) == "lost-samples");
  CHECK(ids_with("truncated-stack", 4) == "cut-stacks");
  CHECK(ids_with("other", 4).empty());
}

TEST_CASE("context switches are told from ten thousand a second on") {
  const auto ids_with = [](std::int64_t n) {
    ProfileBuilder builder;
    add_text(builder, fmt::format("# metrics: cpu/nanoseconds context-switches/count\n{}", [&] {
               std::string text;
               for (int i = 0; i < 40; ++i) text += fmt::format("main;f{} 10 {}\n", i, n / 40);
               return text;
             }()));
    builder.info().duration_ns = 1'000'000'000;
    Viewed viewed(std::move(builder).finish().value());
    return ids(tips_of(viewed));
  };
  CHECK(ids_with(12'000) == "switches");
  CHECK(ids_with(8'000).empty());
}

TEST_CASE("a hover is told what has to do with its function") {
  Viewed viewed(with_part("main;parse;malloc", 142));
  const TipsAnswer answer = tips_of(viewed);
  CHECK(
      tips_about(answer, "parse") ==
      std::vector<std::string>{"Allocating and freeing memory is 14.2 % of CPU time, 14.2 % from parse. Gone "
                               "entirely, this saves at most 14.2 % of CPU time. " +
                               answer.tips.front().advice});
  CHECK(tips_about(answer, "own1").empty());
}

namespace {

std::string when(const TipRule& rule) {
  const std::string percent = fmt::format("{:g} %", rule.at_least * 100);
  const std::string of = rule.metric == TipMetric::wall    ? "wall time"
                         : rule.metric == TipMetric::bytes ? "bytes"
                                                           : "CPU time or samples";
  switch (rule.evidence) {
    case TipEvidence::work:
      return fmt::format("The own work of `{}` is {} of {} or more.", rule.set, percent, of);
    case TipEvidence::self:
      return fmt::format("Frames of `{}` have {} of {} or more themselves.", rule.set, percent, of);
    case TipEvidence::few_samples:
      return fmt::format("There are fewer than {:g} samples. No other tip is given then.", rule.at_least);
    case TipEvidence::nameless:
      return fmt::format("{} or more is in code without names.", percent);
    case TipEvidence::cut_stacks:
      return fmt::format("The stacks of {} of the samples or more were cut as they were recorded.", percent);
    case TipEvidence::lost_samples:
      return fmt::format("{} of the samples or more were lost as they were recorded.", percent);
    case TipEvidence::cpi:
      return fmt::format(
          "A function with 5 % of the cycles or more takes {:g} cycles an instruction or more (metrics "
          "`cycles` "
          "and `instructions`).",
          rule.at_least);
    case TipEvidence::switches:
      return fmt::format("There are {:g} context switches a second or more (metric `context-switches`).",
                         rule.at_least);
    case TipEvidence::imbalance:
      return fmt::format(
          "Of three threads or more that are named alike but for a number, and do half of the work or more, "
          "the "
          "busiest does {} more than the mean.",
          percent);
    case TipEvidence::one_thread:
      return fmt::format("Of four threads or more with samples, one has {} or more.", percent);
  }
  return "";
}

}  // namespace

TEST_CASE("the page of tips has every rule as the data has it", "[docs]") {
  const std::string path = PROFD_SOURCE_DIR "/docs/tips.md";
  std::ifstream in(path, std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::string heading = "## The rules\n";
  const auto from = page.find(heading);
  REQUIRE(from != page.npos);
  const auto to = page.find("\n## ", from + 1);
  REQUIRE(to != page.npos);
  std::string rules = heading;
  for (const TipRule& rule : built_in_tips())
    rules += fmt::format("\n### {}\n\n{}. {}{}\n", rule.id, rule.title, when(rule),
                         rule.advice.empty() ? "" : " " + rule.advice);
  const std::string made = page.substr(0, from) + rules + page.substr(to);
  INFO("PROFD_BLESS=1 writes docs/tips.md");
  if (std::getenv("PROFD_BLESS")) std::ofstream(path, std::ios::binary) << made;
  CHECK(page == made);
}
