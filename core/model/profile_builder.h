// ProfileBuilder: the only way to make a profile from measurements. Readers, live sessions, aggregates and
// the public builders all go through it. Not thread-safe; used by one task at a time.
//
// Order of use: declare metrics first; then, in any order, intern strings, modules, functions, frames,
// threads and label sets, and add values in one of three ways:
//   tree-shaped sources   context(parent, frame) then add_self(context, metric, value)
//   sample-shaped sources add_sample(...) with a context or with a stack of frames
//   bulk sources          set_stacks(...): stacks stay encoded in the reader's buffer until finish()
// finish() validates, orders children, renumbers to depth-first preorder, sums and freezes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile.h"
#include "core/model/timeline_builder.h"
#include "core/support/big_vector.h"
#include "core/support/executor.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

struct ModuleSpec {
  std::string_view name;
  std::string_view build_id = {};
  std::uint64_t start = 0, limit = 0, offset = 0;
  // Unknown with a range means positions in the file, as readers that see addresses in memory make them.
  AddressKind addresses = AddressKind::unknown;
  std::uint64_t first = 0;  // of vaddrs: that of `start`
};

struct FunctionSpec {
  StringId name;
  StringId system_name{0u};
  StringId file{0u};
  std::uint32_t start_line = 0;
  bool unresolved = false;
  std::uint32_t start_column = 0;
};

struct FrameSpec {
  FunctionId function;
  ModuleId module = {};
  StringId file{0u};  // "" means the function's file
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint64_t address = 0;
  FrameKind kind = FrameKind::native;
  bool inlined = false;
  bool is_return = false;
  PieceId piece = {};
};

struct PieceSpec {
  ModuleId module = {};
  std::uint64_t start = 0, n_bytes = 0;
  StringId name{0u};
  FunctionId function = {};
};

struct ThreadSpec {
  std::string_view name = {};
  std::string_view process_name = {};
  std::int64_t tid = -1, pid = -1;
};

struct Label {
  StringId key;
  bool is_number = false;
  StringId text{0u};
  std::int64_t number = 0;
  StringId unit{0u};
};

// Where a sample was taken; all optional.
struct SampleContext {
  ThreadId thread = {};
  LabelSetId labels{0u};
  std::optional<std::int64_t> time = std::nullopt;
  ThreadState state = ThreadState::unknown;
};

class StackSource;  // stack_source.h

// The metric that the source shows first, which is 0 everywhere.
inline constexpr std::string_view kInsteadOf = "default_metric_instead_of";

class ProfileBuilder {
 public:
  ProfileBuilder();
  ~ProfileBuilder();
  ProfileBuilder(ProfileBuilder&&) noexcept;
  ProfileBuilder& operator=(ProfileBuilder&&) noexcept;

  ProfileInfo& info();

  // A hint: about as much is to come. Saves growing step by step; the numbers must be true to the file, not
  // claimed by it.
  void reserve(std::size_t n_strings, std::size_t string_bytes, std::size_t n_functions,
               std::size_t n_frames);

  StringId string(std::string_view text);
  std::string_view text(StringId id) const;  // valid until the next string()

  // Every one interns: an equal spec gives the id given before.
  ModuleId module(const ModuleSpec& spec);
  FunctionId function(const FunctionSpec& spec);
  FunctionId function(std::string_view name, std::string_view file = {});
  FrameId frame(const FrameSpec& spec);
  PieceId piece(const PieceSpec& spec);
  [[nodiscard]] FunctionId function_of(FrameId frame) const;
  // As it was given.
  [[nodiscard]] FrameSpec spec_of(FrameId frame) const;
  ThreadId thread(const ThreadSpec& spec);
  LabelSetId label_set(std::span<const Label> labels);

  // Integral metrics take add_self/add_sample with int64 values, fractional ones with double.
  // All metrics are declared before the first value.
  // A name that is no UTF-8 is repaired, so that it is found again by what answers say.
  MetricId add_metric(std::string_view name, std::string_view unit, bool fractional = false);
  std::size_t n_metrics() const;
  // Where it is 0 everywhere and another is not, the first that is not takes its place, and the profile has
  // the property kInsteadOf with its name; `whatever`: it stays all the same.
  void set_default_metric(MetricId metric, bool whatever = false);

  ContextId context(ContextId parent, FrameId frame);
  ContextId context_of(std::span<const FrameId> root_first);
  // Of a context that is not the root.
  [[nodiscard]] ContextId parent_of(ContextId context) const;
  [[nodiscard]] FrameId frame_of(ContextId context) const;

  void add_self(ContextId context, MetricId metric, std::int64_t value);
  void add_self(ContextId context, MetricId metric, double value);

  // values: one per metric, in order of declaration.
  void add_sample(ContextId context, std::span<const std::int64_t> values, const SampleContext& where = {});
  void add_sample(ContextId context, std::span<const double> values, const SampleContext& where = {});
  // Equal to add_sample(context_of(stack), ...) and faster when most stacks are new.
  void add_sample(std::span<const FrameId> root_first, std::span<const std::int64_t> values,
                  const SampleContext& where = {});
  void add_sample(std::span<const FrameId> root_first, std::span<const double> values,
                  const SampleContext& where = {});

  // One value of its own kind per metric, for profiles that mix integral and fractional metrics.
  void add_sample(ContextId context, std::span<const Value> values, const SampleContext& where = {});

  // Takes all samples from `source`; excludes the other ways of adding values. All metrics integral.
  void set_stacks(std::unique_ptr<StackSource> source);

  // The stacks of all samples, which are then added with add_sample(ContextId{}, ...), one call for each of
  // source->size(), in order. Unlike set_stacks this keeps threads, times and fractional values. Excludes
  // samples with stacks or contexts of their own.
  void set_sample_stacks(std::unique_ptr<StackSource> source);

  // The tree and its values from who has made them already, in frames that this builder gave. `clamped`: by
  // metric, 1 where a value did not fit. Excludes contexts, samples and values of other ways.
  void set_contexts(ContextTree tree, SelfTable self, std::vector<std::uint8_t> clamped);

  void set_composition(std::shared_ptr<const Composition> composition);
  // In modules that this builder gave.
  void set_branches(std::shared_ptr<const BranchStacks> branches);

  // How many measurements the source counts, when that differs from the number of add_sample calls.
  void set_n_samples(std::uint64_t n);

  // `contexts` are ids this builder gave; finish() renumbers them.
  void add_association(AssociationTable table);

  // Spans, markers, counters and tasks, in ids that this builder gave; finish() renumbers their contexts. The
  // order of samples by thread and time is made by finish() for every profile whose samples have times.
  // Contexts in them exclude set_stacks and set_sample_stacks.
  TimelineBuilder& timeline();
  // What its limits dropped.
  const TimelineDrops& timeline_drops() const;

  // The source has functions and calls and no stacks, so that contexts are an estimate. `metrics` are those
  // that it states totals of: what a function or call cost, all that was called from there included.
  void state_costs(std::vector<MetricId> metrics);
  // totals: one per stated metric, or none where the source names the function or call without its cost.
  // See StatedCosts for what the frames mean. After state_costs.
  void state_function(FrameId function, std::span<const Value> totals);
  void state_call(FrameId caller, FrameId callee, std::span<const Value> totals);
  // What another profile with the same metrics states; `frame` gives this builder's frame for one of its own.
  void state_as(const StatedCosts& other, const std::function<FrameId(std::uint32_t)>& frame);

  // Native files hold frozen profiles: finish() then only gives `data` back, with whatever info() says by
  // then. The caller has checked every invariant of the model. Excludes everything else.
  void adopt(ProfileData data);

  std::size_t n_frames() const;

  // Consumes the builder. Fails with `limit` when a table outgrows 32-bit ids, `cancelled` when stopped.
  Result<ProfilePtr> finish(Executor& executor, StopToken stop = {}) &&;
  Result<ProfilePtr> finish() &&;

 private:
  struct State;
  std::unique_ptr<State> s_;
};

}  // namespace profd
