#include "formats/support/v8_frame.h"

#include "tests/support/catch.h"

using namespace profd;

namespace {

FunctionSpec spec_of(ProfileBuilder& builder, std::string_view text, FrameKind& kind, bool& is_root) {
  JsonCursor in(text);
  const V8Frame frame = read_v8_frame(in, builder);
  REQUIRE(in.finish());
  is_root = !v8_function(frame, builder).valid();
  kind = v8_kind(frame, builder);
  FunctionSpec spec;
  spec.name = frame.name;
  spec.file = frame.url;
  spec.start_line = static_cast<std::uint32_t>(frame.line + 1);
  spec.start_column = static_cast<std::uint32_t>(frame.column + 1);
  return spec;
}

}  // namespace

TEST_CASE("a callFrame is a function with its script's path and a line that counts from 1") {
  ProfileBuilder builder;
  FrameKind kind{};
  bool is_root = true;
  const FunctionSpec spec = spec_of(
      builder,
      R"x({"functionName":"f","scriptId":"7","url":"file:///src/a%20b.js","lineNumber":9,"columnNumber":0,"codeType":"JS"})x",
      kind, is_root);
  CHECK(builder.text(spec.name) == "f");
  CHECK(builder.text(spec.file) == "/src/a b.js");
  CHECK(spec.start_line == 10);
  CHECK(spec.start_column == 1);
  CHECK(kind == FrameKind::jit);
  CHECK_FALSE(is_root);
}

TEST_CASE("pseudo functions of V8 are the root, the collector and native code") {
  ProfileBuilder builder;
  FrameKind kind{};
  bool is_root = false;
  spec_of(builder, R"x({"functionName":"(root)","scriptId":0})x", kind, is_root);
  CHECK(is_root);
  spec_of(builder, R"x({"functionName":"(garbage collector)","scriptId":"0"})x", kind, is_root);
  CHECK(kind == FrameKind::gc);
  spec_of(builder, R"x({"functionName":"(program)","scriptId":0,"lineNumber":-1})x", kind, is_root);
  CHECK(kind == FrameKind::native);
  CHECK_FALSE(is_root);
  spec_of(builder, R"x({"functionName":"eval","scriptId":12})x", kind, is_root);
  CHECK(kind == FrameKind::jit);
}
