#include "formats/support/lz4.h"

#include <memory>

#include <lz4frame.h>

#include "formats/support/stream_expansion.h"

namespace profd {

bool is_lz4(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // The byte behind the mark begins with the version, which is 1.
  return text.size() >= 7 && text.starts_with("\x04\x22\x4D\x18") && (text[4] & 0xC0) == 0x40;
}

Result<Expanded> unlz4(std::span<const std::byte> in, const ExpandOptions& options, ImportReport& report) {
  LZ4F_dctx* made = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION)) != 0)
    return fail(ErrorCode::limit, "not enough memory to decompress");
  const std::unique_ptr<LZ4F_dctx, LZ4F_errorCode_t (*)(LZ4F_dctx*)> decoder(made,
                                                                             LZ4F_freeDecompressionContext);
  return expand_stream(
      in, options, report, "lz4", [&](std::span<const std::byte>& from, std::span<std::byte>& to) {
        std::size_t taken = from.size(), written = to.size();
        const std::size_t left =
            LZ4F_decompress(decoder.get(), to.data(), &written, from.data(), &taken, nullptr);
        if (LZ4F_isError(left) != 0) return StreamStep::damaged;
        from = from.subspan(taken);
        to = to.subspan(written);
        return left == 0 && from.empty() ? StreamStep::finished : StreamStep::more;
      });
}

}  // namespace profd
