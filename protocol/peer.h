// One side of a JSON-RPC connection: requests in and out, over whatever carries message bodies.
//
// Owns no thread and does no I/O. receive(), dispatch() and close() must not run at the same time as one
// another; everything else is safe on any thread. `send` and `log` are called on whichever thread answers or
// calls, never with a lock held, and may be called from several at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tl/expected.hpp>

#include "protocol/binder.h"
#include "protocol/generated/psp_messages.h"
#include "protocol/json_parse.h"
#include "protocol/message.h"
#include "protocol/path.h"

namespace profd::protocol {

struct PeerOptions {
  // The server's side of LSP's life cycle: nothing before initialize, nothing but exit after shutdown.
  bool gate_life_cycle = true;
  std::size_t max_outgoing = 100;   // unanswered requests of ours; the oldest fails when another is sent
  std::size_t max_incoming = 1000;  // unanswered requests of the other side; further ones get ServerCancelled
  JsonLimits json;
};

// What a slow receiver may miss of a message.
enum class Keep : std::uint8_t {
  always,
  if_room,  // a report of progress
  newest,   // what all are told that one client chose: an older one that is not sent yet means nothing any
            // more
};

struct PeerHooks {
  std::function<void(std::string body, Keep keep)> send;
  std::function<void(std::string_view text)> log;  // optional: faults of the other side, and ours
  // Optional: why a request of this method is dropped without an answer, where it is known on this thread.
  std::function<std::optional<ResponseError>(std::string_view method)> dropped{};
  // Optional: calls `say`, which answers a request that was dropped: there may be no memory for it but some
  // that was put by.
  std::function<void(const std::function<void()>& say)> at_last{};
};

class Peer {
 public:
  // Gets the result as JSON, or the error; exactly once, also when the connection closes.
  using AnyCallback = std::function<void(tl::expected<Any, ResponseError>)>;

  Peer(PeerHooks hooks, Binder binder, PeerOptions options = {});
  ~Peer();  // as close()
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void receive(std::string_view body);
  void dispatch(const Message& message);
  // Answers a body that parse_message() refused.
  void refuse(const MessageFault& fault);

  template <NotificationType N>
  void notify(const typename N::Params& params = {}) {
    notify_text(N::method, std::is_same_v<typename N::Params, psp::Null> ? "" : N::params_text(params));
  }
  template <RequestType R, std::invocable<tl::expected<typename R::Result, ResponseError>> F>
  RequestId call(const typename R::Params& params, F callback) {
    return call_text(R::method, std::is_same_v<typename R::Params, psp::Null> ? "" : R::params_text(params),
                     [callback = std::move(callback)](tl::expected<Any, ResponseError> answer) mutable {
                       callback(decode_answer<R>(answer));
                     });
  }

  void notify_text(std::string_view method, std::string_view params);
  RequestId call_text(std::string_view method, std::string_view params, AnyCallback callback);
  // Asks the other side to stop; the callback still gets its answer.
  void cancel(const RequestId& id);

  // The connection is gone: cancels every request of the other side, fails every one of ours, sends nothing
  // more.
  void close();

  [[nodiscard]] std::size_t n_incoming() const;  // requests not yet answered
  [[nodiscard]] std::size_t n_outgoing() const;
  [[nodiscard]] bool initialized() const { return state_ == State::running; }
  [[nodiscard]] bool shut_down() const { return state_ == State::shut_down; }
  [[nodiscard]] const Binder& binder() const { return binder_; }

 private:
  enum class State : unsigned char { fresh, running, shut_down };

  template <class R>
  static tl::expected<typename R::Result, ResponseError> decode_answer(
      const tl::expected<Any, ResponseError>& answer) {
    if (!answer) return tl::make_unexpected(answer.error());
    typename R::Result result{};
    Path::Root root("result");
    if (!R::decode_result(answer->get(), result, root))
      return tl::make_unexpected(ResponseError(psp::ErrorCodes::invalid_params, root.error()));
    return result;
  }

  void on_request(const Message& message);
  void on_notification(const Message& message);
  void on_response(const Message& message);
  void on_cancel(const Any& params);
  void run(const Binder::RequestHandler& handle, const Message& message, ReplyOnce reply);
  // Why the state of the session forbids a request, if it does.
  std::optional<ResponseError> forbidden(std::string_view method) const;

  std::shared_ptr<PeerCore> core_;
  Binder binder_;
  PeerOptions options_;
  State state_ = State::fresh;
};

}  // namespace profd::protocol
