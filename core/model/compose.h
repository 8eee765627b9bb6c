// Composing: profiles into one, an aggregate, a join or a diff, which every view takes like any other.
//
// Of every metric of the inputs an aggregate and a join have the sum, a diff has five (MetricRole). Values of
// a side of several runs are the mean of its runs. Scaled values, means and those of fractional metrics are
// fractions; all others are whole, and no more exact than the file's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/model/merge.h"
#include "core/support/executor.h"

namespace profd {

struct ComposeInput {
  std::string name;     // for people
  bool before = false;  // of a diff: the side
  // Its contexts and the profile are kept, so that rows can be filtered by thread, label and time.
  bool keep = false;
  // Names of its metrics that mean another of the other inputs: {"cpu-clock", "cpu"}.
  std::map<std::string, std::string> rename;
  std::int64_t written_ns = 0;  // see ComposedInput
};

class Composing {
 public:
  explicit Composing(Composed kind) : kind_(kind) {}
  // Inputs of the side after first: what both have is named and placed as it is there. Fails with `invalid`
  // for a name in `rename` that is no metric of it, `cancelled` when stopped.
  Result<void> add(const ProfilePtr& profile, ComposeInput how, StopToken stop);
  // Of a diff: the values before are multiplied, by metric of the inputs; others by 1. `text` tells people
  // what was done.
  void scale_before(std::map<std::string, double> factors, std::string text = {}) {
    factors_ = std::move(factors);
    scale_text_ = std::move(text);
  }
  // The same by what the functions of both sides have, which is known when all inputs are there.
  struct Sides {
    double before = 0, after = 0;  // mean of the runs of a side
  };
  using ScaleOf = std::function<Result<double>(const std::string& metric, std::span<const Sides> selfs)>;
  void scale_before_by(ScaleOf scale_of, std::string text) {
    scale_of_ = std::move(scale_of);
    scale_text_ = std::move(text);
  }
  [[nodiscard]] std::size_t n_inputs() const { return inputs_.size(); }
  // Fails with `invalid` without an input, a diff without one on either side, and where the inputs have no
  // metric in common (the sentence names those of two); `limit` when a table outgrows 32-bit ids.
  Result<ProfilePtr> finish(Executor& executor, StopToken stop) &&;

 private:
  [[nodiscard]] std::vector<std::string> names_of(const Profile& profile, const ComposeInput& how) const;

  Composed kind_;
  Merging merging_;
  std::map<std::string, double> factors_;
  ScaleOf scale_of_;
  std::string scale_text_;
  std::vector<ComposedInput> inputs_;
  std::vector<std::vector<std::pair<std::string, std::string>>> metrics_of_;  // by input: names and units
  std::vector<std::string> default_metric_;                                   // by input
  std::vector<ProfileInfo> infos_;
  std::uint64_t n_samples_ = 0;
  bool estimated_ = false;
};

}  // namespace profd
