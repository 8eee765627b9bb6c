// `py-spy dump` and `py-spy dump --json`: the threads of a Python process, with native frames (-n) and locals
// (-l). Source of the facts: py-spy 0.4.3, recorded and read (its dump command and the JSON of its stack
// traces).
#pragma once

#include <string_view>

#include "core/model/profile_builder.h"
#include "formats/reader.h"
#include "formats/support/text_source.h"

namespace profd::stack_dump {

// By the first lines of the text, or the first members of the JSON.
bool begins_py_spy_text(std::string_view text);
bool begins_py_spy_json(std::string_view text);

// One sample a thread of metric `samples`. Fails with `malformed` when no thread has a stack.
Result<void> read_py_spy_text(const DecodedText& text, bool truncated, ReadContext& context,
                              ProfileBuilder& builder);
Result<void> read_py_spy_json(const DecodedText& text, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::stack_dump
