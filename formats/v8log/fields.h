// Lines of a V8 log: comma-separated, with \xHH, \uHHHH, \n, \\ and in old logs quoted fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace profd::v8log {

class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}
  // The next field as written, without the quotes around it; false at the end of the line.
  bool next(std::string_view& field);
  // What is left of the line.
  std::string_view rest() const { return rest_; }
  // False when a quoted field does not end.
  bool ok() const { return ok_; }

 private:
  std::string_view rest_;
  bool at_end_ = false, ok_ = true;
};

// Undoes escapes. Doubled quotes (old logs) become one.
std::string unescaped(std::string_view field);
// "0x1f", and decimal numbers.
bool parse_address(std::string_view field, std::uint64_t& out);

// What a function's name in the log says: "name script:line:column".
struct FunctionName {
  std::string name, script;
  std::uint32_t line = 0, column = 0;
};
FunctionName split_name(std::string_view text);

}  // namespace profd::v8log
