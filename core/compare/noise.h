// Noise: which changes of a diff stand out from the noise of sampling, or of how runs differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/cost_shift.h"
#include "core/compare/family.h"
#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/view/selection.h"

namespace profd {

// Changes of the selfs and totals of every key of a diff's flat view, asked all at once (kLevel of all
// together). What is smaller than a thousandth of the whole and a fiftieth of itself stands nowhere.
struct Noise {
  std::vector<Key> key;  // ascending
  std::vector<Standing> self, total;
  // By key: what became of the self, in samples of a side after (the mean of its runs), and the deviation of
  // its noise.
  std::vector<SignedChange> self_change;
  double whole = 0;  // likewise, of the larger side
  std::size_t runs_before = 0, runs_after = 0;
  // Samples of both sides, and by how much larger their variance is than that of independent ones; one run a
  // side alone.
  double samples_before = 0, samples_after = 0, dispersion = 1;
  bool dispersion_is_known = false;  // told by when samples were taken
  std::size_t n_asked = 0;
  // Exposures of the count metric, as in Exposures.
  double exposure_before = 1, exposure_after = 1;
  std::string cannot;  // why nothing can be said, a sentence; "" it can

  [[nodiscard]] Standing self_of(Key of) const { return at(self, of); }
  [[nodiscard]] Standing total_of(Key of) const { return at(total, of); }
  [[nodiscard]] std::size_t memory() const;

 private:
  [[nodiscard]] Standing at(const std::vector<Standing>& column, Key of) const;
};

// `selection`: of a diff, of any of its metrics (asserted).
Result<Noise> judge_noise(const Selection& selection, StopToken stop);

}  // namespace profd
