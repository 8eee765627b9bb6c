// Austin: text and MOJO. docs/formats/austin.md says what is read.
#include "formats/reader.h"

#include <array>
#include <memory>

#include "formats/austin/samples.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 3> kExtensions{".austin", ".mojo", ".aprof"};
constexpr ReaderNotes kNotes{
    .versions = "text of Austin 2 to 4, MOJO 1 to 4",
    .keeps = "wall and processor time, memory, lines, MOJO's columns, processes and threads",
    .recording = "austin -o out.austin python app.py",
    .verified = "mojo2austin (samples, totals); sums over the lines of the texts",
};

bool is_mojo(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 && bytes[0] == std::byte{'M'} && bytes[1] == std::byte{'O'} &&
         bytes[2] == std::byte{'J'} && std::to_integer<unsigned>(bytes[3]) - 1 < 31;
}

// "P12;T": a sample of the text.
bool is_sample(std::string_view line) {
  if (!line.starts_with('P')) return false;
  std::size_t i = 1;
  while (i < line.size() && line[i] >= '0' && line[i] <= '9') ++i;
  return i > 1 && line.substr(i, 2) == ";T";
}

class AustinReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"austin", "Austin text and MOJO", kExtensions, 61, "Austin, austinp", 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    static_cast<void>(at_end);
    if (is_mojo(prefix)) return Confidence::certain;
    LineReader lines(sniff_text(prefix));
    for (std::string_view line; lines.next(line);) {
      if (line.starts_with("# austin: ")) return Confidence::certain;
      if (line.empty() || line.starts_with("# ")) continue;
      return is_sample(line) ? Confidence::certain : Confidence::no;
    }
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    ProfileBuilder builder;
    builder.info().format = "austin";
    builder.info().producer = "Austin";
    PROFD_CHECK(is_mojo(source.bytes()) ? austin::read_mojo(source, context, builder)
                                        : austin::read_text(source, context, builder));
    profiles.push_back(std::move(builder));
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_austin_reader() {
  return std::make_unique<AustinReader>();
}

}  // namespace profd
