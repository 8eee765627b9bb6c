// The id of a JSON-RPC request: an integer or a string, as its sender chose.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace profd::protocol {

class RequestId {
 public:
  // NOLINTBEGIN(google-explicit-constructor): both are ids.
  RequestId(std::int64_t number) : value_(number) {}
  RequestId(std::string text) : value_(std::move(text)) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] const std::int64_t* number() const { return std::get_if<std::int64_t>(&value_); }
  [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&value_); }
  // As JSON: 7 or "seven".
  [[nodiscard]] std::string json() const;

  friend bool operator==(const RequestId& a, const RequestId& b) { return a.value_ == b.value_; }
  friend bool operator<(const RequestId& a, const RequestId& b) { return a.value_ < b.value_; }

 private:
  std::variant<std::int64_t, std::string> value_;
};

}  // namespace profd::protocol
