#include "formats/stack_dump/py_spy.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/support/each_line.h"
#include "formats/support/json_cursor.h"
#include "formats/support/line_reader.h"
#include "formats/support/stack_text.h"
#include "formats/support/text_number.h"

namespace profd::stack_dump {
namespace {

struct Frame {
  std::string_view name, file, module;
  std::uint32_t line = 0;
};

struct ThreadLine {
  std::string_view state, name;
  std::int64_t id = -1;
};

// `Process 4242: python app.py`
bool parse_process(std::string_view line, std::int64_t& pid, std::string_view& command) {
  if (!line.starts_with("Process ")) return false;
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos || !parse_int(line.substr(8, colon - 8), pid)) return false;
  command = line.substr(colon + 2);
  return true;
}

// `Thread 4242 (active+gil): "MainThread"`; the number is hexadecimal where the system's is not known, and a
// thread may have no name.
bool parse_thread(std::string_view line, ThreadLine& out) {
  if (!line.starts_with("Thread ")) return false;
  const std::size_t open = line.find(" ("), close = line.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return false;
  const std::string_view id = line.substr(7, open - 7);
  std::uint64_t address = 0;
  if (id.starts_with("0x")) {
    if (!parse_hex(id, address)) return false;
    out.id = static_cast<std::int64_t>(address & INT64_MAX);
  } else if (!parse_int(id, out.id)) {
    return false;
  }
  out.state = line.substr(open + 2, close - open - 2);
  const std::string_view rest = line.substr(close + 1);
  out.name = {};
  if (rest.empty()) return true;
  if (!rest.starts_with(": \"") || !rest.ends_with('"') || rest.size() < 4) return false;
  out.name = rest.substr(3, rest.size() - 4);
  return true;
}

bool is_python(std::string_view file) {
  return file.ends_with(".py") || file.ends_with(".pyx") || file.starts_with('<');
}

// `    name (app.py:12)`, `    name (libc.so.6)`: four blanks; what belongs to a frame has more.
bool parse_frame(std::string_view line, Frame& out) {
  if (!line.starts_with("    ") || line.size() < 8 || line[4] == ' ' || !line.ends_with(')')) return false;
  line = line.substr(4, line.size() - 5);
  const std::size_t open = line.rfind(" (");
  if (open == std::string_view::npos) return false;
  out = {};
  out.name = line.substr(0, open);
  const std::string_view place = line.substr(open + 2);
  const std::size_t colon = place.rfind(':');
  if (colon != std::string_view::npos && parse_uint(place.substr(colon + 1), out.line))
    out.file = place.substr(0, colon);
  else if (is_python(place))
    out.file = place;
  else
    out.module = place;
  return true;
}

class Adding {
 public:
  Adding(ReadContext& context, ProfileBuilder& builder) : context_(context), builder_(builder) {
    builder_.add_metric("samples", "count");
    builder_.info().producer = "py-spy";
  }

  void begin_thread(const ThreadSpec& thread, std::string_view state) {
    where_.thread = builder_.thread(thread);
    const Label label{.key = builder_.string("state"), .text = builder_.string(state)};
    where_.labels = builder_.label_set(std::span(&label, 1));
  }

  // Leaf first, as they stand in the file.
  Result<void> push(const Frame& frame, std::uint64_t offset) {
    if (stack_.size() >= context_.limits.stack_depth)
      return fail(
          ErrorCode::limit,
          fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
          offset);
    FunctionSpec function;
    function.name = builder_.string(frame.name.empty() ? std::string_view("(empty)") : frame.name);
    function.file = builder_.string(frame.file);
    FrameSpec spec;
    function.unresolved = frame.name.starts_with("0x") && parse_hex(frame.name, spec.address);
    spec.function = builder_.function(function);
    if (!frame.module.empty()) spec.module = builder_.module({.name = frame.module});
    spec.line = frame.line;
    spec.kind = is_python(frame.file) ? FrameKind::interpreted : FrameKind::native;
    stack_.push_back(builder_.frame(spec));
    return {};
  }

  void end_thread() {
    if (!stack_.empty()) {
      std::reverse(stack_.begin(), stack_.end());
      const std::int64_t one = 1;
      builder_.add_sample(builder_.context_of(stack_), std::span(&one, 1), where_);
      stack_.clear();
      ++n_stacks_;
    }
    where_ = {};
  }

  Result<void> finish() const {
    if (n_stacks_ == 0) return fail(ErrorCode::malformed, "no thread of the dump has a stack", 0);
    return {};
  }

 private:
  ReadContext& context_;
  ProfileBuilder& builder_;
  SampleContext where_;
  std::vector<FrameId> stack_;
  std::uint64_t n_stacks_ = 0;
};

// A member that may be null.
std::string text_or_nothing(JsonCursor& in) {
  if (in.kind() == JsonKind::string) return std::string(in.string());
  in.skip();
  return {};
}
std::int64_t number_or(JsonCursor& in, std::int64_t otherwise) {
  if (in.kind() == JsonKind::number) return in.integer();
  in.skip();
  return otherwise;
}
bool is_true(JsonCursor& in) {
  if (in.kind() == JsonKind::boolean) return in.boolean();
  in.skip();
  return false;
}

struct JsonFrame {
  std::string name, file, module;
  std::int64_t line = 0;
  std::uint64_t offset = 0;
  bool has_locals = false;
};

JsonFrame read_frame(JsonCursor& in) {
  JsonFrame frame;
  frame.offset = in.offset();
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "name") {
      frame.name = text_or_nothing(in);
    } else if (key == "filename") {
      frame.file = text_or_nothing(in);
    } else if (key == "module") {
      frame.module = text_or_nothing(in);
    } else if (key == "line") {
      frame.line = number_or(in, 0);
    } else {
      frame.has_locals |= key == "locals" && in.kind() == JsonKind::array;
      in.skip();
    }
  }
  // The file of a native frame without a line is its module once more.
  if (frame.file == frame.module) frame.file.clear();
  return frame;
}

}  // namespace

bool begins_py_spy_text(std::string_view text) {
  LineReader lines(text);
  std::int64_t pid = 0;
  std::string_view command;
  bool in_process = false;
  ThreadLine thread;
  std::size_t n = 0;
  for (std::string_view line; n < 20 && lines.next(line); ++n) {
    if (in_process && (line.starts_with("Python v") || parse_thread(line, thread))) return true;
    in_process |= parse_process(line, pid, command);
  }
  return false;
}

bool begins_py_spy_json(std::string_view text) {
  const std::size_t open = text.find_first_not_of(" \t\r\n");
  if (open == std::string_view::npos || text[open] != '[') return false;
  const std::size_t thread = text.find_first_not_of(" \t\r\n", open + 1);
  if (thread == std::string_view::npos || text[thread] != '{') return false;
  const std::string_view begin = text.substr(thread, 2048);
  return begin.find("\"owns_gil\"") != std::string_view::npos &&
         begin.find("\"thread_id\"") != std::string_view::npos &&
         begin.find("\"frames\"") != std::string_view::npos;
}

Result<void> read_py_spy_text(const DecodedText& text, bool truncated, ReadContext& context,
                              ProfileBuilder& builder) {
  Adding adding(context, builder);
  OddLines others, locals;
  std::int64_t pid = -1;
  LineReader lines(text.text);
  bool in_thread = false;
  PROFD_CHECK(each_line(lines, context, {.cut_off = truncated}, [&](std::string_view line) -> Result<void> {
    const std::uint64_t offset = text.offset + lines.offset();
    std::string_view command;
    ThreadLine thread;
    Frame frame;
    if (parse_process(line, pid, command)) {
      adding.end_thread();
      in_thread = false;
      builder.info().properties.emplace_back("command", command);
    } else if (parse_thread(line, thread)) {
      adding.end_thread();
      in_thread = true;
      adding.begin_thread({.name = thread.name, .tid = thread.id, .pid = pid}, thread.state);
    } else if (in_thread && parse_frame(line, frame)) {
      PROFD_CHECK(adding.push(frame, offset));
    } else if (in_thread && line.starts_with("        ")) {
      locals.count(offset);
    } else if (!line.empty() && !line.starts_with("Python v")) {
      others.count(offset);
    }
    return {};
  }));
  adding.end_thread();
  locals.report(context.report, "locals", Severity::info, "arguments and local variables were not read");
  others.report(context.report, "other-line", Severity::info, "lines that belong to no stack were skipped");
  return adding.finish();
}

Result<void> read_py_spy_json(const DecodedText& text, ReadContext& context, ProfileBuilder& builder) {
  Adding adding(context, builder);
  OddLines locals;
  JsonCursor in(text.text, context.limits.nesting, text.offset);
  for (in.begin_array(); in.next_element();) {
    PROFD_CHECK(context.stop.status());
    std::string name;
    std::int64_t pid = -1, id = -1, system_id = -1;
    bool active = false, owns_gil = false;
    std::vector<JsonFrame> frames;
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      if (key == "pid")
        pid = number_or(in, -1);
      else if (key == "thread_id")
        id = number_or(in, -1);
      else if (key == "os_thread_id")
        system_id = number_or(in, -1);
      else if (key == "thread_name")
        name = text_or_nothing(in);
      else if (key == "active")
        active = is_true(in);
      else if (key == "owns_gil")
        owns_gil = is_true(in);
      else if (key == "frames" && in.kind() == JsonKind::array)
        for (in.begin_array(); in.next_element();) frames.push_back(read_frame(in));
      else
        in.skip();
    }
    PROFD_CHECK(in.status());
    adding.begin_thread({.name = name, .tid = system_id >= 0 ? system_id : id, .pid = pid},
                        fmt::format("{}{}", active ? "active" : "idle", owns_gil ? "+gil" : ""));
    for (const JsonFrame& frame : frames) {
      if (frame.has_locals) locals.count(frame.offset);
      const bool known = frame.line > 0 && frame.line <= UINT32_MAX;
      PROFD_CHECK(adding.push(
          {frame.name, frame.file, frame.module, known ? static_cast<std::uint32_t>(frame.line) : 0},
          frame.offset));
    }
    adding.end_thread();
  }
  PROFD_CHECK(in.finish());
  if (in.n_repaired() > 0)
    context.report.add("invalid-text", Severity::loss, "Names that are no valid text were repaired.",
                       std::nullopt, in.n_repaired());
  locals.report(context.report, "locals", Severity::info, "arguments and local variables were not read");
  return adding.finish();
}

}  // namespace profd::stack_dump
