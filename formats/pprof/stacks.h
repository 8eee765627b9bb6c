// The samples of a pprof file as a StackSource: stacks, values and labels are decoded from the file's bytes
// each time they are asked for, so that no second copy of a big profile stands in memory.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/pprof/dictionary.h"
#include "formats/pprof/records.h"

namespace profd::pprof {

class SampleStacks final : public StackSource {
 public:
  // `owner` keeps the bytes of `records` alive.
  SampleStacks(Records records, Dictionary dictionary, std::shared_ptr<const void> owner)
      : records_(std::move(records)), dictionary_(std::move(dictionary)), owner_(std::move(owner)) {}

  // Checks the number of values of every sample and interns the label sets; once, before anything else.
  Result<void> prepare(ProfileBuilder& builder, ReadContext& context);

  std::size_t size() const override { return records_.samples.size(); }
  std::size_t prefix(std::size_t i, FrameId* out, std::size_t max) const override;
  void append(std::size_t i, std::vector<FrameId>& out) const override;
  LabelSetId values(std::size_t i, std::int64_t* out) const override;
  Result<void> status() const override;
  std::uint64_t n_pruned() const { return n_pruned_.load(); }

 private:
  struct Slice;
  Result<void> scan_slice(Slice& slice, std::size_t begin, std::size_t end) const;
  Result<LabelSetId> read_labels(std::size_t sample, ProfileBuilder& builder, ReadContext& context) const;
  void append_location(std::uint64_t id, std::vector<FrameId>& out) const;
  void append_pruned(const std::vector<std::uint64_t>& leaf_first, std::vector<FrameId>& out) const;

  Records records_;
  Dictionary dictionary_;
  std::shared_ptr<const void> owner_;
  std::vector<std::uint32_t> labels_;  // by sample; empty when there are none
  bool all_packed_ = true;             // every sample starts with its one packed list of locations
  mutable std::atomic<bool> bad_location_ = false;
  mutable std::atomic<std::uint64_t> n_pruned_ = 0;
};

}  // namespace profd::pprof
