#include "formats/tachyon/tables.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "formats/tachyon/forms.h"

namespace profd::tachyon {
namespace {

constexpr std::string_view kOutside = "~";  // the file of what is no Python code

// What starts the program and waits for the profiler, on every stack of a program that it started.
constexpr std::string_view kStarter = "profiling/sampling/_sync_coordinator.py";

std::int64_t signed_varint(ByteCursor& in) {
  const std::uint64_t value = in.varint();
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

// An entry takes a byte at least, so that a table is never longer than its bytes.
Result<void> check_count(const ByteCursor& in, std::uint32_t n, std::size_t least, std::string_view what) {
  if (n <= in.left() / least) return {};
  return fail(ErrorCode::truncated,
              fmt::format("the file has {} bytes for the {} {} it counts", in.left(), n, what), in.offset());
}

}  // namespace

FrameId make_frame(const Place& place, ProfileBuilder& builder) {
  const bool outside = place.file == kOutside;
  FunctionSpec function;
  function.name = builder.string(place.function.empty() ? "(unnamed)" : place.function);
  if (!outside) function.file = builder.string(place.file);
  FrameSpec frame;
  frame.function = builder.function(function);
  frame.kind = !outside                   ? FrameKind::interpreted
               : place.function == "<GC>" ? FrameKind::gc
                                          : FrameKind::native;
  if (place.line > 0 && place.line < kNone) {
    frame.line = static_cast<std::uint32_t>(place.line);
    // Python counts columns from 0.
    if (place.column >= 0 && place.column < kNone - 1)
      frame.column = static_cast<std::uint32_t>(place.column) + 1;
  }
  return builder.frame(frame);
}

Result<Frames> read_tables(ByteCursor strings, std::uint32_t n_strings, ByteCursor frames,
                           std::uint32_t n_frames, ProfileBuilder& builder) {
  PROFD_CHECK(check_count(strings, n_strings, 1, "texts"));
  std::vector<std::string_view> texts;
  texts.reserve(n_strings);
  for (std::uint32_t i = 0; i < n_strings; ++i) {
    texts.push_back(strings.text(strings.varint()));
    PROFD_CHECK(strings.status("the table of texts"));
  }
  PROFD_CHECK(check_count(frames, n_frames, 7, "frames"));
  Frames out;
  out.id.reserve(n_frames);
  out.opcode.reserve(n_frames);
  for (std::uint32_t i = 0; i < n_frames; ++i) {
    const std::uint64_t at = frames.offset();
    const std::uint64_t file = frames.varint(), function = frames.varint();
    Place place;
    place.line = signed_varint(frames);
    signed_varint(frames);  // the line it ends on, from this one
    place.column = signed_varint(frames);
    signed_varint(frames);  // likewise
    const std::uint8_t opcode = frames.u8();
    PROFD_CHECK(frames.status("the table of frames"));
    if (file >= texts.size() || function >= texts.size())
      return fail(
          ErrorCode::malformed,
          fmt::format("frame {} has text {}, but there are {}", i, std::max(file, function), texts.size()),
          at);
    place.file = texts[file];
    place.function = texts[function];
    const bool own = place.file.ends_with(kStarter);
    out.n_of_profiler += own ? 1 : 0;
    out.id.push_back(own ? FrameId{} : make_frame(place, builder));
    out.opcode.push_back(opcode);
  }
  return out;
}

}  // namespace profd::tachyon
