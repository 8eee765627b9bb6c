#include "formats/support/csv.h"

#include <algorithm>

namespace profd {

// At an opening quote. Leaves at_ behind the closing one.
std::string_view CsvReader::quoted() {
  const std::size_t begin = at_ + 1;
  bool doubled = false;
  std::size_t end = begin;
  for (;; end += 2) {
    end = text_.find('"', end);
    if (end == std::string_view::npos) {
      broken_ = true;
      const std::size_t line = text_.find_first_of("\r\n", begin);
      at_ = line == std::string_view::npos ? text_.size() : line;
      return text_.substr(begin, at_ - begin);
    }
    if (end + 1 >= text_.size() || text_[end + 1] != '"') break;
    doubled = true;
  }
  at_ = end + 1;
  const std::string_view inside = text_.substr(begin, end - begin);
  if (!doubled) return inside;
  std::string& out = unquoted_.emplace_back();
  for (std::size_t i = 0; i < inside.size(); ++i) {
    out += inside[i];
    i += inside[i] == '"';
  }
  return out;
}

bool CsvReader::next(std::vector<std::string_view>& fields) {
  fields.clear();
  unquoted_.clear();
  broken_ = false;
  if (at_ >= text_.size()) return false;
  start_ = at_;
  for (;;) {
    const std::size_t content = std::min(text_.find_first_not_of(' ', at_), text_.size());
    if (fields.empty()) indent_ = content - at_;
    if (trim_ || (content < text_.size() && text_[content] == '"')) at_ = content;
    std::string_view field;
    if (at_ < text_.size() && text_[at_] == '"') field = quoted();
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
    // What follows a closing quote belongs to no field that anyone writes.
    fields.push_back(field.data() ? field : text_.substr(begin, at_ - begin));
    if (at_ < text_.size() && text_[at_] == separator_) {
      ++at_;
      continue;
    }
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    return true;
  }
}

}  // namespace profd
