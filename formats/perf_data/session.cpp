#include "formats/perf_data/session.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/support/text.h"

namespace profd::perf_data {
namespace {

constexpr std::size_t kMaxEvents = 1 << 16;
constexpr std::uint32_t kKernelPid = 0xffffffff;

// Entries of a callchain that say where the following ones come from.
enum ChainMark : std::uint64_t {
  kMarkHypervisor = static_cast<std::uint64_t>(-32),
  kMarkKernel = static_cast<std::uint64_t>(-128),
  kMarkUser = static_cast<std::uint64_t>(-512),
  kMarkUserDeferred = static_cast<std::uint64_t>(-640),
  kMarkGuest = static_cast<std::uint64_t>(-2048),
  kMarkGuestKernel = static_cast<std::uint64_t>(-2176),
  kMarkGuestUser = static_cast<std::uint64_t>(-2560),
  kFirstMark = static_cast<std::uint64_t>(-4095),
};

std::int64_t clamped(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int64_t>::max()));
}

std::string_view padded_text(ByteCursor& in) {
  const std::string_view padded = in.text(in.left());
  return padded.substr(0, padded.find('\0'));
}

}  // namespace

void Session::add_event(Event event) {
  if (events_.size() >= kMaxEvents) return;
  const auto row = static_cast<std::uint32_t>(events_.size());
  for (std::uint64_t id : event.ids) event_by_id_.insert_or_assign(id, row);
  events_.push_back(std::move(event));
}

void Session::add_feature(unsigned bit, ByteCursor in, std::uint64_t offset) {
  if (!read_feature(bit, in, features_)) malformed_.add(offset);
}

const Event* Session::event_by_id(std::uint64_t id) const {
  const auto found = event_by_id_.find(id);
  if (found != event_by_id_.end()) return &events_[found->second];
  // Old files and single events do without ids.
  return events_.size() == 1 || (id == 0 && !events_.empty()) ? &events_.front() : nullptr;
}

const Event* Session::event_of_sample(ByteCursor body) const {
  if (events_.empty()) return nullptr;
  if (events_.size() == 1) return &events_.front();
  const std::size_t at = id_position(events_.front().attr.sample_type);
  if (at == kNowhere) return &events_.front();
  body.seek(at);
  return event_by_id(body.u64());
}

std::uint64_t Session::time_of(const RecordHeader& header, ByteCursor body) const {
  if (header.type > kLastKernelType || events_.empty()) return 0;
  if (header.type == kSample) {
    const Event* event = event_of_sample(body);
    const std::size_t at = event ? time_position(event->attr.sample_type) : kNowhere;
    if (at == kNowhere) return 0;
    body.seek(at);
    return body.u64();
  }
  const Attr& attr = events_.front().attr;
  const std::size_t at = time_position_from_end(attr.sample_type);
  if (!attr.sample_id_all() || at == kNowhere || at > body.left()) return 0;
  body.seek(body.left() - at);
  const std::uint64_t time = body.u64();
  return time == std::numeric_limits<std::uint64_t>::max() ? 0 : time;
}

Result<void> Session::handle(const RecordHeader& header, ByteCursor body, std::uint64_t offset) {
  const bool changes_memory =
      header.type == kMmap || header.type == kMmap2 || header.type == kFork || header.type == kComm;
  // All of these begin with the process.
  if (changes_memory && copies_.has(ByteCursor(body).u32())) PROFD_CHECK(unwind());
  switch (header.type) {
    case kSample:
      return handle_sample(header, body, offset);
    case kMmap:
    case kMmap2:
      handle_mmap(header, body, offset);
      break;
    case kComm:
      handle_comm(header, body, offset);
      break;
    case kFork:
      handle_fork(header, body, offset);
      break;
    case kLost:
      body.u64();
      lost_.add(offset, body.u64());
      break;
    case kLostSamples:
      lost_samples_.add(offset, body.u64());
      break;
    case kThrottle:
      throttled_.add(offset);
      break;
    case kKsymbol:
      handle_ksymbol(body, offset);
      break;
    case kAuxRecord:
      hardware_trace_.add(offset);
      break;
    case kSwitch:
    case kSwitchCpuWide:
      handle_switch(header, body, offset);
      break;
    case kCallchainDeferred:
      deferred_.add(offset);
      break;
    case kHeaderAttr:
      handle_attr(body, offset);
      break;
    case kHeaderBuildId:
      if (!read_build_id(body, header.misc, features_)) malformed_.add(offset);
      break;
    case kEventUpdate:
      handle_update(body, offset);
      break;
    case kHeaderFeature: {
      const std::uint64_t bit = body.u64();
      if (body.ok() && bit < 256) add_feature(static_cast<unsigned>(bit), body.slice(body.left()), offset);
      break;
    }
    default:
      // The rest says nothing about where time went.
      if (header.type >= kFirstSimpleperfType)
        simpleperf_.add(offset);
      else if (header.type == 0 || (header.type > kLastKernelType && header.type < kHeaderAttr) ||
               header.type > kLastOwnType)
        unknown_record_.add(offset);
  }
  return images_.status();
}

void Session::handle_attr(ByteCursor body, std::uint64_t offset) {
  const std::size_t begin = body.position();
  body.u32();
  const std::uint32_t size = body.u32();
  body.seek(begin);
  constexpr std::uint32_t kSmallest = 64;
  ByteCursor attr = body.slice(size);
  if (!body.ok() || size < kSmallest) {
    malformed_.add(offset);
    return;
  }
  Event event;
  event.attr = read_attr(attr);
  while (body.left() >= 8) event.ids.push_back(body.u64());
  add_event(std::move(event));
}

void Session::handle_update(ByteCursor body, std::uint64_t offset) {
  constexpr std::uint64_t kName = 2;
  const std::uint64_t type = body.u64(), id = body.u64();
  if (!body.ok()) {
    malformed_.add(offset);
    return;
  }
  const auto found = event_by_id_.find(id);
  if (type != kName || found == event_by_id_.end()) return;
  events_[found->second].name = repair_utf8(padded_text(body));
}

void Session::handle_mmap(const RecordHeader& header, ByteCursor body, std::uint64_t offset) {
  const std::uint32_t pid = body.u32();
  body.u32();
  MapRecord record;
  record.start = body.u64();
  record.size = body.u64();
  record.file_offset = body.u64();
  if (header.type == kMmap2) {
    constexpr std::size_t kMaxId = 20;
    if (header.misc & kMiscMmapBuildId) {
      const std::size_t length = body.u8();
      body.skip(3);
      const auto id = body.bytes(kMaxId);
      if (body.ok()) record.build_id = build_id_text(id.first(std::min(length, kMaxId)));
    } else {
      record.identity.major = body.u32();
      record.identity.minor = body.u32();
      record.identity.inode = body.u64();
      record.identity.generation = body.u64();
    }
    body.skip(8);  // protection, flags
  }
  record.file = padded_text(body);
  if (!body.ok()) {
    malformed_.add(offset);
    return;
  }
  const auto mode = header.misc & kCpuModeMask;
  if (mode == kModeGuestKernel)
    images_.map_kernel(true, record);
  else if (mode == kModeKernel || pid == kKernelPid)
    images_.map_kernel(false, record);
  else
    images_.map(pid, record);
}

void Session::handle_comm(const RecordHeader& header, ByteCursor body, std::uint64_t offset) {
  const std::uint32_t pid = body.u32(), tid = body.u32();
  const std::string_view comm = padded_text(body);
  if (!body.ok()) {
    malformed_.add(offset);
    return;
  }
  if (header.misc & kMiscCommExec) images_.exec(pid);
  Thread& named = thread(pid, tid);
  named.comm = comm_row(comm);
  named.id = {};
}

void Session::handle_fork(const RecordHeader& header, ByteCursor body, std::uint64_t offset) {
  const std::uint32_t pid = body.u32(), ppid = body.u32(), tid = body.u32(), ptid = body.u32();
  if (!body.ok()) {
    malformed_.add(offset);
    return;
  }
  const std::uint32_t comm = thread(ppid, ptid).comm;
  if ((header.misc & kMiscForkExec) == 0) images_.fork(ppid, pid);
  threads_.insert_or_assign(tid, Thread{pid, comm, {}, {}});
}

void Session::handle_ksymbol(ByteCursor body, std::uint64_t offset) {
  constexpr std::uint16_t kBpf = 1, kUnregistered = 1;
  const std::uint64_t start = body.u64();
  const std::uint32_t size = body.u32();
  const std::uint16_t type = body.u16(), flags = body.u16();
  const std::string_view name = padded_text(body);
  if (!body.ok()) {
    malformed_.add(offset);
    return;
  }
  images_.kernel_symbol(start, size, name, type == kBpf, (flags & kUnregistered) != 0);
}

Session::Thread& Session::thread(std::uint32_t pid, std::uint32_t tid) {
  Thread& found = threads_.try_emplace(tid, Thread{pid, kNone, {}, {}}).first->second;
  if (found.pid != pid) {
    // Another process has this id by now, or the records that would say so were lost.
    found = Thread{pid, kNone, {}, {}};
  }
  return found;
}

std::uint32_t Session::comm_row(std::string_view comm) {
  const auto [at, is_new] =
      comm_rows_.try_emplace(std::string(comm), static_cast<std::uint32_t>(comms_.size()));
  if (is_new) comms_.emplace_back(comm);
  return at->second;
}

void Session::name_thread(Thread& named, std::uint32_t tid) {
  if (named.id.valid()) return;
  std::string comm;
  if (named.comm != kNone)
    comm = comms_[named.comm];
  else if (tid == 0)
    comm = "swapper";  // the idle task; no record names it
  else
    comm = fmt::format(":{}", static_cast<std::int32_t>(tid));  // as perf calls threads it knows by id only
  ThreadSpec spec{comm, {}, static_cast<std::int32_t>(tid), static_cast<std::int32_t>(named.pid)};
  std::string process;
  if (named.pid == tid) {
    process = comm;
  } else if (const auto leader = threads_.find(named.pid);
             leader != threads_.end() && leader->second.comm != kNone) {
    process = comms_[leader->second.comm];
  }
  spec.process_name = process;
  named.id = builder_.thread(spec);
  const FrameId root =
      builder_.frame({.function = builder_.function(comm.empty() ? "[no process name]" : comm)});
  named.root = builder_.context(kRootContext, root);
}

LabelSetId Session::cpu_label(std::uint32_t cpu) {
  const auto [at, is_new] = cpu_labels_.try_emplace(cpu, LabelSetId{0u});
  if (is_new) {
    const Label label{.key = builder_.string("cpu"), .is_number = true, .number = cpu};
    at->second = builder_.label_set({&label, 1});
  }
  return at->second;
}

Result<void> Session::push(Process& process, CpuMode mode, std::uint64_t address, bool is_return) {
  const auto frames = images_.frames(process, mode, address, is_return);
  if (stack_.size() + frames.size() > context_.limits.stack_depth)
    return fail(ErrorCode::limit, fmt::format("a stack has more than {} frames (limit stack_depth)",
                                              context_.limits.stack_depth));
  stack_.insert(stack_.end(), frames.begin(), frames.end());
  return {};
}

bool Session::is_to_be_unwound(const Event& event, CpuMode mode, const Process& process) const {
  if (!(event.attr.sample_type & kStackUser) || !copies_.takes(sample_, features_.arch, order_)) return false;
  if ((event.attr.branch_sample_type & kBranchCallStack) != 0 && sample_.n_branches > 0) return false;
  ByteCursor chain = sample_.chain;
  for (std::uint64_t i = 0; i < sample_.n_chain; ++i)
    if (chain.u64() == kMarkUser) return false;  // the kernel has walked it
  // While exec() goes on the registers are those of the program before.
  return mode == kModeUser || images_.is_mapped(process, sample_.user_ip);
}

Result<void> Session::collect_stack(const Event& event, CpuMode mode, Process& process, bool unwound) {
  stack_.clear();
  const bool has_ip = (event.attr.sample_type & kIp) != 0;
  const bool call_stack = (event.attr.branch_sample_type & kBranchCallStack) != 0 && sample_.n_branches > 0;
  bool exact = true;  // not a return address
  bool any = false, user_seen = mode == kModeUser && sample_.n_chain == 0;
  CpuMode now = mode;
  ByteCursor chain = sample_.chain;
  for (std::uint64_t i = 0; i < sample_.n_chain; ++i) {
    const std::uint64_t address = chain.u64();
    if (address >= kFirstMark) {
      exact = true;
      switch (address) {
        case kMarkHypervisor:
          now = kModeHypervisor;
          break;
        case kMarkKernel:
          now = kModeKernel;
          break;
        case kMarkUser:
          now = kModeUser;
          user_seen = true;
          break;
        case kMarkUserDeferred:
          chain.u64();  // a cookie
          ++i;
          break;
        case kMarkGuest:
        case kMarkGuestUser:
          now = kModeGuestUser;
          break;
        case kMarkGuestKernel:
          now = kModeGuestKernel;
          break;
        default:
          break;
      }
      continue;
    }
    if (call_stack && now == kModeUser) continue;  // the branches tell it better
    PROFD_CHECK(push(process, now, address, !exact));
    exact = false;
    any = true;
  }
  if (call_stack && user_seen) {
    ByteCursor branches = sample_.branches;
    for (std::uint64_t i = 0; i < sample_.n_branches; ++i) {
      const std::uint64_t from = branches.u64(), to = branches.u64();
      branches.u64();
      if (i == 0) PROFD_CHECK(push(process, kModeUser, mode == kModeUser && has_ip ? sample_.ip : to, false));
      PROFD_CHECK(push(process, kModeUser, from, false));
    }
    any = true;
  }
  // Nothing was walked: the kernel leaves user frames to whoever unwinds the copied stack.
  if (!any && has_ip && !(unwound && mode == kModeUser)) {
    PROFD_CHECK(push(process, mode, sample_.ip, false));
    any = true;
    user_seen |= mode == kModeUser;
  }
  if (unwound) return {};
  // While exec() goes on the registers are those of the program before.
  if (sample_.user_ip != 0 && mode != kModeUser && !user_seen && images_.is_mapped(process, sample_.user_ip))
    PROFD_CHECK(push(process, kModeUser, sample_.user_ip, false));
  return {};
}

ContextId Session::context_of(ContextId root) {
  const std::size_t n = stack_.size();
  std::size_t shared = 0;
  if (root == last_root_) {
    const std::size_t limit = std::min(n, last_frames_.size());
    while (shared < limit && last_frames_[shared] == stack_[n - 1 - shared]) ++shared;
  }
  last_root_ = root;
  last_frames_.resize(shared);
  last_contexts_.resize(shared);
  ContextId at = shared == 0 ? root : last_contexts_.back();
  for (std::size_t i = shared; i < n; ++i) {
    const FrameId frame = stack_[n - 1 - i];
    at = builder_.context(at, frame);
    last_frames_.push_back(frame);
    last_contexts_.push_back(at);
  }
  return at;
}

Result<void> Session::handle_sample(const RecordHeader& header, ByteCursor body, std::uint64_t offset) {
  const Event* event = event_of_sample(body);
  if (!event) {
    unknown_event_.add(offset);
    return {};
  }
  if (!arch_known_ && !features_.arch.empty()) {
    ip_register_ = ip_register(features_.arch);
    arch_known_ = true;
  }
  const Attr& attr = event->attr;
  if (!parse_sample(body, attr, ip_register_, sample_)) {
    malformed_.add(offset);
    return {};
  }
  const auto mode = static_cast<CpuMode>(std::min<int>(header.misc & kCpuModeMask, kModeGuestUser));
  Process& process = images_.process(sample_.pid);
  const bool has_time = (attr.sample_type & kTime) != 0;
  if (!process.dumps.empty()) {
    constexpr std::int32_t kMonotonic = 1;
    const bool comparable = has_time && attr.use_clock_id() && attr.clock_id == kMonotonic;
    const std::uint64_t now = comparable ? sample_.time : std::numeric_limits<std::uint64_t>::max();
    if (copies_.has(sample_.pid) && Images::would_advance(process, now)) PROFD_CHECK(unwind());
    images_.advance(process, now);
  }
  const bool unwound = is_to_be_unwound(*event, mode, process);
  if (auto stacked = collect_stack(*event, mode, process, unwound); !stacked) {
    stacked.error().offset = offset;
    return stacked;
  }
  Thread& where = thread(sample_.pid, sample_.tid);
  name_thread(where, sample_.tid);

  if (stack_.empty() && !unwound) no_stack_.add(offset);
  if (attr.sample_type & kStackUser && sample_.stack.left() > 0 && !unwound) stacks_.add(offset);
  if (sample_.n_branches > 0 && !(attr.branch_sample_type & kBranchCallStack))
    branch_stacks_.add(sample_, attr, mode, order_, images_, process, offset);
  if (attr.sample_type & kRaw && scheduling_of(*event).kind == SchedulerTracepoint::none) raw_.add(offset);
  if (attr.sample_type & (kAddr | kWeight | kWeightStruct | kDataSrc)) memory_.add(offset);
  if (attr.frequency() && !(attr.sample_type & kPeriod)) no_period_.add(offset);

  SampleRow row;
  if (!unwound) row.context = context_of(where.root);
  row.thread = where.id;
  if (attr.sample_type & kCpu) row.labels = cpu_label(sample_.cpu);
  if (has_time && sample_.time <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    row.time = static_cast<std::int64_t>(sample_.time);
  const std::size_t first_row = rows_.size();
  const bool grouped = (attr.sample_type & kRead) != 0 && (attr.read_format & kReadId) != 0;
  if (!grouped) {
    row.event = static_cast<std::uint32_t>(event - events_.data());
    row.value = clamped(sample_.period);
    rows_.push_back(row);
    note_scheduling(*event);
  } else {
    count_group(row, offset);
  }
  if (!unwound) return {};
  const bool at_leaf = mode == kModeUser && (attr.sample_type & kIp) != 0;
  WaitingSample waiting{sample_.pid, at_leaf ? sample_.ip : 0, where.root, stack_,
                        first_row,   rows_.size() - first_row, offset};
  copies_.add(sample_, attr.regs_user, images_, process, std::move(waiting));
  return copies_.full() ? unwind() : Result<void>{};
}

// Counters that run on: what was counted is the difference to the last reading.
void Session::count_group(SampleRow row, std::uint64_t offset) {
  for (const ReadValue& value : sample_.values) {
    const auto member = event_by_id_.find(value.id);
    if (member == event_by_id_.end()) {
      unknown_event_.add(offset);
      continue;
    }
    std::uint64_t& last = group_values_[value.id];
    const std::uint64_t counted = value.value - last;
    last = value.value;
    if (counted == 0) continue;
    row.event = member->second;
    row.value = clamped(counted);
    rows_.push_back(row);
    row.again = true;
  }
}

}  // namespace profd::perf_data
