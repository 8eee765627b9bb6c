#include "server/cli/progress_line.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "server/feature/escape.h"
#include "server/feature/text.h"

namespace profd {
namespace {
constexpr std::chrono::milliseconds kPatience{500}, kInterval{100};
}

ProgressLine::ProgressLine(const Console& console, std::string what, std::string deed)
    : console_(console),
      what_(std::move(what)),
      deed_(std::move(deed)),
      next_(std::chrono::steady_clock::now() + kPatience) {}

ProgressLine::~ProgressLine() {
  if (shown_) write_all(STDERR_FILENO, "\r\x1b[K");
}

void ProgressLine::update(std::uint64_t done, std::uint64_t total) {
  const double share = total == 0 ? 0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  update(fmt::format("{:.0f} % of {}", share * 100, format_bytes(total)));
}

void ProgressLine::update(const std::string& how_far) {
  if (!console_.err.is_terminal) return;
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  shown_ = true;
  const std::string line = fmt::format("{} {}: {}", deed_, what_, how_far);
  write_all(STDERR_FILENO, "\r\x1b[K" + cut_to_width(sanitize_text(line),
                                                     static_cast<std::size_t>(console_.err.columns) - 1));
}

}  // namespace profd
