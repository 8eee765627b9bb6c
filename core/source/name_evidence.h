// Whether a text is the file that a profile means: do its functions stand in it, near the lines it says?
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace profd {

// The identifier that stands in the source where the function is defined: "bar" of "Foo<int>::bar(char)
// const", "serve" of "http.(*conn).serve". "" when the name was made by a compiler, or no identifier is in
// it.
std::string_view written_name(std::string_view function);

struct NamedLine {
  std::string_view function;
  std::uint32_t line = 0;  // 1-based, of the definition or of code in it; 0 unknown
  bool defined_here = false;
  std::uint32_t last_line = 0;  // of its code, as far as known
};

struct NameEvidence {
  std::uint32_t n_checked = 0;    // functions with a written name, at most kMaxNames
  std::uint32_t n_near = 0;       // in the text near the line
  std::uint32_t n_elsewhere = 0;  // in the text, at other lines only
  // Of those whose defining line is known:
  std::uint32_t n_defined = 0, n_defined_near = 0, n_defined_elsewhere = 0;
  bool past_end = false;  // a line is past the end of the text

  // None of the functions, or a line that cannot be.
  [[nodiscard]] bool contradicts() const { return (n_checked > 0 && n_near + n_elsewhere == 0) || past_end; }
  [[nodiscard]] bool confirms() const { return n_near >= 2 && n_near * 2 >= n_checked && !past_end; }
};

inline constexpr std::size_t kMaxNames = 256;

// `functions`: each once. Letters of either case are the same: some compilers fold them.
NameEvidence look_for_names(std::string_view text, std::span<const NamedLine> functions);

}  // namespace profd
