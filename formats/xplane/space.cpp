#include "formats/xplane/space.h"

#include <algorithm>

#include <fmt/format.h>

#include "formats/xplane/xplane.fields.h"

namespace profd::xplane {
namespace {

using protobuf::Cursor;
using protobuf::Field;
using protobuf::Wire;

std::string_view text_of(Cursor in) {
  return {reinterpret_cast<const char*>(in.p), in.left()};
}

class SpaceReading {
 public:
  explicit SpaceReading(const ByteSource& source)
      : begin_(reinterpret_cast<const std::uint8_t*>(source.bytes().data())) {}

  // Calls `visit` with every field that the schema has; those of later versions are stepped over.
  template <std::size_t n, class Visit>
  Result<void> each(Cursor in, const Wire (&wires)[n], std::string_view what, Visit visit) const {
    Field field;
    while (!in.done()) {
      const std::uint64_t at = offset(in);
      if (!protobuf::read_field(in, field))
        return fail(ErrorCode::malformed, fmt::format("{} is broken off or no message", what), at);
      if (field.number >= n || wires[field.number] == Wire::none) continue;
      if (field.wire != wires[field.number])
        return fail(ErrorCode::malformed,
                    fmt::format("field {} of {} is of another kind", field.number, what), at);
      PROFD_CHECK(visit(field));
    }
    return {};
  }

  Result<Plane> plane(Cursor in, Space& space) const {
    Plane out;
    std::unordered_map<std::int64_t, std::string_view> stat_names;
    std::vector<Cursor> stats;
    PROFD_CHECK(each(in, schema::xplane::wires, "a plane", [&](const Field& field) -> Result<void> {
      switch (field.number) {
        case schema::xplane::name:
          out.name = text_of(field.bytes);
          return {};
        case schema::xplane::lines: {
          PROFD_TRY(Line line, this->line(field.bytes));
          out.lines.push_back(std::move(line));
          return {};
        }
        case schema::xplane::event_metadata:
          return named(field.bytes, out.event_names);
        case schema::xplane::stat_metadata:
          return named(field.bytes, stat_names);
        default:
          stats.push_back(field.bytes);
          return {};
      }
    }));
    // The names of what is said of a plane may stand behind it.
    for (const Cursor& stat : stats) {
      std::int64_t key = 0, value = 0;
      PROFD_CHECK(each(stat, schema::xstat::wires, "what is said of a plane", [&](const Field& field) {
        (field.number == schema::xstat::metadata_id ? key : value) = static_cast<std::int64_t>(field.value);
        return Result<void>{};
      }));
      const auto name = stat_names.find(key);
      if (name == stat_names.end() || value <= 0) continue;
      if (name->second == "profile_start_time") space.start_ns = value;
      if (name->second == "profile_stop_time") space.stop_ns = value;
    }
    return out;
  }

  Result<Event> event(Cursor in) const {
    Event out;
    PROFD_CHECK(each(in, schema::xevent::wires, "an event", [&](const Field& field) {
      const auto value = static_cast<std::int64_t>(field.value);
      switch (field.number) {
        case schema::xevent::metadata_id:
          out.metadata = value;
          break;
        case schema::xevent::offset_ps:
          out.offset_ps = value;
          break;
        case schema::xevent::duration_ps:
          out.duration_ps = value;
          break;
        case schema::xevent::num_occurrences:
          out.n_occurrences = value;
          break;
        default:
          out.has_stats = true;
      }
      return Result<void>{};
    }));
    return out;
  }

 private:
  std::uint64_t offset(Cursor in) const { return static_cast<std::uint64_t>(in.p - begin_); }

  Result<Line> line(Cursor in) const {
    Line out;
    std::string_view display;
    PROFD_CHECK(each(in, schema::xline::wires, "a line", [&](const Field& field) {
      switch (field.number) {
        case schema::xline::id:
          out.id = static_cast<std::int64_t>(field.value);
          break;
        case schema::xline::name:
          out.name = text_of(field.bytes);
          break;
        case schema::xline::display_name:
          display = text_of(field.bytes);
          break;
        case schema::xline::timestamp_ns:
          out.timestamp_ns = static_cast<std::int64_t>(field.value);
          break;
        case schema::xline::events:
          out.events.push_back(field.bytes);
      }
      return Result<void>{};
    }));
    if (!display.empty()) out.name = display;
    return out;
  }

  Result<void> named(Cursor in, std::unordered_map<std::int64_t, std::string_view>& names) const {
    std::int64_t key = 0;
    std::string_view name;
    PROFD_CHECK(each(in, schema::named_entry::wires, "a name", [&](const Field& field) -> Result<void> {
      if (field.number == schema::named_entry::key) {
        key = static_cast<std::int64_t>(field.value);
        return {};
      }
      return each(field.bytes, schema::named::wires, "a name", [&](const Field& inner) {
        if (inner.number == schema::named::name) name = text_of(inner.bytes);
        return Result<void>{};
      });
    }));
    names[key] = name;
    return {};
  }

  const std::uint8_t* begin_;
};

}  // namespace

Result<Space> read_space(const ByteSource& source, ReadContext& context) {
  const SpaceReading reading(source);
  Space out;
  Cursor in(source.bytes());
  Field field;
  std::vector<Cursor> errors;
  while (!in.done()) {
    PROFD_CHECK(context.stop.status());
    const std::uint64_t at = source.bytes().size() - in.left();
    if (!protobuf::read_field(in, field)) {
      // All fields of the outer message are texts or messages with numbers below 16.
      const bool cut = (*in.p & 7) == static_cast<std::uint8_t>(Wire::length) && *in.p < 0x80;
      if (!cut) return fail(ErrorCode::malformed, "what follows a plane is no field of a message", at);
      if (!context.partial && !source.truncated())
        return fail(ErrorCode::truncated, "the file ends within a plane", at);
      context.report.add("truncated", Severity::loss, "The file ends within a plane, which was left out.",
                         at);
      break;
    }
    if (field.number != schema::xspace::planes && field.number != schema::xspace::errors &&
        field.number != schema::xspace::warnings)
      continue;
    if (field.wire != Wire::length)
      return fail(ErrorCode::malformed, fmt::format("field {} of the file is of another kind", field.number),
                  at);
    if (field.number == schema::xspace::planes) {
      PROFD_TRY(Plane plane, reading.plane(field.bytes, out));
      out.planes.push_back(std::move(plane));
    } else {
      context.report.add(field.number == schema::xspace::errors ? "recording-error" : "recording-warning",
                         Severity::info,
                         fmt::format("The profiler says: {}", text_of(field.bytes).substr(0, 200)), at);
    }
  }
  return out;
}

Result<Event> read_event(Cursor event, const ByteSource& source) {
  return SpaceReading(source).event(event);
}

Confidence sniff_space(std::span<const std::byte> prefix) {
  constexpr auto kPlane = protobuf::short_tag(schema::xspace::planes, Wire::length);
  constexpr auto kName = protobuf::short_tag(schema::xplane::name, Wire::length);
  Cursor in(prefix);
  for (int i = 0; i < 8 && !in.done() && *in.p == kPlane; ++i) {
    ++in.p;
    std::uint64_t size;
    if (!protobuf::read_varint(in, size)) return Confidence::no;
    Cursor plane(in.p, in.p + std::min<std::uint64_t>(size, in.left()));
    in.p = plane.end;
    // The id, where it is not 0, stands before the name.
    Field field;
    if (!plane.done() && *plane.p == protobuf::short_tag(1, Wire::varint) &&
        !protobuf::read_field(plane, field))
      return Confidence::no;
    if (plane.done() || *plane.p != kName || !protobuf::read_field(plane, field)) return Confidence::no;
    const std::string_view name = text_of(field.bytes);
    if (name.starts_with("/host:") || name.starts_with("/device:")) return Confidence::certain;
  }
  return Confidence::no;
}

}  // namespace profd::xplane
