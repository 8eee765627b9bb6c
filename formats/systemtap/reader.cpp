// SystemTap backtraces: print_backtrace(), print_ubacktrace(), print_stack() and arrays keyed by backtrace().
// Frames one a line, leaf first, ` 0xADDRESS : function+0x1/0x2 [module]`; a line with a number is the
// stack's count. Stacks without one count once each.
#include "formats/reader.h"

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

constexpr std::array<std::string_view, 2> kExtensions{".stap", ".systemtap"};
constexpr ReaderNotes kNotes{
    .versions = "print_backtrace(), print_ubacktrace() and arrays keyed by backtrace()",
    .keeps = "counts by stack, functions, modules, addresses, kernel frames",
    .recording = "stap -e 'probe timer.profile { print_backtrace(); println(\"\") }' > out.stap",
    .verified = "only hand-made files, in the form that stackcollapse-stap.pl documents",
};

struct FrameLine {
  std::uint64_t address = 0;
  std::string_view symbol;  // "function+0x1/0x2"
  std::string_view module;
};

// False when the line is no frame. Forms: "0xADDR : symbol [module]", "0xADDR [module+0x12]", "0xADDR".
bool parse_frame(std::string_view line, FrameLine& frame) {
  line = trim(line);
  if (!line.starts_with("0x")) return false;
  const std::size_t blank = line.find(' ');
  if (!parse_hex(line.substr(0, blank), frame.address)) return false;
  if (blank == std::string_view::npos) return true;
  std::string_view rest = trim(line.substr(blank));
  if (rest.ends_with("(inexact)")) rest = trim(rest.substr(0, rest.size() - 9));
  if (rest.ends_with(']')) {
    const std::size_t open = rest.rfind('[');
    if (open == std::string_view::npos) return false;
    frame.module = rest.substr(open + 1, rest.size() - open - 2);
    rest = trim(rest.substr(0, open));
  }
  if (rest.starts_with(":")) rest = trim(rest.substr(1));
  if (rest != "0x0") frame.symbol = rest;
  return true;
}

class Reading {
 public:
  Reading(const DecodedText& text, bool truncated, ReadContext& context, ProfileBuilder& builder)
      : text_(text), truncated_(truncated), context_(context), builder_(builder), stack_(context, builder) {}

  Result<void> run() {
    builder_.info().producer = "SystemTap";
    builder_.add_metric("samples", "count");
    LineReader lines(text_.text);
    PROFD_CHECK(each_line(lines, context_, {.cut_off = truncated_}, [&](std::string_view line) {
      return read_line(line, text_.offset + lines.offset());
    }));
    if (!stack_.empty()) add(1);
    others_.report(context_.report, "other-line", Severity::info,
                   "lines that are neither frame nor count were skipped");
    bad_counts_.report(context_.report, "malformed-count", Severity::loss,
                       "counts that do not fit were not read");
    invalid_utf8_.report(context_.report, "invalid-utf8", Severity::info,
                         "frames with bytes that are no UTF-8 were repaired with U+FFFD");
    if (n_stacks_ == 0)
      return fail(ErrorCode::malformed, "there is no stack: no line reads `0xADDRESS : function`", 0);
    return {};
  }

 private:
  Result<void> read_line(std::string_view line, std::uint64_t offset) {
    const std::string_view body = trim(line);
    if (body.empty()) {
      if (!stack_.empty()) blank_ = true;
      return {};
    }
    FrameLine frame;
    if (parse_frame(body, frame)) {
      // Behind a blank line another stack begins, unless the count of the one before is still to come: kernel
      // and user part of one key stand without a blank line between them.
      if (blank_) add(1);
      blank_ = false;
      return stack_.push(body, 0, offset, [&](std::string_view, std::vector<FrameId>& frames) {
        frames.push_back(make(frame, body, offset));
      });
    }
    if (body.find_first_not_of("-0123456789") == std::string_view::npos) {
      std::int64_t value;
      if (stack_.empty()) {
        others_.count(offset);
      } else if (!parse_int(body, value) || value < 0) {
        bad_counts_.count(offset);
        stack_.clear();
      } else {
        add(value);
      }
      blank_ = false;
      return {};
    }
    if (!stack_.empty()) add(1);
    blank_ = false;
    others_.count(offset);
    return {};
  }

  void add(std::int64_t value) {
    builder_.add_sample(stack_.take(), std::span(&value, 1));
    ++n_stacks_;
  }

  FrameId make(const FrameLine& frame, std::string_view text, std::uint64_t offset) {
    if (!is_valid_utf8(text)) invalid_utf8_.count(offset);
    FrameSpec spec;
    spec.address = frame.address;
    std::string_view module = frame.module;
    if (frame.symbol.empty()) module = split_offset(module).name;
    if (module == "kernel" || frame.address >= 0xFFFF800000000000ull) spec.kind = FrameKind::kernel;
    if (!module.empty()) spec.module = builder_.module({.name = module});
    if (frame.symbol.empty()) {
      const std::string_view base = module.substr(module.rfind('/') + 1);
      const std::string name = base.empty() ? "[unknown]" : fmt::format("[{}]", base);
      spec.function = builder_.function(FunctionSpec{.name = builder_.string(name), .unresolved = true});
    } else {
      spec.function = builder_.function(split_offset(frame.symbol).name);
    }
    return builder_.frame(spec);
  }

  const DecodedText& text_;
  bool truncated_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  LeafFirstStack stack_;
  bool blank_ = false;  // since the last frame
  std::uint64_t n_stacks_ = 0;
  OddLines others_, bad_counts_, invalid_utf8_;
};

class SystemtapReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"systemtap", "SystemTap backtraces", kExtensions, 642, "SystemTap", 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = sniff_text(prefix);
    if (text.find('\0') != std::string_view::npos) return Confidence::no;
    LineReader lines(text);
    std::size_t n = 0;
    for (std::string_view line; n < 200 && lines.next(line); ++n) {
      const std::string_view body = trim(line);
      const std::size_t colon = body.find(" : ");
      FrameLine frame;
      if (colon != std::string_view::npos && body.find(' ') == colon && parse_frame(body, frame) &&
          !frame.module.empty())
        return Confidence::certain;
    }
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, source.truncated(), context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_systemtap_reader() {
  return std::make_unique<SystemtapReader>();
}

}  // namespace profd
