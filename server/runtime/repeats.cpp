#include "server/runtime/repeats.h"

#include <functional>

#include <fmt/format.h>

#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::size_t kMostTexts = 1000;
constexpr std::uint64_t kSaidPlainly = 3;

bool is_power_of_ten(std::uint64_t n) {
  while (n % 10 == 0) n /= 10;
  return n == 1;
}

}  // namespace

std::optional<std::string> Repeats::next(std::string_view text, Clock::time_point now) {
  if (seen_.size() >= kMostTexts) {
    std::erase_if(seen_, [&](const auto& item) { return now - item.second.last > kForgotten; });
    if (seen_.size() >= kMostTexts) seen_.clear();
  }
  Seen& seen = seen_[std::hash<std::string_view>()(text)];
  if (now - seen.last > kForgotten) seen.count = 0;
  seen.last = now;
  ++seen.count;
  if (seen.count <= kSaidPlainly) return std::string(text);
  if (!is_power_of_ten(seen.count)) return std::nullopt;
  return fmt::format("{} (said {} times)", text, format_exact(seen.count));
}

}  // namespace profd
