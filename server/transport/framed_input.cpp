#include "server/transport/framed_input.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "protocol/json_parse.h"
#include "server/runtime/log.h"

namespace profd {

FramedInput::FramedInput(Session& session, std::function<void()> resume)
    : session_(session), resume_(std::move(resume)), frames_({kMaxHeaderBytes, protocol::kMaxMessageBytes}) {
  session_.set_on_ready([this] {
    next();
    if (resume_ && wants()) resume_();
  });
}

FramedInput::~FramedInput() {
  session_.set_on_ready({});
}

void FramedInput::feed(std::string_view bytes) {
  frames_.feed(bytes);
  next();
}

void FramedInput::end() {
  ended_ = true;
  next();
}

bool FramedInput::wants() const {
  return session_.ready() && !ended_;
}

bool FramedInput::idle() const {
  return session_.ready() && session_.idle();
}

void FramedInput::next() {
  while (session_.ready()) {
    auto frame = frames_.next();
    if (!frame) break;
    if (auto* error = std::get_if<protocol::FrameError>(&*frame))
      session_.refuse(error->message);
    else {
      looked_at_ = std::get<std::string>(*frame).size();
      session_.receive(std::move(std::get<std::string>(*frame)));
    }
  }
  if (session_.ready()) looked_at_ = 0;
  if (!ended_ || !session_.ready() || std::exchange(told_, true)) return;
  if (const auto cut = frames_.finish())
    log_warning(fmt::format("the stream ended inside a message: {}", cut->message));
}

}  // namespace profd
