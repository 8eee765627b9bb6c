#include "protocol/peer.h"

#include <exception>

#include <nlohmann/json.hpp>

#include "protocol/peer_core.h"

namespace profd::protocol {

using psp::ErrorCodes;

Peer::Peer(PeerHooks hooks, Binder binder, PeerOptions options)
    : core_(std::make_shared<PeerCore>(std::move(hooks))),
      binder_(std::move(binder)),
      options_(options),
      state_(options.gate_life_cycle ? State::fresh : State::running) {}

Peer::~Peer() {
  close();
}

void Peer::receive(std::string_view body) {
  auto message = parse_message(body, options_.json);
  if (message) {
    dispatch(*message);
  } else {
    refuse(message.error());
  }
}

void Peer::refuse(const MessageFault& fault) {
  core_->log("bad message: " + fault.error.message);
  if (fault.answer) core_->send(error_text(fault.id, fault.error));
}

void Peer::dispatch(const Message& message) {
  switch (message.kind) {
    case Message::Kind::request:
      return on_request(message);
    case Message::Kind::notification:
      return on_notification(message);
    case Message::Kind::response:
      return on_response(message);
  }
}

std::optional<ResponseError> Peer::forbidden(std::string_view method) const {
  if (!options_.gate_life_cycle) return std::nullopt;
  const bool initialize = method == psp::InitializeRequest::method;
  if (state_ == State::shut_down)
    return ResponseError(ErrorCodes::invalid_request, "the session was shut down; only exit may follow");
  if (state_ == State::fresh && !initialize)
    return ResponseError(ErrorCodes::server_not_initialized, "initialize must come first");
  if (state_ == State::running && initialize)
    return ResponseError(ErrorCodes::invalid_request, "initialize may come only once");
  return std::nullopt;
}

void Peer::on_request(const Message& message) {
  if (auto refusal = forbidden(message.method)) {
    core_->send(error_text(message.id, *refusal));
    return;
  }
  const auto* handle = binder_.find_request(message.method);
  if (handle == nullptr) {
    core_->send(error_text(message.id, {ErrorCodes::method_not_found, "no such method: " + message.method}));
    return;
  }
  const auto serial = core_->begin_incoming(*message.id, options_.max_incoming);
  if (!serial) {
    core_->send(error_text(message.id, {ErrorCodes::server_cancelled,
                                        std::to_string(options_.max_incoming) +
                                            " requests of this client wait for an answer, the most there "
                                            "may be; ask again when some are answered"}));
    return;
  }
  run(*handle, message, ReplyOnce(core_, *serial, *message.id, message.method));
}

void Peer::run(const Binder::RequestHandler& handle, const Message& message, ReplyOnce reply) {
  bool decoded = false;
  try {
    decoded = handle(message.params, std::move(reply));
  } catch (const std::exception& error) {  // the unwound ReplyOnce has answered InternalError
    core_->log(message.method + " threw: " + error.what());
  }
  if (!options_.gate_life_cycle || !decoded) return;
  if (message.method == psp::InitializeRequest::method) state_ = State::running;
  if (message.method == psp::ShutdownRequest::method) state_ = State::shut_down;
}

void Peer::on_notification(const Message& message) {
  if (message.method == psp::CancelNotification::method) return on_cancel(message.params);
  const bool exit = message.method == psp::ExitNotification::method;
  if (options_.gate_life_cycle && state_ != State::running && !exit) {
    core_->log(message.method + " ignored: " +
               (state_ == State::fresh ? "initialize must come first" : "the session was shut down"));
    return;
  }
  const auto* handler = binder_.find_notification(message.method);
  if (handler == nullptr) {
    // "$/..." may be ignored by anyone; others are worth a line in the log.
    if (message.method.rfind("$/", 0) != 0)
      core_->log("notification of an unknown method: " + message.method);
    return;
  }
  Path::Root root("params");
  try {
    if (!(*handler)(message.params, root)) core_->log(message.method + " ignored: " + root.error());
  } catch (const std::exception& error) {
    core_->log(message.method + " threw: " + error.what());
  }
}

void Peer::on_cancel(const Any& params) {
  psp::CancelParams cancel;
  Path::Root root("params");
  if (!psp::decode(params.get(), cancel, root)) {
    core_->log("$/cancelRequest ignored: " + root.error());
    return;
  }
  const auto id = std::visit([](const auto& value) { return RequestId(value); }, cancel.id);
  core_->cancel_incoming(id);  // one that was answered meanwhile is no fault
}

void Peer::on_response(const Message& message) {
  auto callback = message.id ? core_->end_outgoing(*message.id) : std::nullopt;
  if (!callback) {
    core_->log("answer to no request of ours: " + (message.id ? message.id->json() : std::string("null")) +
               (message.error ? ", " + message.error->message : ""));
    return;
  }
  try {
    if (message.error) {
      (*callback)(tl::make_unexpected(*message.error));
    } else {
      (*callback)(message.result);
    }
  } catch (const std::exception& error) {
    core_->log(std::string("the receiver of an answer threw: ") + error.what());
  }
}

void Peer::notify_text(std::string_view method, std::string_view params) {
  core_->send(notification_text(method, params), method == psp::ProgressNotification::method ? Keep::if_room
                                                 : method == psp::SelectionChangedNotification::method
                                                     ? Keep::newest
                                                     : Keep::always);
}

RequestId Peer::call_text(std::string_view method, std::string_view params, AnyCallback callback) {
  const RequestId id(core_->begin_outgoing(std::move(callback), options_.max_outgoing));
  core_->send(request_text(id, method, params));
  return id;
}

void Peer::cancel(const RequestId& id) {
  notify_text(psp::CancelNotification::method, R"({"id":)" + id.json() + "}");
}

void Peer::close() {
  core_->close();
}

std::size_t Peer::n_incoming() const {
  return core_->n_incoming();
}
std::size_t Peer::n_outgoing() const {
  return core_->n_outgoing();
}

}  // namespace profd::protocol
