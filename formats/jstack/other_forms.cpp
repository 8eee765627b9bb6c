// Dumps in other forms than jstack's own: of jcmd PID Thread.dump_to_file and of the debugger jhsdb.
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "formats/jstack/threads.h"
#include "formats/support/json_cursor.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"

namespace profd::jstack {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// `#22 "name" virtual TIMED_WAITING 2026-11-22T02:49:28.245605461Z`, without the state up to JDK 24.
struct ThreadLine {
  std::string_view name, state;
  std::int64_t id = -1;
  bool is_virtual = false;
};

bool parse_thread_line(std::string_view line, ThreadLine& out) {
  if (!line.starts_with('#')) return false;
  const std::size_t open = line.find(" \""), close = line.rfind('"');
  if (open == std::string_view::npos || close <= open + 1 || !parse_int(line.substr(1, open - 1), out.id))
    return false;
  out.name = line.substr(open + 2, close - open - 2);
  std::string_view rest = trim(line.substr(close + 1));
  out.is_virtual = rest.starts_with("virtual");
  if (out.is_virtual) rest = trim(rest.substr(7));
  out.state = rest.substr(0, rest.find(' '));
  return true;
}

// "java.lang.Object" of "<java.lang.Object@4d7aec51>".
std::string_view class_of_object(std::string_view text) {
  const std::size_t open = text.find('<');
  if (open != std::string_view::npos) text = text.substr(open + 1, text.find('>') - open - 1);
  return text.substr(0, text.rfind('@'));
}

// Three lines: the process, the time and the version, then an empty one.
bool begins_dump(LineReader lines, std::string_view line) {
  std::string_view time, version;
  return is_number(line) && lines.next(time) && time.size() > 19 && time[4] == '-' && time[10] == 'T' &&
         lines.next(version) && !version.empty();
}

}  // namespace

bool is_dump_file(std::string_view prefix) {
  LineReader lines(prefix);
  std::string_view line;
  if (!lines.next(line) || !begins_dump(lines, line)) return false;
  ThreadLine thread;
  for (int i = 0; i < 8 && lines.next(line); ++i)
    if (parse_thread_line(line, thread)) return true;
  return false;
}

Result<void> read_dump_file(std::string_view text, std::uint64_t base, ReadContext& context,
                            Threads& threads) {
  LineReader lines(text);
  for (std::string_view line; lines.next(line);) {
    if (context.stop.check()) return context.stop.status();
    ThreadLine thread;
    const std::string_view said = trim(line);
    if (begins_dump(lines, line)) {
      std::string_view version;
      lines.next(version);
      lines.next(version);
      threads.begin_dump(version, std::nullopt);
    } else if (parse_thread_line(line, thread)) {
      threads.begin_thread(thread.name, thread.id);
      threads.set_state(thread.state);
      if (thread.is_virtual) threads.set_virtual();
    } else if (said.empty() || !threads.in_thread()) {
      threads.finish_thread();
    } else if (said.starts_with("- ")) {
      if (said.starts_with("- waiting ") || said.starts_with("- parking ") || said.starts_with("- blocked "))
        threads.set_waits_for(class_of_object(said));
    } else {
      PROFD_CHECK(threads.push(said.starts_with("at ") ? said.substr(3) : said, base + lines.offset()));
    }
  }
  return {};
}

bool is_json_dump(std::string_view prefix) {
  const std::string_view text = trim(prefix.substr(0, 200));
  return text.starts_with('{') && trim(text.substr(1)).starts_with("\"threadDump\"");
}

Result<void> read_json_dump(std::string_view text, std::uint64_t base, ReadContext& context,
                            Threads& threads) {
  JsonCursor in(text, context.limits.nesting, base);
  std::string name, state, waits_for, version;
  std::unordered_set<std::string> frames;  // `threads` compares with the texts that it was given before
  std::vector<std::pair<std::string_view, std::uint64_t>> stack;
  const auto read_thread = [&]() -> Result<void> {
    std::int64_t id = -1;
    bool is_virtual = false;
    name.clear();
    state.clear();
    waits_for.clear();
    stack.clear();
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      const JsonKind kind = in.kind();
      if (key == "tid" && kind == JsonKind::string) {
        if (!parse_int(in.string(), id)) id = -1;
      } else if (key == "tid" && kind == JsonKind::number) {
        id = in.integer();
      } else if (key == "name" && kind == JsonKind::string) {
        name = in.string();
      } else if (key == "state" && kind == JsonKind::string) {
        state = in.string();
      } else if ((key == "waitingOn" || key == "blockedOn") && kind == JsonKind::string) {
        waits_for = class_of_object(in.string());
      } else if (key == "parkBlocker" && kind == JsonKind::object) {
        for (in.begin_object(); in.next_key(key);)
          if (key == "object" && in.kind() == JsonKind::string)
            waits_for = class_of_object(in.string());
          else
            in.skip();
      } else if (key == "virtual" && kind == JsonKind::boolean) {
        is_virtual = in.boolean();
      } else if (key == "stack" && kind == JsonKind::array) {
        for (in.begin_array(); in.next_element();) {
          const std::uint64_t offset = in.offset();
          stack.emplace_back(*frames.emplace(in.string()).first, offset);
        }
      } else {
        in.skip();
      }
    }
    threads.begin_thread(name, id);
    threads.set_state(state);
    threads.set_waits_for(waits_for);
    if (is_virtual) threads.set_virtual();
    for (const auto& [frame, offset] : stack) PROFD_CHECK(threads.push(frame, offset));
    threads.finish_thread();
    return context.stop.check() ? context.stop.status() : Result<void>{};
  };
  const auto read_containers = [&]() -> Result<void> {
    std::string_view key;
    for (in.begin_array(); in.next_element();)
      for (in.begin_object(); in.next_key(key);) {
        if (key != "threads" || in.kind() != JsonKind::array) {
          in.skip();
          continue;
        }
        for (in.begin_array(); in.next_element();) PROFD_CHECK(read_thread());
      }
    return {};
  };
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key != "threadDump" || in.kind() != JsonKind::object) {
      in.skip();
      continue;
    }
    for (in.begin_object(); in.next_key(key);)
      if (key == "threadContainers" && in.kind() == JsonKind::array) {
        threads.begin_dump(version, std::nullopt);
        PROFD_CHECK(read_containers());
      } else if (key == "runtimeVersion" && in.kind() == JsonKind::string) {
        version = in.string();
      } else {
        in.skip();
      }
  }
  return in.finish();
}

bool is_agent_dump(std::string_view prefix) {
  const std::size_t attached = prefix.find("Debugger attached successfully.");
  return attached != std::string_view::npos && prefix.find(" @bci=", attached) != std::string_view::npos &&
         prefix.find("\n - ", attached) != std::string_view::npos;
}

Result<void> read_agent_dump(std::string_view text, std::uint64_t base, ReadContext& context,
                             Threads& threads) {
  LineReader lines(text);
  for (std::string_view line; lines.next(line);) {
    if (context.stop.check()) return context.stop.status();
    const std::string_view said = trim(line);
    std::string_view name, rest;
    if (line.starts_with("JVM version is ")) {
      threads.begin_dump(line.substr(15), std::nullopt);
    } else if (parse_thread(line, name, rest)) {
      threads.begin_thread(name, thread_id(rest));
    } else if (line.starts_with("Thread ") && line.find(": (state = ") != std::string_view::npos) {
      // jstack -F: `Thread 4711: (state = BLOCKED)`
      const std::size_t colon = line.find(':');
      std::int64_t id = -1;
      if (!parse_int(line.substr(7, colon - 7), id)) id = -1;
      threads.begin_thread({}, id);
      threads.set_state(line.substr(colon + 11, line.rfind(')') - colon - 11));
    } else if (said.empty()) {
      threads.finish_thread();
    } else if (threads.in_thread() && said.starts_with("java.lang.Thread.State: ")) {
      threads.set_state(said.substr(24));
    } else if (threads.in_thread() && line.starts_with(" - ")) {
      PROFD_CHECK(threads.push_agent(trim(line.substr(3)), base + lines.offset()));
    }
  }
  return {};
}

}  // namespace profd::jstack
