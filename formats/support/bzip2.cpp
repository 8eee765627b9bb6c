#include "formats/support/bzip2.h"

#include <algorithm>
#include <memory>

#include <bzlib.h>

#include "formats/support/stream_expansion.h"

namespace profd {

bool is_bzip2(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.size() > 9 && text.starts_with("BZh") &&
         (text.substr(4, 6) == "1AY&SY" || text.substr(4, 6) == "\x17rE8P\x90");
}

Result<Expanded> unbzip2(std::span<const std::byte> in, const ExpandOptions& options, ImportReport& report) {
  bz_stream stream{};
  const auto own_memory = [&stream] {
    stream.bzalloc = [](void*, int n, int size) {
      return allocate_for_decoder(static_cast<std::size_t>(n), static_cast<std::size_t>(size));
    };
    stream.bzfree = [](void*, void* block) { free_of_decoder(block); };
  };
  own_memory();
  if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK)
    return fail(ErrorCode::limit, "not enough memory to decompress");
  const std::unique_ptr<bz_stream, int (*)(bz_stream*)> closer(&stream, BZ2_bzDecompressEnd);
  return expand_stream(
      in, options, report, "bzip2", [&](std::span<const std::byte>& from, std::span<std::byte>& to) {
        constexpr std::size_t kMost = 1u << 30;
        stream.next_in = const_cast<char*>(reinterpret_cast<const char*>(from.data()));
        stream.avail_in = static_cast<unsigned>(std::min(from.size(), kMost));
        stream.next_out = reinterpret_cast<char*>(to.data());
        stream.avail_out = static_cast<unsigned>(std::min(to.size(), kMost));
        const unsigned offered = stream.avail_in, room = stream.avail_out;
        const int status = BZ2_bzDecompress(&stream);
        from = from.subspan(offered - stream.avail_in);
        to = to.subspan(room - stream.avail_out);
        if (status == BZ_OK) return StreamStep::more;
        if (status == BZ_MEM_ERROR) return StreamStep::no_memory;
        if (status != BZ_STREAM_END) return StreamStep::damaged;
        if (from.empty()) return StreamStep::finished;
        BZ2_bzDecompressEnd(&stream);
        stream = {};
        own_memory();
        return BZ2_bzDecompressInit(&stream, 0, 0) == BZ_OK ? StreamStep::more : StreamStep::damaged;
      });
}

}  // namespace profd
