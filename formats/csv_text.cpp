#include "formats/csv_text.h"

#include <charconv>
#include <cmath>
#include <utility>

namespace profd {

void append_decimal(std::string& out, double value) {
  if (!std::isfinite(value)) value = 0;
  char text[400];
  out.append(text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr);
}

void CsvText::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

void CsvText::text(std::string_view text) {
  separate();
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out_ += text;
    return;
  }
  out_ += '"';
  for (const char c : text) {
    if (c == '"') out_ += '"';
    out_ += c;
  }
  out_ += '"';
}

void CsvText::number(std::int64_t value) {
  separate();
  out_ += std::to_string(value);
}

void CsvText::number(std::uint64_t value) {
  separate();
  out_ += std::to_string(value);
}

void CsvText::number(double value) {
  separate();
  append_decimal(out_, value);
}

void CsvText::end_row() {
  out_ += "\r\n";
  first_ = true;
}

std::string CsvText::take() {
  return std::exchange(out_, {});
}

}  // namespace profd
