// Thread dumps of the Java VM: jstack, jcmd Thread.print, kill -3. docs/formats/jstack.md has the form.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "formats/support/java_frame.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_rows.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".jstack", ".tdump"};
constexpr ReaderNotes kNotes{
    .versions = "JDK 6 to 21, one dump or many; not Thread.dump_to_file",
    .keeps =
        "a sample for each thread and dump: name, id, state, what it waits for, lines, Java modules, time of "
        "the dump",
    .recording = "for i in $(seq 20); do jstack PID >> dumps.txt; sleep 0.5; done",
    .verified = "one corpus file: threads as grep counts them, running ones of stackcollapse-jstack.pl",
};
constexpr std::string_view kHead = "Full thread dump ";

// Days since 1970-01-01 of a date in the Gregorian calendar.
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// "2026-11-20 17:48:32" in seconds of an unknown time zone.
bool parse_time(std::string_view line, std::int64_t& seconds) {
  line = trim(line);
  if (line.size() != 19 || line[4] != '-' || line[7] != '-' || line[10] != ' ' || line[13] != ':' ||
      line[16] != ':')
    return false;
  std::array<std::int64_t, 6> n{};
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> kParts{
      {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}}};
  for (std::size_t i = 0; i < n.size(); ++i)
    if (!parse_int(line.substr(kParts[i].first, kParts[i].second), n[i]) || n[i] < 0) return false;
  if (n[1] < 1 || n[1] > 12 || n[2] < 1 || n[2] > 31) return false;
  seconds = days_of(n[0], n[1], n[2]) * 86400 + n[3] * 3600 + n[4] * 60 + n[5];
  return true;
}

// The name of `"worker-1" #12 prio=5 … nid=0xf68 runnable`: names may have quotes in them.
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

// "nid=0xf68" or, from JDK 19 on, "nid=3944".
std::int64_t thread_id(std::string_view rest) {
  const std::size_t at = rest.find("nid=");
  if (at == std::string_view::npos) return -1;
  std::string_view word = rest.substr(at + 4);
  word = word.substr(0, word.find(' '));
  std::uint64_t id = 0;
  const bool good = word.starts_with("0x") ? parse_hex(word, id) : parse_uint(word, id);
  return good && id > 0 && id < (1ull << 62) ? static_cast<std::int64_t>(id) : -1;
}

// The class in "- waiting on <0x0000000687400700> (a java.lang.ref.ReferenceQueue$Lock)".
std::string_view class_in(std::string_view line) {
  const std::size_t at = line.find("(a ");
  return at == std::string_view::npos ? std::string_view() : line.substr(at + 3, line.rfind(')') - at - 3);
}

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder) {}

  Result<void> run() {
    builder_.add_metric("samples", "count");
    LineReader lines(text_.text);
    for (std::string_view line; lines.next(line);) {
      if (context_.stop.check()) return context_.stop.status();
      PROFD_CHECK(read_line(line, text_.offset + lines.offset()));
    }
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

 private:
  Result<void> read_line(std::string_view line, std::size_t offset) {
    std::int64_t seconds = 0;
    if (parse_time(line, seconds)) {
      finish_thread();
      time_ = seconds;
      has_time_ = true;
      in_dump_ = false;
      return {};
    }
    if (line.starts_with(kHead)) {
      finish_thread();
      if (n_dumps_++ == 0) builder_.info().properties.emplace_back("vm", trim(line.substr(kHead.size())));
      in_dump_ = true;
      dump_time_.reset();
      if (has_time_) {
        if (n_dumps_ == 1 || !first_time_) first_time_ = time_;
        dump_time_ = (time_ - *first_time_) * 1'000'000'000;
      }
      has_time_ = false;
      return {};
    }
    // What follows repeats stacks that were told before.
    if (line.starts_with("Found ") && line.find("deadlock") != std::string_view::npos) {
      finish_thread();
      in_dump_ = false;
    }
    if (!in_dump_) return {};
    std::string_view name, rest;
    if (parse_thread(line, name, rest)) {
      finish_thread();
      in_thread_ = true;
      where_ = {};
      where_.thread = builder_.thread({.name = name, .tid = thread_id(rest)});
      where_.time = dump_time_;
      return {};
    }
    if (!in_thread_) return {};
    const std::string_view said = trim(line);
    if (said.starts_with("at ")) {
      return push(said.substr(3), offset);
    } else if (said.starts_with("java.lang.Thread.State: ")) {
      state_ = said.substr(24);
    } else if (waits_for_.empty() &&
               (said.starts_with("- waiting on ") || said.starts_with("- waiting to lock ") ||
                said.starts_with("- parking to wait for ") || said.starts_with("- waiting to re-lock "))) {
      waits_for_ = class_in(said);
    } else if (said.starts_with("JNI global ref")) {
      finish_thread();
    }
    return {};
  }

  Result<void> push(std::string_view text, std::size_t offset) {
    if (stack_.size() >= context_.limits.stack_depth)
      return fail(
          ErrorCode::limit,
          fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
          offset);
    const std::uint32_t row = rows_.row(text);
    if (row == frames_.size()) {
      JavaFrame frame;
      if (!parse_java_frame(text, frame)) {
        if (n_odd_++ == 0) first_odd_ = offset;
        frame.name = text.empty() ? std::string_view("(empty)") : text;
      }
      frames_.push_back(add_java_frame(builder_, frame));
    }
    stack_.push_back(frames_[row]);
    return {};
  }

  void finish_thread() {
    if (!in_thread_) return;
    in_thread_ = false;
    ++n_threads_;
    if (stack_.empty()) {
      ++n_empty_;
      stack_.push_back(
          builder_.frame({.function = builder_.function(FunctionSpec{
                              .name = builder_.string("[no Java stack]"), .unresolved = true})}));
    }
    std::reverse(stack_.begin(), stack_.end());
    std::vector<Label> labels;
    const auto label = [&](std::string_view key, std::string_view value) {
      if (!value.empty()) labels.push_back({.key = builder_.string(key), .text = builder_.string(value)});
    };
    label("state", state_);
    label("waits for", waits_for_);
    if (n_dumps_ > 0)
      labels.push_back(
          {.key = builder_.string("dump"), .is_number = true, .number = static_cast<std::int64_t>(n_dumps_)});
    where_.labels = builder_.label_set(labels);
    constexpr std::array<std::int64_t, 1> kOne{1};
    builder_.add_sample(stack_, std::span<const std::int64_t>(kOne), where_);
    stack_.clear();
    state_ = waits_for_ = {};
  }

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  TextRows rows_;
  std::vector<FrameId> frames_;  // by row
  std::vector<FrameId> stack_;   // leaf first
  SampleContext where_;
  std::string_view state_, waits_for_;
  bool in_dump_ = false, in_thread_ = false, has_time_ = false;
  std::int64_t time_ = 0;
  std::optional<std::int64_t> first_time_, dump_time_;
  std::size_t first_odd_ = 0;
  std::uint64_t n_dumps_ = 0, n_threads_ = 0, n_odd_ = 0, n_empty_ = 0;
};

class JstackReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "jstack", "Java thread dump", kExtensions, 505, "jstack, jcmd Thread.print, kill -3", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    std::array<char, 16384> buffer;
    LineReader lines(sniff_text(prefix, buffer));
    for (std::string_view line; lines.next(line);)
      if (line.starts_with(kHead) && line.ends_with(':')) return Confidence::certain;
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source, context.report);
    return Reading(text, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_jstack_reader() {
  return std::make_unique<JstackReader>();
}

}  // namespace profd
