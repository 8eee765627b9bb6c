#include "formats/pprof/sample_scan.h"

#include <algorithm>

#include "core/support/hash.h"

namespace profd::pprof {
namespace {

std::size_t count_varints(Cursor packed) {
  return static_cast<std::size_t>(
      std::count_if(packed.p, packed.end, [](std::uint8_t b) { return b < 0x80; }));
}

Result<void> scan(Records& records, SampleSlice& slice, std::uint32_t max_depth) {
  const std::size_t n_values = records.sample_types.size();
  for (std::size_t i = slice.begin; i < slice.end; ++i) {
    Cursor body = records.sample(i);
    if (std::uint64_t{body.left()} * kWideLocation > max_depth)
      slice.long_samples.push_back(static_cast<std::uint32_t>(i));
    const std::uint8_t* labels_begin = nullptr;
    const std::uint8_t* labels_end = nullptr;
    std::size_t n = 0, n_location_fields = 0;
    const bool starts_packed = body.done() || *body.p == kLocationTag;
    while (!body.done()) {
      const std::uint8_t* at = body.p;
      Field field;
      const auto offset =
          static_cast<std::uint64_t>(at - reinterpret_cast<const std::uint8_t*>(records.bytes.data()));
      if (!read_field(body, field))
        return fail(ErrorCode::malformed, "broken field in sample[" + std::to_string(i) + ']', offset);
      if (field.number == schema::sample::location_id) {
        ++n_location_fields;
        if (field.wire == Wire::length && field.bytes.left() > 0 && field.bytes.end[-1] >= 0x80)
          return fail(ErrorCode::malformed, "broken varint in " + sample_place(i, "location_id"), offset);
      } else if (field.number == schema::sample::value) {
        if (field.wire == Wire::length) {
          if (field.bytes.left() > 0 && field.bytes.end[-1] >= 0x80)
            return fail(ErrorCode::malformed, "broken varint in " + sample_place(i, "value"), offset);
          n += count_varints(field.bytes);
        } else {
          ++n;
        }
      } else if (field.number == schema::sample::label) {
        if (field.wire != Wire::length)
          return fail(ErrorCode::malformed, sample_place(i, "label") + " has the wrong wire type", offset);
        if (!labels_begin) labels_begin = at;
        labels_end = body.p;
      }
    }
    if (n != n_values) {
      return fail(ErrorCode::malformed,
                  "sample[" + std::to_string(i) + "] has " + std::to_string(n) + " values, but there are " +
                      std::to_string(n_values) + " sample types",
                  records.samples[i]);
    }
    slice.all_packed &= n_location_fields == 0 || (starts_packed && n_location_fields == 1);
    if (!labels_begin) continue;
    const std::string_view text(reinterpret_cast<const char*>(labels_begin),
                                static_cast<std::size_t>(labels_end - labels_begin));
    const auto next = static_cast<std::uint32_t>(slice.texts.size());
    const std::uint32_t row = slice.rows.find_or_add(hash_bytes(text), next,
                                                     [&](std::uint32_t r) { return slice.texts[r] == text; });
    if (row == next) {
      slice.texts.push_back(text);
      slice.examples.push_back(static_cast<std::uint32_t>(i));
    }
    records.samples.set_note(i, row + 1);
  }
  return {};
}

}  // namespace

std::vector<SampleSlice> slice_samples(const Records& records, std::size_t n) {
  const std::size_t n_samples = records.samples.size();
  std::vector<SampleSlice> slices(std::max<std::size_t>(1, std::min(n, n_samples / 4096)));
  for (std::size_t s = 0; s < slices.size(); ++s) {
    slices[s].begin = n_samples * s / slices.size();
    slices[s].end = n_samples * (s + 1) / slices.size();
  }
  return slices;
}

void scan_slice(Records& records, SampleSlice& slice, std::uint32_t max_depth) {
  slice.result = scan(records, slice, max_depth);
}

}  // namespace profd::pprof
