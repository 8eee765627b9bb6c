// The right, and the duty, to answer one request.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/request_id.h"
#include "protocol/response_error.h"

namespace profd::protocol {

class PeerCore;

// Move-only; exactly one answer goes out. One that is dropped unanswered answers RequestCancelled when the
// request was cancelled, else InternalError, and that is logged; a second answer is logged and not sent. Safe
// on any thread, also after the Peer is gone (then nothing is sent).
class ReplyOnce {
 public:
  ReplyOnce(std::weak_ptr<PeerCore> core, std::uint64_t serial, RequestId id, std::string method);
  ReplyOnce(ReplyOnce&& other) noexcept;
  ReplyOnce& operator=(ReplyOnce&& other) noexcept;
  ReplyOnce(const ReplyOnce&) = delete;
  ReplyOnce& operator=(const ReplyOnce&) = delete;
  ~ReplyOnce();

  void result(std::string_view json_text);
  void error(const ResponseError& error);

  // Whether the client cancelled the request or is gone.
  [[nodiscard]] bool cancelled() const;
  // Calls `stop` once, when the request is cancelled: on the thread that received the cancellation, or at
  // once when that was before. Not called after the answer. A second hook replaces the first.
  void on_cancel(std::function<void()> stop);

  [[nodiscard]] const RequestId& id() const { return id_; }
  [[nodiscard]] const std::string& method() const { return method_; }

 private:
  void finish(std::string body);
  void drop() noexcept;
  void answer_dropped(const PeerCore& core);

  std::weak_ptr<PeerCore> core_;
  std::uint64_t serial_ = 0;  // tells requests apart even when a client reuses an id
  RequestId id_;
  std::string method_;
  bool open_ = true;  // false: answered, or moved from
};

// A ReplyOnce that knows the type of the result.
template <class R>
class Reply {
 public:
  using Result = typename R::Result;

  explicit Reply(ReplyOnce once) : once_(std::move(once)) {}

  // Serialises on the calling thread.
  void operator()(const Result& result) { once_.result(R::result_text(result)); }
  void error(const ResponseError& error) { once_.error(error); }
  void error(psp::ErrorCodes code, std::string message) {
    once_.error(ResponseError(code, std::move(message)));
  }
  [[nodiscard]] bool cancelled() const { return once_.cancelled(); }
  void on_cancel(std::function<void()> stop) { once_.on_cancel(std::move(stop)); }
  [[nodiscard]] const RequestId& id() const { return once_.id(); }

 private:
  ReplyOnce once_;
};

}  // namespace profd::protocol
