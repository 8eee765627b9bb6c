#include "formats/writers/output.h"

#include <charconv>

#include "formats/csv_text.h"

namespace profd::writers {

void Output::flush() {
  if (!buffer_.empty() && status_) {
    status_ = stop_.status();
    if (status_) status_ = sink_(std::as_bytes(std::span(buffer_)));
  }
  buffer_.clear();
}

void Output::number(std::int64_t value) {
  char text[24];
  put(std::string_view(text,
                       static_cast<std::size_t>(std::to_chars(text, text + sizeof text, value).ptr - text)));
}

void Output::number(std::uint64_t value) {
  char text[24];
  put(std::string_view(text,
                       static_cast<std::size_t>(std::to_chars(text, text + sizeof text, value).ptr - text)));
}

void Output::number(double value) {
  append_decimal(buffer_, value);
}

void Output::json(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  put('"');
  std::size_t from = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool script = c == '<' && i + 1 < text.size() && text[i + 1] == '/';
    if (c >= 0x20 && c != '"' && c != '\\' && !script) continue;
    put(text.substr(from, i - from));
    from = i + 1;
    if (c == '"' || c == '\\') {
      put('\\');
      put(static_cast<char>(c));
    } else {
      put("\\u00");
      put(kHex[c >> 4]);
      put(kHex[c & 15]);
    }
  }
  put(text.substr(from));
  put('"');
}

void Output::key(std::string_view key, bool first) {
  if (!first) put(',');
  json(key);
  put(':');
}

}  // namespace profd::writers
