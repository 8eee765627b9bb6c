#include "server/feature/gate_answer.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "server/feature/changes.h"
#include "server/feature/compared_names.h"
#include "server/feature/gate_asking.h"
#include "server/feature/gate_telling.h"

namespace profd {
namespace {

// Of a metric, what costs that only moved say, by the functions that have them now.
Result<std::map<Key, std::string>> moved_to(Views& views, const GateRequest& request,
                                            const std::string& metric, const StopToken& stop) {
  std::map<Key, std::string> out;
  ViewSpec spec = request.spec;
  spec.shape = Shape::flat;
  spec.focus.clear();
  spec.metric = metric;
  PROFD_TRY(const auto moved, views.moved(*request.open, spec, stop));
  if (moved->costs.empty()) return out;
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, spec, stop));
  PROFD_TRY(const auto texts, shift_texts(views, *request.open, spec, view, *moved, stop));
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (const Key key : moved->costs[i].to) out[key] = texts[i].text;
  return out;
}

GateVerdict worst_of(const GateRuleAnswer& answer) {
  return answer.n_broken > 0      ? GateVerdict::broken
         : answer.n_undecided > 0 ? GateVerdict::undecided
                                  : GateVerdict::held;
}

void count(GateVerdict verdict, GateRuleAnswer& answer) {
  ++(verdict == GateVerdict::broken      ? answer.n_broken
     : verdict == GateVerdict::undecided ? answer.n_undecided
                                         : answer.n_held);
}

GateRuleAnswer answer_each(const AskedRule& asked, const std::vector<GateJudgement>& judged,
                           const GateTelling& telling) {
  GateRuleAnswer answer;
  answer.n_small = asked.n_small;
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < judged.size(); ++s) {
    count(judged[s].verdict, answer);
    if (judged[s].verdict != GateVerdict::held || !asked.rule->each) order.push_back(s);
  }
  const auto grown = [&](std::size_t s) { return judged[s].after - judged[s].before; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (judged[a].verdict != judged[b].verdict) return judged[a].verdict > judged[b].verdict;
    return grown(a) > grown(b);
  });
  if (order.size() > kMaxFindings) order.resize(kMaxFindings);
  for (const std::size_t s : order) answer.findings.push_back(telling.finding(asked, s, judged[s]));
  return answer;
}

// Functions of one side alone, as a whole: those that are there beyond chance are past the limit together, or
// all of them are not. Which functions a side happens to lack is chance, too, where they have few samples.
Result<GateRuleAnswer> answer_one_side(const AskedRule& asked, const std::vector<GateJudgement>& judged,
                                       const GateAsking& asking, const GateTelling& telling) {
  GateRuleAnswer answer;
  if (judged.empty()) {
    answer.n_held = 1;
    return answer;
  }
  std::vector<std::size_t> certain, all(judged.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (std::size_t s = 0; s < judged.size(); ++s)
    if (judged[s].proven) certain.push_back(s);
  const auto share_of = [&](const std::vector<std::size_t>& subjects,
                            SubjectSums& sums) -> Result<GateJudgement> {
    PROFD_TRY(sums, asking.together(asked, subjects));
    GateNumbers one = asked.numbers;
    one.values = sums.values;
    one.samples = sums.samples;
    if (asked.rule->subject == GateSubject::gone) {
      std::rotate(one.values.begin(), one.values.begin() + static_cast<std::ptrdiff_t>(one.n_after),
                  one.values.end());
      if (!one.samples.empty())
        std::rotate(one.samples.begin(), one.samples.begin() + static_cast<std::ptrdiff_t>(one.n_after),
                    one.samples.end());
    }
    one.dispersion.clear();
    one.n_more_questions = 0;
    PROFD_TRY(const GateJudgements judgements, judge_gate({one}, StopToken{}));
    return judgements.rules[0][0];
  };
  AskedRule whole;
  whole.rule = asked.rule;
  whole.of = asked.of;
  whole.unit = asked.unit;
  whole.numbers = asked.numbers;
  PROFD_TRY(GateJudgement of_all, share_of(all, whole.sums));
  if (of_all.verdict == GateVerdict::broken) {
    SubjectSums sums;
    bool past = false;
    if (!certain.empty()) {
      PROFD_TRY(const GateJudgement of_certain, share_of(certain, sums));
      past = of_certain.after > of_certain.allowed;
    }
    if (!past && !asked.numbers.samples.empty()) {
      of_all.verdict = GateVerdict::undecided;
      of_all.reason = GateReason::noise;
    }
  }
  count(of_all.verdict, answer);
  answer.findings.push_back(telling.finding(whole, 0, of_all));
  return answer;
}

}  // namespace

Result<GateAnswer> gate_answer(Views& views, const GateRequest& request, const StopToken& stop) {
  if (request.rules.size() > kMaxGateRules)
    return fail(ErrorCode::limit, fmt::format("a gate has at most {} rules", kMaxGateRules));
  PROFD_TRY(const SelectionPtr selection, views.selection(*request.open, request.spec, stop));
  PROFD_TRY(GateStacks stacks, gate_stacks(selection, stop));
  const auto sources = sources_in(views, *request.open, request.workspace, stop);
  if (!sources) return tl::unexpected<Error>(sources.error());
  const Composition& composition = *request.open->profile->composition();
  GateAnswer out;
  out.n_before = composition.n_before();
  out.n_after = composition.inputs.size() - out.n_before;
  out.scale = composition.scale_text;
  out.warnings = comparability(composition);
  for (const std::string& warning : selection->warnings()) out.warnings.push_back(warning);

  const GateAsking asking(request, std::move(stacks), stop);
  std::vector<AskedRule> asked;
  std::vector<GateNumbers> numbers;
  for (std::size_t r = 0; r < request.rules.size(); ++r) {
    PROFD_CHECK(stop.status());
    auto one = asking.ask(request.rules[r]);
    if (!one)
      return fail(one.error().code,
                  fmt::format("rule {}, {}: {}", r + 1, to_text(request.rules[r]), one.error().message));
    asked.push_back(std::move(*one));
    if (asked.back().unmatched.empty()) numbers.push_back(asked.back().numbers);
  }
  PROFD_TRY(const GateJudgements judged, judge_gate(numbers, stop));

  GateTelling::MovedTo moved;
  std::size_t at = 0;
  for (const AskedRule& rule : asked) {
    if (!rule.unmatched.empty()) continue;
    const std::vector<GateJudgement>& judgements = judged.rules[at++];
    const bool broken = std::any_of(judgements.begin(), judgements.end(), [](const GateJudgement& one) {
      return one.verdict == GateVerdict::broken || one.proven;
    });
    if (!broken || moved.count(rule.of) != 0) continue;
    PROFD_TRY(moved[rule.of], moved_to(views, request, composition.of[rule.of].name, stop));
  }
  const GateTelling telling(asking.stacks(), sources->get(), moved);
  at = 0;
  for (const AskedRule& rule : asked) {
    GateRuleAnswer answer;
    if (rule.unmatched.empty()) {
      const std::vector<GateJudgement>& judgements = judged.rules[at++];
      const bool whole_side = !rule.rule->each && (rule.rule->subject == GateSubject::added ||
                                                   rule.rule->subject == GateSubject::gone);
      if (whole_side) {
        PROFD_TRY(answer, answer_one_side(rule, judgements, asking, telling));
      } else {
        answer = answer_each(rule, judgements, telling);
      }
      answer.verdict = worst_of(answer);
      answer.why = gate_rule_text(answer, rule.rule->each);
      ++(*answer.verdict == GateVerdict::broken      ? out.n_broken
         : *answer.verdict == GateVerdict::undecided ? out.n_undecided
                                                     : out.n_held);
    } else {
      answer.why = rule.unmatched + ".";
      ++out.n_unmatched;
    }
    answer.rule = to_text(*rule.rule);
    answer.metric = composition.of[rule.of].name;
    out.rules.push_back(std::move(answer));
  }
  out.noise = gate_noise_text(out, asked);
  return out;
}

}  // namespace profd
