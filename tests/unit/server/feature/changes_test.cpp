// Both sides of the rows and boxes of a diff.
#include "server/feature/changes.h"

#include "server/feature/flame_answer.h"
#include "server/feature/table_answer.h"
#include "tests/support/catch.h"
#include "tests/support/composed.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

ProfilePtr diff_of(std::string_view before, std::string_view after) {
  return composed(Composed::diff, {before, after}).value();
}

// A metric of which nobody knows how many samples it was made of: nothing is said of noise.
constexpr std::string_view kBefore = "# metrics: cost/count\nmain;parse 30\nmain;old 5\nmain;same 7\n",
                           kAfter = "# metrics: cost/count\nmain;parse 40\nmain;new 2\nmain;same 7\n";

TableAnswer table_of(Viewed& viewed, std::string_view spec, std::optional<ChangeOrder> order = std::nullopt) {
  TableAnswerRequest request;
  request.open = viewed.open;
  request.spec = spec_from(spec);
  request.by_change = order;
  request.changed_only = order.has_value();
  return table_answer(viewed.views, request, {}).value();
}

// "[+] parse 30 40 +10 (+33 %)"
std::vector<std::string> rows_of(const TableAnswer& answer) {
  std::vector<std::string> out;
  const ChangeColumns& changes = *answer.changes;
  for (std::size_t i = 0; i < answer.rows.name.size(); ++i)
    out.push_back(std::string(change_mark(changes.change[i])) + " " + answer.names[answer.rows.name[i]] +
                  " " + changes.total_before_text[i] + " " + changes.total_after_text[i] + " " +
                  changes.total_change[i]);
  return out;
}

}  // namespace

TEST_CASE("a table of a diff has both sides of every row, what is gone included") {
  Viewed viewed(diff_of(kBefore, kAfter));
  const TableAnswer answer = table_of(viewed, "flat", ChangeOrder::size);
  CHECK(rows_of(answer) == std::vector<std::string>{"[+] parse 30 40 +10 (+33 %)", "[D] old 5 0 -5 (-100 %)",
                                                    "[A] new 0 2 +2", "[+] main 42 49 +7 (+17 %)"});
  REQUIRE(answer.unchanged);
  CHECK(answer.unchanged->count == 1);
  CHECK(answer.unchanged->amount.value == Value{7L});
  REQUIRE(answer.sides);
  CHECK(answer.sides->change == "+7 (+17 %)");
}

TEST_CASE("what may be noise has a mark, and what is not is named") {
  Viewed viewed(diff_of("main;slow 1000\nmain;same 5000\n", "main;slow 1600\nmain;same 5020\n"));
  const TableAnswer answer = table_of(viewed, "flat", ChangeOrder::size);
  REQUIRE(answer.rows.name.size() == 3);
  CHECK(answer.changes->self_change[0] == "+600 (+60 %)");
  CHECK(answer.changes->self_change[1] == "~ +20 (+0.4 %)");
  CHECK(answer.sides->verdict.find("2 changes are beyond sampling noise: slow, main.") == 0);
  Viewed untold(diff_of(kBefore, kAfter));
  CHECK(table_of(untold, "flat", ChangeOrder::size).sides->verdict.find("cannot be said") !=
        std::string::npos);
}

TEST_CASE("rows of a diff go by what grew or what shrank most") {
  Viewed viewed(diff_of(kBefore, kAfter));
  CHECK(rows_of(table_of(viewed, "flat", ChangeOrder::worse)).front() == "[+] parse 30 40 +10 (+33 %)");
  CHECK(rows_of(table_of(viewed, "flat", ChangeOrder::better)).front() == "[D] old 5 0 -5 (-100 %)");
}

TEST_CASE("all of a scaled side is all of it, whatever its last digits") {
  std::string before, after;
  for (int i = 0; i < 50; ++i) {
    before += "main;f" + std::to_string(i) + " " + std::to_string(7 + i * 3) + "\n";
    after += "main;f" + std::to_string(i) + " " + std::to_string(5 + i) + "\n";
  }
  Viewed viewed(
      composed(Composed::diff, {std::string_view(before), std::string_view(after)}, {{"samples", 1.0 / 3}})
          .value());
  const TableAnswer answer = table_of(viewed, "flat", ChangeOrder::size);
  CHECK(answer.sides->before.share_text == "100 %");
  CHECK(answer.sides->after.share_text == "100 %");
}

TEST_CASE("a level of a tree of a diff has both sides of every row, under filters too") {
  Viewed viewed(diff_of(kBefore, kAfter));
  TableAnswerRequest request;
  request.open = viewed.open;
  request.spec = spec_from("top-down | drop function old");
  const TableAnswer roots = table_answer(viewed.views, request, {}).value();
  CHECK(rows_of(roots) == std::vector<std::string>{"[+] main 37 49 +12 (+32 %)"});
  request.expand = {roots.rows.key[0]};
  CHECK(rows_of(table_answer(viewed.views, request, {}).value()) ==
        std::vector<std::string>{"[+] parse 30 40 +10 (+33 %)", "[=] same 7 7 ±0", "[A] new 0 2 +2"});
}

TEST_CASE("a layout of a diff has both sides of every box") {
  Viewed viewed(diff_of(kBefore, kAfter));
  FlameRequest request;
  request.open = viewed.open;
  request.spec = spec_from("top-down");
  const FlameAnswer answer = flame_answer(viewed.views, request, {}).value();
  REQUIRE(answer.changes);
  REQUIRE(answer.changes->text.size() == answer.boxes.name.size());
  CHECK(answer.head.metric == "cost larger");
  CHECK(answer.changes->text[0] == "42 → 49: +7 (+17 %)");
  CHECK(answer.boxes.total[0] == Value{54L});
}

TEST_CASE("recursion of another depth is no change once it is collapsed, whatever the view") {
  Viewed viewed(diff_of("main;f;f;f 20\n", "main;f;f 20\n"));
  const TableAnswer answer = table_of(viewed, "flat | collapse recursion", ChangeOrder::size);
  CHECK(answer.rows.name.empty());
  CHECK(answer.unchanged->count == 2);
}

TEST_CASE("a profile that is no diff has no sides, and no order by change") {
  Viewed viewed("main;f 1\n");
  CHECK_FALSE(table_of(viewed, "flat").changes);
  TableAnswerRequest request;
  request.open = viewed.open;
  request.spec = spec_from("flat");
  request.by_change = ChangeOrder::size;
  CHECK(table_answer(viewed.views, request, {}).error().code == ErrorCode::invalid);
}

TEST_CASE("what makes two sides hard to compare is said") {
  const auto made_by = [](const char* program, std::int64_t duration_ns) {
    ProfileBuilder builder;
    add_text(builder, "main 5\n");
    builder.info().program = program;
    builder.info().duration_ns = duration_ns;
    return std::move(builder).finish().value();
  };
  const ProfilePtr diff =
      composed(Composed::diff, std::vector{made_by("a", 1'000'000'000), made_by("b", 2'000'000'000)}).value();
  const std::vector<std::string> warnings = comparability(*diff->composition());
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0] == "programs differ: a before, b after");
  CHECK(warnings[1].find("durations differ: 1.00 s before, 2.00 s after") == 0);
  CHECK(comparability(
            *composed(Composed::diff, std::vector{made_by("a", 1), made_by("a", 1)}).value()->composition())
            .empty());
}

TEST_CASE("the change of a row is exact, or fractional where no whole number holds it") {
  const auto delta = [](const Value& before, const Value& after) {
    return change_columns({{before}, {before}}, {{after}, {after}}, "count").self_delta[0];
  };
  CHECK(delta(Value{std::int64_t{1} << 62}, Value{(std::int64_t{1} << 62) + 1}) == Value{std::int64_t{1}});
  CHECK(delta(Value{-9'000'000'000'000'000'000L}, Value{9'000'000'000'000'000'000L}) == Value{18e18});
  CHECK(delta(Value{1.5}, Value{2L}) == Value{0.5});
}
