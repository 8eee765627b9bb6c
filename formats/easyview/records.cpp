#include "formats/easyview/records.h"

#include <array>

#include <fmt/format.h>

#include "formats/easyview/profile.fields.h"

namespace profd::easyview {
namespace {

using protobuf::Cursor;
using protobuf::Field;
using protobuf::read_field;
using protobuf::read_varint;
using protobuf::Wire;

std::int64_t as_signed(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

// The varint fields of a message by their number, which is at most `last`.
template <std::uint32_t last>
using Numbers = std::array<std::uint64_t, last + 1>;

// False when there is anything else in it.
template <std::size_t n>
bool read_numbers(Cursor message, std::array<std::uint64_t, n>& out) {
  out = {};
  Field field;
  while (!message.done()) {
    if (!read_field(message, field)) return false;
    if (field.number >= n) continue;  // of a later version
    if (field.wire != Wire::varint) return false;
    out[field.number] = field.value;
  }
  return true;
}

class Reading {
 public:
  Reading(std::span<const std::byte> bytes, ReadContext& context) : in_(bytes), context_(context) {
    begin_ = in_.p;
    out_.n_bytes = bytes.size();
  }

  Result<Records> run() {
    Field field;
    while (!in_.done()) {
      const std::uint64_t at = offset();
      if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (!read_field(in_, field)) {
        const bool early = ends_early();
        if (early && context_.partial) {
          out_.truncated = true;
          context_.report.add("truncated", Severity::loss,
                              "The file ends inside a message; what came before was read.", at);
          break;
        }
        return early ? fail(ErrorCode::truncated, "the file ends inside a message", at)
                     : fail(ErrorCode::malformed, "what should be a field is none", at);
      }
      if (field.number <= schema::profile::string_table && field.wire != Wire::length)
        return fail(ErrorCode::malformed, fmt::format("field {} is no message", field.number), at);
      if (!message(field, at))
        return fail(ErrorCode::malformed, fmt::format("a message of field {} is ill-formed", field.number),
                    at);
    }
    out_.sample_first_value.push_back(static_cast<std::uint32_t>(out_.values.size()));
    out_.location_first_line.push_back(static_cast<std::uint32_t>(out_.line_function.size()));
    return std::move(out_);
  }

 private:
  std::uint64_t offset() const { return static_cast<std::uint64_t>(in_.p - begin_); }

  // The field in hand is cut off by the end of the file, rather than wrong.
  bool ends_early() const {
    Cursor at = in_;
    std::uint64_t tag;
    if (!read_varint(at, tag)) return at.left() < 10;
    if (tag >> 3 == 0) return false;
    const auto wire = tag & 7;
    return wire == 0 || wire == 1 || wire == 2 || wire == 5;
  }

  bool message(const Field& field, std::uint64_t at) {
    switch (field.number) {
      case schema::profile::metric_type:
        return metric_type(field.bytes);
      case schema::profile::sample:
        return sample(field.bytes, at);
      case schema::profile::context:
        return context(field.bytes, at);
      case schema::profile::location:
        return location(field.bytes);
      case schema::profile::function: {
        Numbers<schema::function::start_line> f;
        if (!read_numbers(field.bytes, f)) return false;
        out_.function_id.push_back(f[schema::function::id]);
        out_.function_name.push_back(f[schema::function::name]);
        out_.function_system_name.push_back(f[schema::function::system_name]);
        out_.function_file.push_back(f[schema::function::source_file_id]);
        out_.function_start_line.push_back(as_signed(f[schema::function::start_line]));
        return true;
      }
      case schema::profile::source_file: {
        Numbers<schema::source_file::reserved_4> f;
        if (!read_numbers(field.bytes, f)) return false;
        out_.file_id.push_back(f[schema::source_file::id]);
        out_.file_name.push_back(f[schema::source_file::filename]);
        out_.file_path.push_back(f[schema::source_file::local_path]);
        return true;
      }
      case schema::profile::string_table:
        out_.strings.emplace_back(reinterpret_cast<const char*>(field.bytes.p), field.bytes.left());
        return true;
      default:
        context_.report.add("unknown-field", Severity::info,
                            "The file has fields of a version that is not known; they were skipped.", at);
        return true;
    }
  }

  bool metric_type(Cursor in) {
    namespace metric = schema::metric_type;
    Numbers<metric::name> f;
    if (!read_numbers(in, f)) return false;
    out_.metrics.push_back({f[metric::value_type], f[metric::unit], f[metric::name]});
    return true;
  }

  bool sample(Cursor in, std::uint64_t at) {
    out_.sample_first_value.push_back(static_cast<std::uint32_t>(out_.values.size()));
    std::uint64_t context = 0;
    Field field;
    while (!in.done()) {
      if (!read_field(in, field)) return false;
      if (field.number == schema::sample::context_id && field.wire == Wire::varint) {
        context = field.value;
      } else if (field.number == schema::sample::metric && field.wire == Wire::length) {
        namespace metric = schema::metric;
        Numbers<metric::str_value> f;
        if (!read_numbers(field.bytes, f)) return false;
        out_.values.push_back({as_signed(f[metric::int_value]), f[metric::uint_value], f[metric::str_value]});
      } else if (field.number <= schema::sample::metric) {
        return false;
      }
    }
    out_.sample_context.push_back(context);
    out_.sample_offset.push_back(at);
    return true;
  }

  bool context(Cursor in, std::uint64_t at) {
    const auto row = static_cast<std::uint32_t>(out_.context_id.size());
    namespace of_context = schema::context;
    Numbers<of_context::parent_id> f{};
    Field field;
    while (!in.done()) {
      if (!read_field(in, field)) return false;
      if (field.number <= of_context::parent_id) {
        if (field.wire != Wire::varint) return false;
        f[field.number] = field.value;
      } else if (field.number == of_context::children_id && field.wire == Wire::varint) {
        child(row, field.value);
      } else if (field.number == of_context::children_id && field.wire == Wire::length) {
        std::uint64_t id;
        while (!field.bytes.done()) {
          if (!read_varint(field.bytes, id)) return false;
          child(row, id);
        }
      }
    }
    out_.context_id.push_back(f[of_context::id]);
    out_.context_location.push_back(f[of_context::location_id]);
    out_.context_parent.push_back(f[of_context::parent_id]);
    out_.context_offset.push_back(at);
    return true;
  }
  void child(std::uint32_t row, std::uint64_t id) {
    out_.child_of.push_back(row);
    out_.child_id.push_back(id);
  }

  bool location(Cursor in) {
    out_.location_first_line.push_back(static_cast<std::uint32_t>(out_.line_function.size()));
    std::uint64_t id = 0;
    Field field;
    while (!in.done()) {
      if (!read_field(in, field)) return false;
      if (field.number == schema::location::id && field.wire == Wire::varint) {
        id = field.value;
      } else if (field.number == schema::location::line && field.wire == Wire::length) {
        Numbers<schema::line::line> f;
        if (!read_numbers(field.bytes, f)) return false;
        out_.line_function.push_back(f[schema::line::function_id]);
        out_.line_number.push_back(as_signed(f[schema::line::line]));
      } else if (field.number <= schema::location::line) {
        return false;
      }
    }
    out_.location_id.push_back(id);
    return true;
  }

  Cursor in_;
  const std::uint8_t* begin_;
  ReadContext& context_;
  Records out_;
};

// What a message proves: nothing, that the file is DrCCTProf's, or that it is not.
enum class Proof { none, yes, no };

Proof prove_sample(Cursor in, std::size_t n_metrics) {
  Field field;
  std::size_t n_values = 0;
  while (!in.done()) {
    if (!read_field(in, field)) return Proof::no;
    if (field.number >= std::size(schema::sample::wires) || field.wire != schema::sample::wires[field.number])
      return Proof::no;
    if (field.number == schema::sample::context_id) continue;
    Numbers<schema::metric::str_value> values;
    ++n_values;
    if (!read_numbers(field.bytes, values)) return Proof::no;
  }
  return n_values <= n_metrics ? Proof::none : Proof::no;
}

Proof prove(const Field& field, std::size_t n_metrics) {
  Cursor in = field.bytes;
  Field inner;
  bool proven = false;
  switch (field.number) {
    case schema::profile::metric_type:
      while (!in.done()) {
        if (!read_field(in, inner) || inner.number > schema::metric_type::name || inner.wire != Wire::varint)
          return Proof::no;
        proven |= inner.number == schema::metric_type::name;  // pprof's ValueType has two fields
      }
      break;
    case schema::profile::sample:
      return prove_sample(in, n_metrics);
    case schema::profile::context:
      while (!in.done()) {
        if (!read_field(in, inner) || inner.number > schema::context::children_id) return Proof::no;
        const bool children = inner.number == schema::context::children_id;
        if (!children && inner.wire != Wire::varint) return Proof::no;
        proven |= children && inner.wire == Wire::length;
      }
      break;
    case schema::profile::location:
      while (!in.done()) {
        if (!read_field(in, inner) || inner.number > schema::location::line ||
            inner.wire != schema::location::wires[inner.number])
          return Proof::no;
        proven |= inner.number == schema::location::line;
      }
      break;
    case schema::profile::function:
    case schema::profile::source_file:
      while (!in.done())
        if (!read_field(in, inner) || inner.number > schema::function::start_line ||
            inner.wire != Wire::varint)
          return Proof::no;
      break;
    default:
      break;
  }
  return proven ? Proof::yes : Proof::none;
}

}  // namespace

Result<Records> read_records(std::span<const std::byte> bytes, ReadContext& context) {
  return Reading(bytes, context).run();
}

Confidence sniff_records(std::span<const std::byte> prefix, bool at_end) {
  Cursor cursor(prefix);
  std::size_t n_metrics = 0, n_contexts = 0, n_proofs = 0, n_samples = 0;
  Field field;
  while (!cursor.done()) {
    Cursor header = cursor;
    std::uint64_t tag;
    if (!read_varint(header, tag)) break;
    if (tag >> 3 == 0 || tag >> 3 > schema::profile::string_table || (tag & 7) != 2) return Confidence::no;
    if (!read_field(cursor, field)) break;  // cut off by the end of the prefix
    const Proof proof = prove(field, n_metrics);
    if (proof == Proof::no) return Confidence::no;
    n_proofs += proof == Proof::yes;
    n_metrics += field.number == schema::profile::metric_type;
    n_contexts += field.number == schema::profile::context;
    n_samples += field.number == schema::profile::sample;
  }
  const bool whole = cursor.done() && at_end;
  if (n_metrics == 0) return Confidence::no;
  if (n_proofs > 0 && n_samples > 0 && (n_contexts > 0 || !whole)) return Confidence::certain;
  if (n_proofs > 0) return Confidence::maybe;
  return Confidence::no;
}

}  // namespace profd::easyview
