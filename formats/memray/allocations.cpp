// The form with every allocation. It is gone through twice: when the most was allocated is known at its end,
// and what was then is not kept meanwhile.
#include <fmt/format.h>

#include "core/support/checked.h"
#include "formats/memray/heap.h"
#include "formats/memray/profile.h"

namespace profd::memray {
namespace {

struct FirstLook {
  std::uint64_t peak_at = 0;  // after how many allocations and frees the most was allocated
  std::unordered_map<std::uint64_t, std::string_view> names;
  std::uint64_t end = 0;  // what follows is broken
  std::optional<Error> error;
};

void change(Heap& heap, const Record& record, std::uint32_t owner) {
  if (is_free(record.allocator))
    heap.free(record.address);
  else if (record.allocator == Allocator::munmap)
    heap.unmap(record.address, record.size);
  else if (record.allocator == Allocator::mmap)
    heap.map(record.address, record.size, owner);
  else
    heap.allocate(record.address, record.size, owner);
}

struct Thread {
  std::vector<ContextId> stack;  // root first; frames of memray itself stand for what is below them
};

class AllocationsReading {
 public:
  AllocationsReading(const ByteSource& source, ByteCursor in, const Header& header, ReadContext& context,
                     ProfileBuilder& builder)
      : source_(source),
        in_(in),
        header_(header),
        context_(context),
        builder_(builder),
        maker_(header, context, builder) {}

  Result<void> run() {
    PROFD_TRY(FirstLook look, first_look());
    if (look.error && (look.error->code != ErrorCode::truncated || !may_end()))
      return tl::unexpected<Error>(std::move(*look.error));
    maker_.set_thread_names(std::move(look.names));
    Records records(in_, header_);
    Record record;
    for (;;) {
      auto more = records.next(record);
      if (!more || !*more) break;  // as the first look has it
      PROFD_CHECK(read(record));
      if (record.type == RecordType::allocation && ++n_changes_ == look.peak_at)
        heap_.each([&](std::uint32_t row, std::uint64_t size) {
          add_saturating(maker_.sums(row).peak, static_cast<std::int64_t>(size));
        });
    }
    heap_.each([&](std::uint32_t row, std::uint64_t size) {
      add_saturating(maker_.sums(row).leaked, static_cast<std::int64_t>(size));
    });
    maker_.finish();
    builder_.set_n_samples(n_allocations_);
    report(look, records);
    return {};
  }

 private:
  bool may_end() const { return context_.partial || source_.truncated(); }

  Result<FirstLook> first_look() {
    FirstLook look;
    Records records(in_, header_);
    Record record;
    Heap heap;
    std::uint64_t most = 0, n = 0, thread = 0, told = 0;
    for (;;) {
      auto more = records.next(record);
      if (!more) {
        look.error = std::move(more).error();
        break;
      }
      if (!*more) break;
      if (record.type == RecordType::allocation) {
        change(heap, record, 0);
        ++n;
        if (heap.bytes() < most) continue;
        most = heap.bytes();
        look.peak_at = n;
      } else if (record.type == RecordType::thread) {
        thread = record.id;
      } else if (record.type == RecordType::thread_name) {
        look.names[thread] = record.name;
      }
      if (record.at - told < (8u << 20)) continue;
      told = record.at;
      PROFD_CHECK(context_.stop.status());
      if (context_.progress) context_.progress(told / 2, source_.bytes().size());
    }
    return look;
  }

  Result<void> read(const Record& record) {
    switch (record.type) {
      case RecordType::allocation:
        return allocation(record);
      case RecordType::push: {
        Thread& thread = threads_[thread_];
        if (thread.stack.size() >= context_.limits.stack_depth)
          return fail(
              ErrorCode::limit,
              fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
              record.at);
        PROFD_TRY(const FrameId frame, header_.version >= kPacked
                                           ? maker_.frame(record.id, record.offset, record.at)
                                           : maker_.frame(record.id, record.at));
        const ContextId below = thread.stack.empty() ? kRootContext : thread.stack.back();
        const bool own = thread_ == header_.main_thread && thread.stack.size() < header_.n_skipped;
        thread.stack.push_back(own ? below : builder_.context(below, frame));
        return {};
      }
      case RecordType::pop: {
        std::vector<ContextId>& stack = threads_[thread_].stack;
        if (record.count > stack.size())
          return fail(ErrorCode::malformed, "more frames leave a stack than it has", record.at);
        stack.resize(stack.size() - record.count);
        return {};
      }
      case RecordType::thread:
        thread_ = record.id;
        if (record.at - told_ >= (8u << 20)) {
          told_ = record.at;
          PROFD_CHECK(context_.stop.status());
          if (context_.progress)
            context_.progress((source_.bytes().size() + told_) / 2, source_.bytes().size());
        }
        return {};
      case RecordType::memory:
        if (record.ms < (std::uint64_t{1} << 43))
          maker_.add_resident(static_cast<std::int64_t>(record.ms), record.size);
        return {};
      case RecordType::frame:
        maker_.add_frame(record);
        return {};
      case RecordType::code:
        maker_.add_code(record);
        return {};
      case RecordType::thread_name:
      case RecordType::native:
        return {};
    }
    return {};
  }

  Result<void> allocation(const Record& record) {
    std::uint32_t row = 0;
    if (!is_free(record.allocator) && record.allocator != Allocator::munmap) {
      const std::vector<ContextId>& stack = threads_[thread_].stack;
      row = maker_.row(stack.empty() ? kRootContext : stack.back(), thread_, record.allocator);
      Sums& sums = maker_.sums(row);
      add_saturating(sums.allocated, static_cast<std::int64_t>(record.size));
      ++sums.allocations;
      ++n_allocations_;
    }
    change(heap_, record, row);
    return {};
  }

  void report(const FirstLook& look, const Records& records) {
    if (look.error)
      context_.report.add("truncated", Severity::loss, "The recording ends within a record.",
                          look.error->offset);
    else if (!records.ended())
      context_.report.add("no-end", Severity::loss,
                          "The recording was not ended: the program was killed, or the file cut off.",
                          records.offset());
    if (header_.native)
      context_.report.add("native-stacks", Severity::loss,
                          "Native stacks of allocations are not read; Python's are.");
    if (n_allocations_ == 0) context_.report.add("no-allocations", Severity::info, "Nothing was allocated.");
  }

  const ByteSource& source_;
  ByteCursor in_;
  const Header& header_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  ProfileMaker maker_;
  Heap heap_;
  std::unordered_map<std::uint64_t, Thread> threads_;
  std::uint64_t thread_ = 0, n_changes_ = 0, n_allocations_ = 0, told_ = 0;
};

}  // namespace

Result<void> read_allocations(const ByteSource& source, ByteCursor in, const Header& header,
                              ReadContext& context, ProfileBuilder& builder) {
  return AllocationsReading(source, in, header, context, builder).run();
}

}  // namespace profd::memray
