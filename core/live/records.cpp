#include "core/live/records.h"

#include "core/live/varint.h"

namespace profd::live {
namespace {

tl::unexpected<Error> broken(std::string problem) {
  return fail(ErrorCode::malformed, "a message `events` of the live stream is none: " + std::move(problem));
}

}  // namespace

Result<EventsHead> read_events_head(Bytes& payload) {
  EventsHead head;
  const std::byte* at = payload.data();
  const std::byte* const end = at + payload.size();
  if (!read_varint(at, end, head.thread) || !read_varint(at, end, head.ticks))
    return broken("it ends before its records");
  payload = {at, end};
  return head;
}

Result<void> read_records(Bytes& payload, std::uint64_t& ticks, Records& records) {
  const std::byte* at = payload.data();
  const std::byte* const end = at + payload.size();
  std::uint64_t now = ticks;
  std::uint32_t n = 0;
  records.others.clear();
  while (at != end && n < Records::kMost) {
    std::uint64_t head = 0;
    if (!read_varint(at, end, head)) return broken("a record does not end within it");
    if (__builtin_add_overflow(now, head >> 2, &now)) return broken("a time beyond 64 bits");
    const auto kind = static_cast<RecordKind>(head & 3);
    records.ticks[n] = now;
    records.kinds[n] = kind;
    std::uint64_t id = 0;
    if (kind != RecordKind::exit && !read_varint(at, end, id))
      return broken("a record does not end within it");
    if (kind == RecordKind::other) {
      std::uint64_t size = 0;
      if (!read_varint(at, end, size) || size > static_cast<std::uint64_t>(end - at))
        return broken("a record does not end within it");
      records.others.push_back({id, {reinterpret_cast<const char*>(at), static_cast<std::size_t>(size)}});
      at += size;
      id = records.others.size() - 1;
    }
    records.ids[n++] = id;
  }
  records.n = n;
  ticks = now;
  payload = {at, end};
  return {};
}

}  // namespace profd::live
