#include <optional>

#include <fmt/format.h>

#include "server/cli/align.h"
#include "server/cli/gate_writers.h"
#include "server/feature/escape.h"
#include "server/feature/fitted_name.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::size_t kFindingsShown = 10;

std::string colored_word(const std::optional<GateVerdict>& verdict, const Terminal& terminal) {
  const std::string word = left_aligned(std::string(gate_word(verdict)), 9);
  if (verdict == GateVerdict::broken) return terminal.more(word);
  if (verdict == GateVerdict::held) return terminal.less(word);
  return terminal.warning(word);
}

std::string finding_lines(const GateFinding& finding, bool each, const Terminal& terminal) {
  std::string out = fmt::format("             {} → {}: {}", sanitize_text(finding.before),
                                sanitize_text(finding.after), terminal.bold(sanitize_text(finding.change)));
  if (!finding.noise.empty()) out += terminal.dim("  " + sanitize_text(finding.noise));
  out += '\n';
  if (each) out = fmt::format("           {}\n", sanitize_text(finding.name)) + out;
  if (!finding.file.empty() && finding.judgement.verdict != GateVerdict::held)
    out += terminal.dim(fmt::format("             {}{}\n", sanitize_text(finding.file),
                                    finding.line == 0 ? "" : fmt::format(":{}", finding.line)));
  return out;
}

}  // namespace

std::string_view gate_word(const std::optional<GateVerdict>& verdict) {
  if (!verdict) return "no match";
  switch (*verdict) {
    case GateVerdict::held:
      return "held";
    case GateVerdict::undecided:
      return "undecided";
    case GateVerdict::broken:
      break;
  }
  return "broken";
}

std::string gate_counts(const GateAnswer& answer) {
  std::string out = fmt::format("{} of {} broken, {} undecided, {} held", format_exact(answer.n_broken),
                                count_of(answer.rules.size(), "rule", "rules"),
                                format_exact(answer.n_undecided), format_exact(answer.n_held));
  if (answer.n_unmatched > 0) out += fmt::format(", {} without a match", format_exact(answer.n_unmatched));
  return out;
}

std::string gate_origin(const GateAnswer& answer) {
  return answer.rules_from.empty() ? "" : fmt::format("The rules are those of {}.", answer.rules_from);
}

std::string gate_text(const GateAnswer& answer, const Terminal& terminal) {
  std::string out;
  for (const std::string& warning : answer.warnings) out += terminal.warning(sanitize_text(warning)) + "\n";
  for (const GateRuleAnswer& rule : answer.rules) {
    out += fmt::format("{}  {}\n", colored_word(rule.verdict, terminal),
                       terminal.bold(sanitize_text(rule.rule)));
    const bool each = rule.rule.starts_with("each ");
    for (std::size_t i = 0; i < rule.findings.size() && i < kFindingsShown; ++i)
      out += finding_lines(rule.findings[i], each, terminal);
    const std::size_t n = rule.n_broken + rule.n_undecided;
    if (each && n > kFindingsShown)
      out += terminal.dim(fmt::format("           and {} more\n", format_exact(n - kFindingsShown)));
    out += terminal.dim("           " + sanitize_text(rule.why)) + "\n";
  }
  out += "\n" + terminal.bold(gate_counts(answer)) + "\n";
  if (const std::string origin = gate_origin(answer); !origin.empty())
    out += terminal.dim(sanitize_text(origin)) + "\n";
  if (!answer.noise.empty()) out += terminal.dim(sanitize_text(answer.noise)) + "\n";
  if (!answer.scale.empty()) out += terminal.dim(sanitize_text(answer.scale)) + "\n";
  return out;
}

}  // namespace profd
