// A string enumeration that keeps values it does not know: a newer peer may send one.
//
// E comes from psp.json and has `unrecognized` as its last enumerator; to_wire(E) and from_wire(text, E&) are
// found beside it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace profd::protocol {

template <class E>
class OpenEnum {
 public:
  OpenEnum() = default;  // the first value that psp.json lists
  // NOLINTBEGIN(google-explicit-constructor): stands for E wherever one is meant.
  OpenEnum(E value) : value_(value) {}
  operator E() const { return value_; }
  // NOLINTEND(google-explicit-constructor)

  static OpenEnum from_text(std::string text) {
    OpenEnum result;
    if (!from_wire(text, result.value_)) {
      result.value_ = E::unrecognized;
      result.raw_ = std::move(text);
    }
    return result;
  }

  [[nodiscard]] E value() const { return value_; }
  [[nodiscard]] bool known() const { return value_ != E::unrecognized; }
  // As on the wire, the unknown ones too.
  [[nodiscard]] std::string_view text() const { return known() ? to_wire(value_) : std::string_view(raw_); }

  friend bool operator==(const OpenEnum& a, const OpenEnum& b) { return a.text() == b.text(); }
  friend bool operator==(const OpenEnum& a, E b) { return a.value_ == b; }

 private:
  E value_{};
  std::string raw_;
};

}  // namespace profd::protocol
