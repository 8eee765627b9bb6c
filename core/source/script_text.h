// ScriptText: places in the text of a script, as JavaScript counts them: lines from 0 by its line
// terminators, columns from 0 in UTF-16 units; and what its comments say of a source map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace profd {

class ScriptText {
 public:
  struct Place {
    std::uint32_t line = 0, column = 0;
  };

  // UTF-8 of less than 4 GiB; outlives this.
  explicit ScriptText(std::string_view text);

  [[nodiscard]] std::string_view text() const { return text_; }
  // The byte at a place; nothing where the line is shorter, or there is none.
  [[nodiscard]] std::optional<std::size_t> offset_of(Place place) const;
  // `offset` is at most the size of the text.
  [[nodiscard]] Place place_of(std::size_t offset) const;

 private:
  // UTF-16 units before a byte.
  [[nodiscard]] std::size_t units_before(std::size_t offset) const;

  std::string_view text_;
  std::vector<std::uint32_t> lines_;  // where each begins
  std::vector<std::uint32_t> units_;  // before every block of bytes
};

// White space of JavaScript, of one byte.
bool is_script_space(char c);

// The URL of the source map that a script names: that of its last comment `//# sourceMappingURL=` (or `//@`,
// or the same between /* and */), if no code follows it. "" where it names none.
std::string_view source_map_url(std::string_view script);

}  // namespace profd
