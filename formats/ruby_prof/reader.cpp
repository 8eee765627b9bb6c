// ruby-prof's text reports, docs/formats/ruby-prof.md.
#include "formats/reader.h"

#include <array>
#include <map>
#include <memory>
#include <utility>

#include "formats/ruby_prof/report.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

using namespace ruby_prof;

constexpr std::array<std::string_view, 1> kExtensions{".ruby-prof.txt"};
constexpr ReaderNotes kNotes{
    .versions = "text of FlatPrinter and GraphPrinter, ruby-prof 1.0 and later",
    .keeps = "self values, waits and calls by method and thread, callers with their part; no stacks",
    .recording = "ruby-prof -p graph -f app.ruby-prof.txt app.rb",
    .verified = "what ruby-prof 1.4.5 had measured before it printed, within its rounding",
};

class RubyProfReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"ruby-prof", "ruby-prof flat and graph reports",         kExtensions,
                                 770,         "ruby-prof's FlatPrinter and GraphPrinter", 2,
                                 kNotes};
    return info;
  }

  // What the program printed may stand before the report.
  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    LineReader lines(sniff_text(prefix));
    bool mode = false;
    for (std::string_view line; lines.next(line);) {
      if (mode && line.starts_with("Thread ID: ")) return Confidence::certain;
      mode = line.starts_with("Measure Mode: ");
    }
    return Confidence::no;
  }

  // One profile for each measure mode, and for each kind of table: both tables say the same in other words.
  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    PROFD_TRY(const std::vector<Section> sections, read_sections(text.text, text.offset, context));
    std::map<std::pair<const Mode*, bool>, std::size_t> group_of;
    std::vector<std::vector<const Section*>> groups;
    for (const Section& section : sections) {
      const auto [found, is_new] = group_of.try_emplace({section.mode, section.is_graph}, groups.size());
      if (is_new) groups.emplace_back();
      groups[found->second].push_back(&section);
    }
    for (const auto& group : groups) PROFD_CHECK(build(group, profiles.emplace_back(), context));
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_ruby_prof_reader() {
  return std::make_unique<RubyProfReader>();
}

}  // namespace profd
