// CopiedStacks: samples with registers and a copy of their stack (--call-graph dwarf) wait here until there
// are enough to be unwound together, or memory of their process is about to change its meaning.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/support/stack_copies.h"
#include "formats/import_report.h"
#include "formats/perf_data/images.h"
#include "formats/perf_data/sample.h"

namespace profd::perf_data {

// A sample without the user part of its stack.
struct WaitingSample {
  std::uint32_t pid = 0;
  std::uint64_t leaf = 0;  // where it was, as the sample says; 0: as its registers do
  ContextId root;
  std::vector<FrameId> kernel;            // innermost first
  std::size_t first_row = 0, n_rows = 0;  // of what it counted
  std::uint64_t offset = 0;               // in the file
};

class CopiedStacks {
 public:
  // `unwind` may be null: then none is taken.
  CopiedStacks(const UnwindStacks* unwind, ImportReport& report) : unwind_(unwind), report_(report) {}

  // Whether a sample's copy can be unwound: of a known processor, with 64-bit registers.
  [[nodiscard]] bool takes(const Sample& sample, std::string_view arch, std::endian order) const;
  // Of a sample that takes() likes.
  void add(const Sample& sample, std::uint64_t mask, const Images& images, const Process& process,
           WaitingSample waiting);
  [[nodiscard]] bool has(std::uint32_t pid) const { return spaces_.contains(pid); }
  [[nodiscard]] bool full() const;

  // Calls take(waiting, addresses, exact, StackEnd) for every sample that waits, in their order; of `exact`,
  // rows that are no return addresses. Nothing waits then.
  template <class Take>
  Result<void> unwind(Take take) {
    if (waiting_.empty()) return {};
    PROFD_TRY(const UnwoundStacks unwound, (*unwind_)(batch_));
    std::size_t at = 0;
    auto exact = unwound.exact.begin();
    std::vector<bool> is_exact;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const std::size_t n = unwound.n_addresses[i];
      is_exact.assign(n, false);
      is_exact[0] = true;
      for (; exact != unwound.exact.end() && *exact < at + n; ++exact) is_exact[*exact - at] = true;
      count(unwound, i);
      PROFD_CHECK(take(waiting_[i], std::span(unwound.addresses).subspan(at, n), is_exact, unwound.end[i]));
      at += n;
    }
    if (!unwound.problem.empty()) problem_ = unwound.problem;
    repeatable_ = repeatable_ && unwound.repeatable;
    clear();
    return {};
  }

  // What was cut, and why.
  void report() const;
  [[nodiscard]] bool repeatable() const { return repeatable_; }

 private:
  struct Cut {
    std::uint64_t n = 0;
    std::map<std::uint32_t, std::uint64_t> by_module;
  };
  std::uint32_t space_of(std::uint32_t pid, const Images& images, const Process& process);
  std::uint32_t module_of(const Images& images, const Mapping& mapping);
  void count(const UnwoundStacks& unwound, std::size_t row);
  void clear();
  [[nodiscard]] std::string modules_text(const Cut& cut) const;

  const UnwindStacks* unwind_;
  ImportReport& report_;
  StackBatch batch_;
  std::vector<WaitingSample> waiting_;
  std::unordered_map<std::uint32_t, std::uint32_t> spaces_;       // of the batch, by process
  std::unordered_map<std::uint64_t, std::uint32_t> module_rows_;  // by name and build id
  std::vector<StackModule> modules_;
  std::array<Cut, kNStackEnds> ends_;
  std::uint64_t n_maps_told_ = 0;
  std::uint64_t n_unwound_ = 0, first_offset_ = 0;
  bool repeatable_ = true;
  std::string problem_;
};

}  // namespace profd::perf_data
