// perf.data: what `perf record` writes, as a file or through a pipe. docs/formats/perf-data.md says what is
// read and what is lost; linux/tools/perf/Documentation/perf.data-file-format.txt describes the bytes.
#include "formats/reader.h"

#include <array>
#include <memory>

#include "formats/perf_data/file_header.h"
#include "formats/perf_data/session.h"
#include "formats/perf_data/stream.h"

namespace profd {
namespace {

using namespace perf_data;

constexpr std::array<std::string_view, 2> kExtensions{".perf.data", ".data"};

class PerfDataReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"perf-data", "Linux perf.data", kExtensions, 30,
                                 "perf record, simpleperf record"};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    std::endian order;
    if (is_perf_data(prefix, order)) return Confidence::certain;
    constexpr std::size_t kMagic = 8;
    const std::string_view start(reinterpret_cast<const char*>(prefix.data()),
                                 std::min(prefix.size(), kMagic));
    return start == "PERFFILE" || start == "ELIFFREP" ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const auto bytes = source.bytes();
    PROFD_TRY(const FileHeader header, read_file_header(bytes, context.partial, context.report));
    Session session(context, profiles.emplace_back(), header.order);
    for (const Event& event : header.events) session.add_event(event);
    for (const auto& [bit, section] : header.features) {
      const ByteCursor in(bytes.subspan(section.offset, section.size), header.order, section.offset);
      session.add_feature(bit, in, section.offset);
    }
    RecordStream stream(context, session);
    const auto data = bytes.subspan(header.data.offset, header.data.size);
    PROFD_CHECK(stream.read(data, header.data.offset, header.unfinished));
    PROFD_CHECK(stream.finish());
    if (session.n_events() == 0)
      return fail(ErrorCode::malformed, "the recording describes no event", bytes.size());
    return session.build();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_perf_data_reader() {
  return std::make_unique<PerfDataReader>();
}

}  // namespace profd
