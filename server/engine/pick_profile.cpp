#include "server/engine/pick_profile.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace profd {
namespace {

std::string what_there_is(const std::vector<ProfilePtr>& profiles) {
  constexpr std::size_t kShown = 8;
  if (profiles.size() == 1) return "it holds one";
  std::string text = fmt::format("it holds {}: ", profiles.size());
  for (std::size_t i = 0; i < std::min(profiles.size(), kShown); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", i + 1, profiles[i]->info().name);
  if (profiles.size() > kShown) text += ", …";
  return text;
}

}  // namespace

Result<std::size_t> pick_profile(const std::vector<ProfilePtr>& profiles, const std::string& wanted) {
  if (wanted.empty()) return std::size_t{0};
  std::size_t number = 0;
  const char* const last = wanted.data() + wanted.size();
  const auto [end, error] = std::from_chars(wanted.data(), last, number);
  if (error == std::errc{} && end == last && number >= 1 && number <= profiles.size()) return number - 1;
  const auto is_it = [&](const ProfilePtr& profile) { return profile->info().name == wanted; };
  const auto found = std::find_if(profiles.begin(), profiles.end(), is_it);
  if (found == profiles.end())
    return fail(ErrorCode::invalid,
                fmt::format("there is no profile \"{}\" in it; {}", wanted, what_there_is(profiles)));
  if (std::find_if(found + 1, profiles.end(), is_it) != profiles.end())
    return fail(ErrorCode::invalid, fmt::format("{} of its profiles are called \"{}\"; a number picks one",
                                                std::count_if(found, profiles.end(), is_it), wanted));
  return static_cast<std::size_t>(found - profiles.begin());
}

}  // namespace profd
