// How much of a view belongs to named sets of frames, each stack once a set and once in all: sets that a
// person makes up, and the kinds of work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/view/frame_sets.h"
#include "core/view/set_sums.h"
#include "server/feature/view_answer.h"

namespace profd {

// One of pattern, frames and set says what is meant.
struct NamedSet {
  std::string name;
  std::string pattern;              // RE2, as a search has it
  std::vector<std::string> frames;  // a run of functions, caller first
  std::string set;                  // one that profd or the project has
};
inline constexpr std::size_t kMaxNamedSets = 16;

// What is asked for, against a view: a bit a set.
struct NamedSets {
  std::vector<SetMask> of_key;                            // by Key; the sets of patterns and of sets
  std::vector<RunsOfSet> runs;                            // those of frames
  std::vector<std::vector<std::uint8_t>> frames_of_runs;  // as long as runs: 1 by Key, its frames
};
// Fails with `invalid` or `not_found` for what is none. `sets` may be null where none is named.
Result<NamedSets> find_named_sets(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                  const std::vector<NamedSet>& asked, const FrameSets* sets,
                                  const StopToken& stop);

struct SetsAnswerRequest {
  OpenProfilePtr open;
  ViewSpec spec;
  std::vector<NamedSet> asked;  // empty: the kinds of work
  FrameSetsPtr sets;
};

struct SetRow {
  std::string name, title;
  Amount amount;
  std::optional<Amount> first;  // of kinds: the stacks that have its colour
  std::uint64_t n_names = 0;
  std::optional<std::uint16_t> hue;
  bool own = false, background = false;
};

struct SetsAnswer {
  ViewHead head;
  Whole whole;
  std::vector<SetRow> sets;
  Amount any;  // stacks of any of them, each once
};
Needs needs_of(const SetsAnswerRequest& request);
Result<SetsAnswer> sets_answer(Views& views, const SetsAnswerRequest& request, const StopToken& stop);

// The kinds of work in a line: "garbage collection 14.2 % · allocation 9.1 %; 21.0 % together". "" none.
std::string kinds_text(const SetsAnswer& kinds);

}  // namespace profd
