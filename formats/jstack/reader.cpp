// Thread dumps of the Java VM, docs/formats/jstack.md. Here is the form of jstack, jcmd Thread.print, kill
// -3.
#include "formats/reader.h"

#include <array>
#include <memory>
#include <optional>

#include "core/support/checked.h"
#include "formats/jstack/threads.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

using namespace jstack;

constexpr std::array<std::string_view, 2> kExtensions{".jstack", ".tdump"};
constexpr ReaderNotes kNotes{
    .versions = "JDK 6 to 21, one dump or many; Thread.dump_to_file, jhsdb",
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

// The class in "- waiting on <0x0000000687400700> (a java.lang.ref.ReferenceQueue$Lock)".
std::string_view class_in(std::string_view line) {
  const std::size_t at = line.find("(a ");
  return at == std::string_view::npos ? std::string_view() : line.substr(at + 3, line.rfind(')') - at - 3);
}

class Reading {
 public:
  Reading(ReadContext& context, Threads& threads) : context_(context), threads_(threads) {}

  Result<void> run(std::string_view text, std::uint64_t base) {
    LineReader lines(text);
    for (std::string_view line; lines.next(line);) {
      if (context_.stop.check()) return context_.stop.status();
      PROFD_CHECK(read_line(line, base + lines.offset()));
    }
    return {};
  }

 private:
  Result<void> read_line(std::string_view line, std::uint64_t offset) {
    std::int64_t seconds = 0;
    if (parse_time(line, seconds)) {
      threads_.finish_thread();
      time_ = seconds;
      in_dump_ = false;
      return {};
    }
    if (line.starts_with(kHead)) {
      std::optional<std::int64_t> since;
      if (time_) {
        if (threads_.n_dumps() == 0 || !first_time_) first_time_ = time_;
        std::int64_t ns = 0;
        // Dumps of different centuries have no time between them.
        if (!mul_overflows(*time_ - *first_time_, std::int64_t{1'000'000'000}, ns)) since = ns;
      }
      threads_.begin_dump(line.substr(kHead.size()), since);
      in_dump_ = true;
      time_.reset();
      return {};
    }
    // What follows repeats stacks that were told before.
    if (line.starts_with("Found ") && line.find("deadlock") != std::string_view::npos) {
      threads_.finish_thread();
      in_dump_ = false;
    }
    if (!in_dump_) return {};
    std::string_view name, rest;
    if (parse_thread(line, name, rest)) {
      threads_.begin_thread(name, thread_id(rest));
      return {};
    }
    if (!threads_.in_thread()) return {};
    const std::string_view said = trim(line);
    if (said.starts_with("at ")) {
      return threads_.push(said.substr(3), offset);
    } else if (said.starts_with("java.lang.Thread.State: ")) {
      threads_.set_state(said.substr(24));
    } else if (said.starts_with("- waiting on ") || said.starts_with("- waiting to lock ") ||
               said.starts_with("- parking to wait for ") || said.starts_with("- waiting to re-lock ")) {
      threads_.set_waits_for(class_in(said));
    } else if (said.starts_with("JNI global ref")) {
      threads_.finish_thread();
    }
    return {};
  }

  ReadContext& context_;
  Threads& threads_;
  bool in_dump_ = false;
  std::optional<std::int64_t> time_, first_time_;
};

class JstackReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"jstack",
                                 "Java thread dump",
                                 kExtensions,
                                 505,
                                 "jstack, jcmd Thread.print, Thread.dump_to_file, kill -3, jhsdb",
                                 2,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = sniff_text(prefix);
    if (is_json_dump(text) || is_dump_file(text) || is_agent_dump(text)) return Confidence::certain;
    LineReader lines(text);
    for (std::string_view line; lines.next(line);)
      if (line.starts_with(kHead) && line.ends_with(':')) return Confidence::certain;
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    Threads threads(context, profiles.emplace_back());
    if (is_json_dump(text.text))
      PROFD_CHECK(read_json_dump(text.text, text.offset, context, threads));
    else if (is_dump_file(text.text))
      PROFD_CHECK(read_dump_file(text.text, text.offset, context, threads));
    else if (is_agent_dump(text.text.substr(0, 16384)))
      PROFD_CHECK(read_agent_dump(text.text, text.offset, context, threads));
    else
      PROFD_CHECK(Reading(context, threads).run(text.text, text.offset));
    return threads.finish();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_jstack_reader() {
  return std::make_unique<JstackReader>();
}

}  // namespace profd
