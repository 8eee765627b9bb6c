#include "formats/support/java_frame.h"

#include "formats/support/text_number.h"

namespace profd {
namespace {

// "java.base@17.0.1" or "app//com.x": what names a module, without version and loader.
std::string_view module_name(std::string_view text) {
  text = text.substr(0, text.find('@'));
  const std::size_t slash = text.rfind('/');
  return slash == std::string_view::npos ? text : text.substr(slash + 1);
}

}  // namespace

bool parse_java_frame(std::string_view text, JavaFrame& frame) {
  frame = {};
  text = trim(text);
  const std::size_t open = text.rfind('(');
  if (!text.ends_with(')') || open == std::string_view::npos || open == 0) return false;
  frame.name = text.substr(0, open);
  std::string_view place = text.substr(open + 1, text.size() - open - 2);
  // jstack names the module in front of the place, exceptions in front of the class.
  if (const std::size_t slash = place.rfind('/'); slash != std::string_view::npos) {
    frame.module = module_name(place.substr(0, slash));
    place.remove_prefix(slash + 1);
  }
  // Hidden classes have a slash of their own: "Demo$$Lambda/0x00007f.run".
  const std::size_t slash = frame.name.find('/');
  if (slash != std::string_view::npos && frame.name.substr(slash + 1, 2) != "0x" &&
      frame.name.find("$$Lambda") > slash) {
    const std::size_t last = frame.name.rfind('/', frame.name.find("$$Lambda"));
    frame.module = module_name(frame.name.substr(0, last));
    frame.name.remove_prefix(last + 1);
  }
  if (place.starts_with("Native Method") || place.starts_with("Unknown Source") || place.empty()) return true;
  const std::size_t colon = place.rfind(':');
  std::uint32_t line = 0;
  if (colon != std::string_view::npos && parse_uint(place.substr(colon + 1), line)) frame.line = line;
  frame.file = place.substr(0, colon);
  return true;
}

FrameId add_java_frame(ProfileBuilder& builder, const JavaFrame& frame) {
  FrameSpec spec;
  spec.function =
      builder.function(FunctionSpec{.name = builder.string(frame.name), .file = builder.string(frame.file)});
  spec.line = frame.line;
  if (!frame.module.empty()) spec.module = builder.module({.name = frame.module});
  return builder.frame(spec);
}

}  // namespace profd
