#include "formats/stackprof/dump.h"

#include <cmath>

#include <fmt/format.h>

#include "formats/stackprof/ruby_marshal.h"
#include "formats/support/json_cursor.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd::stackprof {
namespace {

// -- Marshal -------------------------------------------------------------------------------------------

bool whole(const Value& value, std::int64_t& out) {
  if (value.kind == Kind::nil) return true;
  if (value.kind == Kind::real && std::abs(value.real) < 9e18) {
    out = std::llround(value.real);
    return true;
  }
  if (value.kind != Kind::integer) return false;
  out = value.integer;
  return true;
}

Result<void> read_numbers(const Marshal& data, const Value& value, std::vector<std::int64_t>& out) {
  if (value.kind == Kind::nil) return {};
  if (value.kind != Kind::array) return fail(ErrorCode::malformed, "the raw samples are no list");
  for (const std::uint32_t item : data.of(value)) {
    if (!whole(data.values[item], out.emplace_back()))
      return fail(ErrorCode::malformed, "the raw samples hold what is no number");
  }
  return {};
}

Result<DumpFrame> read_frame(const Marshal& data, const Value& id, const Value& value) {
  DumpFrame out;
  bool good = whole(id, out.id) && value.kind == Kind::hash;
  const auto entries = data.of(value);
  for (std::size_t i = 0; good && i + 1 < entries.size(); i += 2) {
    const std::string_view key = data.values[entries[i]].text;
    const Value& member = data.values[entries[i + 1]];
    if (key == "name")
      out.name = member.text;
    else if (key == "file")
      out.file = member.text;
    else if (key == "line")
      good = whole(member, out.line);
    else if (key == "total_samples")
      good = whole(member, out.total);
    else if (key == "samples")
      good = whole(member, out.self);
    else if (key == "edges" && member.kind == Kind::hash) {
      const auto edges = data.of(member);
      for (std::size_t e = 0; good && e + 1 < edges.size(); e += 2) {
        auto& edge = out.edges.emplace_back();
        good = whole(data.values[edges[e]], edge.first) && whole(data.values[edges[e + 1]], edge.second);
      }
    } else if (key == "lines" && member.kind == Kind::hash) {
      const auto lines = data.of(member);
      for (std::size_t l = 0; good && l + 1 < lines.size(); l += 2) {
        DumpFrame::Line line{0, 0, 0};
        const Value& weights = data.values[lines[l + 1]];
        good = whole(data.values[lines[l]], line.line);
        if (weights.kind == Kind::array && weights.n == 2) {
          const auto pair = data.of(weights);
          good = good && whole(data.values[pair[0]], line.total) && whole(data.values[pair[1]], line.self);
        } else {
          good = good && whole(weights, line.total);
        }
        out.lines.push_back(line);
      }
    }
  }
  if (!good) return fail(ErrorCode::malformed, "a frame has a member of the wrong kind");
  return out;
}

// -- JSON ----------------------------------------------------------------------------------------------

std::int64_t json_whole(JsonCursor& in) {
  if (in.kind() == JsonKind::null) {
    in.skip();
    return 0;
  }
  const std::uint64_t at = in.offset();
  const JsonNumber number = in.number();
  if (number.is_integer) return number.integer;
  if (in.ok() && std::abs(number.value) < 9e18) return std::llround(number.value);
  in.fail_at(at, ErrorCode::malformed, "the number is out of range");
  return 0;
}

std::int64_t key_number(JsonCursor& in, std::string_view key) {
  std::int64_t out = 0;
  if (!parse_int(key, out)) in.fail_at(in.offset(), ErrorCode::malformed, "a key is no number");
  return out;
}

void read_json_numbers(JsonCursor& in, std::vector<std::int64_t>& out) {
  if (in.kind() == JsonKind::null) return in.skip();
  for (in.begin_array(); in.next_element();) out.push_back(json_whole(in));
}

DumpFrame read_json_frame(JsonCursor& in, std::int64_t id) {
  DumpFrame out;
  out.id = id;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    const JsonKind kind = in.kind();
    if (key == "name" && kind == JsonKind::string)
      out.name = in.string();
    else if (key == "file" && kind == JsonKind::string)
      out.file = in.string();
    else if (key == "line")
      out.line = json_whole(in);
    else if (key == "total_samples")
      out.total = json_whole(in);
    else if (key == "samples")
      out.self = json_whole(in);
    else if (key == "edges" && kind == JsonKind::object) {
      std::string_view callee;
      for (in.begin_object(); in.next_key(callee);) {
        const std::int64_t to = key_number(in, callee);
        out.edges.emplace_back(to, json_whole(in));
      }
    } else if (key == "lines" && kind == JsonKind::object) {
      std::string_view at;
      for (in.begin_object(); in.next_key(at);) {
        DumpFrame::Line line{key_number(in, at), 0, 0};
        if (in.kind() == JsonKind::array) {
          std::size_t i = 0;
          for (in.begin_array(); in.next_element(); ++i) (i == 0 ? line.total : line.self) = json_whole(in);
        } else {
          line.total = json_whole(in);
        }
        out.lines.push_back(line);
      }
    } else
      in.skip();
  }
  return out;
}

}  // namespace

Result<Dump> read_marshal_dump(std::span<const std::byte> bytes, ReadContext& context) {
  PROFD_TRY(const Marshal data, read_marshal(bytes, context.limits.nesting));
  const Value& root = data.values[data.root];
  if (root.kind != Kind::hash) return fail(ErrorCode::malformed, "the dump is no hash", 2);
  if (data.end < bytes.size())
    context.report.add("trailing-bytes", Severity::loss, "Bytes behind the dump were not read.", data.end,
                       bytes.size() - data.end);
  Dump out;
  if (const Value* mode = data.find(root, "mode")) out.mode = mode->text;
  for (const auto& [key, target] :
       {std::pair{"interval", &out.interval}, std::pair{"samples", &out.n_samples},
        std::pair{"gc_samples", &out.n_gc}, std::pair{"missed_samples", &out.n_missed}}) {
    const Value* value = data.find(root, key);
    if (value != nullptr && !whole(*value, *target))
      return fail(ErrorCode::malformed, fmt::format("{} is no number", key));
  }
  const Value* frames = data.find(root, "frames");
  if (frames == nullptr || frames->kind != Kind::hash)
    return fail(ErrorCode::malformed, "the dump has no frames");
  const auto entries = data.of(*frames);
  std::uint64_t n_parts = 0;
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
    PROFD_TRY(DumpFrame frame, read_frame(data, data.values[entries[i]], data.values[entries[i + 1]]));
    // Links make one hash stand in many places.
    n_parts += frame.edges.size() + frame.lines.size();
    if (n_parts > data.items.size())
      return fail(ErrorCode::malformed, "the same edges are linked again and again");
    out.frames.push_back(std::move(frame));
  }
  const Value* raw = data.find(root, "raw");
  out.has_raw = raw != nullptr && raw->kind == Kind::array;
  for (const auto& [key, target] : {std::pair{"raw", &out.raw}, std::pair{"raw_lines", &out.raw_lines},
                                    std::pair{"raw_timestamp_deltas", &out.deltas_us},
                                    std::pair{"raw_sample_timestamps", &out.times_us}}) {
    if (const Value* value = data.find(root, key)) PROFD_CHECK(read_numbers(data, *value, *target));
  }
  return out;
}

Result<Dump> read_json_dump(const ByteSource& source, ReadContext& context) {
  const DecodedText decoded = decode_text(source);
  JsonCursor in(decoded.text, context.limits.nesting, decoded.offset);
  Dump out;
  bool has_frames = false;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    const JsonKind kind = in.kind();
    if (key == "mode" && kind == JsonKind::string)
      out.mode = in.string();
    else if (key == "interval")
      out.interval = json_whole(in);
    else if (key == "samples")
      out.n_samples = json_whole(in);
    else if (key == "gc_samples")
      out.n_gc = json_whole(in);
    else if (key == "missed_samples")
      out.n_missed = json_whole(in);
    else if (key == "raw") {
      out.has_raw = kind == JsonKind::array;
      read_json_numbers(in, out.raw);
    } else if (key == "raw_lines")
      read_json_numbers(in, out.raw_lines);
    else if (key == "raw_timestamp_deltas")
      read_json_numbers(in, out.deltas_us);
    else if (key == "raw_sample_timestamps")
      read_json_numbers(in, out.times_us);
    else if (key == "frames" && kind == JsonKind::object) {
      has_frames = true;
      std::string_view id;
      for (in.begin_object(); in.next_key(id);) {
        const std::int64_t number = key_number(in, id);
        out.frames.push_back(read_json_frame(in, number));
      }
    } else
      in.skip();
  }
  PROFD_CHECK(in.finish());
  if (!has_frames) return fail(ErrorCode::malformed, "the dump has no frames", 0);
  if (in.n_repaired() > 0)
    context.report.add("invalid-text", Severity::loss, "Names that are no valid text were repaired.",
                       std::nullopt, in.n_repaired());
  return out;
}

}  // namespace profd::stackprof
