// One line of folded text: `frame;frame;… COUNT`, or two counts when it comes from a differential.
#pragma once

#include <cstdint>
#include <string_view>

namespace profd::folded {

struct Line {
  std::string_view stack;   // without counts and the blanks around them; empty when py-spy found no frames
  std::string_view count;   // the last number: digits, or digits.digits
  std::string_view before;  // the number in front of it; part of the stack unless the file is a differential
  bool valid = false;
};

// Any line; not valid when it does not end in a blank and a number.
Line split(std::string_view line);
bool is_decimal(std::string_view number);
// Where the frames end when the file is a differential and `line.before` is a count.
std::string_view stack_without_before(const Line& line);

// Clamps at the largest value and says so.
struct Count {
  std::int64_t value = 0;
  bool clamped = false;
};
Count to_integer(std::string_view number);
double to_double(std::string_view number);

}  // namespace profd::folded
