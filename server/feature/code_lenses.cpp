#include "server/feature/code_lenses.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>

namespace profd {

std::vector<FunctionCost> functions_with_code(const Profile& profile, std::vector<FunctionCost> functions,
                                              std::size_t most) {
  std::vector<FunctionCost> out;
  const FrameTable& frames = profile.frames();
  if (profile.pieces().size() == 0 || functions.empty()) return out;
  std::vector<std::uint8_t> has_code(profile.functions().size(), 0);
  for (std::uint32_t frame = 0; frame < frames.size(); ++frame) {
    if (value_or(frames.piece, frame, PieceId{}).valid()) has_code[frames.function[frame].v] = 1;
  }
  std::unordered_map<std::string_view, bool> by_name;
  for (const FunctionCost& function : functions) by_name.emplace(function.name, false);
  for (std::uint32_t function = 0; function < has_code.size(); ++function) {
    if (has_code[function] == 0) continue;
    const auto found = by_name.find(profile.function_name(FunctionId{function}));
    if (found != by_name.end()) found->second = true;
  }
  for (const FunctionCost& function : functions) {
    if (out.size() < most && by_name.at(function.name)) out.push_back(function);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const FunctionCost& a, const FunctionCost& b) { return a.line < b.line; });
  return out;
}

}  // namespace profd
