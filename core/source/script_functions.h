// What stands in the text of a script where a profile says that a function begins: its name, and whether a
// function can begin there at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace profd {

// Where the name of a function is written that begins at `offset`, by V8's account at its parameters, by
// SpiderMonkey's at its first word: `function NAME(`, a method `NAME(`, `NAME = function(`, `NAME: (a) =>`,
// `class NAME` of a constructor. Of a `name` with dots the last part is looked for. Nothing where `name` does
// not stand there.
std::optional<std::size_t> name_of_function(std::string_view script, std::size_t offset,
                                            std::string_view name);

// Where a function is written from that begins at `offset`, by V8's account: its first word (`async`,
// `function`, `constructor`), else its parameters.
std::size_t start_of_function(std::string_view script, std::size_t offset);

// Where what is named at `offset` is written from: `a` of `a.b.NAME`.
std::size_t start_of_reference(std::string_view script, std::size_t offset);

// What a source calls the function that is written from `offset` on: `function NAME`, `const NAME = (a) =>`,
// `NAME: function`, the class of a `constructor`. "" for one without a name, and where it is not clear.
std::string_view declared_name(std::string_view source, std::size_t offset);

// Whether a function may begin there: at parameters, or at a word.
bool may_begin_function(std::string_view script, std::size_t offset);

// Whether `offset` is within a word: behind its first letter.
bool is_in_word(std::string_view script, std::size_t offset);

}  // namespace profd
