#include "server/runtime/progress.h"

#include <algorithm>

#include <fmt/format.h>

namespace profd {
namespace {

constexpr std::chrono::milliseconds kInterval(100);

std::string megabytes(std::uint64_t done, std::uint64_t total) {
  constexpr double kMiB = 1 << 20;
  return fmt::format("{:.0f} of {:.0f} MiB", static_cast<double>(done) / kMiB,
                     static_cast<double>(total) / kMiB);
}

}  // namespace

Progress::Progress(std::string title, Send send, std::chrono::milliseconds quiet, Now now)
    : title_(std::move(title)),
      send_(std::move(send)),
      quiet_(quiet),
      now_(std::move(now)),
      started_(now_()) {
  const std::lock_guard lock(mutex_);
  if (quiet_.count() == 0) begin_locked();
}

Progress::~Progress() {
  end("");
}

void Progress::begin_locked() {
  begun_ = true;
  reported_ = now_();
  send_({Event::Kind::begin, title_, 0});
}

void Progress::report(std::uint64_t done, std::uint64_t total) {
  report(done, total, total == 0 ? "" : megabytes(done, total));
}

void Progress::report(std::uint64_t done, std::uint64_t total, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  const auto now = now_();
  if (!begun_) {
    if (now - started_ < quiet_) return;
    begin_locked();
  } else if (now - reported_ < kInterval) {
    return;
  }
  reported_ = now;
  if (total == 0) {
    send_({Event::Kind::report, message, std::nullopt});
    return;
  }
  const double share = static_cast<double>(std::min(done, total)) / static_cast<double>(total);
  percentage_ = std::max(percentage_, static_cast<std::uint32_t>(share * 100));
  send_({Event::Kind::report, message, percentage_});
}

void Progress::end(const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  ended_ = true;
  if (begun_) send_({Event::Kind::end, message, std::nullopt});
}

}  // namespace profd
