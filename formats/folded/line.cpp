#include "formats/folded/line.h"

#include <charconv>
#include <limits>

namespace profd::folded {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

std::string_view trim_end(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// The number at the end of `text`, preceded by a blank; empty when there is none.
std::string_view last_number(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  // "12.", "12.5": the digits found so far are the fraction.
  if (begin > 0 && text[begin - 1] == '.') {
    std::size_t whole = begin - 1;
    while (whole > 0 && is_digit(text[whole - 1])) --whole;
    if (whole == begin - 1) return {};
    begin = whole;
  }
  if (begin == text.size() || begin == 0 || !is_blank(text[begin - 1])) return {};
  return text.substr(begin);
}

}  // namespace

Line split(std::string_view line) {
  Line out;
  line = trim_end(line);
  out.count = last_number(line);
  if (out.count.empty()) return out;
  out.stack = trim_end(line.substr(0, line.size() - out.count.size()));
  out.before = last_number(out.stack);
  out.valid = true;
  return out;
}

std::string_view stack_without_before(const Line& line) {
  return trim_end(line.stack.substr(0, line.stack.size() - line.before.size()));
}

bool is_decimal(std::string_view number) {
  return number.find('.') != std::string_view::npos;
}

Count to_integer(std::string_view number) {
  Count count;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count.value);
  if (error == std::errc::result_out_of_range) return {std::numeric_limits<std::int64_t>::max(), true};
  return count;
}

double to_double(std::string_view number) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  return error == std::errc{} ? value : std::numeric_limits<double>::max();
}

}  // namespace profd::folded
