// Buffered output of writers: text, JSON text, protocol buffers. Errors stick, as in the readers' cursors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/model/metric.h"
#include "core/support/protobuf_message.h"
#include "core/support/stop.h"
#include "formats/byte_sink.h"

namespace profd::writers {

class Output {
 public:
  Output(const ByteSink& sink, StopToken stop) : sink_(sink), stop_(std::move(stop)) {}

  void put(std::string_view text) {
    buffer_ += text;
    if (buffer_.size() >= kBlock) flush();
  }
  void put(char c) { buffer_ += c; }
  void number(std::int64_t value);
  void number(std::uint64_t value);
  // The shortest decimal that reads back as the same double, without an exponent.
  void number(double value);
  void number(const Value& value) {
    std::visit([this](auto v) { number(v); }, value);
  }
  // Quoted and escaped; nothing in it ends a <script> element.
  void json(std::string_view text);
  // ,"key": with the comma unless `first`.
  void key(std::string_view key, bool first = false);

  // Writes what is left; the first error of the sink, or that the work was stopped.
  Result<void> finish() {
    flush();
    return status_;
  }
  bool failed() const { return !status_; }
  const Result<void>& status() const { return status_; }

 private:
  static constexpr std::size_t kBlock = 1u << 18;
  void flush();

  const ByteSink& sink_;
  StopToken stop_;
  std::string buffer_;
  Result<void> status_;
};

using Message = protobuf::Message;

}  // namespace profd::writers
