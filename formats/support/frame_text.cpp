#include "formats/support/frame_text.h"

#include <algorithm>
#include <charconv>

namespace profd {
namespace {

struct Place {
  std::string_view file;
  std::uint32_t line = 0;
};

// "dir/file.ext:12" or "<frozen x>:12": nothing else is taken for a place in a source file.
bool parse_place(std::string_view text, Place& place) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) return false;
  const std::string_view file = text.substr(0, colon), digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), place.line);
  if (error != std::errc{} || end != digits.data() + digits.size()) return false;
  if (file.front() == '<' && file.back() == '>') {
    place.file = file;
    return true;
  }
  const std::size_t dot = file.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  const std::string_view extension = file.substr(dot + 1);
  if (extension.empty() || extension.size() > 5) return false;
  const bool plain = std::all_of(extension.begin(), extension.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
  if (!plain || std::all_of(extension.begin(), extension.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return false;
  if (file.find_first_of("()") != std::string_view::npos) return false;
  place.file = file;
  return true;
}

bool is_interpreted(std::string_view file) {
  return file.ends_with(".py") || file.ends_with(".pyx") || file.ends_with(".rb") || file.front() == '<';
}

void split_place(FrameText& frame) {
  Place place;
  std::string_view name = frame.name;
  if (name.ends_with(')')) {
    const std::size_t open = name.rfind(" (");
    if (open == std::string_view::npos || open == 0) return;
    if (!parse_place(name.substr(open + 2, name.size() - open - 3), place)) return;
    frame.name = name.substr(0, open);
  } else {
    const std::size_t dash = name.rfind(" - ");
    if (dash == std::string_view::npos || dash == 0) return;
    if (!parse_place(name.substr(dash + 3), place) || !place.file.ends_with(".rb")) return;
    frame.name = name.substr(0, dash);
  }
  frame.file = place.file;
  frame.line = place.line;
  if (is_interpreted(place.file)) frame.kind = FrameKind::interpreted;
}

}  // namespace

FrameText parse_frame_text(std::string_view text) {
  FrameText frame{text};
  if (text.size() > 4 && text.back() == ']' && text.substr(text.size() - 4, 2) == "_[") {
    bool known = true;
    switch (text[text.size() - 2]) {
      case 'k':
        frame.kind = FrameKind::kernel;
        break;
      case 'j':
      case '1':
        frame.kind = FrameKind::jit;
        break;
      case '0':
        frame.kind = FrameKind::interpreted;
        break;
      case 'w':
        frame.kind = FrameKind::waker;
        break;
      case 'i':
        frame.inlined = true;
        break;
      default:
        known = false;
    }
    if (known) frame.name.remove_suffix(4);
    return frame;
  }
  if (text == "[unknown]") frame.unresolved = true;
  if (!text.empty() && text.front() != '[') split_place(frame);
  return frame;
}

}  // namespace profd
