#include "server/feature/gate_answer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "core/compare/dispersion.h"
#include "core/compare/gate_sums.h"
#include "server/feature/changes.h"
#include "server/feature/compared_names.h"
#include "server/feature/text.h"

namespace profd {
namespace {

// Samples are gone through for each rule; of more rules they are taken to cluster as those without times.
constexpr std::size_t kMostTimedRules = 200;

std::string part_text(double fraction) {
  const double percent = fraction * 100;
  return std::fabs(percent) < 9.95 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}
std::string signed_part(double fraction) {
  return (fraction < 0 ? "-" : "+") + part_text(std::fabs(fraction));
}

// A rule on its way: what was asked of the profile, and in numbers.
struct AskedRule {
  const GateRule* rule = nullptr;
  std::uint32_t of = 0;
  std::string unit;
  SubjectSums sums;
  GateNumbers numbers;
  std::string unmatched;  // why it has no match
  std::size_t n_small = 0;
};

class Asking {
 public:
  Asking(const GateRequest& request, GateStacks stacks, StopToken stop)
      : request_(request),
        stacks_(std::move(stacks)),
        profile_(*stacks_.selection->profile),
        composition_(*profile_.composition()),
        stop_(std::move(stop)) {}

  [[nodiscard]] const GateStacks& stacks() const { return stacks_; }

  Result<AskedRule> ask(const GateRule& rule) {
    AskedRule asked;
    asked.rule = &rule;
    PROFD_TRY(asked.of, metric_of(rule.metric));
    asked.unit = composition_.of[asked.of].unit;
    const bool one_sided = rule.subject == GateSubject::added || rule.subject == GateSubject::gone;
    SubjectRequest subjects;
    subjects.of = asked.of;
    subjects.self = rule.subject == GateSubject::self;
    subjects.each = rule.each || one_sided;
    subjects.windows = request_.rules.size() <= kMostTimedRules;
    const auto counts = sample_counts(composition_, asked.of);
    if (counts) subjects.counts = &*counts;
    if (one_sided) {
      subjects.in_a_row.push_back(keys_of_one_side(stacks_, asked.of, rule.subject == GateSubject::added));
    } else {
      for (const NamePattern& pattern : rule.patterns) {
        PROFD_TRY(auto keys, keys_of_pattern(stacks_, pattern));
        if (std::find(keys.begin(), keys.end(), 1) == keys.end())
          asked.unmatched = fmt::format("no function is called {}", pattern.text);
        subjects.in_a_row.push_back(std::move(keys));
      }
    }
    if (!asked.unmatched.empty()) return asked;
    PROFD_TRY(asked.sums, sum_subjects(stacks_, subjects, stop_));
    const bool empty =
        std::all_of(asked.sums.values.begin(), asked.sums.values.end(), [](double x) { return x == 0; });
    if (empty && !one_sided) {
      asked.unmatched = fmt::format("what it means has no {} on either side", composition_.of[asked.of].name);
      return asked;
    }
    PROFD_CHECK(set_numbers(rule, counts ? &*counts : nullptr, asked));
    return asked;
  }

  // Of a rule on one side's functions as a whole: those that stand out alone, together.
  Result<SubjectSums> together(const AskedRule& asked, const std::vector<std::size_t>& subjects) {
    SubjectRequest request;
    request.of = asked.of;
    const auto counts = sample_counts(composition_, asked.of);
    if (counts) request.counts = &*counts;
    std::vector<std::uint8_t> keys(stacks_.names.size(), 0);
    for (const std::size_t s : subjects) keys[asked.sums.keys[s][0]] = 1;
    request.in_a_row.push_back(std::move(keys));
    return sum_subjects(stacks_, request, stop_);
  }

 private:
  Result<std::uint32_t> metric_of(const std::string& named) {
    std::string name = named;
    if (name.empty()) {
      const auto shown = request_.spec.metric.empty() ? std::optional(request_.open->metric)
                                                      : profile_.find_metric(request_.spec.metric);
      if (shown) return composition_.metrics[shown->v].of;
      name = request_.spec.metric;
    }
    for (std::uint32_t m = 0; m < composition_.of.size(); ++m)
      if (composition_.of[m].name == name) return m;
    std::string known;
    for (const InputMetric& metric : composition_.of) known += (known.empty() ? "" : ", ") + metric.name;
    return fail(ErrorCode::not_found, fmt::format("both sides have no metric {}; they have {}", name, known));
  }

  Result<void> set_numbers(const GateRule& rule, const SampleCounts* counts, AskedRule& asked) {
    GateNumbers& n = asked.numbers;
    n.n_before = stacks_.n_before;
    n.n_after = stacks_.run.size() - n.n_before;
    n.totals = run_totals(stacks_, asked.of);
    if (counts != nullptr) {
      n.counted = run_totals(stacks_, counts->of);
      for (std::size_t i = 0; i < stacks_.run.size(); ++i) n.counted[stacks_.run[i]] *= counts->factor[i];
    }
    n.exposures.assign(n.n_runs(), 1);
    std::fill_n(n.exposures.begin(), n.n_before, 1 / composition_.of[asked.of].scale);
    if (!rule.per.empty()) {
      PROFD_TRY(const std::uint32_t per, metric_of(rule.per));
      n.exposures = run_totals(stacks_, per);
    }
    n.kind = rule.limit.kind;
    n.limit = rule.limit.value / 100;
    if (n.kind == GateLimit::Kind::absolute) {
      PROFD_TRY(n.limit, limit_in(rule.limit, asked.unit));
    }
    drop_small(rule, asked);
    n.values = asked.sums.values;
    n.samples = asked.sums.samples;
    PROFD_CHECK(set_dispersion(asked));
    const bool one_sided = rule.subject == GateSubject::added || rule.subject == GateSubject::gone;
    if (rule.subject == GateSubject::gone) exchange_sides(n);
    if (one_sided) {
      n.n_more_questions = stacks_.names.size() - std::min(stacks_.names.size(), asked.sums.size());
      if (n.kind == GateLimit::Kind::absolute) as_share(n);
    }
    n.against_limit = n.kind == GateLimit::Kind::share && !one_sided;
    const std::vector<double>& by =
        n.kind == GateLimit::Kind::points || n.kind == GateLimit::Kind::share ? n.totals : n.exposures;
    if (!std::all_of(by.begin(), by.end(), [](double x) { return x > 0 && std::isfinite(x); }))
      return fail(ErrorCode::invalid,
                  fmt::format("a run has no {} to divide by",
                              rule.per.empty() ? composition_.of[asked.of].name : rule.per));
    return {};
  }

  // Of `each`: what is next to nothing on both sides is no question.
  void drop_small(const GateRule& rule, AskedRule& asked) {
    if (!rule.each) return;
    SubjectSums& sums = asked.sums;
    const auto is_small = [&](std::size_t s) {
      for (std::size_t r = 0; r < sums.n_runs; ++r)
        if (sums.values[s * sums.n_runs + r] >= kSmallShare * asked.numbers.totals[r]) return false;
      return true;
    };
    std::vector<std::size_t> kept;
    for (std::size_t s = 0; s < sums.size(); ++s)
      if (!is_small(s)) kept.push_back(s);
    asked.n_small = sums.size() - kept.size();
    keep_subjects(sums, kept);
  }

  // Of samples with times, how strongly they cluster.
  static Result<void> set_dispersion(AskedRule& asked) {
    const SubjectSums& sums = asked.sums;
    if (sums.windows_before.empty() && sums.windows_after.empty()) return {};
    PROFD_TRY(asked.numbers.dispersion, dispersions({kWindows, sums.windows_before, sums.windows_after}));
    return {};
  }

  static void exchange_sides(GateNumbers& n) {
    const auto exchange = [&](std::vector<double>& by_run) {
      for (std::size_t at = 0; at < by_run.size(); at += n.n_runs())
        std::rotate(by_run.begin() + static_cast<std::ptrdiff_t>(at),
                    by_run.begin() + static_cast<std::ptrdiff_t>(at + n.n_before),
                    by_run.begin() + static_cast<std::ptrdiff_t>(at + n.n_runs()));
    };
    for (std::vector<double>* by_run : {&n.values, &n.samples, &n.totals, &n.counted, &n.exposures})
      exchange(*by_run);
    std::swap(n.n_before, n.n_after);
  }

  static void as_share(GateNumbers& n) {
    double total = 0, by = 0;
    for (std::size_t r = n.n_before; r < n.n_runs(); ++r) {
      total += n.totals[r];
      by += n.exposures[r];
    }
    n.kind = GateLimit::Kind::share;
    n.limit = total > 0 ? std::min(1.0, n.limit * by / total) : 0;
  }

  const GateRequest& request_;
  GateStacks stacks_;
  const Profile& profile_;
  const Composition& composition_;
  StopToken stop_;
};

bool is_part(const GateNumbers& numbers) {
  return numbers.kind == GateLimit::Kind::points || numbers.kind == GateLimit::Kind::share;
}

std::string why_of(const GateJudgement& at, const GateNumbers& numbers, const GateFinding& finding) {
  if (at.verdict == GateVerdict::broken)
    return numbers.samples.empty() && numbers.n_runs() == 2
               ? "It is far past the limit; how much of that is noise is not known."
               : "It is past the limit, beyond noise.";
  if (at.verdict == GateVerdict::held) return "It is below the limit.";
  const bool past = at.after > at.allowed;
  switch (at.reason) {
    case GateReason::few_runs:
      return fmt::format("{} and {} runs prove nothing, however far apart: three a side are the fewest.",
                         numbers.n_before, numbers.n_after);
    case GateReason::few_samples:
      return "It has less than ten samples a run, too few to judge.";
    case GateReason::noise_unknown:
      return "It is near the limit, and the profiles do not tell how many samples that is: noise cannot be "
             "judged.";
    case GateReason::noise:
    case GateReason::none:
      break;
  }
  std::string text = past ? "It is past the limit, but not beyond noise"
                          : "It is below the limit, but noise reaches past it";
  if (!finding.noise.empty()) text += " (" + finding.noise + ")";
  if (at.seen) text += fmt::format("; a rise of less than {} would be missed", part_text(*at.seen));
  return text + ".";
}

// By metric (row of Composition::of), of functions that have what others lost: how that reads.
using MovedTo = std::map<std::uint32_t, std::map<Key, std::string>>;

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

class Telling {
 public:
  Telling(const Asking& asking, const SourceMap* sources, const MovedTo& moved)
      : stacks_(asking.stacks()), sources_(sources), moved_(moved) {}

  GateFinding finding(const AskedRule& asked, std::size_t s, const GateJudgement& at) const {
    const GateNumbers& n = asked.numbers;
    GateFinding out;
    out.judgement = at;
    out.name = name_of(asked, s);
    const double before = asked.rule->subject == GateSubject::gone ? at.after : at.before;
    const double after = asked.rule->subject == GateSubject::gone ? at.before : at.after;
    if (is_part(n)) {
      out.before = part_text(before);
      out.after = part_text(after);
      out.change = fmt::format("{:+.1f} points", (after - before) * 100);
    } else {
      const std::string per = asked.rule->per.empty() ? "" : " per " + asked.rule->per;
      const auto text = [&](double value) { return format_value(Value{value}, asked.unit) + per; };
      out.before = text(before);
      out.after = text(after);
      out.change = format_delta(Value{before}, Value{after}, asked.unit);
    }
    if (before == 0 && after != 0) out.change += ", new";
    if (at.low && n.kind == GateLimit::Kind::share)
      out.noise = fmt::format("95 %: {} to {}", part_text(*at.low), part_text(*at.high));
    else if (at.low && at.before > 0)
      out.noise = fmt::format("95 %: {} to {}", signed_part(*at.low - 1),
                              at.high ? signed_part(*at.high - 1) : "any");
    out.why = why_of(at, n, out);
    set_place(asked, s, out);
    return out;
  }

 private:
  std::string name_of(const AskedRule& asked, std::size_t s) const {
    if (s >= asked.sums.size() || asked.sums.keys[s].empty()) {
      const std::string text = to_text(*asked.rule);
      return text.substr(0, text.rfind(" < "));
    }
    std::string name;
    for (const Key key : asked.sums.keys[s]) name += (name.empty() ? "" : " > ") + stacks_.names[key];
    return name;
  }

  void set_place(const AskedRule& asked, std::size_t s, GateFinding& out) const {
    if (s >= asked.sums.size()) return;
    const Selection& selection = *stacks_.selection;
    const Profile& profile = *selection.profile;
    std::optional<Key> key;
    if (!asked.sums.keys[s].empty()) key = asked.sums.keys[s].back();
    if (const std::uint32_t grown = asked.sums.most_grown[s]; grown != kNone) {
      constexpr std::size_t kMostFrames = 64;
      std::vector<Key> keys;
      for (std::uint32_t box = selection.boxes->owner_of(grown); box != 0;
           box = selection.boxes->owner_of(profile.tree().parent[box])) {
        keys.push_back(selection.boxes->keys->of_frame[profile.tree().frame[box]]);
      }
      // Of a whole rule the place is where it grew most.
      if (!key && !keys.empty()) key = keys.front();
      if (keys.size() > kMostFrames) keys.resize(kMostFrames);
      for (std::size_t i = keys.size(); i-- > 0;) out.path.push_back(stacks_.names[keys[i]]);
      if (!keys.empty()) note_moved(asked, keys.front(), out);
    }
    if (!key) return;
    const Place place = place_of(selection, sources_, *key, Value{}, Value{}, kExact);
    out.file = place.path.empty() ? place.file : place.path;
    out.line = place.line;
  }

  // A rule is what it is; that it is broken by what only moved is said.
  void note_moved(const AskedRule& asked, Key grown, GateFinding& out) const {
    const auto of = moved_.find(asked.of);
    if (of == moved_.end() || out.judgement.verdict != GateVerdict::broken) return;
    if (const auto text = of->second.find(grown); text != of->second.end())
      out.why += " " + text->second + ".";
  }

  const GateStacks& stacks_;
  const SourceMap* sources_;
  const MovedTo& moved_;
};

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

std::string said_of(const GateRuleAnswer& answer, bool each) {
  if (!each) return answer.findings.empty() ? "There is none." : answer.findings.front().why;
  std::string text =
      fmt::format("{} broken, {} undecided, {} held", answer.n_broken, answer.n_undecided, answer.n_held);
  if (answer.n_small > 0) text += fmt::format(", {} below 0.1 % of the total not judged", answer.n_small);
  return text + ".";
}

GateRuleAnswer answer_each(const AskedRule& asked, const std::vector<GateJudgement>& judged,
                           const Telling& telling) {
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
                                       Asking& asking, const Telling& telling) {
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

// What noise was taken into account, and what cannot be seen.
std::string noise_text(const GateAnswer& answer, const std::vector<AskedRule>& asked) {
  if (answer.n_unmatched == asked.size()) return {};
  if (answer.n_before > 1 || answer.n_after > 1)
    return "Noise is how runs of one side differ: a rise counts when hardly any division of the runs at "
           "random has "
           "one as large.";
  const bool known =
      std::any_of(asked.begin(), asked.end(), [](const AskedRule& a) { return !a.numbers.samples.empty(); });
  if (!known)
    return "One run a side, and the profiles do not tell how many samples values stand for: noise is "
           "unknown, and "
           "estimates near a limit are undecided.";
  const bool timed = std::any_of(asked.begin(), asked.end(),
                                 [](const AskedRule& a) { return !a.numbers.dispersion.empty(); });
  return fmt::format(
      "One run a side: noise is that of sampling, {}; how runs differ from one another is unknown.",
      timed ? "with samples clustering as their times tell"
            : "with twice the variance of samples that fall on their own");
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

  Asking asking(request, std::move(stacks), stop);
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

  MovedTo moved;
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
  const Telling telling(asking, sources->get(), moved);
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
      answer.why = said_of(answer, rule.rule->each);
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
  out.noise = noise_text(out, asked);
  return out;
}

}  // namespace profd
