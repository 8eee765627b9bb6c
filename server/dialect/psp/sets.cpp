#include "server/dialect/psp/sets.h"

#include <utility>

#include "server/dialect/psp/convert_views.h"
#include "server/feature/tips.h"

namespace profd {

std::vector<NamedSet> named_sets(std::vector<psp::NamedSet> sets) {
  std::vector<NamedSet> out;
  for (psp::NamedSet& set : sets)
    out.push_back({std::move(set.name), std::move(set.pattern).value_or(""),
                   std::move(set.frames).value_or(std::vector<std::string>{}),
                   std::move(set.set).value_or("")});
  return out;
}

void bind_sets(SessionContext& session, protocol::Binder& binder) {
  binder.request<psp::SetsRequest>([&session](psp::SetsParams params,
                                              protocol::Reply<psp::SetsRequest> reply) {
    auto named = from_psp(params.spec, "params.spec");
    if (!named) return reply.error(named.error());
    session.decide_mine(named->spec.filters);
    const auto open = session.profile(named->profile.empty() ? params.profile.value_or("") : named->profile);
    if (!open) return reply.error(open.error());
    SetsAnswerRequest request;
    request.open = *open;
    request.spec = std::move(named->spec);
    request.asked = named_sets(std::move(params.sets));
    request.sets = session.workspace.sets();
    session.answer<psp::SetsRequest>(
        std::move(reply), std::move(request),
        [](Views& views, const SetsAnswerRequest& asked, const StopToken& stop) {
          return sets_answer(views, asked, stop).map([](SetsAnswer&& answer) {
            return to_psp(std::move(answer));
          });
        },
        params.panel_id.value_or(""));
  });

  binder.request<psp::TipsRequest>([&session](psp::TipsParams params,
                                              protocol::Reply<psp::TipsRequest> reply) {
    std::string handle = params.profile.value_or("");
    ViewSpec spec;
    if (params.spec) {
      auto named = from_psp(*params.spec, "params.spec");
      if (!named) return reply.error(named.error());
      session.decide_mine(named->spec.filters);
      if (!named->profile.empty()) handle = named->profile;
      spec = std::move(named->spec);
    }
    const auto open = session.profile(handle);
    if (!open) return reply.error(open.error());
    TipsRequest request;
    request.open = *open;
    request.workspace = session.workspace.snapshot();
    request.spec = std::move(spec);
    if (params.workspace_filters) {
      std::vector<Filter> filters = session.workspace.filters((*open)->uri);
      filters.insert(filters.end(), request.spec.filters.begin(), request.spec.filters.end());
      request.spec.filters = std::move(filters);
    }
    request.sets = session.workspace.sets();
    request.rules = tip_rules(session.workspace.tips(), session.workspace.tips_off());
    session.answer<psp::TipsRequest>(std::move(reply), std::move(request),
                                     [](Views& views, const TipsRequest& asked, const StopToken& stop) {
                                       return tips_answer(views, asked, stop).map([](TipsAnswer&& answer) {
                                         return to_psp(std::move(answer));
                                       });
                                     });
  });
}

}  // namespace profd
