#include "formats/memray/header.h"

#include <fmt/format.h>

namespace profd::memray {
namespace {

constexpr std::string_view kMark("memray\0", 7);

// Texts up to an empty one.
void skip_texts(ByteCursor& in) {
  while (in.ok() && !in.text_to_nul().empty()) continue;
}

}  // namespace

bool has_mark(std::string_view text) {
  return text.starts_with(kMark);
}

Result<Header> read_header(ByteCursor& in) {
  if (in.text(kMark.size()) != kMark) {
    PROFD_CHECK(in.status("the mark memray"));
    return fail(ErrorCode::malformed, "the file does not begin with memray", 0);
  }
  Header h;
  h.version = in.u32();
  PROFD_CHECK(in.status("the header"));
  if (h.version < kOldest || h.version > kNewest)
    return fail(ErrorCode::unsupported,
                fmt::format("version {} of memray's recordings is not read, only {} to {}", h.version,
                            kOldest, kNewest),
                kMark.size());
  if (h.version >= kPacked) h.python = in.u32();
  h.native = in.u8() != 0;
  const std::uint64_t at = in.offset();
  const std::uint8_t form = h.version >= 10 ? in.u8() : 0;
  h.n_allocations = in.u64();
  in.u64();  // frames
  h.start_ms = in.i64();
  h.end_ms = in.i64();
  h.command = in.text_to_nul();
  h.pid = in.i32();
  if (h.version >= 9) {
    h.main_thread = in.u64();
    h.n_skipped = in.u64();
  }
  in.u8();                       // Python's own allocator
  if (h.version >= 11) in.u8();  // whether it was traced
  if (h.version >= kPacked) h.objects = in.u8() != 0;
  if (h.version >= 13) {
    in.text_to_nul();  // where Python's library lies
    skip_texts(in);
    skip_texts(in);
  }
  PROFD_CHECK(in.status("the header"));
  if (form > 1)
    return fail(ErrorCode::unsupported, fmt::format("form {} of recordings is not known", form), at);
  h.aggregated = form == 1;
  if (h.objects)
    return fail(
        ErrorCode::unsupported,
        "recordings with the lifetimes of objects are not read: record without track_object_lifetimes", at);
  return h;
}

}  // namespace profd::memray
