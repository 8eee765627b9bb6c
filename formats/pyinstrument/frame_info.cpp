#include "formats/pyinstrument/frame_info.h"

#include "formats/support/text_number.h"

namespace profd::pyinstrument {
namespace {

std::uint32_t line_number(std::int64_t line) {
  return line > 0 && line < kNone ? static_cast<std::uint32_t>(line) : 0;
}

std::string_view take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view out = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return out;
}

}  // namespace

void apply_attribute(std::string_view attribute, FrameInfo& info) {
  if (attribute.empty()) return;
  const std::string_view value = attribute.substr(1);
  if (attribute.front() == 'c') info.class_name = value;
  if (attribute.front() == 'l') parse_int(value, info.line);
}

FrameInfo parse_frame_info(std::string_view text) {
  FrameInfo info;
  std::string_view identifier = take(text, '\x01');
  info.function = take(identifier, '\0');
  info.file = take(identifier, '\0');
  parse_int(identifier, info.first_line);
  while (!text.empty()) apply_attribute(take(text, '\x01'), info);
  return info;
}

bool is_self(std::string_view function) {
  return function == "[self]";
}

FrameId make_frame(const FrameInfo& info, ProfileBuilder& builder) {
  // "<built-in>" and the synthetic frames have no file; "<string>" and "<frozen …>" are what Python calls
  // one.
  const bool builtin = info.file.empty() || info.file == "<built-in>";
  FunctionSpec function;
  if (info.class_name.empty()) {
    function.name = builder.string(info.function.empty() ? "(unnamed)" : info.function);
  } else {
    function.name = builder.string(std::string(info.class_name) + "." + std::string(info.function));
    function.system_name = builder.string(info.function);
  }
  if (!builtin) function.file = builder.string(info.file);
  function.start_line = line_number(info.first_line);
  return builder.frame({.function = builder.function(function),
                        .line = line_number(info.line),
                        .kind = builtin ? FrameKind::native : FrameKind::interpreted});
}

}  // namespace profd::pyinstrument
