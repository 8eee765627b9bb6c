#include "server/cli/gate_results.h"

#include <fmt/format.h>

#include "core/support/hash.h"
#include "server/feature/escape.h"

namespace profd {

GateResults gate_results(const GateAnswer& answer) {
  GateResults out;
  for (const GateVerdict verdict : {GateVerdict::broken, GateVerdict::undecided})
    for (const GateRuleAnswer& rule : answer.rules)
      for (const GateFinding& finding : rule.findings) {
        if (finding.judgement.verdict != verdict) continue;
        if (out.results.size() == kMaxGateResults)
          ++out.n_left_out;
        else
          out.results.push_back({&rule, &finding});
      }
  return out;
}

std::string gate_message(const GateResult& result) {
  const GateFinding& finding = *result.finding;
  std::string out =
      fmt::format("{}: {} → {}, {}.", finding.name, finding.before, finding.after, finding.change);
  out += fmt::format(" {} Rule: {}", finding.why, result.rule->rule);
  if (!finding.noise.empty()) out += fmt::format(" ({})", finding.noise);
  return sanitize_text(out);
}

std::string gate_fingerprint(std::string_view rule, std::string_view found) {
  return fmt::format("{:016x}:1", hash_combine(hash_bytes(rule), hash_bytes(found)));
}

std::string gate_path(std::string_view file, std::string_view root) {
  if (!root.empty() && file.starts_with(root) && file.size() > root.size() &&
      (root.ends_with('/') || file[root.size()] == '/'))
    file.remove_prefix(root.size());
  std::string path;
  while (!file.empty()) {
    const std::size_t end = file.find_first_of("/\\");
    const std::string_view part = file.substr(0, end);
    if (!part.empty() && part != "." && part != "..") (path += path.empty() ? "" : "/") += part;
    file.remove_prefix(end == std::string_view::npos ? file.size() : end + 1);
  }
  return path.empty() ? "unknown" : path;
}

}  // namespace profd
