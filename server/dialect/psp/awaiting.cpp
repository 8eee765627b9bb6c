#include "server/dialect/psp/awaiting.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace profd {
namespace {

using nlohmann::json;

bool has_text(const json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() && found->is_string() &&
         !found->get_ref<const std::string&>().empty();
}

const json& member(const json& object, const char* name) {
  static const json none;
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

// Whether the request is the same whatever profile is meant.
bool needs_no_meant(std::string_view method, const json& params) {
  if (method == psp::ExecuteCommandRequest::method) {
    const json& command = member(params, "command");
    if (command == "profd.open" || command == "profd.select") return true;
    const json& arguments = member(params, "arguments");
    return arguments.is_array() && !arguments.empty() && has_text(arguments.front(), "profile");
  }
  if (method == psp::SourceTextRequest::method && !has_text(params, "path")) return true;
  return has_text(params, "profile") || has_text(member(params, "spec"), "profile") ||
         has_text(member(params, "selection"), "profile");
}

}  // namespace

void Awaiting::bind(protocol::Binder& binder, const Engine& engine, const ClientId& client) {
  for (const std::string_view method : psp::kAwaitProfile) {
    const protocol::Binder::RequestHandler* bound = binder.find_request(method);
    if (bound == nullptr) continue;
    binder.add_request(std::string(method), [this, &engine, &client, method, handle = *bound](
                                                const protocol::Any& params, protocol::ReplyOnce reply) {
      if (needs_no_meant(method, *params) || !engine.awaits(client)) return handle(params, std::move(reply));
      hold(handle, params, std::move(reply));
      return true;
    });
  }
}

void Awaiting::hold(const protocol::Binder::RequestHandler& handle, const protocol::Any& params,
                    protocol::ReplyOnce reply) {
  const std::uint64_t number = next_number_++;
  const auto shared = std::make_shared<protocol::ReplyOnce>(std::move(reply));
  waiting_->push_back({number, handle, params, shared});
  // Cancellations come on the strand, as requests do.
  shared->on_cancel([weak = std::weak_ptr(waiting_), number] {
    const auto waiting = weak.lock();
    if (!waiting) return;
    const auto found = std::find_if(waiting->begin(), waiting->end(),
                                    [&](const Request& request) { return request.number == number; });
    if (found == waiting->end()) return;
    const auto mine = found->reply;
    waiting->erase(found);
    mine->error({psp::ErrorCodes::request_cancelled, "cancelled"});
  });
}

void Awaiting::look(const Engine& engine, ClientId client) {
  while (!waiting_->empty() && !engine.awaits(client)) {
    Request request = std::move(waiting_->front());
    waiting_->pop_front();
    request.reply->on_cancel({});
    request.handle(request.params, std::move(*request.reply));
  }
}

}  // namespace profd
