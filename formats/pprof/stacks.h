// The samples of a pprof file as a StackSource: stacks, values and labels are decoded from the file's bytes
// each time they are asked for, so that no second copy of a big profile stands in memory.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/model/profile_builder.h"
#include "core/model/stack_source.h"
#include "formats/pprof/dictionary.h"
#include "formats/pprof/records.h"
#include "formats/pprof/sample_scan.h"

namespace profd::pprof {

class SampleStacks final : public StackSource {
 public:
  // `owner` keeps the bytes of `records` alive.
  SampleStacks(Records records, Dictionary dictionary, std::vector<SampleSlice> scanned,
               std::shared_ptr<const void> owner)
      : records_(std::move(records)),
        dictionary_(std::move(dictionary)),
        slices_(std::move(scanned)),
        owner_(std::move(owner)) {}

  // What the scan found, and what it could not know without the dictionary; interns the label sets. Once,
  // before anything else.
  Result<void> prepare(ProfileBuilder& builder, ReadContext& context);

  std::size_t size() const override { return records_.samples.size(); }
  std::size_t prefix(std::size_t i, std::uint32_t* frames, std::size_t max) const override;
  LabelSetId read(std::size_t i, RawVector<std::uint32_t>& frames, std::int64_t* values) const override;
  std::span<const std::uint8_t> encoded(std::size_t i) const override;
  std::size_t begin_of(std::span<const std::uint8_t> end, bool whole, std::uint32_t* frames,
                       std::size_t max) const override;
  SharedFrames shared_frames(std::size_t i, std::uint32_t n) const override;
  LabelSetId read_rest(std::size_t i, const SharedFrames& shared, RawVector<std::uint32_t>& frames,
                       std::int64_t* values) const override;
  // The builtins stand here, not in functions of the records: GCC 12 takes a function that only prefetches
  // for one without effect and drops the calls.
  void prefetch_index(std::size_t i) const override { __builtin_prefetch(records_.samples.address(i)); }
  void prefetch(std::size_t i) const override {
    const std::byte* at = records_.bytes.data() + records_.samples[i];
    __builtin_prefetch(at);
    __builtin_prefetch(at + 64);
  }
  Result<void> status() const override;
  void release() override;

 private:
  std::uint64_t depth_of(std::size_t i) const;
  Result<void> check_wide_locations(const ReadContext& context) const;
  Result<void> too_deep(std::size_t i) const;
  Result<void> intern_labels(ProfileBuilder& builder, ReadContext& context);
  Result<LabelSetId> read_labels(std::size_t sample, ProfileBuilder& builder, ReadContext& context) const;
  std::span<const std::uint32_t> frames_of(std::uint64_t location_id) const;
  bool quick() const { return all_packed_ && dictionary_.prune.empty(); }
  Cursor packed_locations(std::size_t i) const;
  std::size_t read_begin(Cursor packed, std::uint32_t* frames, std::size_t max) const;
  bool read_few(Cursor packed, RawVector<std::uint32_t>& frames) const;
  void read_packed(Cursor packed, RawVector<std::uint32_t>& frames) const;
  void read_slowly(std::size_t i, RawVector<std::uint32_t>& frames) const;

  Records records_;  // the note of a sample is its label set
  Dictionary dictionary_;
  std::vector<SampleSlice> slices_;  // until prepare() is over
  std::shared_ptr<const void> owner_;
  bool all_packed_ = true;  // every sample starts with its one packed list of locations
  mutable std::atomic<bool> bad_sample_ = false;
};

}  // namespace profd::pprof
