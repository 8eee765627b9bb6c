// Text from a file is data wherever it goes. Every client-bound text passes one of these.
// Input may be any bytes; output is valid UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profd {

// For terminals and log lines: control characters (C0, DEL, C1), bidirectional overrides, line separators and
// invisible characters become visible escapes such as \x1b and \u202e. One line in, one line out.
std::string sanitize_text(std::string_view text);

// Between tags and in quoted attributes of HTML, XML and SVG. Characters XML forbids become visible escapes.
std::string escape_markup(std::string_view text);

// Plain text inside Markdown: nothing in it becomes a link, an image, markup or a table cell's end.
std::string escape_markdown(std::string_view text);
// The same as a code span, with a fence longer than any run of backticks inside.
std::string markdown_code(std::string_view text);

// Columns a terminal needs for UTF-8 text without control characters; East Asian wide characters take two.
std::size_t display_width(std::string_view text);
// At most `columns` wide; what does not fit ends in "…".
std::string cut_to_width(std::string_view text, std::size_t columns);

}  // namespace profd
