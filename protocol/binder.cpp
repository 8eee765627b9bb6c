#include "protocol/binder.h"

#include <nlohmann/json.hpp>

namespace profd::protocol {

void Binder::add_request(std::string method, RequestHandler handler) {
  requests_[std::move(method)] = std::move(handler);
}

void Binder::add_notification(std::string method, NotificationHandler handler) {
  notifications_[std::move(method)] = std::move(handler);
}

const Binder::RequestHandler* Binder::find_request(std::string_view method) const {
  const auto found = requests_.find(method);
  return found == requests_.end() ? nullptr : &found->second;
}

const Binder::NotificationHandler* Binder::find_notification(std::string_view method) const {
  const auto found = notifications_.find(method);
  return found == notifications_.end() ? nullptr : &found->second;
}

std::vector<std::string> Binder::request_methods() const {
  std::vector<std::string> methods;
  methods.reserve(requests_.size());
  for (const auto& [method, handler] : requests_) methods.push_back(method);
  return methods;
}

const nlohmann::json& Binder::params_or_empty(const Any& params, bool none_expected) {
  static const nlohmann::json empty = nlohmann::json::object();
  return params->is_null() && !none_expected ? empty : params.get();
}

void Binder::refuse(const Path::Root& root, ReplyOnce reply) {
  psp::ErrorData data;
  data.reason = "invalid";
  data.path = root.place();
  reply.error(ResponseError(psp::ErrorCodes::invalid_params, root.error(), data));
}

}  // namespace profd::protocol
