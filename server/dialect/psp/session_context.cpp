#include "server/dialect/psp/session_context.h"

#include <new>

#include <fmt/format.h>

#include "core/view/resolve.h"
#include "server/engine/mine.h"
#include "server/feature/escape.h"
#include "server/runtime/log.h"

namespace profd {

using protocol::ResponseError;

tl::expected<OpenProfilePtr, ResponseError> SessionContext::profile(const std::string& handle) {
  auto found = engine.find(handle, client);
  if (found) return *found;
  ResponseError error = to_psp(found.error());
  // Nobody cancelled anything here: the profile was dropped, and opening it again helps.
  if (found.error().code == ErrorCode::cancelled)
    error = ResponseError(psp::ErrorCodes::server_cancelled, found.error().message);
  return tl::make_unexpected(std::move(error));
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
}

void SessionContext::prepare(const OpenProfilePtr& open) {
  if (!open || closed) return;
  const WorkspaceSnapshot snapshot = workspace.snapshot();
  const std::vector<Filter> filters = workspace.filters(open->uri);
  if (!filters.empty()) engine.prepare(open, {});
  engine.prepare(open, filters, &snapshot);  // what editors are shown
}

ResponseError too_many_wait() {
  return {psp::ErrorCodes::server_cancelled,
          fmt::format("{} requests of this client wait for a worker, the most there may be; ask again when "
                      "some are answered",
                      Scheduler::kMaxWaiting)};
}

Result<void> answer_within(Engine& engine, const StopSource& stop,
                           const std::function<Result<void>()>& work) {
  Account account(engine.pool(), stop);
  Result<void> done;
  try {
    const Account::Scope scope(&account);
    done = work();
  } catch (const std::bad_alloc&) {
    const LastWords words;
    done = fail(ErrorCode::limit, "there is not enough memory to answer this");
  }
  if (!done && account.over()) done = tl::unexpected<Error>(account.error("answering this"));
  engine.views().measure_again();
  constexpr std::int64_t kMuch = 4 << 20;
  if (const std::int64_t back = account.peak() - account.used(); back > kMuch)
    engine.freed(static_cast<std::size_t>(back));
  return done;
}

tl::expected<MetricId, ResponseError> find_metric(const OpenProfile& open, const std::string& name,
                                                  const std::string& where) {
  if (name.empty()) return open.metric;
  auto found = resolve_metric(*open.profile, name);
  if (!found) return tl::make_unexpected(invalid_params(where, found.error().message));
  return *found;
}

std::optional<ResponseError> outdated(const OpenProfile& open, const std::optional<std::uint32_t>& revision,
                                      std::string_view field) {
  if (!revision)
    return invalid_params("params.revision", fmt::format("missing; `{}` has keys of a revision", field));
  if (*revision == open.revision) return std::nullopt;
  psp::ErrorData data;
  data.reason = "invalid";
  data.revision = open.revision;
  return ResponseError(psp::ErrorCodes::content_modified,
                       fmt::format("{} has revision {} now; what `{}` names is of revision {}",
                                   sanitize_text(open.name), open.revision, field, *revision),
                       data);
}

}  // namespace profd
