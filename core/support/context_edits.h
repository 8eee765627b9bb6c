// What becomes of single contexts of a profile: what a script says when it is shown them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace profd {

enum class ContextAct : std::uint8_t {
  keep,   // it stays, perhaps under another name
  elide,  // its frame is gone; its value and what it calls are its caller's
  merge,  // it becomes one with another context: values add up, what it calls is called there
  stop,   // what is below is its own value
  drop,   // it and all below are gone, with their values
};
constexpr std::uint8_t kNContextActs = 5;

// Columns of one length, by rising context, each once; the root is none of them.
struct ContextEdits {
  std::vector<std::uint32_t> contexts;
  std::vector<ContextAct> acts;
  std::vector<std::uint32_t> into;  // of a merge: a context before it that it does not lie below; else 0
  std::vector<std::uint32_t> name;  // row of `names` plus 1; 0: its own
  std::vector<std::string> names;

  [[nodiscard]] bool empty() const { return contexts.empty(); }
};

}  // namespace profd
