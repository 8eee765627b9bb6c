#include "server/dialect/psp/session_context.h"

#include <iterator>
#include <new>

#include <fmt/format.h>

#include "core/view/resolve.h"
#include "server/engine/formula_metrics.h"
#include "server/engine/mine.h"
#include "server/engine/rule_sets.h"
#include "server/feature/escape.h"
#include "server/feature/first_needs.h"
#include "server/feature/metric_values.h"
#include "server/runtime/log.h"

namespace profd {

using protocol::ResponseError;

ResponseError to_psp(const Refusal& refusal, const std::string& place) {
  switch (refusal.why) {
    case Refusal::Why::busy:
    case Refusal::Why::closed:
      return {psp::ErrorCodes::server_cancelled, refusal.error.message};
    case Refusal::Why::unnamed:
      return invalid_params("params.revision", refusal.error.message);
    case Refusal::Why::outdated: {
      psp::ErrorData data;
      data.reason = "invalid";
      data.revision = refusal.revision;
      return {psp::ErrorCodes::content_modified, refusal.error.message, data};
    }
    case Refusal::Why::error:
      break;
  }
  return to_psp(refusal.error, place);
}

tl::expected<OpenProfilePtr, ResponseError> SessionContext::profile(const std::string& handle) {
  auto found = tasks.profile(handle).map_error([](const Refusal& refusal) { return to_psp(refusal); });
  if (found) *found = with_set_metrics(std::move(*found));
  return found;
}

OpenProfilePtr SessionContext::with_set_metrics(OpenProfilePtr open) {
  std::erase_if(with_set_, [](const auto& known) { return known.second.of.expired(); });
  const std::vector<DerivedMetric> set = open ? workspace.derived() : std::vector<DerivedMetric>();
  if (set.empty()) return open;
  WithSet& known = with_set_[open->handle];
  if (known.of.lock() == open && known.set == set) return known.with;
  std::vector<DerivedMetric> all = formulas_of(*open);
  all.insert(all.end(), set.begin(), set.end());  // of several of one name the first counts
  auto out = std::make_shared<OpenProfile>(*open);
  set_formulas(*out, all);
  known = {open, set, std::move(out)};
  return known.with;
}

Result<void> SessionContext::show_metric(const std::string& handle, const std::string& metric) {
  PROFD_TRY(const OpenProfilePtr shared, engine.find(handle));
  PROFD_CHECK(check_width(*with_set_metrics(shared), metric));
  if (!shared->profile->find_metric(metric))
    for (const DerivedMetric& set : workspace.derived())
      if (set.name == metric) {
        PROFD_CHECK(engine.derive(handle, set));
        break;
      }
  return engine.set_metric(handle, metric);
}

void SessionContext::log_message(psp::MessageType type, const std::string& text) {
  log_info(text);
  if (!running) return;
  if (const auto said = logged.next(text))
    peer->notify<psp::LogMessageNotification>({type, sanitize_text(*said)});
}

void SessionContext::show_message(psp::MessageType type, const std::string& text) {
  log_info(text);
  if (!running) return;
  if (const auto said = shown.next(text))
    peer->notify<psp::ShowMessageNotification>({type, sanitize_text(*said)});
}

void SessionContext::decide_mine(std::vector<Filter>& filters) const {
  profd::decide_mine(filters, [this] { return workspace.mine(); });
  decide_sets(filters, [this] { return workspace.sets(); });
}

void SessionContext::prepare(const OpenProfilePtr& open) {
  if (!open || closed) return;
  const WorkspaceSnapshot snapshot = workspace.snapshot();
  const std::vector<Filter> filters = workspace.filters(open->uri);
  if (!filters.empty()) engine.prepare(open, first_needs(open, {}));
  engine.prepare(open, first_needs(open, filters));  // what editors are shown
  engine.prepare_files(open, filters, snapshot);
}

tl::expected<MetricId, ResponseError> find_metric(const OpenProfile& open, const std::string& name,
                                                  const std::string& where) {
  if (name.empty()) return open.metric;
  if (const auto right = check_width(open, name); !right)
    return tl::make_unexpected(invalid_params(where, right.error().message));
  auto found = resolve_metric(*open.profile, name);
  if (!found) return tl::make_unexpected(invalid_params(where, found.error().message));
  return *found;
}

std::optional<ResponseError> no_metric(const OpenProfile& open, const std::string& name,
                                       const std::string& where) {
  const auto known = check_metric(open, name);
  return known ? std::nullopt : std::optional(invalid_params(where, known.error().message));
}

std::optional<ResponseError> outdated(const OpenProfile& open, const std::optional<std::uint32_t>& revision,
                                      std::string_view field) {
  const auto refusal = Tasks::outdated(open, revision, field);
  if (!refusal) return std::nullopt;
  return to_psp(*refusal);
}

}  // namespace profd
