#include "protocol/reply.h"

#include <chrono>
#include <new>
#include <thread>

#include "protocol/message.h"
#include "protocol/peer_core.h"

namespace profd::protocol {

using psp::ErrorCodes;

ReplyOnce::ReplyOnce(std::weak_ptr<PeerCore> core, std::uint64_t serial, RequestId id, std::string method)
    : core_(std::move(core)), serial_(serial), id_(std::move(id)), method_(std::move(method)) {}

ReplyOnce::ReplyOnce(ReplyOnce&& other) noexcept
    : core_(std::move(other.core_)),
      serial_(other.serial_),
      id_(std::move(other.id_)),
      method_(std::move(other.method_)),
      open_(std::exchange(other.open_, false)) {}

ReplyOnce& ReplyOnce::operator=(ReplyOnce&& other) noexcept {
  if (this == &other) return *this;
  drop();
  core_ = std::move(other.core_);
  serial_ = other.serial_;
  id_ = std::move(other.id_);
  method_ = std::move(other.method_);
  open_ = std::exchange(other.open_, false);
  return *this;
}

ReplyOnce::~ReplyOnce() {
  drop();
}

void ReplyOnce::result(std::string_view json_text) {
  finish(result_text(id_, json_text));
}

void ReplyOnce::error(const ResponseError& error) {
  finish(error_text(id_, error));
}

void ReplyOnce::finish(std::string body) {
  const auto core = core_.lock();
  if (!core) {
    open_ = false;
    return;
  }
  if (!std::exchange(open_, false)) {
    core->log("second answer to " + method_ + " " + id_.json() + " not sent");
    return;
  }
  if (core->end_incoming(serial_)) core->send(std::move(body));
}

bool ReplyOnce::cancelled() const {
  const auto core = core_.lock();
  return !core || core->cancelled(serial_);
}

void ReplyOnce::on_cancel(std::function<void()> stop) {
  if (const auto core = core_.lock()) {
    core->set_cancel_hook(serial_, std::move(stop));
  } else if (stop) {
    stop();
  }
}

// Out of memory, what others hold for a moment is soon there again.
void ReplyOnce::drop() noexcept {
  constexpr int kTries = 100;
  constexpr auto kPause = std::chrono::milliseconds(10);
  for (int i = 0; i < kTries && open_; ++i) try {
      const auto core = core_.lock();
      if (!core) return;
      core->at_last([this, &core] { answer_dropped(*core); });
      return;
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(kPause);
    } catch (...) {  // a hook that throws: nothing is left to tell anyone
      return;
    }
}

void ReplyOnce::answer_dropped(const PeerCore& core) {
  if (core.cancelled(serial_)) {
    error({ErrorCodes::request_cancelled, method_ + " was cancelled"});
  } else if (const auto why = core.why_dropped(method_)) {
    error(*why);
  } else {
    core.log(method_ + " " + id_.json() + " was dropped without an answer");
    error({ErrorCodes::internal_error, method_ + " failed inside the server; its log says more"});
  }
}

}  // namespace profd::protocol
