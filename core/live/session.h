// A live session: what one agent's stream says, from its first byte on. The same bytes give the same numbers,
// however they are cut into pieces and whenever they come.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/live/meter.h"
#include "core/live/methods.h"
#include "core/live/wire.h"

namespace profd::live {

struct Mark {
  Nanoseconds at = 0;
  std::string name;
};

class Session {
 public:
  explicit Session(MeterLimits limits = {}, std::size_t most_name_bytes = kMaxSessionBytes / 4);
  Session(const Session&) = delete;  // the meter calls it back
  Session& operator=(const Session&) = delete;

  // Takes what came next. After an error nothing more is taken; what came before it counts. `unsupported`:
  // the agent speaks other versions.
  Result<void> consume(Bytes bytes);
  // The stream is over, in order or not: what was open is counted up to its last time.
  void finish();

  // Present after the stream's first message.
  [[nodiscard]] const std::optional<Hello>& hello() const { return hello_; }
  // Present where the program is measured by samples: what is said of it are estimates.
  [[nodiscard]] const std::optional<Sampling>& sampling() const { return sampling_; }
  [[nodiscard]] const std::string& token() const { return token_; }  // of an `auth`, else ""
  [[nodiscard]] bool said_bye() const { return bye_; }
  [[nodiscard]] const std::string& reason() const { return reason_; }  // of the bye
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] bool paused() const { return paused_; }
  // What there is of a message that has only begun; until the next consume().
  [[nodiscard]] Bytes begun() const { return frames_.rest(); }
  [[nodiscard]] std::uint64_t offset() const { return frames_.offset(); }

  [[nodiscard]] const Meter& meter() const { return meter_; }
  [[nodiscard]] const Methods& methods() const { return methods_; }
  void name_code(MethodId method, const CodeFound& found) { methods_.name_code(method, found); }
  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }
  void mark(Nanoseconds at, std::string_view name);
  // As the agent said last: records that it sent and dropped.
  [[nodiscard]] std::uint64_t said_sent() const { return said_sent_; }
  [[nodiscard]] std::uint64_t said_lost() const { return said_lost_; }
  [[nodiscard]] std::uint64_t last_ticks() const { return last_ticks_; }
  [[nodiscard]] std::uint64_t ticks_per_second() const { return ticks_per_second_; }  // of late
  [[nodiscard]] std::size_t bytes() const { return meter_.bytes() + methods_.bytes(); }

  static constexpr std::size_t kMostMarks = 10'000;

 private:
  Result<void> take(const Frame& frame);
  Result<void> take_hello(Bytes payload);
  Result<void> take_events(Bytes payload);
  Result<void> take_controlled(Bytes payload);

  FrameReader frames_;
  std::optional<Hello> hello_;
  std::optional<Sampling> sampling_;
  std::string token_, reason_;
  bool bye_ = false, finished_ = false, paused_ = false, broken_ = false;
  StreamClock clock_;
  Methods methods_;
  Meter meter_;
  std::unique_ptr<Records> records_;
  std::vector<Mark> marks_;
  std::optional<Nanoseconds> ended_at_;
  std::uint64_t said_sent_ = 0, said_lost_ = 0, last_ticks_ = 0, ticks_per_second_ = 0;
};

}  // namespace profd::live
