// Rewrite: a profile in, the same measurements over other frames out. Filters, symbolising after the fact,
// renaming, merging frames and leaving names out say what stands for a frame; the walk over the contexts, and
// that samples, threads, times, labels, metrics and associations stay with them, is done here once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/branches.h"
#include "core/model/profile.h"
#include "core/model/profile_builder.h"
#include "core/support/context_edits.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

// The tables of the profile that is being made. Every call interns, as ProfileBuilder does; what is of the
// source is copied the first time it is asked for, with all that it names.
class RewriteTables {
 public:
  RewriteTables(const Profile& source, ProfileBuilder& out) : source_(source), out_(out) {}

  const Profile& source() const { return source_; }
  StringId string(std::string_view text) { return out_.string(text); }
  ModuleId module(const ModuleSpec& spec) { return out_.module(spec); }
  FunctionId function(const FunctionSpec& spec) { return out_.function(spec); }
  FunctionId function(std::string_view name, std::string_view file = {}) { return out_.function(name, file); }
  FrameId frame(const FrameSpec& spec);
  PieceId piece(const PieceSpec& spec) { return out_.piece(spec); }

  StringId copy(StringId id);
  ModuleId copy(ModuleId id);  // none stays none
  FunctionId copy(FunctionId id);
  FrameId copy(FrameId id);
  PieceId copy(PieceId id);  // none stays none
  // Specs of entries of the source in ids of the new profile: to be changed where needed and interned.
  FunctionSpec spec_of(FunctionId id);
  FrameSpec spec_of(FrameId id);
  FrameSpec without_address(FrameId id);  // nor column and piece, which differ from build to build
  ModuleSpec spec_of(ModuleId id) const;  // its texts are the source's

  // A frame of the new profile without its mark of being inlined; itself when it has none.
  FrameId not_inlined(FrameId made);

 private:
  const Profile& source_;
  ProfileBuilder& out_;
  std::vector<StringId> strings_;  // by id of the source; none: not copied yet
  std::vector<ModuleId> modules_;
  std::vector<FunctionId> functions_;
  std::vector<FrameId> frames_;
  std::vector<PieceId> pieces_;
  std::unordered_map<std::uint32_t, FrameSpec> inlined_;  // by id of the new profile
};

// What stands for a frame of the source, root first. None: the frame is hidden, and what was measured in it
// is its caller's. Several: the last one has the value, as with inlined functions that a symboliser found.
struct StandIns {
  std::vector<FrameId> frames;
  // The frames stand for others as well, so that nothing can be called inlined into them.
  bool merged = false;
};

struct Rewrite {
  // Called once for every frame that is used, in order of id; appends to `stand_ins`, which is empty.
  // Siblings are ordered by frame id, so copies keep their order. Null: every frame stands for itself.
  std::function<Result<void>(FrameId frame, RewriteTables& tables, StandIns& stand_ins)> frames;
  // By FrameId of the source: frames of one number that call one another are one call, that of the outermost;
  // kNone: never. Hidden frames between them do not matter. Empty: nothing is folded.
  std::vector<std::uint32_t> run_of;

  // What becomes of single contexts of the source, beside what `frames` says; null: nothing. Those that are
  // dropped do not pass. Excludes run_of.
  const ContextEdits* edits = nullptr;

  // What passes, 1 or 0. By context of the source, whose own values are meant, not those below it; and by row
  // of the sample table. Empty: all.
  std::vector<std::uint8_t> contexts, samples;
  // Changes what a row of the sample table that passes has, where only a part of it does: its values, by
  // metric, and its time. Null: rows pass whole.
  std::function<void(std::uint32_t row, std::span<Value> values, std::int64_t& time)> cut;
  // Whether what a timeline has in a thread (kNone: unknown) from `begin` to `end` (kNoTime: unknown) passes.
  // Null: all of it.
  std::function<bool(std::uint32_t thread, std::int64_t begin, std::int64_t end)> moments;
  // What a place of a branch becomes, whose module is never none. Null: it stays where it is if `frames` is
  // null too; else branches are gone.
  std::function<BranchPlace(const BranchPlace& place, RewriteTables& tables)> branch_places;
  // Values beside the samples of a sample table pass, as far as `contexts` lets them.
  bool unsampled = true;
  // Keeps contexts without values.
  bool empty_contexts = false;
  // Keeps contexts without values and entries of the tables that nothing points to, with the ids they had.
  // Without it, no text of the source is in the result unless something that passes needs it.
  bool everything = false;

  std::optional<MetricId> default_metric;  // the source's
  std::optional<ProfileInfo> info;         // the source's
};

// Sums of all metrics are those of what passes. What was inlined into a frame that is hidden, folded or
// merged is inlined no more.
//
// A record of an association follows its contexts. A context of it that does not pass is none (as where a
// record lacks the role), and a record without any that passes is gone. Where samples are chosen, a context
// of a record passes when a chosen sample lies at it or below, as records have no threads, times and labels.
// A metric whose sums were clamped keeps what is in samples only.
//
// A span with a context passes as far as `contexts` lets that, goes where the context goes, and is gone where
// the frame of it is hidden or folded: its time is within the span of the caller. Spans without a context,
// markers and points of counters are on no stack, so that only `moments` decides; a marker loses a context
// that does not pass. A counter without points is gone where something is filtered, and so is a task that is
// neither of a span that passes nor the parent of such a task.
//
// Branch stacks are of the profile as a whole: they are gone where anything is filtered, and where frames
// become others and nobody says what places of branches do. Runs that begin and end in one module stay runs
// where both ends move alike; others count as left out.
Result<ProfilePtr> rewrite(const Profile& source, const Rewrite& how, StopToken stop = {});

// With what `edits` says and nothing else. Sums stay what they were, but for what is dropped. `invalid` where
// an edit is of no context, or a context becomes one with what is dropped: that would be a drop that nobody
// asked for.
Result<ProfilePtr> edit_contexts(const Profile& source, const ContextEdits& edits, StopToken stop = {});

}  // namespace profd
