// The inside of ProfileBuilder, shared by profile_builder.cpp (collecting) and builder_finish.cpp (freezing).
#pragma once

#include <memory>
#include <vector>

#include "core/model/collected_stacks.h"
#include "core/model/context_rows.h"
#include "core/model/profile_builder.h"
#include "core/model/stack_source.h"
#include "core/support/growing_vector.h"
#include "core/support/interner.h"

namespace profd {

// Values of one metric while they are collected; doubles only when the metric is fractional.
struct GrowingValues {
  bool fractional = false;
  GrowingVector<std::int64_t> ints = {};
  GrowingVector<double> doubles = {};
  bool clamped = false;  // a sum of values of one context did not fit
};

// StatedCosts while they are collected: the values of the stated metrics, row by row.
struct GrowingStated {
  std::vector<MetricId> metrics;
  std::vector<std::uint32_t> function, caller, callee;
  std::vector<std::uint8_t> function_known, call_known;
  std::vector<GrowingValues> function_totals, call_totals;  // by stated metric
};

struct ProfileBuilder::State {
  State() {
    context_parent.push_back(kNone);
    context_frame.push_back(kNone);
  }

  ProfileInfo info;
  StringInterner strings;

  std::vector<StringId> module_name, module_build_id;
  std::vector<std::uint64_t> module_start, module_limit, module_offset, module_first;
  std::vector<AddressKind> module_addresses;
  RowSet module_rows;

  std::vector<StringId> function_name, function_system_name, function_file;
  std::vector<std::uint32_t> function_start_line, function_start_column;
  std::vector<std::uint8_t> function_unresolved;
  RowSet function_rows;

  std::vector<FunctionId> frame_function;
  std::vector<ModuleId> frame_module;
  std::vector<StringId> frame_file;
  std::vector<std::uint32_t> frame_line, frame_column;
  std::vector<std::uint64_t> frame_address;
  std::vector<FrameKind> frame_kind;
  std::vector<std::uint8_t> frame_inlined;
  std::vector<std::uint8_t> frame_is_return;  // these two are empty until a frame has one
  std::vector<PieceId> frame_piece;
  RowSet frame_rows;

  std::vector<ModuleId> piece_module;
  std::vector<std::uint64_t> piece_start, piece_n_bytes;
  std::vector<StringId> piece_name;
  std::vector<FunctionId> piece_function;
  RowSet piece_rows;

  std::vector<StringId> thread_name, thread_process;
  std::vector<std::int64_t> thread_tid, thread_pid;
  RowSet thread_rows;

  std::vector<std::uint32_t> label_first{0, 0};  // set 0 is empty
  std::vector<StringId> label_key, label_text, label_unit;
  std::vector<std::int64_t> label_number;
  std::vector<std::uint8_t> label_is_number;
  RowSet label_rows;

  std::vector<MetricInfo> metrics;
  std::vector<bool> metric_fractional;
  MetricId default_metric;
  bool default_whatever = false;  // also where it is 0 everywhere

  // Contexts in order of arrival; 0 is the root.
  GrowingVector<std::uint32_t> context_parent, context_frame;
  ContextRows context_rows;

  // Totals-only values: dense by context, grown on demand.
  std::vector<GrowingValues> self;

  // Samples. sample_context is kNone where the sample has a stack; stacks are then in order of those samples.
  // Labels, threads, times and states are empty until a sample has one.
  GrowingVector<std::uint32_t> sample_context, sample_labels, sample_thread;
  GrowingVector<std::int64_t> sample_time;
  GrowingVector<ThreadState> sample_state;
  std::vector<GrowingValues> sample_values;
  CollectedStacks stacks;

  struct ReadyContexts {
    ContextTree tree;
    SelfTable self;
    std::vector<std::uint8_t> clamped;
  };
  std::optional<ReadyContexts> contexts;
  std::shared_ptr<const Composition> composition;
  std::shared_ptr<const BranchStacks> branches;
  std::optional<ProfileData> adopted;
  std::unique_ptr<StackSource> source;
  std::unique_ptr<StackSource> sample_stacks;
  std::optional<std::uint64_t> n_samples;
  std::vector<AssociationTable> associations;
  std::optional<GrowingStated> stated;
  TimelineBuilder timeline;
  bool too_many = false;  // a table outgrew 32-bit ids

  ContextId context(ContextId parent, FrameId frame);
  void begin_sample(const SampleContext& where);
  Result<void> finish_timeline(ProfileData& data, std::span<const std::uint32_t> context_of, StopToken stop);
};

}  // namespace profd
