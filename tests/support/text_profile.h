// Profiles written as text, for tests that want to see their input.
//
//   main;parse;read 30        one stack a line, root first, then one value per metric
//   main;draw 20 4            (two metrics)
//   (root) 5                  a value on the root: an empty stack
// A frame may carry attributes in brackets: name[file.cc:17 module=libc.so.6 kind=jit inlined address=0x10
// start=12 system=_Z4namev unresolved]. The first bare word is file:line; `file` is the function's and the
// frame's file. A line may end in attributes of the sample: {thread=worker-1 time=100 label:env=prod
// label:size=64}; a label value of digits only is a number. Lines starting with # are comments. `# metrics:
// cpu/nanoseconds alloc/bytes` names them; default: samples/count.
// `# fractional` makes all metrics doubles.
// A malformed text is a bug of the test: it throws std::invalid_argument.
#pragma once

#include <string_view>

#include "core/model/profile.h"
#include "core/model/profile_builder.h"

namespace profd::test {

ProfilePtr profile_from_text(std::string_view text);

// A metric per "name/unit" of a `# metrics:` line and the stacks, into a builder that is not finished yet.
void add_text(ProfileBuilder& builder, std::string_view text);

}  // namespace profd::test
