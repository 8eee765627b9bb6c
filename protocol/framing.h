// LSP's framing without I/O: bytes in, in pieces of any size; message bodies out.
//
//   Content-Length: 17\r\n
//   \r\n
//   {"jsonrpc":"2.0"}
//
// Strict about what a header is, and able to go on after a bad one: everything up to the next complete
// "Content-Length: N" line is skipped. JSON text cannot hold a raw line break inside a string, so no body can
// be mistaken for such a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace profd::protocol {

struct FrameLimits {
  std::size_t max_header_bytes = 4096;
  std::size_t max_content_bytes = std::size_t{64} << 20;
};

struct FrameError {
  std::uint64_t byte = 0;  // offset in the stream of the line or body that is wrong
  std::string message;
};

class FrameReader {
 public:
  using Frame = std::variant<std::string, FrameError>;  // a body, or what was skipped and why

  explicit FrameReader(FrameLimits limits = {}) : limits_(limits) {}

  // What there is no memory for is skipped: next() says so, and goes on behind it.
  void feed(std::string_view bytes);

  // The next message or error; nothing when more bytes are needed. Call until it gives nothing.
  [[nodiscard]] std::optional<Frame> next();

  // At the end of the stream, after next() gave nothing: what was cut off, if anything was.
  [[nodiscard]] std::optional<FrameError> finish();

  // Bytes held back for an incomplete message.
  [[nodiscard]] std::size_t pending_bytes() const { return buffer_.size() - start_; }

 private:
  enum class State : std::uint8_t { header, body, resync };

  std::optional<Frame> read_header();
  std::optional<Frame> read_body();
  void drop_body(std::size_t n_here);
  bool skip_to_header();
  std::optional<FrameError> take_header_line(std::string_view line);
  FrameError fail(std::string message);
  void consume(std::size_t n_bytes);

  FrameLimits limits_;
  State state_ = State::header;
  std::string buffer_;
  std::size_t start_ = 0;    // first byte of buffer_ not yet consumed
  std::size_t scanned_ = 0;  // bytes after start_ known to hold no line end (header) or header line (resync)
  std::uint64_t consumed_ = 0;            // stream offset of start_
  std::size_t header_bytes_ = 0;          // of the header block being read, up to start_
  std::size_t to_skip_ = 0;               // bytes to come of a body that there was no memory for
  std::optional<std::uint64_t> dropped_;  // the length of one, to be told
  std::optional<std::uint64_t> content_length_;
};

// The header that goes before `body`.
[[nodiscard]] std::string frame_header(std::size_t body_bytes);
[[nodiscard]] std::string frame(std::string_view body);

}  // namespace profd::protocol
