// GHC's time and allocation profiles: the text report (+RTS -p, -P) and JSON (+RTS -pj). Values of a
// cost-centre stack are its own. Ticks and bytes are exact; a text report without them (-p) has percentages
// of one decimal only.
#include "formats/reader.h"

#include <array>
#include <memory>

#include "formats/ghc_prof/json_report.h"
#include "formats/ghc_prof/text_report.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".prof"};
constexpr ReaderNotes kNotes{
    .versions = "+RTS -p, -P and -pj",
    .keeps = "ticks, time, bytes and entries by cost-centre stack, modules, files and lines",
    .recording = "./app +RTS -pj",
    .verified =
        "recorded with GHC 9.0.2 in all forms, totals of the heads; snapshots of speedscope and inferno in "
        "the corpus",
};

bool looks_like_json(std::string_view text) {
  const std::size_t brace = text.find_first_not_of(" \t\r\n");
  return brace != std::string_view::npos && text[brace] == '{';
}

class GhcProfReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "ghc-prof", "GHC profile", kExtensions, 620, "GHC's runtime system (+RTS -p, -P, -pj)", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = sniff_text(prefix);
    if (text.find('\0') != std::string_view::npos) return Confidence::no;
    if (looks_like_json(text)) {
      const std::string_view head = text.substr(0, 4096);
      return head.find("\"rts_arguments\"") != std::string_view::npos &&
                     head.find("\"cost_centres\"") != std::string_view::npos
                 ? Confidence::certain
                 : Confidence::no;
    }
    return text.substr(0, 512).find(" Time and Allocation Profiling Report") != std::string_view::npos
               ? Confidence::certain
               : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    ProfileBuilder& builder = profiles.emplace_back();
    builder.info().producer = "GHC";
    if (looks_like_json(text.text)) return ghc_prof::read_json_report(text, context, builder);
    return ghc_prof::read_text_report(text, source.truncated(), context, builder);
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_ghc_prof_reader() {
  return std::make_unique<GhcProfReader>();
}

}  // namespace profd
