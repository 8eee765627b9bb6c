#include "protocol/framing.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <new>
#include <utility>

namespace profd::protocol {

namespace {

constexpr std::string_view kContentLength = "content-length";
constexpr std::string_view kBlank = " \t";
// Longest "Content-Length: N" line looked for when out of step.
constexpr std::size_t kMaxResyncLine = 64;

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_header_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  });
}

// For error messages: what a peer sent, short and without control characters.
std::string excerpt(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, 40)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out + (text.size() > 40 ? "...\"" : "\"");
}

}  // namespace

void FrameReader::feed(std::string_view bytes) {
  const std::size_t n_skipped = std::min(to_skip_, bytes.size());
  to_skip_ -= n_skipped;
  consumed_ += n_skipped;
  bytes.remove_prefix(n_skipped);
  if (bytes.empty()) return;
  try {
    buffer_.append(bytes);
  } catch (const std::bad_alloc&) {
    if (state_ != State::body) throw;
    const auto size = static_cast<std::size_t>(*content_length_);
    const std::size_t of_body = std::min(size - std::min(size, pending_bytes()), bytes.size());
    drop_body(pending_bytes());
    to_skip_ -= of_body;
    consumed_ += of_body;
    buffer_.append(bytes.substr(of_body));
  }
}

// The body that is being read will not be had: its first bytes, those here, go now.
void FrameReader::drop_body(std::size_t n_here) {
  const auto size = static_cast<std::size_t>(*content_length_);
  const std::size_t of_body = std::min(size, n_here);
  to_skip_ = size - of_body;
  dropped_ = size;
  content_length_.reset();
  state_ = State::header;
  if (of_body == pending_bytes()) {
    consumed_ += of_body;
    buffer_ = {};
    start_ = scanned_ = 0;
  } else {
    consume(of_body);
  }
}

std::optional<FrameReader::Frame> FrameReader::next() {
  if (dropped_) {
    const std::uint64_t size = *std::exchange(dropped_, std::nullopt);
    return FrameError{consumed_, "there was no memory for a message of " + std::to_string(size) + " bytes"};
  }
  if (state_ == State::resync && !skip_to_header()) return std::nullopt;
  if (state_ == State::header) {
    if (auto problem = read_header()) return problem;
  }
  return state_ == State::body ? read_body() : std::nullopt;
}

// Consumes whole header lines. Gives an error, or nothing: then state_ says whether the header is complete.
std::optional<FrameReader::Frame> FrameReader::read_header() {
  while (true) {
    const std::string_view rest = std::string_view(buffer_).substr(start_);
    const auto end = rest.find('\n', scanned_);
    const std::size_t size = end == std::string_view::npos ? rest.size() : end + 1;
    if (header_bytes_ + size > limits_.max_header_bytes)
      return fail("header longer than " + std::to_string(limits_.max_header_bytes) + " bytes");
    if (end == std::string_view::npos) {
      scanned_ = rest.size();
      return std::nullopt;
    }
    std::string_view line = rest.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) {
      // Line ends between messages come from people and scripts; only a header that was begun is missing
      // something.
      if (header_bytes_ == 0) {
        consume(size);
        continue;
      }
      if (!content_length_) return fail("header without Content-Length");
      if (*content_length_ == 0) return fail("Content-Length is 0");
      consume(size);
      header_bytes_ = 0;
      state_ = State::body;
      return std::nullopt;
    }
    if (auto error = take_header_line(line)) return *std::move(error);
    header_bytes_ += size;
    consume(size);
  }
}

std::optional<FrameError> FrameReader::take_header_line(std::string_view line) {
  const auto colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  // "...Content-Length" is the end of a body that was longer than announced, run into the next header.
  const bool run_in = name.size() > kContentLength.size() &&
                      equal_ignoring_case(name.substr(name.size() - kContentLength.size()), kContentLength);
  if (colon == std::string_view::npos || !is_header_name(name) || run_in)
    return fail("not a header line: " + excerpt(line));
  if (!equal_ignoring_case(name, kContentLength)) return std::nullopt;  // Content-Type and the like
  const auto length = decimal(trimmed(line.substr(colon + 1)));
  if (!length) return fail("Content-Length is not a number: " + excerpt(trimmed(line.substr(colon + 1))));
  if (*length > limits_.max_content_bytes)
    return fail("Content-Length " + std::to_string(*length) + " is more than the limit of " +
                std::to_string(limits_.max_content_bytes) + " bytes");
  if (content_length_ && *content_length_ != *length)
    return fail("two different Content-Length headers: " + std::to_string(*content_length_) + " and " +
                std::to_string(*length));
  content_length_ = length;
  return std::nullopt;
}

std::optional<FrameReader::Frame> FrameReader::read_body() {
  const auto size = static_cast<std::size_t>(*content_length_);
  if (pending_bytes() < size) return std::nullopt;
  std::string body;
  if (start_ == 0 && buffer_.size() == size) {
    body = std::exchange(buffer_, {});
    consumed_ += size;
    scanned_ = 0;
  } else {
    try {
      body = buffer_.substr(start_, size);
    } catch (const std::bad_alloc&) {
      drop_body(size);
      return next();
    }
    consume(size);
  }
  content_length_.reset();
  state_ = State::header;
  return body;
}

// Finds a complete line "Content-Length: N" and leaves it as the next thing to read.
bool FrameReader::skip_to_header() {
  const std::string_view rest = std::string_view(buffer_).substr(start_);
  std::size_t at = scanned_;
  for (; at < rest.size(); ++at) {
    if (rest[at] != 'C' && rest[at] != 'c') continue;
    const std::string_view line = rest.substr(at, kMaxResyncLine);
    const std::size_t n_compared = std::min(line.size(), kContentLength.size());
    if (!equal_ignoring_case(line.substr(0, n_compared), kContentLength.substr(0, n_compared))) continue;
    const auto end = line.find('\n');
    if (end == std::string_view::npos) {
      if (line.size() == kMaxResyncLine) continue;
      break;  // may become one: wait for more
    }
    std::string_view value = line.substr(kContentLength.size(), end - kContentLength.size());
    if (!value.empty() && value.back() == '\r') value.remove_suffix(1);
    if (value.empty() || value.front() != ':' || !decimal(trimmed(value.substr(1)))) continue;
    consume(at);
    state_ = State::header;
    return true;
  }
  consume(at);
  return false;
}

// Records the place, and looks for the next header after it.
FrameError FrameReader::fail(std::string message) {
  FrameError error{consumed_, std::move(message)};
  // The bad line may hold a good header further on (a body that runs into the next message); its first byte
  // starts only what was just refused.
  if (pending_bytes() > 0) consume(1);
  header_bytes_ = 0;
  content_length_.reset();
  state_ = State::resync;
  return error;
}

void FrameReader::consume(std::size_t n_bytes) {
  start_ += n_bytes;
  consumed_ += n_bytes;
  scanned_ = 0;
  // Moving the rest to the front only when at least half is dead keeps the cost linear.
  if (start_ == buffer_.size()) {
    // A large message is rare; nobody keeps room for the next one.
    constexpr std::size_t kKept = std::size_t{256} << 10;
    if (buffer_.capacity() > kKept) buffer_ = {};
    buffer_.clear();
    start_ = 0;
  } else if (start_ > buffer_.size() / 2 && start_ >= 4096) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
}

std::optional<FrameError> FrameReader::finish() {
  const std::size_t left = pending_bytes();
  FrameError error{consumed_, {}};
  if (to_skip_ > 0) {
    error.message = "stream ended inside a message that there was no memory for";
    to_skip_ = 0;
  } else if (state_ == State::body) {
    error.message = "stream ended after " + std::to_string(left) + " of the " +
                    std::to_string(*content_length_) + " bytes of a message";
  } else if (state_ == State::header && (left > 0 || header_bytes_ > 0)) {
    error.message = "stream ended inside a header";
  } else {
    return std::nullopt;
  }
  consume(left);
  header_bytes_ = 0;
  content_length_.reset();
  state_ = State::header;
  return error;
}

std::string frame_header(std::size_t body_bytes) {
  return "Content-Length: " + std::to_string(body_bytes) + "\r\n\r\n";
}

std::string frame(std::string_view body) {
  std::string out = frame_header(body.size());
  out += body;
  return out;
}

}  // namespace profd::protocol
