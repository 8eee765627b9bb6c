// Sysprof: binary captures (.syscap, since 3.x) and the XML call trees of the first versions.
#include "formats/reader.h"

#include <array>
#include <memory>

#include "formats/support/xml.h"
#include "formats/sysprof/capture.h"
#include "formats/sysprof/xml_tree.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".syscap", ".sysprof"};
constexpr ReaderNotes kNotes{
    .versions = "captures of version 1, both byte orders; the XML of Sysprof 1.0 to 1.2",
    .keeps =
        "samples and allocations with thread, time, processor and module; names of JIT code; marks, logs, "
        "counters",
    .recording = "sysprof-cli -- ./app",
    .verified =
        "XML: gprof2dot's shares and the file's own size; captures: only a file written with Sysprof's "
        "library",
};

class SysprofReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "sysprof", "Sysprof capture", kExtensions, 46, "Sysprof, libsysprof-capture", 3, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    if (sysprof::is_capture(prefix)) return Confidence::certain;
    const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
    if (xml_root(text) != "profile") return Confidence::no;
    const std::string_view head = text.substr(0, 4096);
    return head.find("<call_tree>") != std::string_view::npos &&
                   head.find("<objects>") != std::string_view::npos
               ? Confidence::certain
               : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    if (sysprof::is_capture(source.bytes())) return sysprof::read_capture(source, context, profiles);
    return sysprof::read_xml_tree(source, context, profiles.emplace_back());
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_sysprof_reader() {
  return std::make_unique<SysprofReader>();
}

}  // namespace profd
