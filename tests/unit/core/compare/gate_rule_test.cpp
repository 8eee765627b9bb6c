// Rules of a gate as text.
#include "core/compare/gate_rule.h"

#include <string>

#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

GateRule rule_of(std::string_view text) {
  auto rule = parse_gate_rule(text);
  INFO(text);
  if (!rule) FAIL(rule.error().message);
  return *rule;
}

std::string refusal(std::string_view text) {
  const auto rule = parse_gate_rule(text);
  INFO(text);
  REQUIRE(!rule);
  return rule.error().message;
}

NamePattern name(std::string text) {
  return {NamePattern::Kind::name, std::move(text)};
}

}  // namespace

TEST_CASE("a rule says what is judged, in which metric, and how much more is allowed") {
  const GateRule rule = rule_of("each total(main.parseRow) of cpu per requests < +5%");
  CHECK(rule.each);
  CHECK(rule.subject == GateSubject::total);
  CHECK(rule.patterns == std::vector{name("main.parseRow")});
  CHECK(rule.metric == "cpu");
  CHECK(rule.per == "requests");
  CHECK(rule.limit == GateLimit{GateLimit::Kind::relative, 5, ""});
}

TEST_CASE("limits are parts of what was before, amounts, points, or shares of the whole") {
  CHECK(rule_of("self(f) < +2.5%").limit == GateLimit{GateLimit::Kind::relative, 2.5, ""});
  CHECK(rule_of("self(f) < +20ms").limit == GateLimit{GateLimit::Kind::absolute, 20, "ms"});
  CHECK(rule_of("self(f) < +100").limit == GateLimit{GateLimit::Kind::absolute, 100, ""});
  CHECK(rule_of("self(f) < +2pp").limit == GateLimit{GateLimit::Kind::points, 2, ""});
  CHECK(rule_of("new < 2 %").limit == GateLimit{GateLimit::Kind::share, 2, ""});
  CHECK(rule_of("gone<1%").subject == GateSubject::gone);
}

TEST_CASE("patterns are names with parentheses, globs, expressions and names in quotes") {
  CHECK(rule_of("total(foo(int, bar(char))) < +5%").patterns == std::vector{name("foo(int, bar(char))")});
  CHECK(rule_of("total( a b ) < +5%").patterns == std::vector{name("a b")});
  CHECK(rule_of("total(main.*) < +5%").patterns ==
        std::vector{NamePattern{NamePattern::Kind::glob, "main.*"}});
  CHECK(rule_of(R"(total(/^a\/b\.c\)$/) < +5%)").patterns ==
        std::vector{NamePattern{NamePattern::Kind::regex, R"(^a/b\.c\)$)"}});
  CHECK(rule_of(R"(total("operator(\"*\\;") < +5%)").patterns == std::vector{name(R"(operator("*\;)")});
  CHECK(rule_of("path(main;a.f(Lx;I);/b/) < +5%").patterns ==
        std::vector{name("main"), name("a.f(Lx;I)"), NamePattern{NamePattern::Kind::regex, "b"}});
}

TEST_CASE("what is no rule is told with the place that is wrong") {
  struct Wrong {
    std::string_view text, place;
  };
  const Wrong wrong[] = {
      {"", "character 1"},
      {"totl(f) < +5%", "character 1"},
      {"total f < +5%", "character 7"},
      {"total() < +5%", "character 7"},
      {"total(f < +5%", "character 14"},
      {"total(a;b) < +5%", "character 8"},
      {"total(f) of < +5%", "character 13"},
      {"total(f) of a of b < +5%", "character 15"},
      {"total(f) per a of b < +5%", "character 16"},
      {"total(f) > +5%", "character 10"},
      {"total(f) < ", "character 12"},
      {"total(f) < -5%", "character 12"},
      {"total(f) < +5", ""},  // in the metric's own unit
      {"total(f) < 5", "character 12"},
      {"total(f) < 5ms", "character 12"},
      {"total(f) < +5parsec", "character 14"},
      {"total(f) < +1.2.3%", "character 13"},
      {"total(f) < +1e999%", "character 14"},
      {"total(f) < +99999999999999999999999%", "character 13"},
      {"total(f) < 101%", "character 12"},
      {"total(f) < 2pp", "character 12"},
      {"total(f) per n < 2%", "character 18"},
      {"new < +5%", "character 8"},
      {"gone < +1pp", "character 9"},
      {"new(f) < 2%", "character 4"},
      {"total(/(/) < +5%", "character 7"},
      {"total(/a) < +5%", "character 7"},
      {"total(//) < +5%", "character 7"},
      {"total(\"a) < +5%", "character 7"},
      {"total(\"\") < +5%", "character 7"},
      {"total(f) < +5% or", "character 16"},
      {"every total(f) < +5%", "character 1"},
      {"each", "character 5"},
      {"each each total(f) < +5%", "character 6"},
      {"total(f) off cpu < +5%", "character 10"},
      {"total(f) < five%", "character 12"},
      {"total(a\nb) < +5%", "character 8"},
      {std::string_view("total(a\0b) < +5%", 16), "character 8"},
  };
  for (const Wrong& one : wrong) {
    if (one.place.empty()) {
      CHECK(parse_gate_rule(one.text));
      continue;
    }
    const std::string said = refusal(one.text);
    INFO(one.text << " -> " << said);
    CHECK(said.find("(at " + std::string(one.place) + ")") != std::string::npos);
  }
}

TEST_CASE("rules that are long or deep are refused or read in time, whatever they hold") {
  CHECK(parse_gate_rule("total(" + std::string(kMaxRuleBytes, 'a') + ") < +5%").error().code ==
        ErrorCode::limit);
  CHECK(refusal("total(" + std::string(4000, '(')).find("(at character 4007)") != std::string::npos);
  for (const char bracket : {'(', ')', '[', '"', '/', '*', ';'})
    CHECK(refusal("total(" + std::string(10'000, bracket) + ") < +5%") ==
          "rule: it is longer than 4096 bytes");
  CHECK(refusal("path(" + std::string(4000, ';') + ") < +5%").find("(at character 6)") != std::string::npos);
  const std::string nested = std::string(1500, '(') + "a" + std::string(1500, ')');
  CHECK(rule_of("total(" + nested + ") < +5%").patterns[0].text == nested);
  std::string path = "path(a";
  for (std::size_t i = 1; i < kMaxRulePath; ++i) path += ";a";
  CHECK(rule_of(path + ") < +5%").patterns.size() == kMaxRulePath);
  CHECK(refusal(path + ";a) < +5%").find("at most 64") != std::string::npos);
  CHECK(!parse_gate_rule("total(/((((((((a{1000}){1000}){1000}){1000}){1000}){1000}){1000}){1000})/) < +5%"));
}

TEST_CASE("a rule's text reads back as the same rule") {
  Rng rng(7);
  const std::string pieces[] = {"a", "main.f", "*", ";", "(", ")",    "\"", "\\",  "/",  " ",
                                "é", "<",      ":", "x", "%", "\xff", "of", "per", "\\d"};
  const auto text = [&] {
    std::string out;
    for (std::size_t n = below(rng, 6) + 1; n > 0; --n) out += pieces[below(rng, std::size(pieces))];
    return out;
  };
  int n_said = 0;
  for (int round = 0; round < 3000; ++round) {
    GateRule rule;
    rule.each = below(rng, 2) == 0;
    rule.subject = static_cast<GateSubject>(below(rng, 5));
    const bool one_sided = rule.subject == GateSubject::added || rule.subject == GateSubject::gone;
    if (!one_sided)
      for (std::size_t n = rule.subject == GateSubject::path ? below(rng, 4) + 1 : 1; n > 0; --n)
        rule.patterns.push_back(name(text()));
    if (below(rng, 2) == 0) rule.metric = text();
    rule.limit.value = static_cast<double>(below(rng, 100000)) / 1000;
    if (one_sided) rule.limit = {GateLimit::Kind::share, static_cast<double>(below(rng, 1000)) / 10, ""};
    const std::string said = to_text(rule);
    INFO(said);
    CHECK(rule_of(said) == rule);
    ++n_said;
    // Any text that is a rule has one canonical form.
    if (const auto free = parse_gate_rule("path(" + text() + ";" + text() + ") < +5%"))
      CHECK(rule_of(to_text(*free)) == *free);
  }
  CHECK(n_said == 3000);
}

TEST_CASE("a limit is written without an exponent, however large or small, and reads back as itself") {
  for (const char* limit :
       {"+88888888888888881KiB", "+1000000000000000000", "+0.00000001%", "+0.1%", "+2.5pp", "7%"}) {
    const GateRule rule = rule_of(std::string("total(f) < ") + limit);
    CHECK(to_text(rule).find('e') == std::string::npos);
    CHECK(rule_of(to_text(rule)) == rule);
  }
  CHECK(to_text(rule_of("total(f) < +2.50%")) == "total(f) < +2.5%");
  CHECK(to_text(rule_of("total(f) < +20ms")) == "total(f) < +20ms");
}

TEST_CASE("a glob's stars stand for any bytes, and everything else for itself") {
  CHECK(matches_glob("main.parse", "main.*"));
  CHECK(matches_glob("main.", "main.*"));
  CHECK(!matches_glob("mainparse", "main.*"));
  CHECK(matches_glob("a.b.c", "*b*"));
  CHECK(matches_glob("abcbc", "a*bc"));
  CHECK(!matches_glob("ab", "ab*b"));
  CHECK(matches_glob("", "*"));
  CHECK(matches_glob("x", "**"));
  CHECK(!matches_glob("xay", "x*b*y"));
  // No backtracking: quadratic at worst.
  std::string stars;
  for (int i = 0; i < 1000; ++i) stars += "*a";
  CHECK(!matches_glob(std::string(100000, 'a') + "b", stars + "*c"));
}

TEST_CASE("an amount is in the metric's unit or refused") {
  CHECK(limit_in({GateLimit::Kind::absolute, 20, "ms"}, "nanoseconds") == 20e6);
  CHECK(limit_in({GateLimit::Kind::absolute, 2, "KiB"}, "bytes") == 2048.0);
  CHECK(limit_in({GateLimit::Kind::absolute, 7, ""}, "count") == 7.0);
  CHECK(limit_in({GateLimit::Kind::absolute, 20, "ms"}, "bytes").error().code == ErrorCode::invalid);
}
