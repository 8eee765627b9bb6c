#include "formats/pprof/records.h"

#include <algorithm>
#include <string>
#include <utility>

namespace profd::pprof {
namespace {

class RecordReader {
 public:
  RecordReader(std::span<const std::byte> bytes, ReadContext& context) : context_(context) {
    records_.bytes = bytes;
    begin_ = reinterpret_cast<const std::uint8_t*>(bytes.data());
  }

  Result<Records> run();

 private:
  std::uint64_t offset(const std::uint8_t* p) const { return static_cast<std::uint64_t>(p - begin_); }
  tl::unexpected<Error> malformed(std::string message, const std::uint8_t* at) const {
    return fail(ErrorCode::malformed, std::move(message), offset(at));
  }
  tl::unexpected<Error> wrong_type(const char* what, const std::uint8_t* at) const {
    return malformed(std::string(what) + " has the wrong wire type", at);
  }

  Result<void> read_field_of_profile(const Field& field, const std::uint8_t* at);
  void make_room(const std::uint8_t* at);
  Result<ValueType> read_value_type(Cursor body) const;
  Result<void> read_mapping(Cursor body);
  Result<void> read_location(Cursor body);
  Result<void> read_line(Cursor body, Location& location);
  Result<void> read_function(Cursor body);
  Result<void> read_comments(const Field& field, const std::uint8_t* at);
  Result<void> set_time(std::uint64_t value, const std::uint8_t* at);

  Records records_;
  ReadContext& context_;
  const std::uint8_t* begin_ = nullptr;
  bool past_samples_ = false;  // a table was read after samples
  std::uint8_t table_ = 0;     // tag of the record before
};

// Calls set(field) for each field of a message; false from set = wrong wire type.
template <class Set>
Result<void> each_field(Cursor body, const std::uint8_t* file_begin, const char* what, Set set) {
  while (!body.done()) {
    Field field;
    const std::uint8_t* const at = body.p;
    const auto place = [&] { return static_cast<std::uint64_t>(at - file_begin); };
    if (!read_field(body, field)) [[unlikely]]
      return fail(ErrorCode::malformed, std::string("broken field in ") + what, place());
    if (!set(field)) [[unlikely]] {
      return fail(ErrorCode::malformed,
                  std::string(what) + " field " + std::to_string(field.number) + " has the wrong wire type",
                  place());
    }
  }
  return {};
}

bool take(const Field& field, std::uint64_t& to) {
  if (field.wire != Wire::varint) return false;
  to = field.value;
  return true;
}
bool take(const Field& field, std::int64_t& to) {
  if (field.wire != Wire::varint) return false;
  to = static_cast<std::int64_t>(field.value);
  return true;
}

Result<ValueType> RecordReader::read_value_type(Cursor body) const {
  ValueType type;
  PROFD_CHECK(each_field(body, begin_, "ValueType", [&](const Field& f) {
    if (f.number == schema::value_type::type) return take(f, type.type);
    if (f.number == schema::value_type::unit) return take(f, type.unit);
    return true;
  }));
  return type;
}

Result<void> RecordReader::read_mapping(Cursor body) {
  Mapping& m = records_.mappings.emplace_back();
  return each_field(body, begin_, "Mapping", [&](const Field& f) {
    switch (f.number) {
      case schema::mapping::id:
        return take(f, m.id);
      case schema::mapping::memory_start:
        return take(f, m.start);
      case schema::mapping::memory_limit:
        return take(f, m.limit);
      case schema::mapping::file_offset:
        return take(f, m.offset);
      case schema::mapping::filename:
        return take(f, m.filename);
      case schema::mapping::build_id:
        return take(f, m.build_id);
      default:
        return true;
    }
  });
}

Result<void> RecordReader::read_line(Cursor body, Location& location) {
  Line line;
  PROFD_CHECK(each_field(body, begin_, "Line", [&](const Field& f) {
    switch (f.number) {
      case schema::line::function_id:
        return take(f, line.function_id);
      case schema::line::line:
        return take(f, line.line);
      case schema::line::column:
        return take(f, line.column);
      default:
        return true;
    }
  }));
  records_.lines.push_back(line);
  ++location.n_lines;
  return {};
}

Result<void> RecordReader::read_location(Cursor body) {
  Location location;
  location.first_line = static_cast<std::uint32_t>(records_.lines.size());
  Result<void> inner;
  PROFD_CHECK(each_field(body, begin_, "Location", [&](const Field& f) {
    switch (f.number) {
      case schema::location::id:
        return take(f, location.id);
      case schema::location::mapping_id:
        return take(f, location.mapping_id);
      case schema::location::address:
        return take(f, location.address);
      case schema::location::line:
        if (f.wire != Wire::length) return false;
        if (inner) inner = read_line(f.bytes, location);
        return true;
      case schema::location::is_folded: {
        std::uint64_t folded = 0;
        if (!take(f, folded)) return false;
        location.is_folded = folded != 0;
        return true;
      }
      default:
        return true;
    }
  }));
  PROFD_CHECK(inner);
  records_.locations.push_back(location);
  return {};
}

Result<void> RecordReader::read_function(Cursor body) {
  Function& f = records_.functions.emplace_back();
  return each_field(body, begin_, "Function", [&](const Field& field) {
    switch (field.number) {
      case schema::function::id:
        return take(field, f.id);
      case schema::function::name:
        return take(field, f.name);
      case schema::function::system_name:
        return take(field, f.system_name);
      case schema::function::filename:
        return take(field, f.filename);
      case schema::function::start_line:
        return take(field, f.start_line);
      default:
        return true;
    }
  });
}

Result<void> RecordReader::read_comments(const Field& field, const std::uint8_t* at) {
  if (field.wire == Wire::varint) {
    records_.comments.push_back(field.value);
    return {};
  }
  if (field.wire != Wire::length) return wrong_type("comment", at);
  Cursor packed = field.bytes;
  while (!packed.done()) {
    std::uint64_t index;
    if (!read_varint(packed, index)) return malformed("broken varint in comment", packed.p);
    records_.comments.push_back(index);
  }
  return {};
}

Result<void> RecordReader::set_time(std::uint64_t value, const std::uint8_t* at) {
  if (records_.time_nanos != 0 && value != 0)
    return malformed("two profiles stand one after the other in this file; split them and open each", at);
  records_.time_nanos = static_cast<std::int64_t>(value);
  return {};
}

Result<void> RecordReader::read_field_of_profile(const Field& field, const std::uint8_t* at) {
  Records& r = records_;
  const bool message = field.wire == Wire::length;
  const auto scalar = [&](auto& to, const char* what) -> Result<void> {
    if (!take(field, to)) return wrong_type(what, at);
    return {};
  };
  namespace profile = schema::profile;
  if (field.number >= profile::mapping && field.number <= profile::string_table)
    past_samples_ |= r.samples.size() > 0;
  switch (field.number) {
    case profile::sample_type: {
      if (!message) return wrong_type("sample_type", at);
      if (past_samples_)
        return malformed("two profiles stand one after the other in this file; split them and open each", at);
      PROFD_TRY(const ValueType type, read_value_type(field.bytes));
      r.sample_types.push_back(type);
      return {};
    }
    case profile::mapping:
      return message ? read_mapping(field.bytes) : wrong_type("mapping", at);
    case profile::location:
      return message ? read_location(field.bytes) : wrong_type("location", at);
    case profile::function:
      return message ? read_function(field.bytes) : wrong_type("function", at);
    case profile::string_table:
      if (!message) return wrong_type("string_table", at);
      r.strings.emplace_back(reinterpret_cast<const char*>(field.bytes.p), field.bytes.left());
      return {};
    case profile::drop_frames:
      return scalar(r.drop_frames, "drop_frames");
    case profile::keep_frames:
      return scalar(r.keep_frames, "keep_frames");
    case profile::time_nanos:
      if (field.wire != Wire::varint) return wrong_type("time_nanos", at);
      return set_time(field.value, at);
    case profile::duration_nanos:
      return scalar(r.duration_nanos, "duration_nanos");
    case profile::period_type: {
      if (!message) return wrong_type("period_type", at);
      PROFD_TRY(r.period_type, read_value_type(field.bytes));
      r.has_period_type = true;
      return {};
    }
    case profile::period:
      return scalar(r.period, "period");
    case profile::comment:
      return read_comments(field, at);
    case profile::default_sample_type:
      return scalar(r.default_sample_type, "default_sample_type");
    case profile::doc_url:
      return scalar(r.doc_url, "doc_url");
    default:
      return {};  // a field of a later version
  }
}

// Where a table begins: its rows stand one after the other, and counting them first is a look at a byte or
// two of each, where tables that grow would be copied and touch twice the memory.
void RecordReader::make_room(const std::uint8_t* at) {
  if (std::exchange(table_, *at) == *at) return;
  constexpr std::uint8_t kLocations = short_tag(schema::profile::location, Wire::length),
                         kFunctions = short_tag(schema::profile::function, Wire::length),
                         kStrings = short_tag(schema::profile::string_table, Wire::length);
  if (*at != kLocations && *at != kFunctions && *at != kStrings) return;
  Cursor cursor(at, begin_ + records_.bytes.size());
  std::size_t n = 0;
  std::uint64_t length;
  while (!cursor.done() && *cursor.p == *at) {
    ++cursor.p;
    if (!read_varint(cursor, length) || length > cursor.left()) break;
    cursor.p += length;
    ++n;
  }
  // Growing by halves all the same, when tables take turns.
  const auto reserve = [n](auto& table) {
    if (table.capacity() - table.size() < n) table.reserve(std::max(table.size() + n, table.size() * 2));
  };
  if (*at == kFunctions) reserve(records_.functions);
  if (*at == kStrings) reserve(records_.strings);
  if (*at == kLocations) {
    reserve(records_.locations);
    reserve(records_.lines);
  }
}

Result<Records> RecordReader::run() {
  constexpr std::uint8_t kSampleTag = short_tag(schema::profile::sample, Wire::length);
  Cursor cursor(records_.bytes);
  // Room for samples as small as they get, in address space alone: growing would copy, and touch fresh pages.
  // A small block would be cut from pages that others need.
  constexpr std::size_t kSmallSample = 24, kSmallFile = 16u << 20;
  if (records_.bytes.size() >= kSmallFile) records_.samples.reserve(records_.bytes.size() / kSmallSample);
  std::size_t until_report = 0;
  while (!cursor.done()) {
    const std::uint8_t* at = cursor.p;
    if (until_report-- == 0) {
      until_report = 1u << 16;
      PROFD_CHECK(context_.stop.status());
      if (context_.progress) context_.progress(offset(at) / 4, records_.bytes.size());
    }
    bool whole = true;
    if (*at == kSampleTag) {
      Cursor body(at + 1, cursor.end);
      std::uint64_t length;
      whole = read_varint(body, length) && length <= body.left();
      if (whole) {
        records_.samples.push_back(offset(at + 1));
        cursor.p = body.p + length;
        continue;
      }
    }
    make_room(at);
    Field field;
    if (!whole || !read_field(cursor, field)) {
      if (context_.partial) {
        records_.truncated = true;
        break;
      }
      const std::size_t n = records_.samples.size();
      const std::string where =
          past_samples_ || !records_.strings.empty() ? "in the tables" : "after sample " + std::to_string(n);
      return fail(ErrorCode::truncated, "the file ends early or is damaged, " + where, offset(at));
    }
    if (field.number == schema::profile::sample) return wrong_type("sample", at);
    PROFD_CHECK(read_field_of_profile(field, at));
  }
  return std::move(records_);
}

}  // namespace

Result<std::string_view> Records::string(std::uint64_t index, std::string_view place) const {
  if (index < strings.size()) return strings[static_cast<std::size_t>(index)];
  if (index == 0) return std::string_view();
  return fail(ErrorCode::malformed, std::string(place) + " is string " + std::to_string(index) +
                                        ", but the string table has " + std::to_string(strings.size()));
}

Result<Records> read_records(std::span<const std::byte> bytes, ReadContext& context) {
  return RecordReader(bytes, context).run();
}

}  // namespace profd::pprof
