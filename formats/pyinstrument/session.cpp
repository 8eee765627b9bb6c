#include "formats/pyinstrument/session.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/support/hash.h"
#include "core/support/interner.h"
#include "formats/pyinstrument/frame_info.h"

namespace profd::pyinstrument {
namespace {

struct Record {
  ContextId context;
  ThreadId thread;
  double seconds;
};

class RecordReader {
 public:
  RecordReader(JsonCursor& in, ReadContext& context, ProfileBuilder& builder)
      : in_(in), context_(context), builder_(builder) {}

  Result<void> run() {
    std::size_t n = 0;
    for (in_.begin_array(); in_.next_element();) {
      if (n++ % 4096 == 0) PROFD_CHECK(context_.stop.status());
      read_record();
    }
    PROFD_CHECK(in_.status());
    add();
    return {};
  }

 private:
  // [[frame, frame, ...], seconds]
  void read_record() {
    const std::uint64_t at = in_.offset();
    Record record{kRootContext, {}, 0};
    in_.begin_array();
    if (in_.next_element()) {
      std::uint32_t depth = 0;
      for (in_.begin_array(); in_.next_element(); ++depth) {
        if (depth >= context_.limits.stack_depth)
          return in_.fail_at(at, ErrorCode::limit,
                             fmt::format("a stack has more than {} frames (limit stack_depth)", depth));
        push(in_.string(), record);
      }
    }
    if (!in_.next_element())
      return in_.fail_at(at, ErrorCode::malformed, "the record is no stack followed by a time");
    const JsonNumber number = in_.number();
    record.seconds = number.value;
    if (in_.ok() && (!std::isfinite(record.seconds) || std::abs(record.seconds) > 9e9))
      return in_.fail_at(at, ErrorCode::malformed, "the record's time is out of range");
    if (in_.next_element())
      return in_.fail_at(at, ErrorCode::malformed, "the record is no stack followed by a time");
    if (in_.ok()) records_.push_back(record);
  }

  void push(std::string_view text, Record& record) {
    const auto next = static_cast<std::uint32_t>(texts_.size());
    const std::uint32_t row =
        rows_.find_or_add(hash_bytes(text), next, [&](std::uint32_t r) { return texts_[r] == text; });
    if (row == next) add_text(text);
    if (threads_[row].valid())
      record.thread = threads_[row];
    else if (frames_[row].valid())
      record.context = builder_.context(record.context, frames_[row]);
  }

  void add_text(std::string_view text) {
    texts_.emplace_back(text);
    const FrameInfo info = parse_frame_info(texts_.back());
    ThreadId thread;
    FrameId frame;
    if (info.file == "<thread>")
      thread = builder_.thread({.name = info.function, .tid = info.first_line});
    else if (!is_self(info.function))
      frame = make_frame(info, builder_);
    threads_.push_back(thread);
    frames_.push_back(frame);
  }

  // Differences of a clock of nanoseconds; as doubles they are off by less than a part of one.
  bool integral() const {
    for (const Record& record : records_) {
      const double ns = record.seconds * 1e9;
      if (std::abs(ns - std::round(ns)) > 0.25) return false;
    }
    return true;
  }

  void add() {
    const bool whole = integral();
    builder_.add_metric("time", "nanoseconds", !whole);
    double at = 0;
    std::int64_t at_ns = 0;
    for (const Record& record : records_) {
      SampleContext where;
      where.thread = record.thread;
      if (whole) {
        where.time = at_ns;
        const std::int64_t ns = std::llround(record.seconds * 1e9);
        builder_.add_sample(record.context, std::span<const std::int64_t>(&ns, 1), where);
        if (__builtin_add_overflow(at_ns, ns, &at_ns)) at_ns = std::numeric_limits<std::int64_t>::max();
      } else {
        where.time = at < 9e18 ? std::llround(at) : std::numeric_limits<std::int64_t>::max();
        const double ns = record.seconds * 1e9;
        builder_.add_sample(record.context, std::span<const double>(&ns, 1), where);
        at += ns;
      }
    }
  }

  JsonCursor& in_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  RowSet rows_;
  std::vector<std::string> texts_;
  std::vector<ThreadId> threads_;  // by row of texts_; one of the two is valid, or none for [self]
  std::vector<FrameId> frames_;
  std::vector<Record> records_;
};

}  // namespace

Result<void> read_records(JsonCursor& in, ReadContext& context, ProfileBuilder& builder) {
  return RecordReader(in, context, builder).run();
}

}  // namespace profd::pyinstrument
