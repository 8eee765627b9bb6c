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
      {"reflow", "RunTask;FunctionCall;f;Layout", 70, 40},
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

TEST_CASE(
    "samples that repeat every few are in step with the program, what takes its time or is chance is not") {
  const auto text = [](auto function_of) {
    std::string out = "# metrics: samples/count\n";
    for (int i = 0; i < 200; ++i)
      out += fmt::format("loop;{} 1 {{thread=main time={}}}\n", function_of(i), i * 1'000'000);
    return out;
  };
  const char* const phases[] = {"read", "work", "work2", "write"};
  Viewed in_step(text([&](int i) { return std::string(phases[i % 4]); }));
  const TipsAnswer answer = tips_of(in_step);
  REQUIRE(ids(answer) == "lock-step");
  CHECK(answer.tips.front().text ==
        "The samples of thread main repeat every 4: 100 % of them are in the function of 4 samples before.");
  CHECK_FALSE(answer.tips.front().bound);
  // What is another breaks two pairs: one of 41 leaves more than nine in ten, one of nine does not.
  CHECK(ids_of(text([&](int i) { return i % 41 == 3 ? "other" : std::string(phases[i % 4]); })) ==
        "lock-step");
  CHECK(ids_of(text([&](int i) { return i % 9 == 3 ? "other" : std::string(phases[i % 4]); })).empty());
  // Long phases, one after another.
  CHECK(ids_of(text([&](int i) { return std::string(phases[i / 50]); })).empty());
  std::uint32_t seed = 1;
  CHECK(ids_of(text([&](int) {
          seed = seed * 1'664'525U + 1'013'904'223U;
          return std::string(phases[seed >> 30]);
        })).empty());
}

namespace {

// 40 samples in 10 s, and notes of some name and length in seconds.
ProfilePtr with_notes(const std::vector<std::pair<std::string, double>>& notes) {
  ProfileBuilder builder;
  const MetricId samples = builder.add_metric("samples", "count");
  (void)samples;
  const ContextId main = builder.context(kRootContext, builder.frame({.function = builder.function("main")}));
  const std::vector<std::int64_t> one{1};
  for (int i = 0; i < 40; ++i)
    builder.add_sample(main, std::span(one), SampleContext{.time = std::int64_t{i} * 250'000'000});
  std::int64_t at = 0;
  for (const auto& [name, seconds] : notes) {
    const auto length = static_cast<std::int64_t>(seconds * 1e9);
    builder.timeline().add_marker({.begin = at, .end = at + length, .name = builder.string(name)});
    at += length + 1'000'000;
  }
  builder.info().duration_ns = 10'000'000'000;
  return std::move(builder).finish().value();
}

}  // namespace

TEST_CASE("pauses of a collector are told from 5 % of the recording on, notes that overlap counted once") {
  Viewed stopped(with_notes({{"GCPhasePause", 0.4}, {"GCPhasePause", 0.2}, {"Other", 3}}));
  const TipsAnswer answer = tips_of(stopped);
  REQUIRE(ids(answer) == "gc-pauses");
  CHECK(answer.tips.front().text ==
        "The collector stopped the program for 600 ms, 6.0 % of the recording, in 2 pauses; the longest took "
        "400 ms.");
  Viewed less(with_notes({{"GCPhasePause", 0.2}, {"GCPhasePause", 0.25}, {"Other", 3}}));
  CHECK(ids(tips_of(less)).empty());
}

TEST_CASE("a read is slow from 275 ms on") {
  Viewed slow(with_notes({{"FileRead", 0.1}, {"SocketRead", 0.3}, {"FileRead", 0.28}}));
  const TipsAnswer answer = tips_of(slow);
  REQUIRE(ids(answer) == "slow-reads");
  CHECK(answer.tips.front().text ==
        "The longest of 3 reads took 300 ms; 2 took 275 ms or more, 580 ms together.");
  Viewed quick(with_notes({{"FileRead", 0.1}, {"SocketRead", 0.27}, {"FileWrite", 0.9}}));
  CHECK(ids(tips_of(quick)).empty());
}

TEST_CASE("threads that wait for processors are told, and the bound is what dropping saves") {
  const auto text = [](int runnable) {
    std::string out =
        "# metrics: wall/nanoseconds on-cpu/nanoseconds blocked/nanoseconds runnable/nanoseconds\n";
    for (int i = 0; i < 40; ++i)
      out += fmt::format(
          "main;own{} 90 90 0 0\nmain;wait;(blocked) 800 0 800 0\nmain;own{};(runnable) {} 0 "
          "0 {}\n",
          i, i, runnable, runnable);
    return out;
  };
  Viewed viewed(text(11));
  const TipsAnswer answer = tips_of(viewed);
  REQUIRE(ids(answer) == "runnable");
  const Tip& tip = answer.tips.front();
  CHECK(tip.text == "Of 4.04 µs that threads could run they waited 440 ns for a processor, 10.9 %.");
  REQUIRE(tip.bound);
  CHECK(tip.filter == "keep function (runnable)");
  ViewSpec dropped = spec_from("top-down | drop function (runnable)");
  const auto left = viewed.views.selection(*viewed.open, dropped, {});
  REQUIRE(left);
  CHECK(whole((*left)->sums->profile_total) - whole((*left)->sums->total) == whole(tip.bound->value));
  // Of another metric nothing is said about the wall.
  const TipsAnswer of_cpu = tips_of(viewed, {}, {}, {}, "top-down | metric on-cpu");
  REQUIRE(ids(of_cpu) == "runnable");
  CHECK_FALSE(of_cpu.tips.front().bound);
  CHECK(ids_of(text(9)).empty());
}

TEST_CASE("one line of the cache in two threads is told, in one thread it is not") {
  const auto shared = [](bool two_threads) {
    ProfileBuilder builder;
    std::string text = "# metrics: samples/count\n";
    for (int i = 0; i < 40; ++i) text += fmt::format("main;f{} 1\n", i);
    add_text(builder, text + "main;put 3\nmain;take 2\n");
    const auto at = [&](const char* name) {
      const FrameId main = builder.frame({.function = builder.function("main")});
      return builder
          .context(builder.context(kRootContext, main), builder.frame({.function = builder.function(name)}))
          .v;
    };
    const std::uint32_t one = builder.thread({.tid = 1}).v, two = builder.thread({.tid = 2}).v;
    AssociationTable table;
    table.name = "false sharing";
    table.roles = {"first", "second"};
    table.contexts = {Column<std::uint32_t>(std::vector{at("put"), at("take"), at("put")}),
                      Column<std::uint32_t>(std::vector{at("take"), at("put"), at("put")})};
    table.threads = {
        Column<std::uint32_t>(std::vector{one, one, one}),
        Column<std::uint32_t>(two_threads ? std::vector{two, two, one} : std::vector{one, one, one})};
    table.metrics = {{"accesses", "count"}};
    table.values = {Column<std::int64_t>(std::vector<std::int64_t>{10, 20, 500})};
    builder.add_association(std::move(table));
    return std::move(builder).finish().value();
  };
  Viewed viewed(shared(true));
  const TipsAnswer answer = tips_of(viewed);
  REQUIRE(ids(answer) == "false-sharing");
  CHECK(answer.tips.front().text ==
        "Two threads were seen at one line of the cache 30 times, 100 % of them in put and take.");
  Viewed alone(shared(false));
  CHECK(ids(tips_of(alone)).empty());
}

TEST_CASE("layout below a script is what the script waits for, below a turn of the page it is not") {
  CHECK(ids_of(with_part("RunTask;FunctionCall;onClick;Layout", 70, "time/nanoseconds")) == "reflow");
  CHECK(ids_of(with_part("RunTask;FunctionCall;onClick;Layout", 40, "time/nanoseconds")).empty());
  CHECK(ids_of(with_part("RunTask;EventDispatch;UpdateLayoutTree", 300, "time/nanoseconds")).empty());
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
    case TipEvidence::lock_step:
      return fmt::format(
          "Of a thread with 100 samples or more, {} of the samples or more are in the function of as many "
          "samples "
          "before, at most 16, and at most half in that of the one just before.",
          percent);
    case TipEvidence::gc_pauses:
      return fmt::format("{} of the recording or more are pauses (notes of JFR, Firefox).", percent);
    case TipEvidence::slow_reads:
      return fmt::format("A read took {:g} ms or more (notes of JFR).", rule.at_least * 1000);
    case TipEvidence::runnable:
      return fmt::format(
          "Of the time that threads could run they waited {} or more for a processor (metrics `runnable` and "
          "`on-cpu`).",
          percent);
    case TipEvidence::false_sharing:
      return "Records of false sharing tie places of two threads together.";
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
