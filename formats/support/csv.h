// Rows of separated values (RFC 4180): quotes around a field, doubled inside of it, line ends allowed there.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace profd {

class CsvReader {
 public:
  // `trim`: blanks before a field do not count ("a, b"). Before a quote they never do.
  explicit CsvReader(std::string_view text, char separator = ',', bool trim = false)
      : text_(text), separator_(separator), trim_(trim) {}

  // The fields of the next row; they point into the text, or into the reader where quotes had to be taken
  // out, until the next call. A quoted field that does not end is cut at the end of its line. False at the
  // end.
  bool next(std::vector<std::string_view>& fields);
  // Of the row returned last.
  std::size_t offset() const { return start_; }
  std::size_t position() const { return at_; }
  // Blanks before the first field of the row returned last.
  std::size_t indent() const { return indent_; }
  // The row returned last had a quote without an end.
  bool is_broken() const { return broken_; }

 private:
  std::string_view quoted();

  std::string_view text_;
  char separator_;
  bool trim_;
  std::size_t at_ = 0, start_ = 0, indent_ = 0;
  bool broken_ = false;
  std::deque<std::string> unquoted_;
};

}  // namespace profd
