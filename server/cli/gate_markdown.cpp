#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "server/cli/gate_writers.h"
#include "server/feature/escape.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::size_t kWorst = 3, kFramesShown = 6, kNameColumns = 160;

std::string code(std::string_view text) {
  return markdown_code(cut_to_width(sanitize_text(text), kNameColumns));
}

std::string_view mark_of(const std::optional<GateVerdict>& verdict) {
  if (!verdict) return "❓";
  return *verdict == GateVerdict::broken ? "❌" : *verdict == GateVerdict::held ? "✅" : "⚪";
}

std::string worst_text(const GateRuleAnswer& rule, const GateFinding& finding) {
  std::string out =
      fmt::format("- {} {}: {} → {}, **{}**", mark_of(finding.judgement.verdict), code(finding.name),
                  code(finding.before), code(finding.after), escape_markdown(finding.change));
  if (!finding.noise.empty()) out += " (" + escape_markdown(finding.noise) + ")";
  out += fmt::format("; limit {}", code(rule.rule.substr(rule.rule.rfind(" < ") + 1)));
  if (!finding.file.empty())
    out += ", " + code(finding.line == 0 ? finding.file : fmt::format("{}:{}", finding.file, finding.line));
  out += '\n';
  if (finding.path.empty()) return out;
  std::string path;
  const std::size_t n = finding.path.size(), first = n > kFramesShown ? n - kFramesShown : 0;
  for (std::size_t i = first; i < n; ++i) path += (i == first ? "" : " › ") + code(finding.path[i]);
  return out + fmt::format("  grew most in {}{}\n", first > 0 ? "… › " : "", path);
}

}  // namespace

std::string gate_markdown(const GateAnswer& answer) {
  // What the last lines need.
  constexpr std::size_t kRoomAtTheEnd = 2'500;
  std::string out = fmt::format("### profd gate: {}\n\n", gate_counts(answer));
  for (std::size_t i = 0; i < answer.warnings.size() && i < 10; ++i)
    out += "> " + escape_markdown(cut_to_width(sanitize_text(answer.warnings[i]), 400)) + "\n";
  std::vector<std::pair<const GateRuleAnswer*, const GateFinding*>> worst;
  for (const GateRuleAnswer& rule : answer.rules)
    for (const GateFinding& finding : rule.findings)
      if (finding.judgement.verdict == GateVerdict::broken) worst.emplace_back(&rule, &finding);
  const auto past = [](const GateFinding& finding) {
    const GateJudgement& at = finding.judgement;
    return at.allowed > 0 ? at.after / at.allowed : at.after > 0 ? 1e300 : 0;
  };
  std::stable_sort(worst.begin(), worst.end(),
                   [&](const auto& a, const auto& b) { return past(*a.second) > past(*b.second); });
  if (worst.size() > kWorst) worst.resize(kWorst);
  out += '\n';
  for (const auto& [rule, finding] : worst) out += worst_text(*rule, *finding);
  out += "\n<details><summary>All rules</summary>\n\n";
  std::vector<const GateRuleAnswer*> rules;
  for (const GateRuleAnswer& rule : answer.rules) rules.push_back(&rule);
  const auto weight = [](const GateRuleAnswer& rule) {
    return rule.verdict ? static_cast<int>(*rule.verdict) : 3;
  };
  std::stable_sort(rules.begin(), rules.end(),
                   [&](const auto* a, const auto* b) { return weight(*a) > weight(*b); });
  std::size_t left = rules.size();
  for (const GateRuleAnswer* const rule : rules) {
    std::string line = fmt::format("- {} {}: {}\n", mark_of(rule->verdict), code(rule->rule),
                                   escape_markdown(cut_to_width(sanitize_text(rule->why), 400)));
    for (std::size_t i = 0; i < rule->findings.size() && i < kWorst && rule->rule.starts_with("each "); ++i) {
      const GateFinding& finding = rule->findings[i];
      line += fmt::format("  - {} {}: {} → {}, {}\n", mark_of(finding.judgement.verdict), code(finding.name),
                          code(finding.before), code(finding.after), escape_markdown(finding.change));
    }
    if (out.size() + line.size() + kRoomAtTheEnd > kMaxGateMarkdown) break;
    out += line;
    --left;
  }
  if (left > 0) out += fmt::format("- and {} more\n", count_of(left, "rule", "rules"));
  out += "\n</details>\n\n";
  for (const std::string& said : {gate_origin(answer), answer.noise, answer.scale})
    if (!said.empty()) out += escape_markdown(cut_to_width(sanitize_text(said), 400)) + " ";
  out.back() = '\n';
  return out;
}

}  // namespace profd
