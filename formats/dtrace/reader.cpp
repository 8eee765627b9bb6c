// DTrace aggregations by stack(), ustack() or jstack(): frames one a line, leaf first, then the count. Kernel
// and user stacks of one key stand below each other, a blank line between them.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>

#include "core/support/text.h"
#include "formats/support/each_line.h"
#include "formats/support/line_reader.h"
#include "formats/support/stack_text.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".dtrace", ".stacks"};
constexpr ReaderNotes kNotes{
    .versions = "stack(), ustack() and jstack() as printed by default",
    .keeps = "counts by stack, functions, modules, offsets; no histograms",
    .recording = "dtrace -x ustackframes=100 -n 'profile-97 { @[ustack()] = count(); }' -o out.stacks",
    .verified = "stackcollapse.pl and inferno: totals of all corpus files, top functions of all but two",
};

bool is_indented(std::string_view line) {
  return !line.empty() && (line[0] == ' ' || line[0] == '\t');
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '/' || c == '.' || c == ':' || c == '<' || c == '>' || static_cast<unsigned char>(c) >= 0x80;
}

// "a->b": b was inlined into a. No arrow of C++ names: those have an operator or brackets around them.
std::size_t inline_arrow(std::string_view name) {
  const std::size_t arrow = name.find("->");
  if (arrow == std::string_view::npos || arrow == 0 || arrow + 2 >= name.size())
    return std::string_view::npos;
  if (!is_word(name[arrow - 1]) || !is_word(name[arrow + 2]) || name.substr(0, arrow).ends_with("operator") ||
      name.find_first_of("( ") != std::string_view::npos)
    return std::string_view::npos;
  return arrow;
}

// "module`function+0x1f".
bool has_module(std::string_view line) {
  const std::size_t tick = line.find('`');
  return tick != std::string_view::npos && tick > 0 && tick + 1 < line.size() && line.find(' ') > tick;
}

class Reading {
 public:
  Reading(const DecodedText& text, bool truncated, ReadContext& context, ProfileBuilder& builder)
      : text_(text), truncated_(truncated), context_(context), builder_(builder), stack_(context, builder) {}

  Result<void> run() {
    builder_.info().producer = "DTrace";
    builder_.add_metric("samples", "count");
    LineReader lines(text_.text);
    PROFD_CHECK(each_line(lines, context_, {.cut_off = truncated_}, [&](std::string_view line) {
      return read_line(line, text_.offset + lines.offset());
    }));
    if (!pieces_.empty()) no_count_.count(pieces_.front().offset);
    no_count_.report(context_.report, "no-count", Severity::loss,
                     "frames without a count below them were not read");
    histograms_.report(context_.report, "histogram", Severity::loss, "stacks with a histogram were not read");
    headers_.report(context_.report, "other-line", Severity::info,
                    "lines that are neither frame nor count were skipped");
    invalid_utf8_.report(context_.report, "invalid-utf8", Severity::info,
                         "frames with bytes that are no UTF-8 were repaired with U+FFFD");
    negative_.report(context_.report, "malformed-count", Severity::loss,
                     "counts that do not fit were not read");
    if (n_stacks_ == 0)
      return fail(ErrorCode::malformed, "there is no stack: no indented frames with a count below them", 0);
    return {};
  }

 private:
  struct Piece {
    std::string_view text;
    std::uint64_t offset = 0;
  };

  Result<void> read_line(std::string_view line, std::uint64_t offset) {
    const std::string_view body = trim(line);
    if (body.empty()) {
      in_histogram_ = false;
      if (!pieces_.empty()) group_ends_ = pieces_.size();
      return {};
    }
    if (in_histogram_) return {};
    if (!is_indented(line) || (pieces_.empty() && is_probe(body))) {
      headers_.count(offset);
      return {};
    }
    if (body.find_first_not_of("-0123456789") == std::string_view::npos) {
      std::int64_t value;
      if (!parse_int(body, value) || value < 0) {
        negative_.count(offset);
        pieces_.clear();
        group_ends_ = 0;
        return {};
      }
      return add(value);
    }
    if (body.find("Distribution") != std::string_view::npos && body.find("---") != std::string_view::npos) {
      histograms_.count(offset);
      in_histogram_ = true;
      pieces_.clear();
      group_ends_ = 0;
      return {};
    }
    if (pieces_.size() >= context_.limits.stack_depth)
      return fail(ErrorCode::limit, "a stack is deeper than the limit stack_depth", offset);
    pieces_.push_back({body, offset});
    return {};
  }

  // "  0  64091  :tick-60s": CPU, id, probe.
  static bool is_probe(std::string_view body) {
    const std::size_t blank = body.find(' ');
    if (blank == std::string_view::npos ||
        body.substr(0, blank).find_first_not_of("0123456789") != std::string_view::npos)
      return false;
    return body.rfind(':') != std::string_view::npos && body.find('`') == std::string_view::npos;
  }

  Result<void> add(std::int64_t value) {
    // Only of two stacks is it known that the first is the kernel's.
    const bool two = group_ends_ > 0 && group_ends_ < pieces_.size();
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const bool kernel = two && i < group_ends_;
      PROFD_CHECK(stack_.push(pieces_[i].text, kernel, pieces_[i].offset,
                              [&](std::string_view text, std::vector<FrameId>& frames) {
                                make(text, kernel, pieces_[i].offset, frames);
                              }));
    }
    pieces_.clear();
    group_ends_ = 0;
    ++n_stacks_;
    builder_.add_sample(stack_.take(), std::span(&value, 1));
    return {};
  }

  void make(std::string_view text, bool kernel, std::uint64_t offset, std::vector<FrameId>& frames) {
    if (!is_valid_utf8(text)) invalid_utf8_.count(offset);
    FrameSpec spec;
    if (kernel) spec.kind = FrameKind::kernel;
    if (has_module(text)) {
      const std::size_t tick = text.find('`');
      spec.module = builder_.module({.name = text.substr(0, tick)});
      text.remove_prefix(tick + 1);
    }
    std::uint64_t address;
    if (text.starts_with("0x") && parse_hex(text, address)) {
      spec.address = address;
      spec.function = builder_.function(FunctionSpec{.name = builder_.string(text), .unresolved = true});
      frames.push_back(builder_.frame(spec));
      return;
    }
    const NameAndOffset parts = split_offset(text);
    spec.address = parts.offset;
    std::vector<std::string_view> names{parts.name};
    for (std::size_t arrow; (arrow = inline_arrow(names.back())) != std::string_view::npos;) {
      const std::string_view inner = names.back().substr(arrow + 2);
      names.back() = names.back().substr(0, arrow);
      names.push_back(inner);
    }
    for (std::size_t i = names.size(); i-- > 0;) {
      spec.function = builder_.function(names[i]);
      spec.inlined = i > 0;
      frames.push_back(builder_.frame(spec));
    }
  }

  const DecodedText& text_;
  bool truncated_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  LeafFirstStack stack_;
  std::vector<Piece> pieces_;
  std::size_t group_ends_ = 0;  // how many pieces stand before the last blank line
  bool in_histogram_ = false;
  std::uint64_t n_stacks_ = 0;
  OddLines no_count_, histograms_, headers_, invalid_utf8_, negative_;
};

class DtraceReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "dtrace", "DTrace stacks", kExtensions, 640, "DTrace stack() and ustack() aggregations", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = sniff_text(prefix);
    if (text.find('\0') != std::string_view::npos) return Confidence::no;
    LineReader lines(text);
    std::size_t n = 0;
    bool frame_before = false, any_frame = false;
    for (std::string_view line; n < 400 && lines.next(line); ++n) {
      const std::string_view body = trim(line);
      if (n == 0 && body.starts_with("CPU") && body.find(" ID ") != std::string_view::npos &&
          body.ends_with("FUNCTION:NAME"))
        return Confidence::certain;
      if (body.empty()) continue;
      const bool number = is_indented(line) && body.find_first_not_of("0123456789") == std::string_view::npos;
      if (number && frame_before) return Confidence::certain;
      frame_before = is_indented(line) && has_module(body);
      any_frame |= frame_before;
    }
    return any_frame && n >= 400 ? Confidence::maybe : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, source.truncated(), context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_dtrace_reader() {
  return std::make_unique<DtraceReader>();
}

}  // namespace profd
