// What the sampling profiler of CPython 3.15 writes: TACH recordings and lines of JSON.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>

#include "formats/support/json_cursor.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_source.h"
#include "formats/tachyon/forms.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 3> kExtensions{".tach", ".bin", ".jsonl"};
constexpr ReaderNotes kNotes{
    .versions = "version 1, either byte order, plain or zstd; lines of JSON of version 0",
    .keeps =
        "samples, time, threads, times, lines, columns, opcodes, who holds the GIL; of lines of JSON sums "
        "alone",
    .recording = "python3.15 -m profiling.sampling run -a --binary -o app.tach app.py",
    .verified = "against its own replay --collapsed, on three recordings",
};

// The first line of the JSON form, whatever the order of its keys.
bool is_jsonl(std::span<const std::byte> prefix) {
  const std::string_view line = first_line(sniff_text(prefix));
  if (!line.starts_with('{') || line.size() > 4096) return false;
  JsonCursor in(line, 8);
  bool meta = false, run = false, interval = false;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "type" && in.kind() == JsonKind::string) {
      meta = in.string() == "meta";
      continue;
    }
    run |= key == "run_id";
    interval |= key == "sample_interval_usec";
    in.skip();
  }
  return in.ok() && meta && run && interval;
}

class TachyonReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"tachyon",
                                 "Python sampling recording",
                                 kExtensions,
                                 48,
                                 "CPython 3.15: profiling.sampling (Tachyon)",
                                 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
    const bool little = text.starts_with("HCAT"), big = text.starts_with("TACH");
    if ((little || big) && text.size() >= 8) {
      const char low = text[little ? 4 : 7], high = text[little ? 7 : 4];
      if (low != 0 && high == 0 && text[5] == 0 && text[6] == 0) return Confidence::certain;
    }
    // The header of a run that crashed was not written yet.
    if (text.size() > 64 && text.substr(0, 64).find_first_not_of('\0') == std::string_view::npos)
      return Confidence::need_more;
    return is_jsonl(prefix) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    ProfileBuilder& builder = profiles.emplace_back();
    const std::string_view text = sniff_text(source.bytes());
    return text.starts_with('{') ? tachyon::read_aggregates(source, context, builder)
                                 : tachyon::read_recording(source, context, builder);
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_tachyon_reader() {
  return std::make_unique<TachyonReader>();
}

}  // namespace profd
