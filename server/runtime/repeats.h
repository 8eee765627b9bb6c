// Repeats: the same text over and over is passed on a few times, then as a count, so that what a client or a
// file does in a loop fills no log and no editor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace profd {

class Repeats {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kForgotten{60};

  // What is to be said: the text itself the first three times, then with "(said 10 times)" the tenth, the
  // hundredth, ... time; nothing in between. A text that did not come for a minute is new again.
  [[nodiscard]] std::optional<std::string> next(std::string_view text, Clock::time_point now = Clock::now());

 private:
  struct Seen {
    std::uint64_t count = 0;
    Clock::time_point last;
  };
  std::unordered_map<std::size_t, Seen> seen_;  // by hash; bounded
};

}  // namespace profd
