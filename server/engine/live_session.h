// A live session of the daemon: a stream that comes in on one thread, and what others ask of it. Safe from
// any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/live/demotion.h"
#include "core/live/session.h"
#include "core/live/window.h"
#include "core/model/profile.h"
#include "core/support/executor.h"
#include "core/support/stop.h"
#include "core/support/unique_fd.h"
#include "core/support/unique_function.h"
#include "server/engine/live_city.h"

namespace profd {

enum class LiveState : std::uint8_t { runs, paused, replays, ended };

// What a method looks like in a picture.
struct LiveLook {
  std::uint16_t height = 0;
  std::uint32_t threads = 0;
  std::uint8_t flags = 0;
  bool operator==(const LiveLook&) const = default;
};
// Bits of LiveLook::flags, as the protocol has them.
inline constexpr std::uint8_t kLiveRuns = 1, kLiveOpen = 2, kLiveWaits = 4, kLiveDemoted = 8;

struct LiveMethodRow {
  live::MethodId method = 0;
  std::string name, label, file;
  std::uint32_t line = 0;
  live::MethodSum sum;
  std::uint8_t flags = 0;
  bool past = false;  // of a part of the time, not of now
};
struct LiveThread {
  std::uint32_t number = 0;
  std::string name;
  bool alive = false, waits = false, unknown = false;
  live::MethodId method = 0;  // that runs; 0: none
  std::string label;          // of it
  std::size_t depth = 0;
  bool sampled = false;  // that method is what samples saw most of late, if any
  live::ThreadSum sum;
  std::uint64_t cpu_ns = 0;
  bool past = false;  // what it did for most of a part of the time, not what it does now
};
struct LiveTotals {
  live::Counts counts;
  std::uint64_t said_sent = 0, said_lost = 0, more_contexts = 0, capped_names = 0;
};
struct LiveInfo {
  std::string name, uri;
  LiveState state = LiveState::runs;
  std::string program, language, agent, recording, error;
  std::uint64_t pid = 0, begun_ns = 0, abilities = 0;
  live::Nanoseconds time = 0, window = 0;
  std::size_t methods = 0, threads = 0;
  std::uint32_t layout = 0;
  LiveTotals totals;
  std::optional<live::Sampling> sampling;  // what is measured are estimates
};
struct LivePicture {
  std::uint32_t frame = 0;
  bool key = false;
  LiveState state = LiveState::runs;
  live::Nanoseconds begin = 0, end = 0, window = 0;
  std::uint32_t layout = 0;
  std::vector<std::pair<live::MethodId, LiveLook>> methods;
  std::vector<LiveMethodRow> rows;
  std::size_t rows_left = 0, threads_left = 0, demoted = 0;
  std::vector<LiveThread> threads;
  LiveTotals totals;
  double events_per_second = 0, probe_share = 0;  // 0: not known
  std::uint64_t events = 0, lost = 0;             // of a window; where it is sampled these are samples
  std::optional<live::Sampling> sampling;
};
struct LiveStrip {
  live::Nanoseconds begin = 0, step = 1;
  std::vector<double> busy, waiting,
      unknown;  // threads, on average; `waiting` of those that are busy, at least
  std::vector<std::uint64_t> events, lost;
};
// Methods that a city has not yet, in their order.
struct LiveNews {
  std::vector<LiveNamed> methods;
  std::string_view separator;  // of the parts of their packages
  std::uint32_t layout = 0, n_arranged = 0;
};
// Code whose names are looked for.
struct LiveCode {
  live::MethodId method = 0;
  std::uint32_t module = 0;
  std::uint64_t address = 0;  // as the module's file counts
};
struct LiveBinary {
  std::string path, build_id;
};
struct LiveMethodStory {
  LiveMethodRow row;
  std::string package, class_name, method, signature;
  std::uint64_t total_ns = 0, total_calls = 0;
  bool sampled = false;  // calls are samples
  live::Nanoseconds window = 0, begin = 0, step = 1;
  std::vector<double> height;
};

class LiveSession {
 public:
  using Clock = std::chrono::steady_clock;
  // A picture each that often at most.
  static constexpr std::chrono::milliseconds kPictureEvery{100};

  LiveSession(std::string name, live::Nanoseconds window, bool replay);
  ~LiveSession();
  LiveSession(const LiveSession&) = delete;
  LiveSession& operator=(const LiveSession&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string uri() const { return "live://" + name_; }

  // The thread that the stream comes in on.
  // Fails as live::Session::consume() does. After that, and once it said `bye`, it is to be ended.
  Result<void> consume(live::Bytes bytes);
  [[nodiscard]] bool said_bye() const;
  void end(std::string error = "");
  // Where questions to the agent go; empty for a replay, and after the end.
  void set_send(std::function<Result<void>(std::string_view)> send);
  // What is called, without a lock, when there is a new picture.
  void on_picture(std::function<void()> told) { told_ = std::move(told); }
  // Calls `call` once there is a newer picture than that: now, or on the thread that brings it. Dropped
  // where none can come any more.
  void when_newer(std::uint32_t than, UniqueFunction<void()> call);

  [[nodiscard]] LiveInfo info() const;
  [[nodiscard]] std::optional<live::Hello> hello() const;
  [[nodiscard]] std::string token() const;
  [[nodiscard]] bool ended() const;
  [[nodiscard]] std::uint32_t frame() const;
  // The newest picture: with `since` the methods that differ from that one.
  [[nodiscard]] LivePicture picture(std::uint32_t since, std::size_t n_rows, std::size_t n_threads) const;
  // The whole of a part of the time that is kept; its edges become those of what is kept.
  [[nodiscard]] LivePicture window(live::Nanoseconds from, live::Nanoseconds to, std::size_t n_rows,
                                   std::size_t n_threads) const;
  [[nodiscard]] LiveStrip strip(std::size_t n_steps) const;
  // `not_found`: it has none of that id.
  [[nodiscard]] Result<LiveMethodStory> method(live::MethodId method) const;
  [[nodiscard]] std::vector<live::Mark> marks() const;
  // `not_found`: no mark is called that. Of several the last.
  [[nodiscard]] Result<live::Nanoseconds> mark_time(const std::string& name) const;
  [[nodiscard]] live::Nanoseconds time() const;
  // Calls `look` with the city as it is now: all methods that are told, code once its name was looked for.
  void look_at_city(const std::function<void(const LiveCity&)>& look);
  void arrange_city();
  // What is behind the first `n_known` methods of the city.
  [[nodiscard]] LiveNews news(std::size_t n_known) const;

  // Code gets names in passes, of which one runs at a time. Where nobody makes them, it has its addresses.
  // `names_code`: before anything is consumed.
  void names_code() { names_code_ = true; }
  [[nodiscard]] bool has_unnamed() const;
  // What the next pass asks for: it is then no more to be asked. By number of their module.
  [[nodiscard]] std::vector<LiveCode> take_unnamed();
  [[nodiscard]] LiveBinary module(std::uint32_t number) const;
  // What came of a pass: all that it took, those of which nothing is known as well.
  void give_names(const std::vector<std::pair<LiveCode, live::CodeFound>>& names);
  [[nodiscard]] bool is_replay() const { return replay_; }

  // A profile of the time from `from` to `to`; nothing: since the begin, up to now.
  Result<ProfilePtr> profile(std::optional<live::Nanoseconds> from, std::optional<live::Nanoseconds> to,
                             Executor& executor, const StopToken& stop) const;

  // `unsupported` where the agent cannot, `io` where it is gone.
  Result<void> control(live::ControlOperation operation, std::string_view pattern,
                       std::span<const std::uint32_t> methods);
  void mark(std::string_view name);
  // Writes the stream to a new file: from its begin where nothing has come yet, else from now on.
  Result<void> record(const std::string& path);

 private:
  // These want `mutex_` to be held.
  [[nodiscard]] LiveTotals totals() const;
  [[nodiscard]] LiveState state() const;
  [[nodiscard]] std::uint32_t layout() const;
  [[nodiscard]] LiveMethodRow row_of(const live::MethodSum& sum, std::uint8_t flags) const;
  // `flags_of` a method's sum: as the picture shows it.
  template <class FlagsOf>
  void fill_rows(LivePicture& picture, const live::WindowSum& window, std::size_t n_rows,
                 FlagsOf flags_of) const;
  void fill_threads(LivePicture& picture, std::vector<LiveThread> threads, std::size_t most) const;
  [[nodiscard]] std::vector<std::uint8_t> flags_now() const;
  void take_picture(Clock::time_point now);
  void place_told();
  void demote();
  void write_recording(std::string_view bytes);

  // Tells who waits for a picture; without a lock.
  void tell();

  std::string name_;
  live::Nanoseconds window_ns_;
  bool replay_;
  mutable std::mutex mutex_;  // guards what follows
  live::Session session_;
  std::function<Result<void>(std::string_view)> send_;
  std::string error_, recording_;
  UniqueFd file_;
  bool fresh_ = true;  // nothing has come yet
  std::string first_;  // until `hello` is whole, where it is recorded
  mutable live::WindowSums sums_;
  live::WindowSum window_;  // of the newest picture
  std::uint32_t frame_ = 0;
  std::vector<LiveLook> looks_;         // by method, of the newest picture
  std::vector<std::uint32_t> changed_;  // by method: the picture in which it became so
  Clock::time_point last_picture_;
  live::Nanoseconds looked_at_ = 0;  // for demotion: the end of the newest bucket
  double clock_ns_ = 0;              // the same: what a look at the clock costs here; 0: not measured yet
  std::vector<bool> keep_, asked_;  // by method: a person wants its probe; the agent was asked to take it off
  std::uint32_t n_arranged_ = 0;
  bool names_code_ = false;
  std::size_t n_told_ = 0;                       // methods that were looked at: they are placed or unnamed
  std::vector<live::MethodId> placed_;           // in the order of the city
  std::vector<live::MethodId> unnamed_;          // not asked for yet
  std::vector<UniqueFunction<void()>> waiting_;  // for a newer picture
  std::function<void()> told_;
  std::mutex city_mutex_;  // guards the city; taken before `mutex_`
  LiveCity city_;
};

}  // namespace profd
