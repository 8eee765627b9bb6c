// A first look at every sample of a pprof file: is it well formed, and what labels does it have. It needs
// none of the tables, so slices of it run beside whatever reads those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/interner.h"
#include "formats/pprof/records.h"

namespace profd::pprof {

inline constexpr std::uint8_t kLocationTag = short_tag(schema::sample::location_id, Wire::length);  // packed
inline constexpr std::uint32_t kWideLocation = 64;  // lines; more are no inlined calls

// Consecutive samples. Label sets are told apart by their bytes alone; the note of a sample becomes 0 or 1 +
// its row of texts.
struct SampleSlice {
  std::size_t begin = 0, end = 0;
  std::vector<std::string_view> texts;      // distinct label bytes
  std::vector<std::uint32_t> examples;      // a sample that has them
  std::vector<std::uint32_t> long_samples;  // that may have more frames than the limit
  RowSet rows;
  bool all_packed = true;  // every sample starts with its one packed list of locations
  Result<void> result;
};

// The samples in about `n` slices; never none.
std::vector<SampleSlice> slice_samples(const Records& records, std::size_t n);
// Sets everything else of the slice; `records` is changed at its own samples only.
void scan_slice(Records& records, SampleSlice& slice, std::uint32_t max_depth);

// How errors name a sample: "sample[7].value".
inline std::string sample_place(std::size_t sample, const char* field) {
  return "sample[" + std::to_string(sample) + "]." + field;
}

}  // namespace profd::pprof
