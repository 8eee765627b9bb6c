// Field numbers of profile.proto, shared by the reader and the writer.
// tests/unit/formats/profd/schema_test.cpp reads what we write with protoc's own classes, so a number that
// differs here is found.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace profd::profd_format {

static_assert(std::endian::native == std::endian::little, "columns are mapped as little-endian numbers");

inline constexpr std::string_view kMagic = "profd profile";
inline constexpr std::string_view kFileStart = "\x0A\x0Dprofd profile";  // tag, length, magic
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kPadding = 15;  // in every message that has columns
inline constexpr std::uint32_t kPieceBytes = 1u << 20;
inline constexpr std::uint32_t kMinPieceBytes = 4096;

namespace file {
enum : std::uint32_t {
  magic = 1,
  version,
  writer,
  n_profiles,
  checksummed,
  imported,
  profiles,
  cache_key,
  checksum = 16
};
}
namespace checksum {
enum : std::uint32_t { piece_bytes = 1, n_bytes, xxh3 };
}
namespace import {
enum : std::uint32_t { format = 1, certain, also_plausible, containers, report };
}
namespace report_row {
enum : std::uint32_t { kind = 1, severity, count, first_offset, message };
}
namespace profile {
enum : std::uint32_t {
  info = 1,
  strings,
  modules,
  functions,
  frames,
  threads,
  labels,
  metrics,
  default_metric,
  n_samples,
  tree,
  contexts,
  self,
  samples,
  associations = 16,
  stated
};
}
namespace info {
enum : std::uint32_t {
  name = 1,
  format,
  producer,
  program,
  time_ns,
  duration_ns,
  period,
  period_type,
  period_unit,
  comments,
  properties
};
}
namespace property {
enum : std::uint32_t { key = 1, value };
}
namespace strings {
enum : std::uint32_t { blob = 1, offsets, texts };
}
namespace modules {
enum : std::uint32_t { name = 1, build_id, start, limit, offset };
}
namespace functions {
enum : std::uint32_t { name = 1, system_name, file, start_line, unresolved };
}
namespace frames {
enum : std::uint32_t { function = 1, module, file, line, column, address, kind, inlined };
}
namespace threads {
enum : std::uint32_t { name = 1, process_name, tid, pid };
}
namespace labels {
enum : std::uint32_t { first = 1, key, text, number, unit, is_number };
}
namespace metric {
enum : std::uint32_t { name = 1, unit, fractional, saturated, total, fractional_total };
}
namespace tree {
enum : std::uint32_t { parent = 1, frame, subtree_end };
}
namespace contexts {
enum : std::uint32_t { parent = 1, frame };
}
namespace values {
enum : std::uint32_t { ints = 1, doubles };
}
namespace self {
enum : std::uint32_t { same_as_samples = 1, context, values };
}
namespace samples {
enum : std::uint32_t { context = 1, values, label_set, thread, time };
}
namespace association {
enum : std::uint32_t { name = 1, roles, contexts, metrics, values };
}
namespace stated {
enum : std::uint32_t { function = 1, totals, known, caller, callee, call_totals, call_known };
}
namespace ids {
enum : std::uint32_t { id = 1 };
}

}  // namespace profd::profd_format
