#include "server/feature/regressions.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "server/feature/changes.h"
#include "server/feature/gate_answer.h"

namespace profd {
namespace {

// "self +310 ms (+34 %), total +350 ms (+18 %)", of what grew beyond noise; "" nothing did.
std::string growth_text(const ChangeColumns& changes, std::size_t row) {
  const auto grew = [&](const std::vector<Standing>& standing, const std::vector<Value>& delta) {
    return !standing.empty() && standing[row] == Standing::stands_out && as_double(delta[row]) > 0;
  };
  std::string text;
  if (grew(changes.self_standing, changes.self_delta)) text = "self " + changes.self_change[row];
  if (grew(changes.total_standing, changes.total_delta))
    text += (text.empty() ? "total " : ", total ") + changes.total_change[row];
  return text;
}

std::string noise_word(const Noise& noise) {
  return noise.runs_before == 1 && noise.runs_after == 1 ? "sampling noise" : "run-to-run noise";
}

Result<void> add_grown(Views& views, const AnnotateRequest& file, const std::vector<FunctionCost>& functions,
                       std::vector<Regression>& out, const StopToken& stop) {
  const ViewSpec spec = annotation_spec(file);
  PROFD_TRY(const auto noise, views.noise(*file.open, spec, stop));
  if (!noise->cannot.empty()) return {};
  PROFD_TRY(const PreparedView view, prepare_view(views, *file.open, spec, stop));
  std::vector<Key> keys;
  for (const FunctionCost& function : functions) keys.push_back(function.key);
  PROFD_TRY(const auto changes, changes_of_keys(views, *file.open, spec, view, keys, noise.get(), stop));
  if (!changes) return {};
  for (std::size_t i = 0; i < functions.size(); ++i)
    if (const std::string grew = growth_text(*changes, i); !grew.empty())
      out.push_back({functions[i].line, false,
                     fmt::format("{}: {}, beyond {}.{}", functions[i].name, grew, noise_word(*noise),
                                 functions[i].stale ? " The code has changed since." : "")});
  return {};
}

// Broken rules, by the function that they are at.
struct BrokenRule {
  Key key;
  std::string text;
};
std::vector<BrokenRule> broken_rules(const GateAnswer& answer) {
  std::vector<BrokenRule> out;
  for (const GateRuleAnswer& rule : answer.rules) {
    const bool each = rule.rule.starts_with("each ");
    for (const GateFinding& finding : rule.findings)
      if (finding.key && finding.judgement.verdict == GateVerdict::broken)
        out.push_back(
            {*finding.key,
             fmt::format("{}{} is broken: {} → {}, {}.{}", each ? finding.name + ": " : "", rule.rule,
                         finding.before, finding.after, finding.change, each ? "" : " It grew most here.")});
  }
  return out;
}

Result<std::vector<BrokenRule>> judge_rules(Views& views, const RegressionsRequest& request,
                                            std::string& problem, const StopToken& stop) {
  if (request.rules.empty()) return std::vector<BrokenRule>();
  const AnnotateRequest& any = request.files[0];
  GateRequest gate;
  gate.open = any.open;
  gate.workspace = any.workspace;
  gate.spec = annotation_spec(any);
  if (!request.rules_metric.empty()) gate.spec.metric = request.rules_metric;
  gate.rules = request.rules;
  auto answer = gate_answer(views, gate, stop);
  if (answer) return broken_rules(*answer);
  PROFD_CHECK(stop.status());
  problem = std::move(answer).error().message;
  return std::vector<BrokenRule>();
}

}  // namespace

Result<Regressions> regressions(Views& views, const RegressionsRequest& request, const StopToken& stop) {
  Regressions out;
  out.of_file.resize(request.files.size());
  if (request.files.empty() || !sides_of(*request.files[0].open->profile, request.files[0].metric))
    return out;
  PROFD_TRY(const std::vector<BrokenRule> broken, judge_rules(views, request, out.problem, stop));
  for (std::size_t i = 0; i < request.files.size(); ++i) {
    AnnotateRequest file = request.files[i];
    file.threshold = 0;
    PROFD_TRY(const std::vector<FunctionCost> functions, functions_of_file(views, file, stop));
    if (functions.empty()) continue;
    std::vector<Regression>& found = out.of_file[i];
    PROFD_CHECK(add_grown(views, file, functions, found, stop));
    std::unordered_map<Key, std::uint32_t> line_of;
    for (const FunctionCost& function : functions) line_of.try_emplace(function.key, function.line);
    for (const BrokenRule& rule : broken)
      if (const auto at = line_of.find(rule.key); at != line_of.end())
        found.push_back({at->second, true, rule.text});
    std::stable_sort(found.begin(), found.end(),
                     [](const Regression& a, const Regression& b) { return a.line < b.line; });
    if (found.size() > kMaxRegressions) found.resize(kMaxRegressions);
  }
  return out;
}

}  // namespace profd
