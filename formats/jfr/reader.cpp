// JDK Flight Recorder: docs/formats/jfr.md says what is made of which event.
#include "formats/reader.h"

#include <array>
#include <memory>

#include "formats/jfr/conversion.h"
#include "formats/jfr/recording.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".jfr"};
constexpr ReaderNotes kNotes{
    .versions =
        "layouts 1.x and 2.x: JDK 8u262 and newer, async-profiler, Datadog; not 0.9 (Oracle JDK 7 and 8)",
    .keeps = "a profile for each family of events: stacks, lines, how frames ran, threads, times, labels",
    .recording = "java -XX:StartFlightRecording=filename=app.jfr,settings=profile -jar app.jar",
    .verified = "jfr summary and jfr print of JDK 17, async-profiler's jfrconv, Grafana's parser",
};

class JfrReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "jfr", "Java Flight Recorder", kExtensions, 20, "JDK Flight Recorder, async-profiler, Datadog", 5,
        kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
    return text.starts_with(std::string_view("FLR\0", 4)) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    PROFD_TRY(const jfr::Recording recording, jfr::load_recording(source, context));
    return jfr::convert(recording, context, profiles);
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_jfr_reader() {
  return std::make_unique<JfrReader>();
}

}  // namespace profd
