#include "formats/support/valgrind_frame.h"

#include "formats/support/text_number.h"

namespace profd {
namespace {

// "demo.cpp:18" and "alloc.rs:226:9": takes a number off the end.
bool take_number(std::string_view& place, std::uint32_t& out) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || !parse_uint(place.substr(colon + 1), out))
    return false;
  place = place.substr(0, colon);
  return true;
}

}  // namespace

ValgrindFrame parse_valgrind_frame(std::string_view text) {
  ValgrindFrame frame;
  const std::size_t colon = text.find(": ");
  if (text.starts_with("0x") && colon != std::string_view::npos &&
      parse_hex(text.substr(0, colon), frame.address))
    text = text.substr(colon + 2);
  text = trim(text);
  frame.name = text;
  const std::size_t open = text.rfind(" (");
  if (open == std::string_view::npos || !text.ends_with(')')) return frame;
  std::string_view place = text.substr(open + 2, text.size() - open - 3);
  if (place.starts_with("in ")) {
    frame.module = place.substr(3);
  } else {
    std::uint32_t last = 0;
    if (!take_number(place, last)) return frame;  // the bracket belongs to the name
    if (take_number(place, frame.line))
      frame.column = last;
    else
      frame.line = last;
    frame.file = place;
  }
  frame.name = trim(text.substr(0, open));
  return frame;
}

}  // namespace profd
