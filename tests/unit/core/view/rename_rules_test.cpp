#include "core/view/rename_rules.h"

#include <fmt/format.h>

#include "core/view/filters.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

std::string renamed(std::string_view rule, std::string_view name) {
  const auto rules = RenameRules::compile({parse_rename(rule).value()});
  REQUIRE(rules);
  const auto made = rules->apply(name);
  return made ? made->name : "-";
}

ErrorCode refused(std::string_view rule) {
  const auto parsed = parse_rename(rule);
  if (!parsed) return parsed.error().code;
  return RenameRules::compile({*parsed}).error().code;
}

}  // namespace

TEST_CASE("a text renames a whole name, or its beginning where a part of it ends") {
  CHECK(renamed("parse=read", "parse") == "read");
  CHECK(renamed("old/pkg=new/pkg", "old/pkg.(*T).Run") == "new/pkg.(*T).Run");
  CHECK(renamed("old/pkg=new/pkg", "old/pkgs.Run") == "-");
  CHECK(renamed("old=new", "much.old.Run") == "-");
  CHECK(renamed("ns::=other::", "ns::f(int)") == "other::f(int)");
  CHECK(renamed("settle=pay", "settle(int)") == "pay(int)");
}

TEST_CASE("an expression renames what it finds, with its groups") {
  CHECK(renamed("/^old_(.*)$/=new_$1", "old_row") == "new_row");
  CHECK(renamed("/old/=new", "old.f(old.T)") == "new.f(new.T)");
  CHECK(renamed("/(a)(b)/=$2$1$$1", "ab") == "ba$1");
  CHECK(renamed("/a\\/b/=c", "a/b.Run") == "c.Run");
  CHECK(renamed("/x/=y", "abc") == "-");
  CHECK(renamed("/$/=.new", "abc") == "abc.new");
  // Once a place, and not for ever.
  CHECK(renamed("/a*/=x", std::string(100, 'b')) == [] {
    std::string out;
    for (std::size_t i = 0; i < kMostReplaced; ++i) out += "xb";
    return out.append(100 - kMostReplaced, 'b');
  }());
}

TEST_CASE("names with a sign of the rule in them are put in quotes") {
  CHECK(renamed("\"operator==\"=equal", "operator==") == "equal");
  CHECK(renamed("\"/odd\"=even", "/odd") == "even");
  CHECK(renamed("\"a\\\"b\"=c", "a\"b") == "c");
  CHECK(renamed("a=\"b\"", "a") == "b");
  // No expression, as no slash ends it.
  CHECK(renamed("/srv/x=/srv/y", "/srv/x/main.js") == "/srv/y/main.js");
}

TEST_CASE("the first rule that is of a name renames it") {
  const auto rules = RenameRules::compile({{"a", false, "b"}, {"a.x", false, "c"}, {"b", false, "d"}});
  CHECK(rules->apply("a.x")->name == "b.x");
  CHECK(rules->apply("a.x")->rule == 0);
  CHECK(rules->apply("b")->rule == 2);
}

TEST_CASE("what is no rule is refused") {
  for (const char* text : {"", "=", "a", "a=", "=b", "/a/", "\"a\"", "/a/=", "/(/=b", "/a/=$1", "//=x"})
    CHECK(refused(text) == ErrorCode::invalid);
  CHECK(refused(fmt::format("/{:a>{}}/=b", "", kMaxPatternLength + 1)) == ErrorCode::limit);
  CHECK(refused(fmt::format("{:a>{}}=b", "", kMaxRenameLength + 1)) == ErrorCode::limit);
  CHECK(refused(fmt::format("a={:b>{}}", "", kMaxRenameLength + 1)) == ErrorCode::limit);
  CHECK(RenameRules::compile(std::vector<RenameRule>(kMaxRenames + 1, {"a", false, "b"})).error().code ==
        ErrorCode::limit);
  // Longer names than anybody writes have no rule.
  CHECK(renamed("/a/=b", std::string(Pattern::kLongText + 1, 'a')) == "-");
}

TEST_CASE("a rule is written so that it is read as the same rule") {
  const std::vector<RenameRule> rules{
      {"a", false, "b"},       {"operator==", false, "x=y"}, {"/a", false, "\"b\""},
      {"a\"\\b=", false, "c"}, {"^a/b\\/c\\d", true, "$1x"}, {"\"a\"", false, "b"}};
  for (const RenameRule& rule : rules) {
    const auto again = parse_rename(to_text(rule));
    REQUIRE(again);
    if (!rule.regex) CHECK(*again == rule);
    CHECK(to_text(*again) == to_text(rule));
  }
}
