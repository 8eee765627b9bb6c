// stackprof's dumps, Marshal and JSON. docs/formats/stackprof.md says what is read.
#include "formats/reader.h"

#include <array>
#include <memory>

#include "formats/stackprof/dump.h"
#include "formats/support/json_keys.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".dump", ".stackprof"};
constexpr ReaderNotes kNotes{
    .versions = "Marshal and JSON dumps, with and without raw samples",
    .keeps =
        "stacks, lines and times of raw samples; otherwise self samples by line, callers as associations",
    .recording = "StackProf.run(mode: :wall, raw: true, out: \"out.dump\") { work }",
    .verified = "stackprof 0.2.21 --text, sums in the files; wall time of one file against speedscope",
};

bool is_marshal(std::span<const std::byte> bytes) {
  return bytes.size() >= 3 && bytes[0] == std::byte{4} && bytes[1] == std::byte{8} &&
         bytes[2] == std::byte{'{'};
}

class StackprofReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"stackprof", "stackprof dumps", kExtensions, 62, "stackprof", 3, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    static_cast<void>(at_end);
    if (is_marshal(prefix)) {
      // Any Ruby program writes hashes this way; these two symbols stand among the first.
      const std::string_view text(reinterpret_cast<const char*>(prefix.data()),
                                  std::min<std::size_t>(prefix.size(), 256));
      return text.find(":\x0cversion") != std::string_view::npos &&
                     text.find(":\x09mode") != std::string_view::npos
                 ? Confidence::certain
                 : Confidence::no;
    }
    const JsonPrefix text(prefix);
    const JsonKeys keys = json_keys(text.text());
    const bool known = keys.kind() == JsonKind::object && keys.has("mode", JsonKind::string) &&
                       keys.has("interval", JsonKind::number) && keys.has("samples", JsonKind::number) &&
                       (keys.has("gc_samples", JsonKind::number) || keys.has("frames", JsonKind::object));
    return known ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    PROFD_TRY(const stackprof::Dump dump, is_marshal(source.bytes())
                                              ? stackprof::read_marshal_dump(source.bytes(), context)
                                              : stackprof::read_json_dump(source, context));
    return stackprof::build(dump, context, profiles.emplace_back());
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_stackprof_reader() {
  return std::make_unique<StackprofReader>();
}

}  // namespace profd
