#include "server/feature/hover_tips.h"

#include <utility>

#include "server/feature/annotate.h"

namespace profd {
namespace {

// What is looked through within a few milliseconds.
constexpr std::size_t kMostContexts = 300'000, kMostFunctions = 20'000;

bool is_quick(const Profile& profile) {
  return profile.tree().size() <= kMostContexts && profile.functions().size() <= kMostFunctions;
}

// Which rules there are, for the cache.
std::string text_of_rules(const std::vector<TipRule>& rules) {
  std::string out;
  for (const TipRule& rule : rules) {
    out += rule.id + ' ';
    if (rule.own)
      out += rule.set + ' ' + rule.subject + ' ' + rule.advice + ' ' + std::to_string(rule.at_least);
  }
  return out;
}

}  // namespace

Result<std::optional<Hover>> hover_with_tips(Views& views, const HoverRequest& request, const HoverTips& tips,
                                             const StopToken& stop) {
  PROFD_TRY(std::optional<Hover> hover, hover_at(views, request, stop));
  const OpenProfile& open = *request.file.open;
  if (!hover || hover->name.empty() || !tips.sets || !is_quick(*open.profile)) return hover;
  TipsRequest asked;
  asked.open = request.file.open;
  asked.spec.filters = request.file.filters;
  asked.spec.metric = open.profile->metrics()[request.file.metric.v].name;
  asked.sets = tips.sets;
  asked.rules = tips.rules;
  PROFD_TRY(
      const auto answer,
      views.kept<TipsAnswer>(open, asked.spec, "tips " + text_of_rules(*tips.rules) + tips.sets->id(), stop,
                             [&](const StopToken& token) -> Result<std::shared_ptr<const TipsAnswer>> {
                               PROFD_TRY(TipsAnswer made, tips_answer(views, asked, token));
                               return std::make_shared<const TipsAnswer>(std::move(made));
                             }));
  hover->tips = tips_about(*answer, hover->name);
  return hover;
}

}  // namespace profd
