// What someone meant who typed a word that is none of those there are.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace profd {

// The choice that `given` is a slip of the fingers away from, or the only one it begins; "" when there is
// none. Case does not matter.
std::string_view near_miss(std::string_view given, std::span<const std::string_view> choices);

// " (did you mean top?)", or "".
std::string did_you_mean(std::string_view given, std::span<const std::string_view> choices);

}  // namespace profd
