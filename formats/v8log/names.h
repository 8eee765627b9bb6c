// What names in a V8 log stand for, the same in the log and in the JSON made of it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/model/profile_builder.h"

namespace profd::v8log {

// "fib /app/busy.js:3:13"
FunctionId script_function(ProfileBuilder& builder, std::string_view name);
// "/usr/bin/node", of which nothing is known but the file.
FunctionId library_function(ProfileBuilder& builder, std::string_view path);
// Code of no script: a builtin, a stub, a handler. `type` is the word of code-creation.
FunctionId stub_function(ProfileBuilder& builder, std::string_view type, std::string_view name);
FrameKind stub_kind(std::string_view type);

// The states of the VM as labels.
class StateLabels {
 public:
  // `named`: the states are those of V8 5 and later.
  LabelSetId label(ProfileBuilder& builder, std::uint64_t state, bool named);

 private:
  static constexpr std::uint32_t kMax = 16;
  std::array<LabelSetId, kMax> labels_;
};

}  // namespace profd::v8log
