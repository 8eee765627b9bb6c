// memray, the memory profiler of Python: recordings of all allocations, or summed up.
#include "formats/reader.h"

#include <array>
#include <memory>

#include "formats/memray/header.h"
#include "formats/memray/profile.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".memray", ".bin"};
constexpr ReaderNotes kNotes{
    .versions = "recordings 8 to 13 (memray 1.3 to 1.20), all allocations or aggregated, compressed or not",
    .keeps =
        "bytes and number of allocations, peak and leaked by stack, threads, allocators, lines, resident "
        "memory; no native stacks",
    .recording = "memray run -o app.bin app.py",
    .verified = "against memray stats of the versions that wrote them: bytes, number and peak, to the byte",
};

class MemrayReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"memray", "memray recording", kExtensions, 49, "memray, pytest-memray", 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    return memray::has_mark({reinterpret_cast<const char*>(prefix.data()), prefix.size()})
               ? Confidence::certain
               : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    ByteCursor in(source.bytes());
    PROFD_TRY(const memray::Header header, memray::read_header(in));
    ProfileBuilder& builder = profiles.emplace_back();
    return header.aggregated ? memray::read_aggregated(in, header, context, builder)
                             : memray::read_allocations(source, in, header, context, builder);
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_memray_reader() {
  return std::make_unique<MemrayReader>();
}

}  // namespace profd
