// A gate's answer as text for people and machines.
#include "server/cli/gate_writers.h"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/cli/gate_results.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

GateFinding finding_called(std::string name, GateVerdict verdict) {
  GateFinding finding;
  finding.judgement.verdict = verdict;
  finding.judgement.before = 100;
  finding.judgement.after = 150;
  finding.judgement.allowed = 105;
  finding.name = std::move(name);
  finding.before = "100 ms";
  finding.after = "150 ms";
  finding.change = "+50 ms (+50 %)";
  finding.noise = "95 %: +20 % to +70 %";
  finding.why = "It is past the limit, beyond noise.";
  finding.path = {"main", finding.name};
  finding.file = "/src/project/" + finding.name + ".go";
  finding.line = 17;
  return finding;
}

GateRuleAnswer rule_answer(std::string text, std::string name, std::optional<GateVerdict> verdict) {
  GateRuleAnswer rule;
  rule.rule = std::move(text);
  rule.metric = "cpu";
  rule.verdict = verdict;
  rule.why = "Said of " + name + ".";
  if (!verdict) return rule;
  rule.findings.push_back(finding_called(std::move(name), *verdict));
  return rule;
}

GateAnswer gate_answer_of(std::vector<GateRuleAnswer> rules) {
  GateAnswer answer;
  for (const GateRuleAnswer& rule : rules)
    ++(!rule.verdict                             ? answer.n_unmatched
       : *rule.verdict == GateVerdict::broken    ? answer.n_broken
       : *rule.verdict == GateVerdict::undecided ? answer.n_undecided
                                                 : answer.n_held);
  answer.rules = std::move(rules);
  answer.noise = "One run a side.";
  return answer;
}

GateAnswer one_of_each() {
  return gate_answer_of({rule_answer("total(a) < +5%", "a", GateVerdict::broken),
                         rule_answer("total(b) < +5%", "b", GateVerdict::undecided),
                         rule_answer("total(c) < +5%", "c", GateVerdict::held),
                         rule_answer("total(d) < +5%", "d", std::nullopt)});
}

std::string prose_of(std::string_view markdown) {
  std::string prose;
  for (std::size_t i = 0; i < markdown.size();) {
    const std::size_t run = std::min(markdown.find_first_not_of('`', i), markdown.size()) - i;
    if (markdown[i] == '\\') {
      i += 2;
    } else if (run == 0) {
      prose += markdown[i++];
    } else {
      // The next run of as many.
      std::size_t end = i + run, found = 0;
      while (end < markdown.size() && found != run) {
        end = std::min(markdown.find('`', end), markdown.size());
        found = std::min(markdown.find_first_not_of('`', end), markdown.size()) - end;
        end += found;
      }
      REQUIRE(found == run);
      i = end;
    }
  }
  return prose;
}

const std::string kHostileName =
    "x\x1b]0;owned\x07<script>alert(1)</script>]]>\"&'`[a](javascript:b)|@all #1 </details>\u202e\n### head";

}  // namespace

TEST_CASE("JUnit has a case a rule: undecided is skipped, no match an error") {
  const std::string xml = gate_junit(one_of_each());
  CHECK(xml.find("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\"") != std::string::npos);
  CHECK(xml.find("<testcase classname=\"profd.gate\" name=\"total(a) &lt; +5%\"><failure") !=
        std::string::npos);
  CHECK(xml.find("name=\"total(b) &lt; +5%\"><skipped") != std::string::npos);
  CHECK(xml.find("name=\"total(c) &lt; +5%\"/>") != std::string::npos);
  CHECK(xml.find("name=\"total(d) &lt; +5%\"><error") != std::string::npos);
}

TEST_CASE("SARIF has a result for what is broken or undecided, at a relative place") {
  const auto log = nlohmann::json::parse(gate_sarif(one_of_each(), "/src/project"));
  const auto& run = log["runs"][0];
  REQUIRE(run["results"].size() == 2);
  const auto& result = run["results"][0];
  CHECK(result["level"] == "error");
  CHECK(result["ruleId"] == run["tool"]["driver"]["rules"][0]["id"]);
  const auto& place = result["locations"][0]["physicalLocation"];
  CHECK(place["artifactLocation"]["uri"] == "a.go");
  CHECK(place["region"]["startLine"] == 17);
  CHECK(run["results"][1]["level"] == "note");
  CHECK(run["invocations"][0]["executionSuccessful"] == false);
}

TEST_CASE("a result is the same one after its line has moved, and another one of another rule or function") {
  GateAnswer answer = one_of_each();
  const auto print = [&] {
    return nlohmann::json::parse(gate_sarif(answer, ""))["runs"][0]["results"][0]["partialFingerprints"];
  };
  const auto before = print();
  answer.rules[0].findings[0].line += 20;
  answer.rules[0].findings[0].judgement.after = 170;
  CHECK(print() == before);
  answer.rules[0].findings[0].name = "other";
  CHECK(print() != before);
  CHECK(gate_fingerprint("r", "x") != gate_fingerprint("s", "x"));
}

TEST_CASE("a file of a profile is never outside of the folder") {
  GateAnswer answer = one_of_each();
  const auto uri_of = [&](std::string file, std::string_view root = "") {
    answer.rules[0].findings[0].file = std::move(file);
    const auto log = nlohmann::json::parse(gate_sarif(answer, root));
    return log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        .get<std::string>();
  };
  CHECK(uri_of("../../etc/passwd") == "etc/passwd");
  CHECK(uri_of("C:\\src\\a b.cc") == "C%3A/src/a%20b.cc");
  CHECK(uri_of("https://x.example/y") == "https%3A/x.example/y");
  CHECK(uri_of("") == "unknown");
  CHECK(uri_of("/src/projects/a.go", "/src/project") == "src/projects/a.go");
}

TEST_CASE("GitLab's Code Quality has the results with a plain relative path, and no line in a fingerprint") {
  GateAnswer answer = one_of_each();
  const auto list = [&] { return nlohmann::json::parse(gate_gitlab(answer, "/src/project")); };
  auto results = list();
  REQUIRE(results.size() == 2);
  CHECK(results[0]["severity"] == "major");
  CHECK(results[0]["location"] == nlohmann::json{{"path", "a.go"}, {"lines", {{"begin", 17}}}});
  CHECK(results[0]["description"].get<std::string>().find("a: 100 ms → 150 ms, +50 ms (+50 %).") == 0);
  CHECK(results[0]["check_name"] == "profd gate");
  CHECK(results[1]["severity"] == "info");
  answer.rules[0].findings[0].line += 20;
  CHECK(list()[0]["fingerprint"] == results[0]["fingerprint"]);
  answer.rules[0].findings[0].file = "../a b/<x>\x1b.go";
  answer.rules[0].findings[0].line = 0;
  results = list();
  CHECK(results[0]["location"]["path"].get<std::string>().find("a b/<x>") == 0);
  CHECK(results[0]["location"]["lines"]["begin"] == 1);
  // One fingerprint is one result: functions of one name are told apart.
  answer.rules[0].findings = std::vector<GateFinding>(3, answer.rules[0].findings[0]);
  std::set<std::string> prints;
  for (const auto& result : list()) prints.insert(result["fingerprint"].get<std::string>());
  CHECK(prints.size() == 4);
}

TEST_CASE("where the rules stand is in every report") {
  GateAnswer answer = one_of_each();
  answer.rules_from = "../gate<b>.toml";
  CHECK(gate_text(answer, Terminal{}).find("The rules are those of ../gate<b>.toml.") != std::string::npos);
  CHECK(gate_markdown(answer).find("The rules are those of") != std::string::npos);
  CHECK(gate_sarif(answer, "").find("The rules are those of ../gate<b>.toml.") != std::string::npos);
  CHECK(gate_junit(answer).find("value=\"../gate&lt;b&gt;.toml\"") != std::string::npos);
  CHECK(nlohmann::json::parse(gate_json(answer))["rulesFrom"] == "../gate<b>.toml");
}

TEST_CASE("the Markdown has the three worst and folds the rest") {
  std::vector<GateRuleAnswer> rules;
  for (int i = 0; i < 5; ++i) {
    rules.push_back(
        rule_answer(fmt::format("total(f{}) < +5%", i), fmt::format("f{}", i), GateVerdict::broken));
    rules.back().findings[0].judgement.after = 150 + i;
  }
  const std::string text = gate_markdown(gate_answer_of(std::move(rules)));
  const std::string shown = text.substr(0, text.find("<details>"));
  CHECK(shown.find("`f4`") < shown.find("`f3`"));
  CHECK(shown.find("`f3`") < shown.find("`f2`"));
  CHECK(shown.find("`f1`") == std::string::npos);
  CHECK(text.find("`total(f0) < +5%`") != std::string::npos);
}

TEST_CASE("ten thousand rules are a comment of 60,000 characters and results that readers take") {
  std::vector<GateRuleAnswer> rules;
  for (int i = 0; i < 10'000; ++i)
    rules.push_back(
        rule_answer(fmt::format("total(function_number_{}_{}) < +5%", i, std::string(i % 900, 'n')),
                    std::string(static_cast<std::size_t>(i % 3000), '|'),
                    i % 2 == 0 ? GateVerdict::broken : GateVerdict::undecided));
  const GateAnswer answer = gate_answer_of(std::move(rules));
  const std::string text = gate_markdown(answer);
  CHECK(text.size() <= kMaxGateMarkdown);
  CHECK(text.find("</details>") != std::string::npos);
  CHECK(text.find("rules more") != std::string::npos);
  const auto log = nlohmann::json::parse(gate_sarif(answer, ""));
  CHECK(log["runs"][0]["results"].size() == kMaxGateResults);
  for (const auto& rule : log["runs"][0]["tool"]["driver"]["rules"])
    CHECK(rule["fullDescription"]["text"].get<std::string>().size() <= 1024);
}

TEST_CASE("names are data in all six outputs") {
  GateAnswer answer = gate_answer_of(
      {rule_answer("total(" + kHostileName + ") < +5%", kHostileName, GateVerdict::broken),
       rule_answer("each self(" + kHostileName + ") < +5%", kHostileName, GateVerdict::undecided),
       rule_answer("self(" + kHostileName + ") < +5%", kHostileName, std::nullopt)});
  answer.warnings = {kHostileName};
  answer.scale = answer.rules_from = kHostileName;
  for (GateRuleAnswer& rule : answer.rules)
    for (GateFinding& finding : rule.findings) finding.change = finding.before = finding.noise = kHostileName;
  const std::string text = gate_text(answer, Terminal{}), markdown = gate_markdown(answer),
                    sarif = gate_sarif(answer, ""), junit = gate_junit(answer), json = gate_json(answer),
                    gitlab = gate_gitlab(answer, "");
  for (const std::string& out : {text, markdown, sarif, junit, json, gitlab}) {
    CHECK(out.find('\x1b') == std::string::npos);
    CHECK(out.find('\x07') == std::string::npos);
    CHECK(out.find("\n### head") == std::string::npos);
  }
  for (const std::string& out : {text, markdown, junit}) CHECK(out.find("\u202e") == std::string::npos);
  CHECK(junit.find("<script") == std::string::npos);
  CHECK(junit.find("]]>") == std::string::npos);
  // Outside of code spans and without what a backslash takes the meaning of.
  const std::string prose = prose_of(markdown);
  CHECK(prose.find("<script") == std::string::npos);
  CHECK(prose.find("](javascript") == std::string::npos);
  CHECK(std::string_view(prose).substr(prose.find("</details>") + 1).find("</details>") == std::string::npos);
  CHECK_NOTHROW(nlohmann::json::parse(sarif));
  CHECK_NOTHROW(nlohmann::json::parse(gitlab));
  CHECK_NOTHROW(nlohmann::json::parse(json));
}
