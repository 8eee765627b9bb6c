// DrCCTProf's profiles (`.drcctprof`), which EasyView shows (`.ezview`). An `.ezview` may hold pprof too,
// which the pprof reader takes. docs/formats/easyview.md says what is read and what is lost.
#include "formats/reader.h"

#include <array>
#include <memory>

#include "formats/easyview/records.h"
#include "formats/easyview/samples.h"
#include "formats/easyview/tree.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".ezview", ".drcctprof"};
constexpr ReaderNotes kNotes{
    .versions = "the protobuf of DrCCTProf, its databuilder, JXPerf and their converters",
    .keeps =
        "contexts, lines, addresses, modules, threads, inlining; pairs and triples of contexts as "
        "associations",
    .recording = "drrun -c64 libdrcctlib_reuse_distance_vse_fmt.so -- ./app",
    .verified = "sums over the two published profiles; races and redundancy: only hand-made files",
};

class EasyviewReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"easyview",
                                 "EasyView / DrCCTProf profile",
                                 kExtensions,
                                 200,
                                 "DrCCTProf, its databuilder, JXPerf, EasyView converters",
                                 2,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    return easyview::sniff_records(prefix, at_end);
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    PROFD_TRY(easyview::Records records, easyview::read_records(source.bytes(), context));
    records.truncated |= source.truncated();
    if (records.metrics.empty()) return fail(ErrorCode::malformed, "the file declares no metric");
    if (!records.strings.empty() && !records.strings.front().empty())
      return fail(ErrorCode::malformed, "the first string of the table is not empty");
    ProfileBuilder builder;
    PROFD_TRY(const easyview::Tree tree, easyview::build_tree(records, context, builder));
    PROFD_CHECK(easyview::add_samples(records, tree, context, builder));
    if (records.sample_context.empty())
      context.report.add("no-samples", Severity::info, "The profile has no samples.");
    builder.info().format = "easyview";
    builder.info().producer = "DrCCTProf";
    profiles.push_back(std::move(builder));
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_easyview_reader() {
  return std::make_unique<EasyviewReader>();
}

}  // namespace profd
