// The messages of a DrCCTProf profile as columns, ids not yet resolved.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/support/protobuf_wire.h"
#include "formats/reader.h"

namespace profd::easyview {

struct MetricType {
  std::uint64_t value_type = 0, unit = 0, name = 0;  // string indices
};

// One value of a sample; writers fill one of the three, not always the declared one.
struct MetricValue {
  std::int64_t int_value = 0;
  std::uint64_t uint_value = 0, str_value = 0;
};

struct Records {
  std::uint64_t n_bytes = 0;  // of the file
  std::vector<MetricType> metrics;

  std::vector<std::uint64_t> sample_context, sample_offset;
  std::vector<std::uint32_t> sample_first_value;  // n + 1
  std::vector<MetricValue> values;

  std::vector<std::uint64_t> context_id, context_location, context_parent, context_offset;
  std::vector<std::uint32_t> child_of;  // row of the context that lists it
  std::vector<std::uint64_t> child_id;

  std::vector<std::uint64_t> location_id;
  std::vector<std::uint32_t> location_first_line;  // n + 1
  std::vector<std::uint64_t> line_function;
  std::vector<std::int64_t> line_number;

  std::vector<std::uint64_t> function_id, function_name, function_system_name, function_file;
  std::vector<std::int64_t> function_start_line;

  std::vector<std::uint64_t> file_id, file_name, file_path;

  std::vector<std::string_view> strings;
  bool truncated = false;  // context.partial: the file ended inside a message
};

// Wire format only: every message is well-formed, nothing is looked up.
Result<Records> read_records(std::span<const std::byte> bytes, ReadContext& context);

Confidence sniff_records(std::span<const std::byte> prefix, bool at_end);

}  // namespace profd::easyview
