#include "formats/scalene/stacks.h"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "formats/support/text_number.h"

namespace profd::scalene {
namespace {

constexpr double kMegabyte = 1048576;

std::uint32_t line_number(std::int64_t line) {
  return line > 0 && line < kNone ? static_cast<std::uint32_t>(line) : 0;
}

FrameId python_frame(std::string_view file, std::string_view name, std::uint32_t line,
                     ProfileBuilder& builder) {
  FunctionSpec function;
  function.name = builder.string(name.empty() ? "(unnamed)" : name);
  function.file = builder.string(file);
  return builder.frame(
      {.function = builder.function(function), .line = line, .kind = FrameKind::interpreted});
}

// "file function:line;", or [file, function, line] in older files.
FrameId read_plain_frame(JsonCursor& in, ProfileBuilder& builder) {
  if (in.kind() == JsonKind::array) {
    std::string file, name;
    std::int64_t line = 0;
    std::size_t i = 0;
    for (in.begin_array(); in.next_element(); ++i) {
      if (i == 0)
        file = in.string();
      else if (i == 1)
        name = in.string();
      else if (i == 2 && in.kind() == JsonKind::number)
        line = in.integer();
      else
        in.skip();
    }
    return python_frame(file, name, line_number(line), builder);
  }
  std::string_view text = in.string();
  if (text.ends_with(';')) text.remove_suffix(1);
  std::int64_t line = 0;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && parse_int(text.substr(colon + 1), line))
    text = text.substr(0, colon);
  const std::size_t blank = text.rfind(' ');
  const std::string file(blank == std::string_view::npos ? std::string_view() : text.substr(0, blank));
  const std::string name(blank == std::string_view::npos ? text : text.substr(blank + 1));
  return python_frame(file, name, line_number(line), builder);
}

// {kind: py | native, display_name, filename_or_module, line, ip, offset}
FrameId read_frame(JsonCursor& in, ProfileBuilder& builder) {
  if (in.kind() != JsonKind::object) return read_plain_frame(in, builder);
  std::string kind, name, file;
  std::int64_t line = 0;
  std::uint64_t address = 0;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    const JsonKind is = in.kind();
    if (key == "kind" && is == JsonKind::string)
      kind = in.string();
    else if (key == "display_name" && is == JsonKind::string)
      name = in.string();
    else if (key == "filename_or_module" && is == JsonKind::string)
      file = in.string();
    else if (key == "line" && is == JsonKind::number)
      line = in.integer();
    else if (key == "ip" && is == JsonKind::number)
      address = static_cast<std::uint64_t>(in.integer());
    else
      in.skip();
  }
  if (kind != "native") return python_frame(file, name, line_number(line), builder);
  FunctionSpec function;
  FrameSpec frame;
  if (!file.empty()) frame.module = builder.module({.name = file});
  if (name.empty()) {
    // docs/decisions/0003: code without a name stands under its module.
    function.unresolved = true;
    const std::size_t slash = file.rfind('/');
    name = file.empty() ? "[unknown]"
                        : fmt::format("[{}]", file.substr(slash == std::string::npos ? 0 : slash + 1));
  }
  function.name = builder.string(name);
  frame.function = builder.function(function);
  frame.line = line_number(line);
  frame.address = address;
  return builder.frame(frame);
}

class StackReading {
 public:
  StackReading(const JsonCursor& document, ReadContext& context) : document_(document), context_(context) {}

  // [[frame, …], hits]; the timeline says when and on which thread, when it tells of all of them.
  Result<void> combined(std::uint64_t place, std::optional<std::uint64_t> timeline, ProfileBuilder& builder) {
    builder.add_metric("samples", "count");
    JsonCursor in = at(place);
    std::vector<std::pair<ContextId, std::int64_t>> stacks;
    for (in.begin_array(); in.next_element();) {
      std::int64_t hits = 0;
      const ContextId context = read_pair(in, builder, [&] { hits = in.integer(); });
      stacks.emplace_back(context, hits);
    }
    PROFD_CHECK(in.status());
    if (timeline && read_timeline(*timeline, stacks, builder)) return {};
    for (const auto& [context, hits] : stacks)
      builder.add_sample(context, std::span<const std::int64_t>(&hits, 1));
    return {};
  }

  // [[frame, …], {count, python_time, c_time}], or [count, python_time, c_time] or a count alone in older
  // files. Times are shares of all stacks in Scalene 2 and seconds before; nothing in the file says which.
  Result<void> plain(std::uint64_t place, ProfileBuilder& builder) {
    builder.add_metric("samples", "count");
    const bool timed = has_times(at(place));
    if (timed) {
      builder.add_metric("python", "", true);
      builder.add_metric("native", "", true);
    }
    JsonCursor in = at(place);
    for (in.begin_array(); in.next_element();) {
      StackValue value;
      const ContextId context = read_pair(in, builder, [&] { read_stack_value(in, value); });
      if (!in.ok()) break;
      builder.add_self(context, MetricId{0u}, value.count);
      if (!timed) continue;
      builder.add_self(context, MetricId{1u}, value.python);
      builder.add_self(context, MetricId{2u}, value.native);
    }
    return in.status();
  }

  Result<void> memory(std::uint64_t place, ProfileBuilder& builder) {
    const MetricId metric = builder.add_metric("allocated", "bytes", true);
    JsonCursor in = at(place);
    for (in.begin_array(); in.next_element();) {
      double megabytes = 0;
      const ContextId context = read_pair(in, builder, [&] { megabytes = finite(in); });
      if (!in.ok()) break;
      builder.add_self(context, metric, megabytes * kMegabyte);
    }
    return in.status();
  }

 private:
  JsonCursor at(std::uint64_t place) const {
    JsonCursor in = document_;
    in.seek(place, 1);
    return in;
  }

  struct StackValue {
    std::int64_t count = 0;
    double python = 0, native = 0;
  };

  static void read_stack_value(JsonCursor& in, StackValue& out) {
    if (in.kind() == JsonKind::number) {
      out.count = in.integer();
      return;
    }
    if (in.kind() == JsonKind::array) {
      std::size_t i = 0;
      for (in.begin_array(); in.next_element(); ++i) {
        if (i == 0)
          out.count = in.integer();
        else if (i == 1)
          out.python = finite(in);
        else if (i == 2)
          out.native = finite(in);
        else
          in.skip();
      }
      return;
    }
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      if (key == "count" && in.kind() == JsonKind::number)
        out.count = in.integer();
      else if (key == "python_time" && in.kind() == JsonKind::number)
        out.python = finite(in);
      else if (key == "c_time" && in.kind() == JsonKind::number)
        out.native = finite(in);
      else
        in.skip();
    }
  }

  // Is the value of the first stack more than a count?
  static bool has_times(JsonCursor in) {
    in.begin_array();
    if (!in.next_element()) return true;
    in.begin_array();
    if (!in.next_element()) return true;
    in.skip();
    return !in.next_element() || in.kind() != JsonKind::number;
  }

  static double finite(JsonCursor& in) {
    const std::uint64_t at = in.offset();
    const double value = in.number().value;
    if (in.ok() && !(std::abs(value) < 1e15))
      in.fail_at(at, ErrorCode::malformed, "the value is out of range");
    return value;
  }

  template <class ReadValue>
  ContextId read_pair(JsonCursor& in, ProfileBuilder& builder, ReadValue read_value) {
    const std::uint64_t begin = in.offset();
    ContextId context = kRootContext;
    std::uint32_t depth = 0;
    in.begin_array();
    if (in.next_element()) {
      for (in.begin_array(); in.next_element();) {
        if (++depth > context_.limits.stack_depth) {
          in.fail_at(begin, ErrorCode::limit,
                     fmt::format("a stack has more than {} frames (limit stack_depth)", depth - 1));
          break;
        }
        const FrameId frame = read_frame(in, builder);
        if (in.ok()) context = builder.context(context, frame);
      }
    }
    if (in.next_element()) {
      read_value();
      if (in.next_element())
        in.fail_at(begin, ErrorCode::malformed, "a stack is followed by more than its value");
    } else {
      in.fail_at(begin, ErrorCode::malformed, "a stack has no value");
    }
    return context;
  }

  // {t_sec, stack_index, count, thread_id}
  bool read_timeline(std::uint64_t place, const std::vector<std::pair<ContextId, std::int64_t>>& stacks,
                     ProfileBuilder& builder) {
    struct Row {
      std::size_t stack;
      std::int64_t count, time, thread;
    };
    std::vector<Row> rows;
    std::vector<std::int64_t> left;
    left.reserve(stacks.size());
    for (const auto& stack : stacks) left.push_back(stack.second);
    JsonCursor in = at(place);
    std::string_view key;
    for (in.begin_array(); in.next_element();) {
      Row row{0, 0, 0, -1};
      double seconds = 0;
      std::int64_t index = -1;
      for (in.begin_object(); in.next_key(key);) {
        if (in.kind() != JsonKind::number)
          in.skip();
        else if (key == "t_sec")
          seconds = in.number().value;
        else if (key == "stack_index")
          index = in.integer();
        else if (key == "count")
          row.count = in.integer();
        else if (key == "thread_id")
          row.thread = in.integer();
        else
          in.skip();
      }
      if (!in.ok() || index < 0 || static_cast<std::size_t>(index) >= stacks.size() || row.count < 0 ||
          !(std::abs(seconds) < 9e9))
        return false;
      row.stack = static_cast<std::size_t>(index);
      row.time = std::llround(seconds * 1e9);
      if (row.count > left[row.stack]) return false;
      left[row.stack] -= row.count;
      rows.push_back(row);
    }
    for (const std::int64_t rest : left) {
      if (rest != 0) return false;
    }
    if (!in.ok()) return false;
    for (const Row& row : rows) {
      SampleContext where;
      where.time = row.time;
      if (row.thread >= 0) where.thread = builder.thread({.tid = row.thread});
      builder.add_sample(stacks[row.stack].first, std::span<const std::int64_t>(&row.count, 1), where);
    }
    return true;
  }

  const JsonCursor& document_;
  ReadContext& context_;
};

bool has_elements(const JsonCursor& document, std::optional<std::uint64_t> place) {
  if (!place) return false;
  JsonCursor in = document;
  in.seek(*place, 1);
  return in.begin_array() && in.next_element();
}

ProfileBuilder& add_profile(std::vector<ProfileBuilder>& profiles, std::string_view name) {
  ProfileBuilder& builder = profiles.emplace_back();
  builder.info().name = name;
  return builder;
}

}  // namespace

Result<void> read_stacks(const JsonCursor& document, const StackPlaces& places, ReadContext& context,
                         std::vector<ProfileBuilder>& profiles) {
  StackReading reading(document, context);
  if (has_elements(document, places.combined))
    PROFD_CHECK(reading.combined(*places.combined, places.timeline, add_profile(profiles, "stacks")));
  if (has_elements(document, places.stacks))
    PROFD_CHECK(reading.plain(*places.stacks, add_profile(profiles, "Python stacks")));
  if (has_elements(document, places.memory))
    PROFD_CHECK(reading.memory(*places.memory, add_profile(profiles, "memory")));
  return {};
}

}  // namespace profd::scalene
