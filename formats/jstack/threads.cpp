#include "formats/jstack/threads.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "formats/support/java_frame.h"
#include "formats/support/text_number.h"

namespace profd::jstack {

Threads::Threads(ReadContext& context, ProfileBuilder& builder) : context_(context), builder_(builder) {
  builder_.add_metric("samples", "count");
}

void Threads::begin_dump(std::string_view vm, std::optional<std::int64_t> time) {
  finish_thread();
  if (n_dumps_++ == 0) builder_.info().properties.emplace_back("vm", trim(vm));
  dump_time_ = time;
}

void Threads::begin_thread(std::string_view name, std::int64_t tid) {
  finish_thread();
  in_thread_ = true;
  where_ = {};
  where_.thread = builder_.thread({.name = name, .tid = tid});
  where_.time = dump_time_;
}

template <class Make>
Result<void> Threads::push_row(std::string_view text, std::uint64_t offset, Make&& make) {
  if (stack_.size() >= context_.limits.stack_depth)
    return fail(
        ErrorCode::limit,
        fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
        offset);
  const std::uint32_t row = rows_.row(text);
  if (row == frames_.size()) frames_.push_back(make());
  stack_.push_back(frames_[row]);
  return {};
}

Result<void> Threads::push(std::string_view text, std::uint64_t offset) {
  return push_row(text, offset, [&] {
    JavaFrame frame;
    if (!parse_java_frame(text, frame)) {
      if (n_odd_++ == 0) first_odd_ = offset;
      frame.name = text.empty() ? std::string_view("(empty)") : text;
    }
    return add_java_frame(builder_, frame);
  });
}

Result<void> Threads::push_agent(std::string_view text, std::uint64_t offset) {
  return push_row(text, offset, [&] {
    FrameSpec frame;
    const std::size_t bci = text.find(" @bci=");
    if (bci == std::string_view::npos && n_odd_++ == 0) first_odd_ = offset;
    const std::string_view method = text.substr(0, bci), place = text.substr(method.size());
    const std::string_view name = method.substr(0, method.rfind('('));
    frame.function = builder_.function(name.empty() ? std::string_view("(empty)") : name);
    if (const std::size_t line = place.find("line="); line != std::string_view::npos) {
      const std::string_view digits = place.substr(line + 5);
      if (!parse_uint(digits.substr(0, digits.find_first_not_of("0123456789")), frame.line)) frame.line = 0;
    }
    if (place.find("(Interpreted") != std::string_view::npos) frame.kind = FrameKind::interpreted;
    if (place.find("(Compiled") != std::string_view::npos) frame.kind = FrameKind::jit;
    return builder_.frame(frame);
  });
}

void Threads::finish_thread() {
  if (!in_thread_) return;
  in_thread_ = false;
  ++n_threads_;
  if (stack_.empty()) {
    ++n_empty_;
    stack_.push_back(builder_.frame({.function = builder_.function(FunctionSpec{
                                         .name = builder_.string("[no Java stack]"), .unresolved = true})}));
  }
  std::reverse(stack_.begin(), stack_.end());
  std::vector<Label> labels;
  const auto label = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) labels.push_back({.key = builder_.string(key), .text = builder_.string(value)});
  };
  label("state", state_);
  label("waits for", waits_for_);
  if (is_virtual_) label("thread", "virtual");
  if (n_dumps_ > 0)
    labels.push_back(
        {.key = builder_.string("dump"), .is_number = true, .number = static_cast<std::int64_t>(n_dumps_)});
  where_.labels = builder_.label_set(labels);
  constexpr std::array<std::int64_t, 1> kOne{1};
  builder_.add_sample(stack_, std::span<const std::int64_t>(kOne), where_);
  stack_.clear();
  state_ = waits_for_ = {};
  is_virtual_ = false;
}

Result<void> Threads::finish() {
  finish_thread();
  if (n_dumps_ == 0) return fail(ErrorCode::malformed, "the text has no thread dump");
  if (n_threads_ == 0) return fail(ErrorCode::malformed, "the thread dump has no threads");
  builder_.info().properties.emplace_back("dumps", std::to_string(n_dumps_));
  context_.report.add("malformed-frame", Severity::loss, "frames without a place were kept by their text",
                      first_odd_, n_odd_);
  context_.report.add("no-java-stack", Severity::info, "threads of the virtual machine have no Java stack",
                      std::nullopt, n_empty_);
  return {};
}

bool parse_thread(std::string_view line, std::string_view& name, std::string_view& rest) {
  if (!line.starts_with('"')) return false;
  for (const std::string_view behind :
       {"\" #", "\" daemon ", "\" prio=", "\" os_prio=", "\" cpu=", "\" tid=", "\" nid="}) {
    const std::size_t end = line.find(behind, 1);
    if (end == std::string_view::npos) continue;
    name = line.substr(1, end - 1);
    rest = line.substr(end + 1);
    return true;
  }
  return false;
}

std::int64_t thread_id(std::string_view rest) {
  const std::size_t at = rest.find("nid=");
  if (at == std::string_view::npos) return -1;
  std::string_view word = rest.substr(at + 4);
  word = word.substr(0, word.find(' '));
  std::uint64_t id = 0;
  const bool good = word.starts_with("0x") ? parse_hex(word, id) : parse_uint(word, id);
  return good && id > 0 && id < (1ull << 62) ? static_cast<std::int64_t>(id) : -1;
}

}  // namespace profd::jstack
