#include <fmt/format.h>

#include "server/cli/gate_writers.h"
#include "server/feature/escape.h"

namespace profd {
namespace {

std::string details_of(const GateRuleAnswer& rule) {
  std::string out = rule.why + "\n";
  for (const GateFinding& finding : rule.findings) {
    if (finding.judgement.verdict == GateVerdict::held) continue;
    out += fmt::format("{}: {}: {} -> {}, {}", gate_word(finding.judgement.verdict), finding.name,
                       finding.before, finding.after, finding.change);
    if (!finding.noise.empty()) out += " (" + finding.noise + ")";
    if (!finding.file.empty()) out += fmt::format(" {}:{}", finding.file, finding.line);
    out += '\n';
  }
  return out;
}

}  // namespace

std::string gate_junit(const GateAnswer& answer) {
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", answer.rules.size(),
                  answer.n_broken, answer.n_unmatched, answer.n_undecided);
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n<testsuite name=\"profd gate\" {}>\n",
      counts, counts);
  if (!answer.rules_from.empty())
    out += fmt::format("<properties><property name=\"rules\" value=\"{}\"/></properties>\n",
                       escape_markup(sanitize_text(answer.rules_from)));
  for (const GateRuleAnswer& rule : answer.rules) {
    out += fmt::format("<testcase classname=\"profd.gate\" name=\"{}\"",
                       escape_markup(sanitize_text(rule.rule)));
    const std::string why = escape_markup(sanitize_text(rule.why));
    if (!rule.verdict) {
      out += fmt::format("><error message=\"{}\"/></testcase>\n", why);
    } else if (*rule.verdict == GateVerdict::held) {
      out += "/>\n";
    } else if (*rule.verdict == GateVerdict::undecided) {
      out += fmt::format("><skipped message=\"{}\"/></testcase>\n", why);
    } else {
      out += fmt::format("><failure message=\"{}\">{}</failure></testcase>\n", why,
                         escape_markup(details_of(rule)));
    }
  }
  return out + "</testsuite>\n</testsuites>\n";
}

}  // namespace profd
