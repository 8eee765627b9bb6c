// Folded stacks: one stack a line, root first, frames separated by `;`, then its count.
// docs/formats/folded.md has the grammar and what is made of each dialect.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/folded/line.h"
#include "formats/support/each_line.h"
#include "formats/support/frame_text.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_rows.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

using folded::Line;

constexpr std::array<std::string_view, 3> kExtensions{".folded", ".collapsed", ".collapse"};
constexpr ReaderNotes kNotes{
    .versions = "one count or two (difffolded.pl); marks of async-profiler, bcc, py-spy and rbspy",
    .keeps =
        "stacks with one value or before and after, kinds of frames, wakers, files and lines where names "
        "have them",
    .recording = "perf script | stackcollapse-perf.pl > out.folded",
    .verified = "sums over the lines of the corpus files: totals, counts, top functions",
};
constexpr std::string_view kWakerSeparator = "--";

// Austin and others head their files with "# key: value".
bool is_comment(std::string_view line) {
  return line.starts_with("# ") || line.starts_with("//");
}

bool is_blank_line(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
}

// What kind of folded file this is, from all of its lines.
struct Survey {
  std::size_t n_lines = 0;
  std::size_t n_stacks = 0;  // of them with a stack
  bool fractional = false;
  bool differential = false;  // every line has two counts
};

Survey survey(std::string_view text) {
  Survey out;
  std::size_t n_two = 0;
  bool fractional_before = false;
  LineReader lines(text);
  for (std::string_view line; lines.next(line);) {
    if (is_comment(line)) continue;
    const Line parts = folded::split(line);
    if (!parts.valid) continue;
    ++out.n_lines;
    out.n_stacks += !parts.stack.empty();
    out.fractional |= folded::is_decimal(parts.count);
    if (parts.before.empty()) continue;
    ++n_two;
    fractional_before |= folded::is_decimal(parts.before);
  }
  out.differential = out.n_lines > 0 && n_two == out.n_lines;
  out.fractional |= out.differential && fractional_before;
  return out;
}

// How many leading bytes are equal.
std::size_t shared_prefix(std::string_view a, std::string_view b) {
  const std::size_t limit = std::min(a.size(), b.size());
  std::size_t i = 0;
  while (limit - i >= 8) {
    std::uint64_t x, y;
    std::memcpy(&x, a.data() + i, 8);
    std::memcpy(&y, b.data() + i, 8);
    if (x != y) break;
    i += 8;
  }
  while (i < limit && a[i] == b[i]) ++i;
  return i;
}

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder) {}

  Result<void> run() {
    survey_ = survey(text_.text);
    if (survey_.n_stacks == 0) return fail(ErrorCode::malformed, "no line is a stack followed by a count", 0);
    if (survey_.differential) {
      builder_.add_metric("before", "count", survey_.fractional);
      builder_.set_default_metric(builder_.add_metric("after", "count", survey_.fractional));
    } else {
      builder_.add_metric("samples", "count", survey_.fractional);
    }
    LineReader lines(text_.text);
    PROFD_CHECK(each_line(lines, context_, {.step = 2u << 20}, [&](std::string_view line) {
      return read_line(line, text_.offset + lines.offset());
    }));
    report();
    return {};
  }

 private:
  Result<void> read_line(std::string_view line, std::size_t offset) {
    if (is_comment(line)) {
      count(comments_, offset);
      return {};
    }
    const Line parts = folded::split(line);
    if (!parts.valid) {
      if (!is_blank_line(line)) count(malformed_, offset);
      return {};
    }
    const std::string_view stack = survey_.differential ? folded::stack_without_before(parts) : parts.stack;
    if (stack.empty()) {
      count(no_stack_, offset);
      add(parts, {}, offset);
      return {};
    }
    PROFD_CHECK(read_stack(stack, offset));
    add(parts, stack_, offset);
    return {};
  }

  // Sets stack_. What the line shares with the one before it is not looked at again.
  Result<void> read_stack(std::string_view stack, std::size_t offset) {
    const std::size_t shared = shared_prefix(stack, previous_);
    auto keep =
        static_cast<std::size_t>(std::lower_bound(ends_.begin(), ends_.end(), shared) - ends_.begin());
    if (keep < ends_.size() && ends_[keep] == shared && (shared == stack.size() || stack[shared] == ';'))
      ++keep;
    stack_.resize(keep);
    ends_.resize(keep);
    if (waker_from_ >= keep) waker_from_ = kNever;
    // Just past the last frame kept and its `;`; past the end when nothing is left.
    std::size_t at = keep == 0 ? 0 : ends_[keep - 1] + 1;
    while (at <= stack.size()) {
      const auto* end = at < stack.size()
                            ? static_cast<const char*>(std::memchr(stack.data() + at, ';', stack.size() - at))
                            : nullptr;
      const std::size_t stop = end ? static_cast<std::size_t>(end - stack.data()) : stack.size();
      if (stack_.size() >= context_.limits.stack_depth)
        return fail(
            ErrorCode::limit,
            fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
            offset);
      push(stack.substr(at, stop - at), offset + at);
      ends_.push_back(stop);
      at = stop + 1;
    }
    previous_ = stack;
    return {};
  }

  void push(std::string_view text, std::size_t offset) {
    const bool separator = text == kWakerSeparator;
    if (separator && waker_from_ == kNever) waker_from_ = stack_.size();
    const bool waker = waker_from_ != kNever;
    const std::uint32_t row = rows_.row(text, waker ? 1 : 0);
    if (row == frames_.size()) frames_.push_back(make_frame(text, waker, offset));
    stack_.push_back(frames_[row]);
  }

  FrameId make_frame(std::string_view text, bool waker, std::size_t offset) {
    if (!is_valid_utf8(text)) count(invalid_utf8_, offset);
    if (text.empty()) {
      count(empty_frames_, offset);
      text = "(empty)";
    }
    const FrameText parsed = parse_frame_text(text);
    const StringId file = builder_.string(parsed.file);
    FrameSpec spec;
    spec.function = builder_.function(
        FunctionSpec{.name = builder_.string(parsed.name), .file = file, .unresolved = parsed.unresolved});
    spec.line = parsed.line;
    spec.kind = waker ? FrameKind::waker : parsed.kind;
    spec.inlined = parsed.inlined;
    return builder_.frame(spec);
  }

  void add(const Line& parts, std::span<const FrameId> stack, std::size_t offset) {
    const std::string_view numbers[] = {parts.before, parts.count};
    const std::span<const std::string_view> used = std::span(numbers).subspan(survey_.differential ? 0 : 1);
    std::array<double, 2> fractional{};
    std::array<std::int64_t, 2> integral{};
    for (std::size_t m = 0; m < used.size(); ++m) {
      if (survey_.fractional) {
        fractional[m] = folded::to_double(used[m]);
      } else {
        const folded::Count value = folded::to_integer(used[m]);
        integral[m] = value.value;
        if (value.clamped) count(clamped_, offset);
      }
    }
    if (survey_.fractional)
      builder_.add_sample(stack, std::span<const double>(fractional).first(used.size()));
    else
      builder_.add_sample(stack, std::span<const std::int64_t>(integral).first(used.size()));
  }

  struct Counter {
    std::uint64_t n = 0;
    std::size_t first = 0;
  };
  static void count(Counter& counter, std::size_t offset) {
    if (counter.n++ == 0) counter.first = offset;
  }

  void report() {
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         const Counter& counter) {
      context_.report.add(kind, severity, message, counter.first, counter.n);
    };
    row("malformed-line", Severity::loss, "lines that are no stack followed by a count were not read",
        malformed_);
    row("comment-line", Severity::info, "comment lines were skipped", comments_);
    row("invalid-utf8", Severity::info, "frames with bytes that are no UTF-8 were repaired with U+FFFD",
        invalid_utf8_);
    row("empty-frame", Severity::info, "frames without a name are shown as (empty)", empty_frames_);
    row("no-stack", Severity::info, "counts without a stack were counted for the root", no_stack_);
    row("count-too-large", Severity::loss, "counts above 9223372036854775807 were clamped", clamped_);
  }

  static constexpr std::size_t kNever = static_cast<std::size_t>(-1);

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  Survey survey_;
  TextRows rows_;
  std::vector<FrameId> frames_;      // by row of rows_
  std::string_view previous_;        // the stack read last, and
  std::vector<FrameId> stack_;       // its frames
  std::vector<std::size_t> ends_;    // where in previous_ each of them ends
  std::size_t waker_from_ = kNever;  // index of the first `--`
  Counter malformed_, comments_, invalid_utf8_, empty_frames_, no_stack_, clamped_;
};

class FoldedReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "folded",
        "folded stacks",
        kExtensions,
        900,
        "FlameGraph stackcollapse scripts, inferno, async-profiler, py-spy, rbspy, bcc",
        2,
        kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    const std::string_view text = sniff_text(prefix);
    if (text.find('\0') != std::string_view::npos) return Confidence::no;
    std::size_t n_good = 0, n_bad = 0, n_stacks = 0;
    LineReader lines(text);
    for (std::string_view line; lines.next(line);) {
      if (!lines.ended() && !at_end) {
        // One line of more than 64 KiB: its count is out of sight.
        if (n_good + n_bad == 0 && line.find(';') != std::string_view::npos) return Confidence::need_more;
        break;
      }
      if (is_comment(line) || is_blank_line(line)) continue;
      const Line parts = folded::split(line);
      if (!parts.valid) {
        ++n_bad;
        continue;
      }
      if (parts.stack.empty()) continue;
      ++n_good;
      n_stacks += parts.stack.find(';') != std::string_view::npos;
    }
    if (n_stacks > 0) return n_good > n_bad ? Confidence::maybe : Confidence::no;
    // Words and numbers alone are in many files: only the name can tell.
    return n_good > 0 && n_bad == 0 ? Confidence::need_more : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_folded_reader() {
  return std::make_unique<FoldedReader>();
}

}  // namespace profd
