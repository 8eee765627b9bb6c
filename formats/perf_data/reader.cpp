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
constexpr ReaderNotes kNotes{
    .versions =
        "version 2: files and pipes, both byte orders, zstd, perf record --threads; Linux 2.6.36 and newer",
    .keeps =
        "every event with its period, threads, times, processor, call chains, modules with build ids; JIT "
        "and kernel symbols beside it",
    .recording = "perf record -g -- ./app",
    .verified = "perf script 6.1: samples and sum of periods of every event, on the corpus",
};

void describe(const FileHeader& header, std::span<const std::byte> bytes, Session& session) {
  for (const Event& event : header.events) session.add_event(event);
  for (const auto& [bit, section] : header.features) {
    const ByteCursor in(bytes.subspan(section.offset, section.size), header.order, section.offset);
    session.add_feature(bit, in, section.offset);
  }
}

// perf record --threads: a folder with `data`, which has the header, and the records of each thread of perf.
constexpr std::string_view kMainFile = "data", kThreadFile = "data.";

class PerfDataReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "perf-data", "Linux perf.data", kExtensions, 30, "perf record, simpleperf record", 3, kNotes};
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
    describe(header, bytes, session);
    RecordQueue queue;
    RecordStream stream(context, session, queue, true);
    const auto data = bytes.subspan(header.data.offset, header.data.size);
    PROFD_CHECK(stream.read(data, header.data.offset, header.unfinished));
    PROFD_CHECK(stream.finish());
    if (session.n_events() == 0)
      return fail(ErrorCode::malformed, "the recording describes no event", bytes.size());
    return session.build();
  }

  Confidence sniff_folder(const Folder& folder) const override {
    if (!folder.has(kMainFile) || !folder.has("data.0")) return Confidence::no;
    const auto source = folder.open(kMainFile);
    return source ? sniff(source->bytes(), true) : Confidence::no;
  }

  Result<void> read_folder(const Folder& folder, ReadContext& context,
                           std::vector<ProfileBuilder>& profiles) const override {
    PROFD_TRY(const ByteSource main, folder.open(kMainFile));
    PROFD_TRY(const FileHeader header, read_file_header(main.bytes(), context.partial, context.report));
    Session session(context, profiles.emplace_back(), header.order);
    describe(header, main.bytes(), session);
    RecordQueue queue;
    std::vector<ByteSource> sources;
    std::vector<std::unique_ptr<RecordStream>> streams;
    const auto read_part = [&](std::span<const std::byte> bytes, std::uint64_t base, bool may_be_cut) {
      streams.push_back(std::make_unique<RecordStream>(context, session, queue, false));
      return streams.back()->read(bytes, base, may_be_cut);
    };
    PROFD_CHECK(read_part(main.bytes().subspan(header.data.offset, header.data.size), header.data.offset,
                          header.unfinished));
    for (const std::string& file : folder.files()) {
      if (!file.starts_with(kThreadFile)) continue;
      PROFD_TRY(sources.emplace_back(), folder.open(file));
      if (auto read = read_part(sources.back().bytes(), 0, header.unfinished); !read)
        return tl::unexpected<Error>(std::move(read.error()).in(file));
    }
    PROFD_CHECK(streams.front()->finish());
    return session.build();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_perf_data_reader() {
  return std::make_unique<PerfDataReader>();
}

}  // namespace profd
