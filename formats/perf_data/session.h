// Session: what the records, taken in the order of time, say: processes and threads come and go, and samples
// meet them as they are at that moment.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/perf_data/branch_collector.h"
#include "formats/perf_data/copied_stacks.h"
#include "formats/perf_data/counter.h"
#include "formats/perf_data/images.h"
#include "formats/perf_data/sample.h"
#include "formats/reader.h"
#include "formats/support/scheduler_events.h"

namespace profd::perf_data {

// One sample of one event. `again`: another event of the group that was read at the same moment.
struct SampleRow {
  static constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();
  ContextId context;
  ThreadId thread;
  LabelSetId labels{0u};
  std::uint32_t event = 0;
  bool again = false;
  std::int64_t time = kNoTime;
  std::int64_t value = 0;
};

class Session {
 public:
  Session(ReadContext& context, ProfileBuilder& builder, std::endian order)
      : context_(context),
        builder_(builder),
        order_(order),
        files_(context.beside, context.report),
        images_(builder, files_, features_),
        copies_(context.unwind, context.report) {}

  // Before the records that need them.
  void add_event(Event event);
  void add_feature(unsigned bit, ByteCursor in, std::uint64_t offset);

  // The time that a record carries; 0 when it carries none and takes effect at once.
  std::uint64_t time_of(const RecordHeader& header, ByteCursor body) const;
  // `body` is the record without its header.
  Result<void> handle(const RecordHeader& header, ByteCursor body, std::uint64_t offset);

  std::size_t n_events() const { return events_.size(); }
  std::endian order() const { return order_; }
  void count_trace(std::uint64_t offset) { hardware_trace_.add(offset); }

  // Declares metrics and adds all samples.
  Result<void> build();

 private:
  struct Thread {
    std::uint32_t pid = 0;
    std::uint32_t comm = kNone;  // row of comms_
    ThreadId id;                 // for `comm`; none until a sample needs it
    ContextId root;
  };

  const Event* event_of_sample(ByteCursor body) const;
  const Event* event_by_id(std::uint64_t id) const;
  Result<void> handle_sample(const RecordHeader& header, ByteCursor body, std::uint64_t offset);
  // Without its user part, where that is to be unwound.
  Result<void> collect_stack(const Event& event, CpuMode mode, Process& process, bool unwound);
  bool is_to_be_unwound(const Event& event, CpuMode mode, const Process& process) const;
  // All samples that wait for it.
  Result<void> unwind();
  Result<void> add_unwound(const WaitingSample& sample, std::span<const std::uint64_t> addresses,
                           const std::vector<bool>& exact, StackEnd end);
  Result<void> push(Process& process, CpuMode mode, std::uint64_t address, bool is_return);
  ContextId context_of(ContextId root);
  void count_group(SampleRow row, std::uint64_t offset);
  void handle_mmap(const RecordHeader& header, ByteCursor body, std::uint64_t offset);
  void handle_comm(const RecordHeader& header, ByteCursor body, std::uint64_t offset);
  void handle_fork(const RecordHeader& header, ByteCursor body, std::uint64_t offset);
  void handle_switch(const RecordHeader& header, ByteCursor body, std::uint64_t offset);
  // The sample before, which has just become the last of rows_.
  void note_scheduling(const Event& event);
  struct SchedulingEvent {
    SchedulerTracepoint kind = SchedulerTracepoint::none;
    const TracepointFormat* format = nullptr;
  };
  const SchedulingEvent& scheduling_of(const Event& event);
  WaitTask wait_task(std::uint32_t tid, std::string_view name);
  void handle_ksymbol(ByteCursor body, std::uint64_t offset);
  void handle_attr(ByteCursor body, std::uint64_t offset);
  void handle_update(ByteCursor body, std::uint64_t offset);
  Thread& thread(std::uint32_t pid, std::uint32_t tid);
  void name_thread(Thread& thread, std::uint32_t tid);
  std::uint32_t comm_row(std::string_view comm);
  LabelSetId cpu_label(std::uint32_t cpu);
  void name_events();
  void describe(std::int64_t first_time, std::int64_t last_time);
  void report();

  ReadContext& context_;
  ProfileBuilder& builder_;
  std::endian order_;
  Features features_;
  SymbolFiles files_;
  Images images_;
  CopiedStacks copies_;
  BranchCollector branch_stacks_;
  std::vector<Event> events_;
  std::unordered_map<std::uint64_t, std::uint32_t> event_by_id_;
  unsigned ip_register_ = kNoRegister;
  bool arch_known_ = false;

  std::unordered_map<std::uint32_t, Thread> threads_;
  std::vector<std::string> comms_;
  std::unordered_map<std::string, std::uint32_t> comm_rows_;
  std::unordered_map<std::uint32_t, LabelSetId> cpu_labels_;

  Sample sample_;
  std::vector<FrameId> stack_;  // innermost first
  // The sample before, whose contexts the next one shares from the root on.
  std::vector<FrameId> last_frames_;  // root first
  std::vector<ContextId> last_contexts_;
  ContextId last_root_;
  std::unordered_map<std::uint64_t, std::uint64_t> group_values_;  // by event id: the value read last
  std::vector<SampleRow> rows_;
  SchedulerEvents scheduling_;
  std::vector<std::optional<SchedulingEvent>> scheduling_events_;  // by event

  Counter malformed_, unknown_event_, unknown_record_, lost_, lost_samples_, throttled_, stacks_, deferred_,
      hardware_trace_, raw_, memory_, switches_, no_stack_, no_period_, simpleperf_;
};

}  // namespace profd::perf_data
