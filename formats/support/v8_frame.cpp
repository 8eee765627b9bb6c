#include "formats/support/v8_frame.h"

#include "formats/support/file_url.h"

namespace profd {

void read_v8_frame_member(JsonCursor& in, std::string_view key, ProfileBuilder& builder, V8Frame& frame) {
  const JsonKind kind = in.kind();
  if (key == "functionName" && kind == JsonKind::string) {
    frame.name = builder.string(in.string());
  } else if (key == "url" && kind == JsonKind::string) {
    const std::string_view url = in.string();
    frame.url = url.starts_with("file:") ? builder.string(path_from_file_url(url)) : builder.string(url);
  } else if (key == "lineNumber" && kind == JsonKind::number) {
    frame.line = in.integer();
  } else if (key == "columnNumber" && kind == JsonKind::number) {
    frame.column = in.integer();
  } else if (key == "scriptId" && kind == JsonKind::string) {
    frame.has_script = in.string() != "0";
  } else if (key == "scriptId" && kind == JsonKind::number) {
    frame.has_script = in.number().text != "0";
  } else {
    in.skip();
  }
}

V8Frame read_v8_frame(JsonCursor& in, ProfileBuilder& builder) {
  V8Frame frame;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) read_v8_frame_member(in, key, builder, frame);
  return frame;
}

FunctionId v8_function(const V8Frame& frame, ProfileBuilder& builder) {
  const std::string_view name = builder.text(frame.name);
  if (name == "(root)") return {};
  FunctionSpec function;
  function.name = name.empty() ? builder.string("(anonymous)") : frame.name;
  function.file = frame.url;
  if (frame.line >= 0 && frame.line < kNone - 1)
    function.start_line = static_cast<std::uint32_t>(frame.line + 1);
  if (function.start_line != 0 && frame.column >= 0 && frame.column < kNone - 1)
    function.start_column = static_cast<std::uint32_t>(frame.column + 1);
  return builder.function(function);
}

FrameKind v8_kind(const V8Frame& frame, const ProfileBuilder& builder) {
  if (builder.text(frame.name) == "(garbage collector)") return FrameKind::gc;
  return frame.url.v != 0 || frame.has_script ? FrameKind::jit : FrameKind::native;
}

}  // namespace profd
