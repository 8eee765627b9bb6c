// The Cog VM profiler of Squeak and Pharo: its text report, and the data it is made of.
// docs/formats/vm-profiler.md says what is read and what is lost.
#include "formats/reader.h"

#include <array>
#include <memory>

#include "formats/support/json_keys.h"
#include "formats/support/text_source.h"
#include "formats/vm_profiler/samples.h"

namespace profd {
namespace {

using namespace vm_profiler;

constexpr std::array<std::string_view, 2> kExtensions{".vmprofile", ".vmprofile.json"};
constexpr ReaderNotes kNotes{
    .versions = "the text report and raw samples of the Cog VM",
    .keeps = "samples by method, range of bytecodes and VM function; collections and their time; no stacks",
    .recording = "in Squeak or Pharo: VMProfiler spyOn: [ ... ], its report saved",
    .verified = "the sums and the example in the paper that describes it; no file of the tool was at hand",
};

class VmProfilerReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "vm-profiler", "Cog VM profiler", kExtensions, 826, "Squeak and Pharo VMProfiler", 2, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = sniff_text(prefix);
    if (is_report(text)) return Confidence::certain;
    if (text.find('{') == std::string_view::npos) return Confidence::no;
    const JsonPrefix json(prefix);
    const JsonKeys keys = json_keys(json.text());
    if (keys.has("cog", JsonKind::array) &&
        (keys.has("samples", JsonKind::array) || keys.has("symbols", JsonKind::array)))
      return Confidence::certain;
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText decoded = decode_text(source);
    ProfileBuilder builder;
    const std::size_t first = decoded.text.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && decoded.text[first] == '{') {
      auto read = read_raw(decoded.text, decoded.offset, context, builder);
      if (!read) {
        Error error = std::move(read).error();
        if (source.truncated()) error.code = ErrorCode::truncated;
        return tl::unexpected<Error>(std::move(error));
      }
    } else {
      PROFD_CHECK(read_report(decoded.text, context, builder));
    }
    builder.info().format = "vm-profiler";
    builder.info().producer = "VMProfiler";
    profiles.push_back(std::move(builder));
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_vm_profiler_reader() {
  return std::make_unique<VmProfilerReader>();
}

}  // namespace profd
