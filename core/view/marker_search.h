// MarkerSearch: the markers that words mean: `click name:DOM "type:mouse up" -/^gc/`. All words must be
// there, whatever their case, those behind a `-` must not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/stop.h"
#include "core/view/markers.h"
#include "core/view/pattern.h"

namespace profd {

// The text of an entry of the label table: a number with its unit.
std::string field_text(const Profile& profile, std::size_t entry);

class MarkerSearch {
 public:
  // A word is a text, or an expression between slashes, that stands in the name, the category or a field;
  // with `name:`, `category:`, `thread:` or `process:` before it in that alone, with another key in the
  // fields of that key, whose case does not matter either. In quotes it may hold spaces. Fails with `invalid`
  // for an expression that is none and a quote that is not closed.
  static Result<MarkerSearch> parse(std::string_view text);

  [[nodiscard]] bool empty() const { return words_.empty(); }
  // By id of a marker: 1 where it is meant.
  [[nodiscard]] Result<std::vector<std::uint8_t>> matches(const Profile& profile, const Markers& markers,
                                                          StopToken stop) const;

 private:
  enum class In : std::uint8_t { anywhere, name, category, thread, process, field };
  struct Word {
    In in = In::anywhere;
    std::string key;  // of a field, in lower case
    Pattern pattern;
    bool wanted = true;
  };
  std::vector<Word> words_;
};

}  // namespace profd
