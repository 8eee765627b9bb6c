#include "server/feature/tips.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "server/engine/rule_sets.h"
#include "server/feature/set_masks.h"
#include "server/feature/tip_evidence.h"

namespace profd {
namespace {

constexpr double kLeastSamplesForTips = 30;
// Of what a rule is about, as much is part of what a stronger one is about: it says nothing new.
constexpr double kContained = 0.8;
constexpr std::size_t kMostFrom = 10;
constexpr double kWorthNaming = 0.01;

constexpr SetMask tip_bit(std::size_t set) {
  return SetMask{1} << set;
}

// A tip that the evidence speaks for, before it is compared with the others.
struct TipCandidate {
  const TipRule* rule = nullptr;
  std::optional<std::size_t> set;  // of work
  Value amount;                    // of work and self
  double weight = 0;
  std::optional<Evidence> evidence;
};

class TipFinder {
 public:
  TipFinder(Views& views, const TipsRequest& request, const PreparedView& view, const StopToken& stop)
      : views_(views), request_(request), view_(view), stop_(stop) {}

  Result<std::vector<TipCandidate>> find() {
    const Profile& profile = *request_.open->profile;
    std::vector<TipCandidate> out;
    const bool few =
        n_samples_of(profile).value_or(static_cast<double>(profile.n_samples())) < kLeastSamplesForTips;
    if (profile.composition() != nullptr && profile.composition()->kind == Composed::diff) return out;
    if (!(as_double(view_.whole.total) > 0) || view_.selection->sums->negative) return out;
    for (const TipRule& rule : *request_.rules) {
      PROFD_CHECK(stop_.status());
      const bool of_few = rule.evidence == TipEvidence::few_samples;
      if (of_few != few) continue;
      if (!is_metric(profile.metrics()[view_.selection->metric().v], rule.metric)) continue;
      PROFD_TRY(std::optional<TipCandidate> one, candidate_of(rule));
      if (one) out.push_back(std::move(*one));
    }
    return out;
  }

  // Without those that a stronger one contains; strongest first.
  Result<std::vector<TipCandidate>> ranked(std::vector<TipCandidate> all) {
    // Of equal ones what a person made a rule for says more.
    std::stable_sort(all.begin(), all.end(), [](const TipCandidate& a, const TipCandidate& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.rule->own && !b.rule->own;
    });
    std::vector<TipCandidate> out;
    for (TipCandidate& one : all) {
      bool contained = false;
      for (const TipCandidate& stronger : out) {
        if (!one.set || !stronger.set) continue;
        PROFD_TRY(const Value both, work_of(tip_bit(*one.set) | tip_bit(*stronger.set)));
        contained = contained || as_double(both) >= kContained * as_double(one.amount);
      }
      if (!contained) out.push_back(std::move(one));
    }
    return out;
  }

  Result<Tip> tip_of(const TipCandidate& one, const SourceMap* sources) {
    const TipRule& rule = *one.rule;
    Tip tip;
    tip.id = rule.id;
    tip.title = rule.title.empty() ? rule.id : rule.title;
    tip.advice = rule.advice;
    tip.link = rule.link.empty() ? "tips.md#" + rule.id : rule.link;
    tip.weight = one.weight;
    if (one.evidence) {
      tip.text = one.evidence->text;
      if (!one.evidence->advice.empty()) tip.advice = one.evidence->advice;
      if (one.evidence->saved) {
        bound(amount_of(view_.whole, *one.evidence->saved), tip);
        tip.filter = one.evidence->filter;
      }
      if (one.evidence->at) PROFD_CHECK(add_place(*one.evidence->at, "", sources, tip));
      return tip;
    }
    const Amount amount = amount_of(view_.whole, one.amount, view_.selection->estimated);
    tip.text = fmt::format("{} {} {} of {}", rule.subject, rule.evidence == TipEvidence::self ? "have" : "is",
                           amount.share_text, of_what());
    if (one.set) {
      bound(amount, tip);
      Filter keep;
      keep.op = FilterOp::keep;
      keep.by = FilterBy::work;
      keep.pattern = rule.set;
      tip.filter = to_text(keep);
      PROFD_CHECK(add_callers(*one.set, sources, tip));
    }
    tip.text += '.';
    return tip;
  }

 private:
  void bound(const Amount& amount, Tip& tip) const {
    tip.bound = amount;
    tip.bound_text = fmt::format("Gone entirely, this saves at most {} of {}.", amount.share_text, of_what());
  }
  [[nodiscard]] std::string of_what() const {
    return metric_in_words(request_.open->profile->metrics()[view_.selection->metric().v]);
  }

  // Whose code it is takes a workspace, and no rule asks for it.
  [[nodiscard]] SetMask wanted() const { return ~request_.sets->rules().background; }

  // What is own work of all of the sets.
  Result<Value> work_of(SetMask sets) {
    if (!classes_) {
      PROFD_TRY(classes_, classes_of(views_, *request_.open, request_.spec, *request_.sets, wanted(), stop_));
    }
    return sum_of_classes(*view_.selection, classes_->classes,
                          [&](const StackClass& one) { return (one.own & sets) == sets; });
  }

  Result<std::optional<TipCandidate>> candidate_of(const TipRule& rule) {
    TipCandidate out;
    out.rule = &rule;
    if (rule.evidence != TipEvidence::work && rule.evidence != TipEvidence::self) {
      const ImportReport* report =
          request_.open->loaded == nullptr ? nullptr : &request_.open->loaded->report;
      PROFD_TRY(out.evidence, evidence_of(rule, views_, *request_.open, request_.spec, view_, report, stop_));
      if (!out.evidence) return std::optional<TipCandidate>();
      const bool below = rule.evidence == TipEvidence::few_samples;
      if (below ? out.evidence->amount >= rule.at_least : out.evidence->amount < rule.at_least)
        return std::optional<TipCandidate>();
      out.weight = out.evidence->weight;
      return std::optional(std::move(out));
    }
    // A tree that is made of calls has no stacks that could end in something.
    if (view_.selection->divided) return std::optional<TipCandidate>();
    const auto set = request_.sets->find(rule.set);
    if (!set || (tip_bit(*set) & wanted()) == 0) return std::optional<TipCandidate>();
    if (rule.evidence == TipEvidence::work) {
      out.set = set;
      PROFD_TRY(out.amount, work_of(tip_bit(*set)));
    } else {
      PROFD_TRY(out.amount, self_of(tip_bit(*set)));
    }
    out.weight = view_.whole.share(out.amount);
    if (!(out.weight >= rule.at_least)) return std::optional<TipCandidate>();
    return std::optional(std::move(out));
  }

  // What the frames of a set have themselves.
  Result<Value> self_of(SetMask set) {
    PROFD_TRY(const auto masks, masks_of(views_, *request_.open, *request_.sets, wanted(), stop_));
    const Selection& selection = *view_.selection;
    const ContextTree& tree = request_.open->profile->tree();
    const SelfTable& self = selection.rows->self;
    double sum = 0;
    std::visit(
        [&](const auto& values) {
          for (std::size_t row = 0; row < values.size(); ++row) {
            const std::uint32_t context = selection.boxes->owner_of(self.contexts[row]);
            if (context != 0 && (masks->of_frame[tree.frame[context]] & set) != 0)
              sum += static_cast<double>(values[row]);
          }
        },
        self.values[selection.metric().v]);
    if (std::holds_alternative<std::int64_t>(view_.whole.total))
      return Value(static_cast<std::int64_t>(std::llround(sum)));
    return Value(sum);
  }

  Result<void> add_callers(std::size_t set, const SourceMap* sources, Tip& tip) {
    PROFD_TRY(const auto masks, masks_of(views_, *request_.open, *request_.sets, wanted(), stop_));
    PROFD_TRY(const std::vector<KeyAmount> callers,
              callers_of_work(*view_.selection, masks->of_frame, request_.sets->rules(), set, stop_));
    const Selection& selection = *view_.selection;
    const Profile& profile = *selection.profile;
    std::optional<Key> first;
    for (const KeyAmount& one : callers) {
      if (tip.from.size() >= kMostFrom || std::fabs(view_.whole.share(one.amount)) < kWorthNaming) break;
      const std::uint32_t frame = selection.boxes->keys->example[one.key];
      // An address leads nobody anywhere.
      if (profile.functions().unresolved[profile.frames().function[frame].v] != 0) continue;
      if (!first) first = one.key;
      tip.from.emplace_back(key_name(profile, *selection.boxes->keys, one.key),
                            view_.whole.share_text(one.amount));
    }
    if (!first) return {};
    tip.text += fmt::format(", {} from {}", tip.from.front().second, tip.from.front().first);
    return add_place(*first, tip.from.front().second, sources, tip);
  }

  Result<void> add_place(Key key, std::string share, const SourceMap* sources, Tip& tip) {
    const Selection& selection = *view_.selection;
    tip.place = place_of(selection, sources, key, Value(std::int64_t{0}), Value(std::int64_t{0}), kExact);
    tip.place_text = std::move(share);
    if (tip.from.empty()) tip.from.emplace_back(tip.place->name, tip.place_text);
    return {};
  }

  Views& views_;
  const TipsRequest& request_;
  const PreparedView& view_;
  const StopToken& stop_;
  std::shared_ptr<const StackClasses> classes_;
};

}  // namespace

TipRules tip_rules(const std::vector<TipRule>& own, const std::vector<std::string>& off) {
  auto out = std::make_shared<std::vector<TipRule>>(built_in_tips());
  for (const TipRule& rule : own) {
    const auto known =
        std::find_if(out->begin(), out->end(), [&](const TipRule& one) { return one.id == rule.id; });
    if (known != out->end())
      *known = rule;
    else
      out->push_back(rule);
  }
  std::erase_if(*out, [&](const TipRule& rule) {
    return std::any_of(off.begin(), off.end(),
                       [&](const std::string& id) { return id == rule.id || id == "all"; });
  });
  return out;
}

std::size_t TipsAnswer::memory() const {
  std::size_t bytes = sizeof(*this);
  for (const Tip& tip : tips) {
    bytes += sizeof(Tip) + tip.text.size() + tip.advice.size() + tip.bound_text.size() + tip.link.size();
    for (const auto& [name, share] : tip.from) bytes += name.size() + share.size();
  }
  return bytes;
}

Needs needs_of(const TipsRequest& request) {
  return needs_of_table(request.spec);
}

Result<TipsAnswer> tips_answer(Views& views, const TipsRequest& request, const StopToken& stop) {
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  PROFD_TRY(const auto sources, sources_in(views, *request.open, request.workspace, stop));
  TipFinder finder(views, request, view, stop);
  PROFD_TRY(std::vector<TipCandidate> all, finder.find());
  PROFD_TRY(const std::vector<TipCandidate> ranked, finder.ranked(std::move(all)));
  TipsAnswer out;
  out.head = head_of(*request.open, request.spec, view);
  out.whole = view.whole;
  for (std::size_t i = 0; i < ranked.size() && i < kMostTips; ++i) {
    PROFD_TRY(Tip tip, finder.tip_of(ranked[i], sources.get()));
    out.tips.push_back(std::move(tip));
  }
  out.n_more = ranked.size() - out.tips.size();
  return out;
}

std::vector<std::string> tips_about(const TipsAnswer& tips, std::string_view function) {
  std::vector<std::string> out;
  for (const Tip& tip : tips.tips) {
    const auto here = std::find_if(tip.from.begin(), tip.from.end(),
                                   [&](const auto& one) { return one.first == function; });
    if (here == tip.from.end()) continue;
    std::string text = tip.text;
    if (here != tip.from.begin()) {
      text.pop_back();
      text += fmt::format(", {} from here.", here->second);
    }
    if (!tip.bound_text.empty()) text += " " + tip.bound_text;
    if (!tip.advice.empty()) text += " " + tip.advice;
    out.push_back(std::move(text));
  }
  return out;
}

std::string metric_in_words(const MetricInfo& metric) {
  const bool time = metric.unit == "nanoseconds" || metric.unit == "microseconds" ||
                    metric.unit == "milliseconds" || metric.unit == "seconds";
  if (is_metric(metric, TipMetric::wall)) return "wall time, all threads together";
  if (time && metric.name.find("cpu") != metric.name.npos) return "CPU time";
  if (metric.unit == "bytes") return "the bytes of " + metric.name;
  return metric.name;
}

}  // namespace profd
