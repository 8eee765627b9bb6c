// Thread dumps of debuggers: gdb's `thread apply all bt` (also run again and again, the poor man's profiler),
// pstack and eu-stack. Every stack counts once.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>

#include "core/support/text.h"
#include "formats/gdb/frame_line.h"
#include "formats/support/each_line.h"
#include "formats/support/line_reader.h"
#include "formats/support/stack_text.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

using gdb::FrameLine;
using gdb::ThreadLine;

constexpr std::array<std::string_view, 4> kExtensions{".gdb", ".pstack", ".eu-stack", ".bt"};
constexpr ReaderNotes kNotes{
    .versions = "gdb's thread apply all bt, pstack, eu-stack; one dump or many",
    .keeps = "a sample for each thread and dump: names, files, lines, addresses, modules, inlining",
    .recording = "gdb -p PID -batch -ex 'thread apply all bt' > out.gdb",
    .verified = "stackcollapse-gdb.pl on one corpus file: total, top functions",
};

class Reading {
 public:
  Reading(const DecodedText& text, bool truncated, ReadContext& context, ProfileBuilder& builder)
      : text_(text), truncated_(truncated), context_(context), builder_(builder), stack_(context, builder) {}

  Result<void> run() {
    builder_.info().producer = "gdb";
    builder_.add_metric("samples", "count");
    LineReader lines(text_.text);
    PROFD_CHECK(each_line(lines, context_, {.cut_off = truncated_}, [&](std::string_view line) {
      return read_line(line, text_.offset + lines.offset());
    }));
    PROFD_CHECK(end_stack());
    invalid_utf8_.report(context_.report, "invalid-utf8", Severity::info,
                         "frames with bytes that are no UTF-8 were repaired with U+FFFD");
    cut_.report(context_.report, "stack-cut", Severity::loss,
                "the debugger could not unwind to the end of stacks");
    others_.report(context_.report, "other-line", Severity::info,
                   "lines that belong to no stack were skipped");
    if (n_stacks_ == 0)
      return fail(ErrorCode::malformed, "there is no stack: no line reads `#0  function (...)`", 0);
    return {};
  }

 private:
  struct Piece {
    std::string_view text;
    FrameLine frame;
    std::uint64_t offset = 0;
  };

  Result<void> read_line(std::string_view line, std::uint64_t offset) {
    const std::string_view body = trim(line);
    ThreadLine thread;
    if (gdb::parse_thread_line(body, thread)) {
      PROFD_CHECK(end_stack());
      thread_ = builder_.thread(
          {.name = thread.name, .tid = thread.tid, .pid = thread.pid >= 0 ? thread.pid : pid_});
      if (thread.process) pid_ = thread.pid, thread_ = {};
      return {};
    }
    FrameLine frame;
    if (gdb::parse_frame_line(body, frame)) {
      // Frames are numbered from the leaf: 0 begins another stack even where no line says so.
      if (frame.number == 0) PROFD_CHECK(end_stack());
      if (pieces_.size() >= context_.limits.stack_depth)
        return fail(ErrorCode::limit, "a stack is deeper than the limit stack_depth", offset);
      pieces_.push_back({body, frame, offset});
      return {};
    }
    if (body.starts_with("Backtrace stopped") || body.starts_with("(More stack frames follow")) {
      cut_.count(offset);
      return {};
    }
    if (body.empty()) return end_stack();
    // Local variables (`bt full`) and source lines stand between frames.
    others_.count(offset);
    return {};
  }

  Result<void> end_stack() {
    if (pieces_.empty()) return {};
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      // gdb leaves out the address of a frame that a call was inlined into: its pc is that of the frame
      // above.
      const bool inlined = i + 1 < pieces_.size() && !pieces_[i + 1].frame.has_address &&
                           !pieces_[i + 1].frame.signal && !pieces_[i].frame.signal;
      PROFD_CHECK(stack_.push(pieces_[i].text, inlined, pieces_[i].offset,
                              [&](std::string_view text, std::vector<FrameId>& frames) {
                                frames.push_back(make(pieces_[i].frame, inlined, text, pieces_[i].offset));
                              }));
    }
    pieces_.clear();
    SampleContext where;
    where.thread = thread_;
    const std::int64_t one = 1;
    builder_.add_sample(stack_.take(), std::span(&one, 1), where);
    ++n_stacks_;
    return {};
  }

  FrameId make(const FrameLine& frame, bool inlined, std::string_view text, std::uint64_t offset) {
    if (!is_valid_utf8(text)) invalid_utf8_.count(offset);
    FrameSpec spec;
    spec.address = frame.address;
    spec.line = frame.line;
    spec.inlined = inlined;
    if (!frame.module.empty()) spec.module = builder_.module({.name = frame.module});
    FunctionSpec function;
    if (frame.function.empty() || frame.function == "??") {
      const std::string_view base = frame.module.substr(frame.module.rfind('/') + 1);
      function.name = builder_.string(base.empty() ? "[unknown]" : fmt::format("[{}]", base));
      function.unresolved = true;
    } else {
      function.name = builder_.string(frame.function);
    }
    function.file = builder_.string(frame.file);
    spec.function = builder_.function(function);
    return builder_.frame(spec);
  }

  const DecodedText& text_;
  bool truncated_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  LeafFirstStack stack_;
  std::vector<Piece> pieces_;
  ThreadId thread_;
  std::int64_t pid_ = -1;
  std::uint64_t n_stacks_ = 0;
  OddLines invalid_utf8_, cut_, others_;
};

class GdbReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"gdb", "gdb thread dump", kExtensions, 650, "gdb, pstack, eu-stack", 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = sniff_text(prefix);
    if (text.find('\0') != std::string_view::npos) return Confidence::no;
    LineReader lines(text);
    std::size_t n = 0, n_frames = 0;
    bool thread_before = false;
    for (std::string_view line; n < 400 && lines.next(line); ++n) {
      ThreadLine thread;
      FrameLine frame;
      const std::string_view body = trim(line);
      if (gdb::parse_thread_line(body, thread)) {
        thread_before = true;
      } else if (gdb::parse_frame_line(body, frame) && (frame.has_address || frame.has_arguments)) {
        if (frame.number == 0 && thread_before) return Confidence::certain;
        if (frame.number == n_frames) ++n_frames;
        if (n_frames >= 2) return Confidence::certain;
        thread_before = false;
      }
    }
    return n_frames > 0 ? Confidence::maybe : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, source.truncated(), context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_gdb_reader() {
  return std::make_unique<GdbReader>();
}

}  // namespace profd
