#include "server/transport/first_message.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <variant>

namespace profd {
namespace {

constexpr std::size_t kMaxFirstHeader = 1024;
constexpr std::string_view kHeaders[] = {"content-length:", "content-type:"};

bool may_be_a_header(std::string_view begin) {
  return std::any_of(std::begin(kHeaders), std::end(kHeaders), [&](std::string_view header) {
    const std::size_t n = std::min(begin.size(), header.size());
    return std::equal(begin.begin(), begin.begin() + static_cast<std::ptrdiff_t>(n), header.begin(),
                      [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
  });
}

}  // namespace

FirstMessage::FirstMessage(std::size_t max_bytes) : frames_({kMaxFirstHeader, max_bytes}) {}

FirstMessage::State FirstMessage::feed(std::string_view bytes) {
  constexpr std::size_t kLongest = std::max(kHeaders[0].size(), kHeaders[1].size());
  if (begin_.size() < kLongest) {
    begin_ += bytes.substr(0, kLongest - begin_.size());
    if (!may_be_a_header(begin_)) return State::foreign;
  }
  frames_.feed(bytes);
  auto frame = frames_.next();
  if (!frame) return State::incomplete;
  if (const auto* error = std::get_if<protocol::FrameError>(&*frame)) {
    why_ = error->message;
    return State::broken;
  }
  message_ = std::move(std::get<std::string>(*frame));
  // The message ended within these bytes: what is behind it is their end.
  rest_ = bytes.substr(bytes.size() - frames_.pending_bytes());
  return State::complete;
}

}  // namespace profd
