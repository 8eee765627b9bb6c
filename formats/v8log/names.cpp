#include "formats/v8log/names.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "formats/support/file_url.h"
#include "formats/v8log/fields.h"

namespace profd::v8log {
namespace {

// Of V8 5 and later.
constexpr std::array<std::string_view, 10> kStates{"JS",       "GC",     "PARSER",   "BYTECODE_COMPILER",
                                                   "COMPILER", "OTHER",  "EXTERNAL", "ATOMICS_WAIT",
                                                   "IDLE",     "LOGGING"};

}  // namespace

FunctionId script_function(ProfileBuilder& builder, std::string_view name) {
  const FunctionName parts = split_name(name);
  FunctionSpec function;
  function.name = builder.string(parts.name.empty() ? "(anonymous)" : parts.name);
  if (parts.script.starts_with("file:"))
    function.file = builder.string(path_from_file_url(parts.script));
  else
    function.file = builder.string(parts.script);
  function.start_line = parts.line;
  return builder.function(function);
}

FunctionId library_function(ProfileBuilder& builder, std::string_view path) {
  FunctionSpec function;
  function.name = builder.string(fmt::format("[{}]", path.substr(path.find_last_of("/\\") + 1)));
  function.unresolved = true;
  return builder.function(function);
}

FunctionId stub_function(ProfileBuilder& builder, std::string_view type, std::string_view name) {
  FunctionSpec function;
  function.name = builder.string(name.empty() ? std::string(type) : fmt::format("{}: {}", type, name));
  return builder.function(function);
}

// RegExp and Wasm code is compiled at run time; builtins, stubs and handlers come with V8.
FrameKind stub_kind(std::string_view type) {
  return type == "RegExp" || type.starts_with("Wasm") ? FrameKind::jit : FrameKind::native;
}

LabelSetId StateLabels::label(ProfileBuilder& builder, std::uint64_t state, bool named) {
  state = std::min<std::uint64_t>(state, kMax - 1);
  LabelSetId& known = labels_[state];
  if (!known.valid()) {
    Label label;
    label.key = builder.string("vm_state");
    label.text =
        builder.string(named && state < kStates.size() ? std::string(kStates[state]) : std::to_string(state));
    known = builder.label_set({&label, 1});
  }
  return known;
}

}  // namespace profd::v8log
