// CallSpans: turns what a tracer writes (function entered, function left, with times) into samples of self
// time. One instance a thread.
//
//   enter(frame, t) ... leave(t)      the usual way
//
// Between two events the time belongs to the stack that stood then; each such piece becomes one add_sample
// with the stack's context, its length as value and its beginning as time. Pieces of length 0 are not added.
// Time that runs backwards is counted in n_backwards() and taken as no time. With keep_spans() every call is
// a span of the timeline as well.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/profile_builder.h"

namespace profd {

class CallSpans {
 public:
  // Values go to `builder`, which has one integral metric; `where` gives thread and labels.
  CallSpans(ProfileBuilder& builder, SampleContext where) : builder_(builder), where_(where) {}

  // `task`: what the calls are steps of, or none.
  void keep_spans(TaskId task) {
    keep_spans_ = true;
    task_ = task;
  }

  void enter(FrameId frame, std::int64_t time);
  // False when no call is open.
  bool leave(std::int64_t time);
  // The same for a call whose end nobody saw: its time runs until `time`, the end of its span is unknown.
  bool leave_unfinished(std::int64_t time);
  // Closes everything that is open, unfinished; returns how many calls that were.
  std::size_t finish(std::int64_t time);

  std::size_t depth() const { return open_.size(); }
  FrameId innermost() const { return open_.empty() ? FrameId{} : open_.back().frame; }
  std::uint64_t n_backwards() const { return n_backwards_; }
  std::uint64_t n_calls() const { return n_calls_; }

 private:
  struct Call {
    FrameId frame;
    ContextId context;
    std::int64_t begin;
  };
  void advance(std::int64_t time);
  void close(std::int64_t end);

  ProfileBuilder& builder_;
  SampleContext where_;
  std::vector<Call> open_;
  std::int64_t last_ = 0;
  bool started_ = false, keep_spans_ = false;
  TaskId task_;
  std::uint64_t n_backwards_ = 0, n_calls_ = 0;
};

}  // namespace profd
