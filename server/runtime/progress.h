// Progress: one stream of work-done progress, at most ten reports a second.
//
// begin, any number of reports with a percentage that never falls, end; exactly one end however the work
// ends. Says nothing when the work is over within `quiet` unless the client asked for it with a token of its
// own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace profd {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;
  struct Event {
    enum class Kind : std::uint8_t { begin, report, end };
    Kind kind = Kind::begin;
    std::string text;  // begin: the title; report and end: the message
    std::optional<std::uint32_t> percentage;
  };
  using Send = std::function<void(const Event&)>;
  using Now = std::function<Clock::time_point()>;

  // `send` is called on the reporting thread, in order, with no lock of ours that a caller could need.
  Progress(std::string title, Send send, std::chrono::milliseconds quiet = {}, Now now = Clock::now);
  ~Progress();  // ends it if nobody did
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Safe from any thread. `total` 0: unknown.
  void report(std::uint64_t done, std::uint64_t total);  // bytes
  // How far it is in other words: "12 of 40 addresses".
  void report(std::uint64_t done, std::uint64_t total, const std::string& message);
  void end(const std::string& message);

 private:
  void begin_locked();

  std::string title_;
  Send send_;
  std::chrono::milliseconds quiet_;
  Now now_;
  std::mutex mutex_;  // guards what follows
  Clock::time_point started_, reported_;
  std::uint32_t percentage_ = 0;
  bool begun_ = false, ended_ = false;
};

}  // namespace profd
