// A metric value on the wire: an exact 64-bit integer where the metric is integral, else a double.
#pragma once

#include <concepts>
#include <cstdint>

namespace profd::protocol {

class Number {
 public:
  constexpr Number() = default;
  // NOLINTBEGIN(google-explicit-constructor): a number is a number.
  template <std::integral T>
  constexpr Number(T value) : integer_(static_cast<std::int64_t>(value)) {}
  template <std::floating_point T>
  constexpr Number(T value) : real_(static_cast<double>(value)), is_integer_(false) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] constexpr bool is_integer() const { return is_integer_; }
  [[nodiscard]] constexpr std::int64_t as_int64() const {
    return is_integer_ ? integer_ : static_cast<std::int64_t>(real_);
  }
  [[nodiscard]] constexpr double as_double() const {
    return is_integer_ ? static_cast<double>(integer_) : real_;
  }
  friend constexpr bool operator==(const Number& a, const Number& b) {
    return a.is_integer_ && b.is_integer_ ? a.integer_ == b.integer_ : a.as_double() == b.as_double();
  }

 private:
  union {
    std::int64_t integer_ = 0;
    double real_;
  };
  bool is_integer_ = true;
};

}  // namespace profd::protocol
