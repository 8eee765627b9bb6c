// BranchCollector: branch stacks of samples (perf record -b, -j) become sums by place in code.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/model/branch_sums.h"
#include "formats/import_report.h"
#include "formats/perf_data/counter.h"
#include "formats/perf_data/images.h"
#include "formats/perf_data/sample.h"

namespace profd::perf_data {

class BranchCollector {
 public:
  // Of a sample at `offset` in the file, whose memory is `process`; `order` is that of the machine.
  void add(const Sample& sample, const Attr& attr, CpuMode mode, std::endian order, Images& images,
           Process& process, std::uint64_t offset);
  // Says what was left out.
  std::shared_ptr<const BranchStacks> finish(ImportReport& report) &&;

 private:
  // Addresses of one meaning: `space` and `kernel` are ids of address spaces.
  struct Key {
    std::uint64_t from = 0, to = 0;
    std::uint32_t space = 0, kernel = 0;
    bool operator==(const Key&) const = default;
  };
  // Keys that were met, and the row of BranchSums that each has; kNone: none.
  struct Known {
    RowSet set;
    std::vector<Key> keys;
    std::vector<std::uint32_t> rows;
  };
  template <class RowOf>
  static std::uint32_t row_of(Known& known, const Key& key, RowOf row_of_new);

  BranchSums sums_;
  Known taken_, runs_;
  Counter some_kinds_, guests_, not_read_, unmapped_, runs_left_;
};

}  // namespace profd::perf_data
