#include "formats/support/xz.h"

#include <memory>

#include <lzma.h>

#include "formats/support/stream_expansion.h"

namespace profd {

bool is_xz(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.starts_with(
      std::string_view("\xFD"
                       "7zXZ\0",
                       6));
}

Result<Expanded> unxz(std::span<const std::byte> in, const ExpandOptions& options, ImportReport& report) {
  // What the highest preset of the xz tool needs, with room to spare.
  constexpr std::uint64_t kMemory = 256u << 20;
  const lzma_allocator own_memory{
      [](void*, std::size_t n, std::size_t size) { return allocate_for_decoder(n, size); },
      [](void*, void* block) { free_of_decoder(block); }, nullptr};
  lzma_stream stream = LZMA_STREAM_INIT;
  stream.allocator = &own_memory;
  if (lzma_stream_decoder(&stream, kMemory, LZMA_CONCATENATED) != LZMA_OK)
    return fail(ErrorCode::limit, "not enough memory to decompress");
  const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> closer(&stream, lzma_end);
  return expand_stream(
      in, options, report, "xz", [&](std::span<const std::byte>& from, std::span<std::byte>& to) {
        stream.next_in = reinterpret_cast<const std::uint8_t*>(from.data());
        stream.avail_in = from.size();
        stream.next_out = reinterpret_cast<std::uint8_t*>(to.data());
        stream.avail_out = to.size();
        const lzma_ret status = lzma_code(&stream, from.empty() ? LZMA_FINISH : LZMA_RUN);
        from = from.subspan(from.size() - stream.avail_in);
        to = to.subspan(to.size() - stream.avail_out);
        if (status == LZMA_STREAM_END) return StreamStep::finished;
        if (status == LZMA_MEM_ERROR || status == LZMA_MEMLIMIT_ERROR) return StreamStep::no_memory;
        return status == LZMA_OK || status == LZMA_BUF_ERROR ? StreamStep::more : StreamStep::damaged;
      });
}

}  // namespace profd
