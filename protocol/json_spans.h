// Looking into JSON text without building it: where the members of an object and the items of an array stand,
// so that what is passed on stays the bytes that came.
//
// Works on text of any depth without recursion and allocates nothing. It finds the ends of values by quotes
// and brackets alone and checks no more of them: whoever reads a value parses it. Of a text that is cut, what
// stands before the cut is found.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace profd::protocol {

struct JsonMember {
  std::string_view key;    // as it is written, without its quotes
  std::string_view value;  // without blanks around it
};

// The members of an object, in order; none where `text` is no object.
class JsonMembers {
 public:
  explicit JsonMembers(std::string_view text);
  [[nodiscard]] std::optional<JsonMember> next();

 private:
  std::string_view text_;
  std::size_t at_;
};

// The items of an array, in order; none where `text` is no array.
class JsonItems {
 public:
  explicit JsonItems(std::string_view text);
  [[nodiscard]] std::optional<std::string_view> next();

 private:
  std::string_view text_;
  std::size_t at_;
};

// The value of a member, the last of that name; "" where there is none. `key` needs no escapes.
[[nodiscard]] std::string_view json_member(std::string_view object, std::string_view key);
// The object with `value` for a member, in place of the one that it had, else at its end. `object` is an
// object.
[[nodiscard]] std::string with_json_member(std::string_view object, std::string_view key,
                                           std::string_view value);
// The object without the members of that name.
[[nodiscard]] std::string without_json_member(std::string_view object, std::string_view key);
// The items of both, in one array; either may be "" or null, or an array.
[[nodiscard]] std::string joined_json_arrays(std::string_view first, std::string_view second);
[[nodiscard]] bool is_json_array(std::string_view value);
[[nodiscard]] bool is_json_object(std::string_view value);
// "" or null or false.
[[nodiscard]] bool is_json_nothing(std::string_view value);
// What a JSON string says; nothing where `value` is none.
[[nodiscard]] std::optional<std::string> json_string(std::string_view value);

}  // namespace profd::protocol
