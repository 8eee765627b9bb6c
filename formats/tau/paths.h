// Timers of TAU as contexts: call paths, source positions in names, samples.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/tau/profile_file.h"

namespace profd::tau {

// Where a timer's exclusive value goes.
enum class TimerKind : std::uint8_t {
  measured,   // a function or call path that was instrumented
  sampled,    // what sampling found below a timer; its time is the timer's too
  duplicate,  // sums of others: flat lines beside call paths, [SUMMARY] lines, parameters
};

struct Placed {
  TimerKind kind = TimerKind::measured;
  ContextId context;
  // Of whole functions and calls, for what is stated of them: the last function of a path and the one above
  // it. None for samples and sums of others.
  FrameId function, caller;
};

class Paths {
 public:
  explicit Paths(ProfileBuilder& builder) : builder_(builder) {}
  // One entry a timer of one thread. Counts what could not be attached.
  std::vector<Placed> place(const std::vector<Timer>& timers, std::uint64_t& n_detached);
  // Paths of more than one function were seen; paths that begin below what called their first function.
  bool any() const { return any_; }
  bool any_cut() const { return any_cut_; }
  // "a => b" and a last frame of its own kind, for events.
  ContextId event(std::string_view path, std::string_view name);

 private:
  FrameId frame(std::string_view name);
  ContextId below(ContextId above, std::string_view path);

  ProfileBuilder& builder_;
  bool any_ = false, any_cut_ = false;
  std::unordered_map<std::string_view, FrameId> frames_;
};

// Without TAU's own marks: "TAU_CALLPATH|MPI" -> "MPI".
std::string plain_groups(std::string_view groups);

}  // namespace profd::tau
