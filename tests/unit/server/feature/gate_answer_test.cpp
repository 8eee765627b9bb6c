// What a gate says of two sides.
#include "server/feature/gate_answer.h"

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/support/composed.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

ProfilePtr gate_diff(std::initializer_list<std::string_view> sides,
                     std::map<std::string, double> scale = {}) {
  return composed(Composed::diff, sides, std::move(scale)).value();
}

Result<GateAnswer> asked(const ProfilePtr& diff, std::initializer_list<std::string_view> rules,
                         std::string_view spec = "flat") {
  Viewed viewed(diff);
  GateRequest request;
  request.open = viewed.open;
  request.spec = spec_from(spec);
  for (const std::string_view rule : rules) request.rules.push_back(parse_gate_rule(rule).value());
  return gate_answer(viewed.views, request, {});
}

// "broken main.parse 1000 1400", the findings of a rule after its verdict.
std::vector<std::string> told(const ProfilePtr& diff, std::string_view rule, std::string_view spec = "flat") {
  const GateAnswer answer = asked(diff, {rule}, spec).value();
  std::vector<std::string> out;
  const auto word = [](GateVerdict verdict) {
    return verdict == GateVerdict::broken ? "broken" : verdict == GateVerdict::held ? "held" : "undecided";
  };
  out.emplace_back(answer.rules[0].verdict ? word(*answer.rules[0].verdict) : "no match");
  for (const GateFinding& finding : answer.rules[0].findings)
    out.push_back(fmt::format("{} {} {} {}", word(finding.judgement.verdict), finding.name, finding.before,
                              finding.after));
  return out;
}

using GateTold = std::vector<std::string>;

constexpr std::string_view kGateBefore =
    "main;a.parse 1000\nmain;a.parse;a.parse 500\nmain;b.draw 4000\nmain;a.old 800\nmain;a.parse;b.draw "
    "1000\n";
constexpr std::string_view kGateAfter =
    "main;a.parse 1600\nmain;a.parse;a.parse 500\nmain;b.draw 4000\nmain;a.fresh 900\nmain;a.parse;b.draw "
    "1000\n";

}  // namespace

TEST_CASE("a rule on a function is about its stacks, each counted once") {
  const ProfilePtr diff = gate_diff({kGateBefore, kGateAfter});
  CHECK(told(diff, "total(a.parse) < +5%") == GateTold{"broken", "broken total(a.parse) 2,500 3,100"});
  CHECK(told(diff, "self(a.parse) < +5%") == GateTold{"broken", "broken self(a.parse) 1,500 2,100"});
  CHECK(told(diff, "total(b.draw) < +5%")[0] != "broken");
}

TEST_CASE("matches together are stacks once, and of `each` every one for itself") {
  const ProfilePtr diff = gate_diff({kGateBefore, kGateAfter});
  CHECK(told(diff, "total(a.*) < +5%") == GateTold{"broken", "broken total(a.*) 3,300 4,000"});
  CHECK(told(diff, "each total(/^a\\.parse|^b/) < +10%") == GateTold{"broken", "broken a.parse 2,500 3,100"});
  CHECK(told(diff, "each self(/^a\\.parse|^b/) < +1%") ==
        GateTold{"broken", "broken a.parse 1,500 2,100", "undecided b.draw 5,000 5,000"});
}

TEST_CASE("a path is functions that call one another in a row") {
  const ProfilePtr diff = gate_diff({"main;x;y 1000\nmain;x;z;y 1000\n", "main;x;y 2000\nmain;x;z;y 1000\n"});
  CHECK(told(diff, "path(x;y) < +5%") == GateTold{"broken", "broken path(x;y) 1,000 2,000"});
  CHECK(told(diff, "path(x;z;y) < +50%") == GateTold{"held", "held path(x;z;y) 1,000 1,000"});
  CHECK(told(diff, "each path(/x|z/;y) < +50%") == GateTold{"broken", "broken x > y 1,000 2,000"});
  CHECK(told(diff, "path(y;x) < +50%")[0] == "no match");
}

TEST_CASE("what is new and what is gone is a share of the side that has it") {
  const ProfilePtr diff = gate_diff({kGateBefore, kGateAfter});
  CHECK(told(diff, "new < 2%") == GateTold{"broken", "broken new 0.0 % 11 %"});
  CHECK(told(diff, "new < 20%") == GateTold{"held", "held new 0.0 % 11 %"});
  CHECK(told(diff, "gone < 2%") == GateTold{"broken", "broken gone 11 % 0.0 %"});
  CHECK(told(diff, "each new < 2%") == GateTold{"broken", "broken a.fresh 0.0 % 11 %"});
  CHECK(told(diff, "new < +500") == GateTold{"broken", "broken new 0.0 % 11 %"});
  CHECK(told(gate_diff({kGateBefore, kGateBefore}), "new < 0%") == GateTold{"held"});
}

TEST_CASE("rare functions that one side happens to lack are not new beyond chance") {
  std::string before = "main;work 1000\n", after = before;
  for (int i = 0; i < 100; ++i) (i % 2 == 0 ? before : after) += fmt::format("main;rare{} 1\n", i);
  const ProfilePtr diff = gate_diff({before, after});
  CHECK(told(diff, "new < 1%")[0] == "undecided");
  CHECK(told(diff, "each new < 0%")[0] != "broken");
}

TEST_CASE("a rule that matches nothing has no verdict") {
  const ProfilePtr diff = gate_diff({kGateBefore, kGateAfter});
  const GateAnswer answer = asked(diff, {"total(nobody) < +5%", "total(main) < +50%"}).value();
  CHECK(answer.n_unmatched == 1);
  CHECK(!answer.rules[0].verdict);
  CHECK(answer.rules[0].why == "no function is called nobody.");
  CHECK(answer.rules[1].verdict == GateVerdict::held);
}

TEST_CASE("a name with an asterisk is a name where there is one, else a glob") {
  const ProfilePtr diff = gate_diff(
      {"main;a.(*T).run 1000\nmain;a.(xT).run 1000\n", "main;a.(*T).run 1000\nmain;a.(xT).run 3000\n"});
  CHECK(told(diff, "self(a.(*T).run) < +50%") == GateTold{"held", "held self(a.(*T).run) 1,000 1,000"});
  CHECK(told(diff, "self(a.(*).run) < +50%") == GateTold{"broken", "broken self(a.(*).run) 2,000 4,000"});
}

TEST_CASE("filters of frames choose the stacks, those of threads are refused") {
  const ProfilePtr diff = gate_diff({kGateBefore, kGateAfter});
  CHECK(told(diff, "total(main) < +5%", "flat | drop function a.parse | drop function a.fresh")[1] ==
        "held total(main) 4,800 4,000");
  const auto refused = asked(diff, {"total(main) < +5%"}, "flat | thread main");
  REQUIRE(!refused);
}

TEST_CASE("hidden and collapsed frames are judged as they are shown") {
  const ProfilePtr diff = gate_diff({"main;lib.a;lib.b 1000\n", "main;lib.a;lib.b 2000\n"});
  CHECK(told(diff, "self(main) < +5%", "flat | hide function /lib/") ==
        GateTold{"broken", "broken self(main) 1,000 2,000"});
  CHECK(told(diff, "self(/lib/) < +5%", "flat | hide function /lib/")[0] == "no match");
}

TEST_CASE("values before are scaled, and divided by a counter where a rule says so") {
  CHECK(told(gate_diff({"main;f 1000\n", "main;f 2000\n"}, {{"samples", 2}}), "total(f) < +5%")[1] ==
        "undecided total(f) 2,000 2,000");
  const std::string_view metrics = "# metrics: samples/count requests/count\n";
  const ProfilePtr diff = gate_diff({std::string(metrics) + "main;f 1000 0\nmain;serve 0 500\n",
                                     std::string(metrics) + "main;f 2000 0\nmain;serve 0 1000\n"});
  CHECK(told(diff, "total(f) < +5%")[0] == "broken");
  CHECK(told(diff, "total(f) per requests < +5%")[1] ==
        "undecided total(f) per requests 2 per requests 2 per requests");
}

TEST_CASE("samples are told by a metric of the profile") {
  const std::string metrics = "# metrics: samples/count cpu/nanoseconds\n";
  const ProfilePtr few = gate_diff({metrics + "main;f 10 1000000\n", metrics + "main;f 14 1400000\n"});
  CHECK(told(few, "total(f) of cpu < +5%")[0] == "undecided");
  const ProfilePtr many = gate_diff({metrics + "main;f 1000 1000000\n", metrics + "main;f 1400 1400000\n"});
  CHECK(told(many, "total(f) of cpu < +5%") == GateTold{"broken", "broken total(f) of cpu 1.00 ms 1.40 ms"});
  const std::string unknown = "# metrics: instructions/count\n";
  const ProfilePtr counted = gate_diff({unknown + "main;f 100\n", unknown + "main;f 104\n"});
  const GateAnswer answer = asked(counted, {"total(f) < +5%"}).value();
  CHECK(answer.rules[0].verdict == GateVerdict::undecided);
  CHECK(answer.rules[0].why.find("noise cannot be judged") != std::string::npos);
}

TEST_CASE("samples with times tell how strongly they cluster") {
  // The same samples, spread evenly or in one burst a second.
  const auto run = [](int n, int ms_apart) {
    std::string text = "# metrics: samples/count\n";
    for (int i = 0; i < n; ++i)
      text += fmt::format("main;f 1 {{time={}}}\nmain;g 1 {{time={}}}\n",
                          ms_apart == 0 ? i * 10'000 / n : i / 50 * 50 * 10'000 / n, i * 10'000 / n);
    return text;
  };
  CHECK(told(gate_diff({run(1000, 0), run(1200, 0)}), "total(f) < +5%")[0] == "broken");
  CHECK(told(gate_diff({run(1000, 1), run(1200, 1)}), "total(f) < +5%")[0] == "undecided");
}

TEST_CASE("functions that are next to nothing are no question of `each`") {
  std::string before = "main;work 100000\n", after = "main;work 130000\n";
  for (int i = 0; i < 50; ++i) {
    before += fmt::format("main;rare{} 2\n", i);
    after += fmt::format("main;rare{} 9\n", i);
  }
  const GateAnswer answer = asked(gate_diff({before, after}), {"each self(*) < +5%"}).value();
  CHECK(answer.rules[0].n_broken == 1);
  CHECK(answer.rules[0].n_small == 50);
}

TEST_CASE("several runs are never added up") {
  // The first side is one run in composed(); three splits prove nothing.
  const GateAnswer answer =
      asked(gate_diff({"main 1000\n", "main 2000\n", "main 2000\n"}), {"total(main) < +5%"}).value();
  CHECK(answer.rules[0].verdict == GateVerdict::undecided);
  CHECK(answer.rules[0].why == "1 and 2 runs prove nothing, however far apart: three a side are the fewest.");
}

TEST_CASE("a rule that cannot be asked is named with its number") {
  const ProfilePtr diff = gate_diff({kGateBefore, kGateAfter});
  const auto metric = asked(diff, {"total(main) < +5%", "total(main) of heat < +5%"});
  REQUIRE(!metric);
  CHECK(metric.error().code == ErrorCode::not_found);
  CHECK(metric.error().message.starts_with(
      "rule 2, total(main) of heat < +5%: both sides have no metric heat"));
  CHECK(asked(diff, {"total(main) < +5ms"}).error().code == ErrorCode::invalid);
  CHECK(asked(profile_from_text(kGateBefore), {"total(main) < +5%"}).error().code == ErrorCode::invalid);
}

TEST_CASE("a finding says where it grew most") {
  const GateAnswer answer =
      asked(gate_diff({"main;a[x.go:3];f[f.go:7 start=5] 1000\nmain;b;f[f.go:7 start=5] 1000\n",
                       "main;a[x.go:3];f[f.go:7 start=5] 1010\nmain;b;f[f.go:7 start=5] 2000\n"}),
            {"total(f) < +5%"})
          .value();
  const GateFinding& finding = answer.rules[0].findings[0];
  CHECK(finding.path == GateTold{"main", "b", "f"});
  CHECK(finding.file == "f.go");
  CHECK(finding.line == 5);
}
