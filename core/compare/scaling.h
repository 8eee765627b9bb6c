// Scaling: by what the values after are multiplied before they stand beside those before.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/compare/one_run.h"
#include "core/support/result.h"

namespace profd {

enum class Scaling : std::uint8_t {
  raw,           // as measured
  per_second,    // by how long each run took
  per_counter,   // by what each run has done: requests, iterations, bytes
  equal_totals,  // as shares: what grows makes everything else shrink
  bulk,          // so that half of the functions rise and half fall
};

// "per second", as in "values per second".
std::string_view name_of(Scaling scaling);

struct Amounts {
  std::optional<double> before;
  std::optional<double> after;
};

struct ScaleFacts {
  Amounts seconds, counter, total;  // of each side, where known
  std::span<const SamplePair>
      samples;  // of each function, at its end of stacks: selfs, so that none counts twice
};

struct Scaled {
  Scaling by = Scaling::raw;
  double factor = 1;  // of the values after
  // Of equal totals: most functions lie on one side of no change, so that few have changed and the shares of
  // all others give way. `bulk` would compare them.
  bool shares_give_way = false;
};

// Fails with `invalid` where what it scales by is not known of both sides, is not above 0 or not finite, and
// for `bulk` where no function has bulk samples on both sides.
Result<Scaled> scale_by(Scaling by, const ScaleFacts& facts);

// Raw when both runs took as long, within 2 %, or when that is not known; else per second.
Scaled default_scale(const ScaleFacts& facts);

Exposures exposures_of(const Scaled& scale);

}  // namespace profd
