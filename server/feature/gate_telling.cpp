#include "server/feature/gate_telling.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "server/feature/text.h"

namespace profd {
namespace {

std::string part_text(double fraction) {
  const double percent = fraction * 100;
  return std::fabs(percent) < 9.95 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}
std::string signed_part(double fraction) {
  return (fraction < 0 ? "-" : "+") + part_text(std::fabs(fraction));
}

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

}  // namespace

GateFinding GateTelling::finding(const AskedRule& asked, std::size_t s, const GateJudgement& at) const {
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
    out.noise =
        fmt::format("95 %: {} to {}", signed_part(*at.low - 1), at.high ? signed_part(*at.high - 1) : "any");
  out.why = why_of(at, n, out);
  set_place(asked, s, out);
  return out;
}

std::string GateTelling::name_of(const AskedRule& asked, std::size_t s) const {
  if (s >= asked.sums.size() || asked.sums.keys[s].empty()) {
    const std::string text = to_text(*asked.rule);
    return text.substr(0, text.rfind(" < "));
  }
  std::string name;
  for (const Key key : asked.sums.keys[s]) name += (name.empty() ? "" : " > ") + stacks_.names[key];
  return name;
}

void GateTelling::set_place(const AskedRule& asked, std::size_t s, GateFinding& out) const {
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
  out.key = key;
  if (!key) return;
  const Place place = place_of(selection, sources_, *key, Value{}, Value{}, kExact);
  out.file = place.path.empty() ? place.file : place.path;
  out.line = place.line;
}

// A rule is what it is; that it is broken by what only moved is said.
void GateTelling::note_moved(const AskedRule& asked, Key grown, GateFinding& out) const {
  const auto of = moved_.find(asked.of);
  if (of == moved_.end() || out.judgement.verdict != GateVerdict::broken) return;
  if (const auto text = of->second.find(grown); text != of->second.end()) out.why += " " + text->second + ".";
}

std::string gate_rule_text(const GateRuleAnswer& answer, bool each) {
  if (!each) return answer.findings.empty() ? "There is none." : answer.findings.front().why;
  std::string text =
      fmt::format("{} broken, {} undecided, {} held", answer.n_broken, answer.n_undecided, answer.n_held);
  if (answer.n_small > 0) text += fmt::format(", {} below 0.1 % of the total not judged", answer.n_small);
  return text + ".";
}

std::string gate_noise_text(const GateAnswer& answer, const std::vector<AskedRule>& asked) {
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

}  // namespace profd
