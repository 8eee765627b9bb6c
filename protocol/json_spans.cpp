#include "protocol/json_spans.h"

#include <array>

#include <nlohmann/json.hpp>

#include "protocol/json_parse.h"

namespace profd::protocol {

namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::size_t kCut = std::string_view::npos;

std::size_t skip_space(std::string_view text, std::size_t at) {
  const std::size_t found = text.find_first_not_of(kSpace, at);
  return found == kCut ? text.size() : found;
}

// `at` is an opening quote; behind the closing one.
std::size_t skip_string(std::string_view text, std::size_t at) {
  const std::size_t begin = at + 1;
  for (at = text.find('"', begin); at != kCut; at = text.find('"', at + 1)) {
    std::size_t n_before = 0;  // backslashes
    while (at - n_before > begin && text[at - n_before - 1] == '\\') ++n_before;
    if (n_before % 2 == 0) return at + 1;
  }
  return kCut;
}

// What changes the depth, or hides what would.
constexpr std::array<bool, 256> kStructure = [] {
  std::array<bool, 256> out{};
  for (const unsigned char c : {'"', '{', '}', '[', ']'}) out[c] = true;
  return out;
}();

// `at` is an opening bracket; behind the one that closes it.
std::size_t skip_container(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (!kStructure[static_cast<unsigned char>(c)]) {
      ++at;
    } else if (c == '"') {
      at = skip_string(text, at);
      if (at == kCut) return kCut;
    } else {
      ++at;
      if (c == '{' || c == '[')
        ++depth;
      else if (--depth == 0)
        return at;
    }
  }
  return kCut;
}

// Behind the value that begins at `at`, which is no blank.
std::size_t skip_value(std::string_view text, std::size_t at) {
  if (at >= text.size()) return kCut;
  if (text[at] == '"') return skip_string(text, at);
  if (text[at] == '{' || text[at] == '[') return skip_container(text, at);
  const std::size_t end = text.find_first_of(",]} \t\r\n", at);
  return end == kCut ? text.size() : end;
}

// Where the content of a container begins that opens with `bracket`.
std::size_t content_of(std::string_view text, char bracket) {
  const std::size_t at = skip_space(text, 0);
  return at < text.size() && text[at] == bracket ? at + 1 : kCut;
}

// The next thing at or after `at`, past one comma; kCut at the end.
std::size_t next_at(std::string_view text, std::size_t at, char closing) {
  at = skip_space(text, at);
  if (at < text.size() && text[at] == ',') at = skip_space(text, at + 1);
  return at < text.size() && text[at] != closing ? at : kCut;
}

std::string_view inside_of_array(std::string_view array) {
  const std::size_t begin = array.find('['), end = array.rfind(']');
  if (begin == kCut || end == kCut || end <= begin) return {};
  const std::string_view inside = array.substr(begin + 1, end - begin - 1);
  return inside.find_first_not_of(kSpace) == kCut ? std::string_view() : inside;
}

}  // namespace

JsonMembers::JsonMembers(std::string_view text) : text_(text), at_(content_of(text, '{')) {}

std::optional<JsonMember> JsonMembers::next() {
  if (at_ == kCut) return std::nullopt;
  const std::size_t key = next_at(text_, at_, '}');
  at_ = kCut;
  if (key == kCut || text_[key] != '"') return std::nullopt;
  const std::size_t key_end = skip_string(text_, key);
  if (key_end == kCut) return std::nullopt;
  const std::size_t colon = skip_space(text_, key_end);
  if (colon >= text_.size() || text_[colon] != ':') return std::nullopt;
  const std::size_t value = skip_space(text_, colon + 1);
  const std::size_t end = skip_value(text_, value);
  if (end == kCut || end == value) return std::nullopt;
  at_ = end;
  return JsonMember{text_.substr(key + 1, key_end - key - 2), text_.substr(value, end - value)};
}

JsonItems::JsonItems(std::string_view text) : text_(text), at_(content_of(text, '[')) {}

std::optional<std::string_view> JsonItems::next() {
  if (at_ == kCut) return std::nullopt;
  const std::size_t value = next_at(text_, at_, ']');
  at_ = kCut;
  if (value == kCut) return std::nullopt;
  const std::size_t end = skip_value(text_, value);
  if (end == kCut || end == value) return std::nullopt;
  at_ = end;
  return text_.substr(value, end - value);
}

std::string_view json_member(std::string_view object, std::string_view key) {
  std::string_view found;
  JsonMembers members(object);
  while (const auto member = members.next())
    if (member->key == key) found = member->value;
  return found;
}

std::string with_json_member(std::string_view object, std::string_view key, std::string_view value) {
  if (const std::string_view old = json_member(object, key); !old.empty()) {
    const auto begin = static_cast<std::size_t>(old.data() - object.data());
    std::string out(object.substr(0, begin));
    out += value;
    out += object.substr(begin + old.size());
    return out;
  }
  const std::size_t end = object.rfind('}');
  std::string out(object.substr(0, end));
  if (JsonMembers(object).next()) out += ',';
  out += '"';
  out += key;
  out += "\":";
  out += value;
  out += '}';
  return out;
}

std::string without_json_member(std::string_view object, std::string_view key) {
  std::string out = "{";
  JsonMembers members(object);
  while (const auto member = members.next()) {
    if (member->key == key) continue;
    if (out.size() > 1) out += ',';
    out += '"';
    out += member->key;
    out += "\":";
    out += member->value;
  }
  return out + "}";
}

std::string joined_json_arrays(std::string_view first, std::string_view second) {
  const std::string_view a = inside_of_array(first), b = inside_of_array(second);
  std::string out = "[";
  out += a;
  if (!a.empty() && !b.empty()) out += ',';
  out += b;
  return out + "]";
}

bool is_json_array(std::string_view value) {
  return value.starts_with('[');
}

bool is_json_object(std::string_view value) {
  return value.starts_with('{');
}

bool is_json_nothing(std::string_view value) {
  return value.empty() || value == "null" || value == "false";
}

std::optional<std::string> json_string(std::string_view value) {
  if (value.size() < 2 || value.front() != '"') return std::nullopt;
  const std::string_view inside = value.substr(1, value.size() - 2);
  if (inside.find('\\') == kCut) return std::string(inside);
  const auto parsed = parse_json(value);
  if (!parsed || !parsed->is_string()) return std::nullopt;
  return parsed->get<std::string>();
}

}  // namespace profd::protocol
