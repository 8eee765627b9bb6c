// callgrind's profiles and those of the tools that write its format, docs/formats/callgrind.md.
#include "formats/reader.h"

#include <array>
#include <memory>

#include "formats/callgrind/body.h"
#include "formats/callgrind/header.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".callgrind", ".callgrind.out"};
constexpr ReaderNotes kNotes{
    .versions = "Valgrind's and the writers of its format; Xdebug's cachegrind.out",
    .keeps =
        "every event by line and instruction; calls with inclusive costs, jumps as associations; modules, "
        "parts, threads",
    .recording = "valgrind --tool=callgrind --dump-instr=yes ./app",
    .verified = "callgrind_annotate 3.19: self and inclusive cost of every function",
};

// What the lines up to the first costs say.
Confidence look(std::string_view text, bool whole) {
  if (text.starts_with("# callgrind format")) return Confidence::certain;
  bool events = false, names = false, calls = false, costs = false, valgrind = false, compressed = false;
  LineReader lines(text);
  std::string_view key, value;
  for (std::string_view line; lines.next(line);) {
    if (!lines.ended() && !whole) break;
    // Xdebug sets off the runs it appends with a line of `=`.
    if (trim(line).empty() || line.front() == '#' || line.starts_with("====")) continue;
    if (callgrind::split_header(line, key, value)) {
      events |= key == "events";
      // The version is callgrind's own and Xdebug's; cachegrind writes neither it nor a creator.
      valgrind |= key == "creator" || key == "version" || key == "positions";
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos && equals <= 5) {
      const std::string_view word = line.substr(0, equals);
      if (word == "fl" || word == "fn" || word == "fi" || word == "fe" || word == "ob") {
        names = true;
        compressed |= line.substr(equals + 1).starts_with("(");
      } else if (word == "cfn" || word == "calls" || word == "cfi" || word == "cfl" || word == "cob") {
        calls = true;
      } else if (word != "jump" && word != "jcnd" && word != "jfi" && word != "jfn") {
        return Confidence::no;
      }
      if (!events) return Confidence::no;
      continue;
    }
    const char c = line.front();
    if ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '*') {
      costs = true;
      continue;
    }
    if (!valgrind) return Confidence::no;
  }
  if (!events) return Confidence::no;
  if (calls) return Confidence::certain;
  if (valgrind) return Confidence::certain;
  return names && costs ? Confidence::maybe : Confidence::no;
}

class CallgrindReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"callgrind",
                                 "callgrind call graph",
                                 kExtensions,
                                 700,
                                 "valgrind --tool=callgrind, Xdebug, KCachegrind converters, bzr, lsprof",
                                 4,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    const std::string_view text = sniff_text(prefix);
    if (text.find('\0') != std::string_view::npos) return Confidence::no;
    return look(text, at_end);
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    const callgrind::Survey survey = callgrind::survey(text.text);
    if (survey.events.empty())
      return fail(ErrorCode::malformed, "no line names the events that were counted", 0);
    if (survey.events.size() > 1000) return fail(ErrorCode::limit, "there are more than 1,000 events");
    return callgrind::read_body(text.text, text.offset, survey, context, profiles.emplace_back());
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_callgrind_reader() {
  return std::make_unique<CallgrindReader>();
}

}  // namespace profd
