#include "formats/v8log/fields.h"

#include "core/model/profile_builder.h"
#include "formats/support/text_number.h"
#include "formats/support/utf8.h"

namespace profd::v8log {
namespace {

bool cut_number(std::string_view& text, std::uint32_t& number) {
  const std::size_t colon = text.rfind(':');
  std::uint32_t value = 0;
  if (colon == std::string_view::npos || !parse_uint(text.substr(colon + 1), value) || value == kNone)
    return false;
  number = value;
  text.remove_suffix(text.size() - colon);
  return true;
}

bool begins_a_script(std::string_view text) {
  if (text.starts_with('/') || text.starts_with("node:") || text.starts_with("internal/") ||
      text.starts_with('[') || text.starts_with("evalmachine."))
    return true;
  if (text.size() > 2 && text[1] == ':' && (text[2] == '\\' || text[2] == '/')) return true;
  const std::size_t scheme = text.find("://");
  return scheme != std::string_view::npos && text.substr(0, scheme).find(' ') == std::string_view::npos;
}

}  // namespace

bool Fields::next(std::string_view& field) {
  if (at_end_) return false;
  if (rest_.starts_with('"')) {
    std::size_t end = 1;
    for (;; ++end) {
      end = rest_.find('"', end);
      if (end == std::string_view::npos) {
        ok_ = false;
        at_end_ = true;
        return false;
      }
      if (end + 1 < rest_.size() && rest_[end + 1] == '"') {
        ++end;
        continue;
      }
      break;
    }
    field = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    // What stands between the quote and the comma belongs to nothing.
    const std::size_t comma = rest_.find(',');
    at_end_ = comma == std::string_view::npos;
    rest_ = at_end_ ? std::string_view{} : rest_.substr(comma + 1);
    return true;
  }
  const std::size_t comma = rest_.find(',');
  field = rest_.substr(0, comma);
  at_end_ = comma == std::string_view::npos;
  rest_ = at_end_ ? std::string_view{} : rest_.substr(comma + 1);
  return true;
}

std::string unescaped(std::string_view field) {
  std::string out;
  out.reserve(field.size());
  for (std::size_t i = 0; i < field.size(); ++i) {
    const char c = field[i];
    if (c == '"' && i + 1 < field.size() && field[i + 1] == '"') ++i;
    if (c != '\\' || i + 1 == field.size()) {
      out.push_back(c);
      continue;
    }
    const char kind = field[++i];
    std::uint64_t code = 0;
    if (kind == 'x' && parse_number(field.substr(i + 1, 2), code, 16)) {
      append_utf8(out, static_cast<std::uint32_t>(code));
      i += 2;
    } else if (kind == 'u' && parse_number(field.substr(i + 1, 4), code, 16)) {
      std::uint64_t low = 0;
      if (code >= 0xD800 && code < 0xDC00 && field.substr(i + 5).starts_with("\\u") &&
          parse_number(field.substr(i + 7, 4), low, 16) && low >= 0xDC00 && low <= 0xDFFF) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        i += 6;
      }
      append_utf8(out, code >= 0xD800 && code <= 0xDFFF ? 0xFFFD : static_cast<std::uint32_t>(code));
      i += 4;
    } else if (kind == 'n') {
      out.push_back('\n');
    } else {
      out.push_back(kind);
    }
  }
  return out;
}

bool parse_address(std::string_view field, std::uint64_t& out) {
  if (field.starts_with("0x")) return parse_hex(field, out);
  return parse_uint(field, out);
}

FunctionName split_name(std::string_view text) {
  FunctionName out;
  std::uint32_t line = 0, column = 0;
  std::string_view rest = text;
  if (!cut_number(rest, column) || !cut_number(rest, line)) {
    out.name = text;
    return out;
  }
  out.line = line;
  out.column = column;
  // Names of functions can hold blanks ("get size"), and so can paths.
  std::size_t split = std::string_view::npos;
  for (std::size_t at = rest.find(' '); at != std::string_view::npos; at = rest.find(' ', at + 1)) {
    if (!begins_a_script(rest.substr(at + 1))) continue;
    split = at;
    break;
  }
  if (split == std::string_view::npos) split = rest.rfind(' ');
  if (split == std::string_view::npos) {
    out.name = rest;
    return out;
  }
  out.name = rest.substr(0, split);
  out.script = rest.substr(split + 1);
  return out;
}

}  // namespace profd::v8log
