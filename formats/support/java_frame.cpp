#include "formats/support/java_frame.h"

#include <utility>

#include "formats/support/text_number.h"

namespace profd {
namespace {

// "java.base@17.0.1" or "app//com.x": what names a module, without version and loader.
std::string_view module_name(std::string_view text) {
  text = text.substr(0, text.find('@'));
  const std::size_t slash = text.rfind('/');
  return slash == std::string_view::npos ? text : text.substr(slash + 1);
}

bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::string java_source_path(std::string_view class_name, std::string_view file) {
  // What a compiler makes of nested and hidden classes and of lambdas begins with a '$' behind the outermost
  // class, and what the machine appends to these is no part of the package.
  std::string path;
  std::size_t simple = 0;
  for (std::size_t i = 0; i < class_name.size(); ++i) {
    const char c = class_name[i];
    if (c == '.' || c == '/') {
      if (i == simple) return {};
      path += '/';
      simple = i + 1;
    } else if (c == '$' && i > simple) {
      break;
    } else if (is_in_name(c) || c == '$') {
      path += c;
    } else {
      return {};
    }
  }
  std::string_view name = std::string_view(path).substr(simple);
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return {};
  const std::string package = path.substr(0, simple);
  if (!file.empty())
    return file.find('/') == std::string_view::npos ? package + std::string(file) : std::string(file);
  // Functions outside of classes, and of several files made one class: FooKt, AllKt__FooKt.
  if (const std::size_t part = name.rfind("__"); part != std::string_view::npos && name.ends_with("Kt"))
    name.remove_prefix(part + 2);
  if (name.ends_with("Kt") && name.size() > 2)
    return package + std::string(name.substr(0, name.size() - 2)) + ".kt";
  return package + std::string(name) + ".java";
}

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
  std::string file(frame.file);
  if (const std::size_t dot = frame.name.rfind('.'); !file.empty() && dot != std::string_view::npos)
    if (std::string path = java_source_path(frame.name.substr(0, dot), frame.file); !path.empty())
      file = std::move(path);
  spec.function =
      builder.function(FunctionSpec{.name = builder.string(frame.name), .file = builder.string(file)});
  spec.line = frame.line;
  if (!frame.module.empty()) spec.module = builder.module({.name = frame.module});
  return builder.frame(spec);
}

}  // namespace profd
