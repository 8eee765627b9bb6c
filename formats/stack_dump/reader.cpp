// Stacks that a running program prints of itself: Go's goroutine dumps (SIGQUIT, a panic, pprof
// goroutine?debug=2) and Python's faulthandler; what py-spy prints of one is in py_spy.cpp. Every goroutine
// or thread counts once.
#include "formats/reader.h"

#include <array>
#include <memory>

#include "core/support/text.h"
#include "formats/stack_dump/py_spy.h"
#include "formats/support/each_line.h"
#include "formats/support/json_cursor.h"
#include "formats/support/line_reader.h"
#include "formats/support/stack_text.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".goroutines", ".stacks.txt"};
constexpr ReaderNotes kNotes{
    .versions = "Go's goroutine dumps, Python's faulthandler, py-spy dump as text and JSON",
    .keeps = "a sample for each goroutine or thread: state, waiting time, files, lines",
    .recording = "curl -o out.goroutines 'localhost:6060/debug/pprof/goroutine?debug=2'",
    .verified = "by hand, on one corpus file and recordings of Go, CPython and py-spy",
};

struct Goroutine {
  std::int64_t id = 0;
  std::string_view state;
  std::int64_t minutes = 0;
  std::string_view labels;  // with GODEBUG=tracebacklabels=1: {"user": "7", "path": "/"}
};

// "goroutine 18 [chan receive, 5 minutes, locked to thread]:"
bool parse_goroutine(std::string_view line, Goroutine& out) {
  if (!line.starts_with("goroutine ") || !line.ends_with("]:")) return false;
  const std::size_t open = line.find(" [");
  if (open == std::string_view::npos || !parse_int(line.substr(10, line.find(' ', 10) - 10), out.id))
    return false;
  std::string_view state = line.substr(open + 2, line.size() - open - 4);
  out.labels = {};
  if (const std::size_t labels = state.find(" labels:{"); labels != std::string_view::npos) {
    out.labels = state.substr(labels + 8);
    state = state.substr(0, labels);
  }
  out.state = state.substr(0, state.find(", "));
  out.minutes = 0;
  while (!state.empty()) {
    const std::size_t comma = state.find(", ");
    const std::string_view part = state.substr(0, comma);
    if (part.ends_with(" minutes")) parse_int(part.substr(0, part.size() - 8), out.minutes);
    if (comma == std::string_view::npos) break;
    state.remove_prefix(comma + 2);
  }
  return true;
}

// "Thread 0x00007f1 (most recent call first):", "Current thread 0x00007f1 [name] (most recent call first):"
bool parse_python_thread(std::string_view line, std::int64_t& id, std::string_view& name) {
  if (!line.ends_with("(most recent call first):")) return false;
  if (line.starts_with("Current thread "))
    line.remove_prefix(15);
  else if (line.starts_with("Thread "))
    line.remove_prefix(7);
  else
    return false;
  std::uint64_t address;
  if (!parse_hex(line.substr(0, line.find(' ')), address)) return false;
  id = static_cast<std::int64_t>(address & INT64_MAX);
  const std::size_t open = line.find(" ["), close = line.rfind("] ");
  name = open != std::string_view::npos && close != std::string_view::npos && close > open
             ? line.substr(open + 2, close - open - 2)
             : std::string_view{};
  return true;
}

struct PythonFrame {
  std::string_view file, function;
  std::uint32_t line = 0;
};

// `  File "x.py", line 3 in f`
bool parse_python_frame(std::string_view line, PythonFrame& out) {
  line = trim(line);
  if (!line.starts_with("File \"")) return false;
  const std::size_t end = line.rfind("\", line ");
  if (end == std::string_view::npos || end < 6) return false;
  out.file = line.substr(6, end - 6);
  const std::string_view rest = line.substr(end + 8);
  const std::size_t in = rest.find(" in ");
  if (in == std::string_view::npos || !parse_uint(rest.substr(0, in), out.line)) return false;
  out.function = rest.substr(in + 4);
  return true;
}

class Reading {
 public:
  Reading(const DecodedText& text, bool truncated, ReadContext& context, ProfileBuilder& builder)
      : text_(text), truncated_(truncated), context_(context), builder_(builder), stack_(context, builder) {}

  Result<void> run() {
    builder_.add_metric("samples", "count");
    LineReader lines(text_.text);
    PROFD_CHECK(each_line(lines, context_, {.cut_off = truncated_}, [&](std::string_view line) {
      return read_line(line, text_.offset + lines.offset());
    }));
    PROFD_CHECK(end_function());
    end_stack();
    others_.report(context_.report, "other-line", Severity::info,
                   "lines that belong to no stack were skipped");
    elided_.report(context_.report, "stack-cut", Severity::loss,
                   "stacks were printed without their middle or their end");
    invalid_utf8_.report(context_.report, "invalid-utf8", Severity::info,
                         "frames with bytes that are no UTF-8 were repaired with U+FFFD");
    if (n_stacks_ == 0)
      return fail(ErrorCode::malformed, "there is no goroutine and no thread with a stack", 0);
    return {};
  }

 private:
  // The program's own labels. Names that are not UTF-8 are escaped as JSON does not know: kept as they stand.
  void add_labels(std::string_view text) {
    JsonCursor in(text, 2);
    std::vector<Label> labels;
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      const StringId name = builder_.string(key);
      labels.push_back({.key = name, .text = builder_.string(in.string())});
    }
    if (!in.finish()) labels = {{.key = builder_.string("labels"), .text = builder_.string(text)}};
    labels_.insert(labels_.end(), labels.begin(), labels.end());
  }

  Result<void> read_line(std::string_view line, std::uint64_t offset) {
    Goroutine goroutine;
    std::int64_t id;
    std::string_view name;
    PythonFrame frame;
    if (parse_goroutine(line, goroutine)) {
      PROFD_CHECK(end_function());
      end_stack();
      in_go_ = true;
      builder_.info().producer = "Go";
      where_.thread =
          builder_.thread({.name = fmt::format("goroutine {}", goroutine.id), .tid = goroutine.id});
      labels_ = {{.key = builder_.string("state"), .text = builder_.string(goroutine.state)}};
      if (goroutine.minutes > 0)
        labels_.push_back({.key = builder_.string("waiting"),
                           .is_number = true,
                           .number = goroutine.minutes,
                           .unit = builder_.string("minutes")});
      if (!goroutine.labels.empty()) add_labels(goroutine.labels);
      return {};
    }
    if (parse_python_thread(line, id, name)) {
      PROFD_CHECK(end_function());
      end_stack();
      in_go_ = false;
      in_python_ = true;
      builder_.info().producer = "Python faulthandler";
      where_.thread = builder_.thread({.name = name, .tid = id});
      return {};
    }
    if (in_python_ && parse_python_frame(line, frame)) {
      return stack_.push(line, 0, offset, [&](std::string_view text, std::vector<FrameId>& frames) {
        if (!is_valid_utf8(text)) invalid_utf8_.count(offset);
        FrameSpec spec;
        spec.function = builder_.function(frame.function, frame.file);
        spec.line = frame.line;
        spec.kind = FrameKind::interpreted;
        frames.push_back(builder_.frame(spec));
      });
    }
    if (in_go_ && !line.empty() && line[0] == '\t') return read_place(line, offset);
    if (in_python_ && trim(line) == "...") {
      elided_.count(offset);
      return {};
    }
    if (line.empty()) {
      PROFD_CHECK(end_function());
      end_stack();
      in_go_ = in_python_ = false;
      return {};
    }
    if (in_go_) {
      PROFD_CHECK(end_function());
      if (line.starts_with("...")) {
        elided_.count(offset);
      } else if (line.starts_with("created by ")) {
        std::string_view creator = line.substr(11);
        creator = creator.substr(0, creator.find(" in goroutine "));
        labels_.push_back({.key = builder_.string("created_by"), .text = builder_.string(creator)});
        skip_place_ = true;
      } else {
        function_ = line;
        function_offset_ = offset;
      }
      return {};
    }
    others_.count(offset);
    return {};
  }

  // "\t/path/file.go:692 +0x70": the place of the function on the line before.
  Result<void> read_place(std::string_view line, std::uint64_t offset) {
    if (skip_place_ || function_.empty()) {
      skip_place_ = false;
      return {};
    }
    const std::string_view piece(function_.data(),
                                 static_cast<std::size_t>(line.data() + line.size() - function_.data()));
    const std::string_view function = function_;
    function_ = {};
    return stack_.push(piece, 1, offset, [&](std::string_view, std::vector<FrameId>& frames) {
      frames.push_back(make(function, trim(line), offset));
    });
  }

  Result<void> end_function() {
    skip_place_ = false;
    if (function_.empty()) return {};
    const std::string_view function = function_;
    function_ = {};
    return stack_.push(function, 2, function_offset_, [&](std::string_view, std::vector<FrameId>& frames) {
      frames.push_back(make(function, {}, function_offset_));
    });
  }

  FrameId make(std::string_view function, std::string_view place, std::uint64_t offset) {
    if (!is_valid_utf8(function) || !is_valid_utf8(place)) invalid_utf8_.count(offset);
    FrameSpec spec;
    const std::size_t plus = place.rfind(" +0x");
    if (plus != std::string_view::npos) {
      parse_hex(place.substr(plus + 2), spec.address);
      place = place.substr(0, plus);
    }
    const std::size_t colon = place.rfind(':');
    if (colon != std::string_view::npos && parse_uint(place.substr(colon + 1), spec.line))
      place = place.substr(0, colon);
    spec.inlined = function.ends_with("(...)");
    // Arguments follow the last bracket that opens at the outermost level: "pkg.(*T).f({0x1, 0x2}, 0x3)".
    std::size_t open = function.size();
    int depth = 0;
    if (function.ends_with(')'))
      for (std::size_t i = function.size(); i-- > 0;) {
        if (function[i] == ')') ++depth;
        if (function[i] == '(' && --depth == 0) {
          open = i;
          break;
        }
      }
    spec.function = builder_.function(open > 0 ? function.substr(0, open) : function, place);
    return builder_.frame(spec);
  }

  void end_stack() {
    if (!stack_.empty()) {
      where_.labels = builder_.label_set(labels_);
      const std::int64_t one = 1;
      builder_.add_sample(stack_.take(), std::span(&one, 1), where_);
      ++n_stacks_;
    }
    labels_.clear();
    where_ = {};
  }

  const DecodedText& text_;
  bool truncated_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  LeafFirstStack stack_;
  bool in_go_ = false, in_python_ = false, skip_place_ = false;
  std::string_view function_;
  std::uint64_t function_offset_ = 0;
  SampleContext where_;
  std::vector<Label> labels_;
  std::uint64_t n_stacks_ = 0;
  OddLines others_, elided_, invalid_utf8_;
};

class StackDumpReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"stack-dump",
                                 "stack dump",
                                 kExtensions,
                                 652,
                                 "Go goroutine dumps, Python faulthandler, py-spy dump",
                                 2,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = sniff_text(prefix);
    if (text.find('\0') != std::string_view::npos) return Confidence::no;
    if (stack_dump::begins_py_spy_text(text) || stack_dump::begins_py_spy_json(text))
      return Confidence::certain;
    LineReader lines(text);
    bool go = false, python = false;
    std::size_t n = 0;
    for (std::string_view line; n < 200 && lines.next(line); ++n) {
      Goroutine goroutine;
      PythonFrame frame;
      std::int64_t id;
      std::string_view name;
      if (go && !line.empty() && line.find('(') != std::string_view::npos) return Confidence::certain;
      if (python && parse_python_frame(line, frame)) return Confidence::certain;
      go = parse_goroutine(line, goroutine);
      python = parse_python_thread(line, id, name);
    }
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    ProfileBuilder& builder = profiles.emplace_back();
    if (stack_dump::begins_py_spy_json(text.text))
      return stack_dump::read_py_spy_json(text, context, builder);
    if (stack_dump::begins_py_spy_text(text.text))
      return stack_dump::read_py_spy_text(text, source.truncated(), context, builder);
    return Reading(text, source.truncated(), context, builder).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_stack_dump_reader() {
  return std::make_unique<StackDumpReader>();
}

}  // namespace profd
