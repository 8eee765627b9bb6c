// LineReader: the lines of a text, with their offsets. LF or CRLF; the last line may lack its end. The one
// way in which readers of text split it; tables with quoted fields, which may hold line ends, are csv.h.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

namespace profd {

class LineReader {
 public:
  explicit LineReader(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  // The next line without its end; false at the end of the text.
  bool next(std::string_view& line) {
    if (at_ >= text_.size()) return false;
    start_ = at_;
    const char* const begin = text_.data() + at_;
    const std::size_t left = text_.size() - at_;
    const auto* end = static_cast<const char*>(std::memchr(begin, '\n', left));
    std::size_t size = end ? static_cast<std::size_t>(end - begin) : left;
    ended_ = end != nullptr;
    at_ += size + (ended_ ? 1 : 0);
    if (size > 0 && begin[size - 1] == '\r') --size;
    line = {begin, size};
    return true;
  }
  // Of the line returned last.
  std::size_t offset() const { return start_; }
  // False when the text ends without ending the line returned last.
  bool ended() const { return ended_; }
  // Where the next line begins.
  std::size_t position() const { return at_; }
  // Of the whole text.
  std::size_t size() const { return text_.size(); }
  // There is no next line.
  void skip_rest() { at_ = text_.size(); }
  // Goes on with the line after the one that `at` lies in.
  void skip_line_at(std::size_t at) {
    at_ = at;
    std::string_view rest;
    next(rest);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0, start_ = 0;
  bool ended_ = true;
};

// "" of a text without any.
inline std::string_view first_line(std::string_view text) {
  std::string_view line;
  LineReader(text).next(line);
  return line;
}

}  // namespace profd
