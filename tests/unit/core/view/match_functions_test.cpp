#include "core/view/match_functions.h"

#include <fmt/format.h>

#include "core/view/rename_rules.h"
#include "core/view/renamed_functions.h"
#include "core/view/selection.h"
#include "tests/support/catch.h"
#include "tests/support/composed.h"

using namespace profd;
using namespace profd::test;

namespace {

ProfilePtr matched(std::string_view before, std::string_view after, MatchRules rules = {}) {
  SerialExecutor serial;
  return with_matching(composed(Composed::diff, {before, after}).value(), std::move(rules), serial, {})
      .value();
}

MatchRules renames(std::initializer_list<std::string_view> texts, MatchMode mode = MatchMode::exact) {
  MatchRules rules;
  rules.mode = mode;
  for (const std::string_view text : texts) rules.renames.push_back(parse_rename(text).value());
  return rules;
}

// Functions by name, with which sides have them: "main AB".
std::string functions_of(const Profile& diff) {
  const auto keys = std::make_shared<const KeyTable>(make_keys(diff, Granularity::function));
  const auto joined = joined_keys(diff, keys, diff.matching(), {}).value().keys;
  std::vector<std::string> out(joined->n_keys());
  for (Key key = 0; key < joined->n_keys(); ++key) out[joined->name_rank[key]] = key_name(diff, *joined, key);
  std::vector<std::string> sides(joined->n_keys());
  for (const bool before : {true, false})
    for (std::size_t i = 0; i < diff.composition()->inputs.size(); ++i)
      if (diff.composition()->inputs[i].before == before)
        for (const std::uint32_t frame : diff.composition()->frames_of[i]) {
          std::string& side = sides[joined->name_rank[joined->of_frame[frame]]];
          const char mark = before ? 'A' : 'B';
          if (side.empty() || side.back() != mark) side += mark;
        }
  std::string text;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!sides[i].empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", out[i], sides[i]);
  return text;
}

std::string suggested(const Profile& diff) {
  std::string out;
  for (const Suggestion& pair : diff.matching()->suggested)
    out += fmt::format("{}{} -> {}{}", out.empty() ? "" : ", ", pair.before_name, pair.after_name,
                       pair.near_line ? " near" : "");
  return out;
}

}  // namespace

TEST_CASE("a function that a rule renames is one, with what it calls") {
  const auto diff = matched("main;old[m.c:3];work 10", "main;fresh[m.c:3];work 12", renames({"old=fresh"}));
  CHECK(functions_of(*diff) == "fresh AB, main AB, work AB");
  CHECK(diff->matching()->n_renamed == std::vector<std::size_t>{1});
  CHECK(diff->matching()->suggested.empty());
}

TEST_CASE("a renamed package may lie in another folder") {
  const auto before = "main;old/pkg.Run[/s/old/pkg/run.go:3];old/pkg.Row[/s/old/pkg/row.go:9] 10",
             after = "main;new/pkg.Run[/s/fresh/r.go:3];new/pkg.Row[/s/fresh/q.go:9] 10";
  CHECK(functions_of(*matched(before, after)) ==
        "main AB, new/pkg.Row B, new/pkg.Run B, old/pkg.Row A, old/pkg.Run A");
  const auto diff = matched(before, after, renames({"old/pkg=new/pkg"}));
  CHECK(functions_of(*diff) == "main AB, new/pkg.Row AB, new/pkg.Run AB");
  CHECK(diff->matching()->n_renamed == std::vector<std::size_t>{2});
}

TEST_CASE("a rule renames what only the side before has") {
  const auto diff = matched("main;f 1\nmain;g 1", "main;f 1\nmain;h 1", renames({"f=h", "nobody=h"}));
  CHECK(functions_of(*diff) == "f AB, g A, h B, main AB");
  CHECK(diff->matching()->n_renamed == std::vector<std::size_t>{0, 0});
}

TEST_CASE("functions of one name that a rule renames are told apart as any are") {
  const auto before = "f[a.c:1 start=1 system=_Z1fi] 1\nf[a.c:9 start=9 system=_Z1fd] 1",
             after = "g[a.c:1 start=1 system=_Z1gi] 1\ng[a.c:9 start=9 system=_Z1gd] 1";
  CHECK(functions_of(*matched(before, after, renames({"f=g"}))) == "g AB, g AB");
}

TEST_CASE("a function whose file is not known is the one of its name that is left over") {
  const auto one = [](std::string_view before, std::string_view after) {
    const auto diff = matched(before, after);
    return fmt::format("{}: {}", functions_of(*diff), diff->matching()->n_by_name);
  };
  CHECK(one("main;digest[b.c:1] 1\nmain;digest[r.c:1] 1",
            "main;digest[</b/<artificial>:1] 1\nmain;digest[r.c:1] 1") == "digest AB, digest AB, main AB: 1");
  CHECK(one("main;f[module=a.so] 1", "main;f[f.c:1 module=b.so] 1") == "f AB, main AB: 1");
  // Two files are two functions, and of several nobody knows which it is.
  CHECK(one("main;f[a.c:1] 1", "main;f[b.c:1] 1") == "f A, f B, main AB: 0");
  CHECK(one("main;f[a.c:1] 1\nmain;f[b.c:1] 1", "main;f[<artificial>:1] 1") == "f B, f A, f A, main AB: 0");
  // Of libraries that both sides have, each may have one.
  CHECK(one("main;f[module=a.so] 1\ng[module=b.so] 1", "main;f[module=b.so] 1\nh[module=a.so] 1") ==
        "f A, f B, g A, h B, main AB: 0");
  CHECK(one("main;[unknown][module=a.so] 1", "main;[unknown][module=b.so] 1") ==
        "[unknown] A, [unknown] B, main AB: 0");
}

TEST_CASE("by name alone, files that differ do not matter where one is left on each side") {
  const auto rules = renames({}, MatchMode::name);
  CHECK(functions_of(*matched("main;f[a.c:1] 1\nmain;g[a.c:5] 1", "main;f[b.c:1] 1\nmain;g[a.c:5] 1",
                              rules)) == "f AB, g AB, main AB");
  CHECK(functions_of(*matched("main;f[a.c:1] 1\nmain;f[b.c:1] 1", "main;f[c.c:1] 1", rules)) ==
        "f A, f A, f B, main AB");
  CHECK(functions_of(*matched("main;f[a.c:1] 1\nmain;f[b.c:1] 1", "main;f[b.c:1] 1\nmain;f[c.c:1] 1",
                              rules)) == "f AB, f AB, main AB");
}

TEST_CASE("what calls the same below one parent is perhaps renamed") {
  const auto before = "main;settle;read 60\nmain;settle;write 40\nmain;other 5",
             after = "main;settleAll;read 55\nmain;settleAll;write 45\nmain;other 5";
  const auto diff = matched(before, after);
  CHECK(suggested(*diff) == "settle -> settleAll");
  CHECK(diff->matching()->suggested[0].same_callees == Approx(0.95));
  CHECK(diff->matching()->suggested[0].share == Approx(100.0 / 105));
  CHECK(functions_of(*diff) == "main AB, other AB, read AB, settle A, settleAll B, write AB");
  CHECK(functions_of(*matched(before, after, renames({}, MatchMode::suggested))) ==
        "main AB, other AB, read AB, settleAll AB, write AB");
  // The rule that is suggested makes them one.
  CHECK(suggested(*matched(before, after, renames({"settle=settleAll"}))).empty());
}

TEST_CASE("what calls something else is not renamed, nor what calls nothing") {
  CHECK(suggested(*matched("main;a;read 90\nmain;a;write 10", "main;b;read 10\nmain;b;write 90")).empty());
  CHECK(suggested(*matched("main;a 90", "main;b 90")).empty());
  // What it calls has next to nothing of its cost.
  CHECK(suggested(*matched("main;a 90\nmain;a;read 2", "main;b 90\nmain;b;read 2")).empty());
}

TEST_CASE("what begins near the same line of one file is perhaps renamed") {
  CHECK(suggested(*matched("main;a[a.c:15 start=10] 9", "main;b[a.c:35 start=30] 9")) == "a -> b near");
  CHECK(suggested(*matched("main;a[a.c:15 start=10] 9", "main;b[a.c:35 start=31] 9")).empty());
  CHECK(suggested(*matched("main;a[a.c:15 start=10] 9", "main;b[b.c:15 start=10] 9")).empty());
  // Of no parent that both sides have.
  CHECK(suggested(*matched("x;a[a.c:15 start=10] 9", "y;a2[a.c:15 start=10] 9")).empty());
}

TEST_CASE("below what is perhaps renamed there may be more, and what is called after it goes with it") {
  CHECK(suggested(*matched("main;a;b;read 90", "main;c;d;read 90")) == "");
  CHECK(suggested(*matched("main;a[a.c:1 start=1];b;read 90", "main;c[a.c:1 start=1];d;read 90")) ==
        "a -> c near, b -> d");
  CHECK(suggested(*matched("main;rank;rank.func1;less 90", "main;order;order.func1;less 90")) ==
        "rank -> order, rank.func1 -> order.func1");
}

TEST_CASE("each function is in one pair at most, the better one") {
  const auto diff = matched("main;a;read 50\nmain;a;write 50\nmain;b;read 100",
                            "main;c;read 55\nmain;c;write 45\nmain;d;read 100");
  CHECK(suggested(*diff) == "b -> d, a -> c");
}

TEST_CASE("of very many below one parent the largest are looked at, and the others counted") {
  std::string before, after;
  for (int i = 0; i < 100; ++i) {
    before += fmt::format("main;old{};read{} {}\n", i, i, 1000 - i);
    after += fmt::format("main;new{};read{} {}\n", i, i, 1000 - i);
  }
  const auto diff = matched(before, after);
  CHECK(diff->matching()->suggested.size() == 100);
  CHECK(diff->matching()->n_not_looked_at == 72);
}
