// Stacks, threads and label texts of one chunk, made ids of one builder. Every pooled value is made once.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/jfr/recording.h"
#include "formats/reader.h"

namespace profd::jfr {

// What is odd about stacks, counted over the whole recording.
struct StackCounts {
  std::uint64_t missing = 0;    // events whose stack the pools do not hold
  std::uint64_t without = 0;    // events that have no stack
  std::uint64_t truncated = 0;  // different stacks that were cut by the recorder
  std::uint64_t unknown_methods = 0;
  std::uint64_t placed = 0;   // methods whose file is known from their class alone
  std::uint64_t indices = 0;  // frames with an index of bytecode
};

class StackResolver {
 public:
  StackResolver(const LoadedChunk& in, ProfileBuilder& builder, std::uint32_t max_depth, StackCounts& counts);

  Result<ContextId> context(std::uint64_t stack_key);
  ThreadId thread(std::uint64_t thread_key);
  // The text of a pooled value of a class, for labels: names of classes, threads, states; "" when unknown.
  StringId text(std::uint32_t cls, std::uint64_t key);
  StringId inline_text(const Text& inlined) {
    if (inlined.code == Text::Code::pooled) return text(in_.pools.string_class(), inlined.key);
    return builder_.string(in_.pools.text(inlined));
  }

 private:
  struct Method {
    FunctionId function;
    ModuleId module;
  };
  struct Kind {
    FrameKind kind = FrameKind::native;
    bool inlined = false;
  };
  const Method& method(std::uint64_t key);
  Method make_method(std::uint32_t row);
  ModuleId module_of(std::uint64_t package_key);
  Kind kind(std::uint64_t type_key);
  // As written: "java/util/Map", "[B"; "" when unknown. Sets the package.
  std::string class_name(std::uint64_t class_key, std::uint64_t* package_key);
  Result<ContextId> make_context(std::uint32_t row);

  const LoadedChunk& in_;
  ProfileBuilder& builder_;
  std::uint32_t max_depth_;
  StackCounts& counts_;
  std::uint32_t stack_class_, frame_class_, thread_class_, method_class_, class_class_, kind_class_,
      package_class_, module_class_, symbol_class_;
  bool has_index_ = false;  // of bytecodes; a field that is missing reads as 0, which is one
  RowReader frame_reader_, thread_reader_, method_reader_, class_reader_, package_reader_, module_reader_;
  std::vector<ContextId> contexts_;
  std::vector<ThreadId> threads_;
  std::vector<Method> methods_;
  std::vector<Kind> kinds_;
  std::vector<std::uint8_t> kind_known_;
  std::vector<std::vector<StringId>> texts_;  // by class, then row
  Method no_method_;
  std::vector<FrameId> stack_;
};

}  // namespace profd::jfr
