// What both forms of the Cog VM profiler's output come down to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/reader.h"

namespace profd::vm_profiler {

inline constexpr std::string_view kGenerated = "generated vm code";
inline constexpr std::string_view kVanilla = "vanilla vm code";

// Bytecodes [from, to) of a method; to 0: open.
struct Range {
  std::uint64_t from = 0, to = 0;
};

class Samples {
 public:
  // `collections`: the metrics of the collector are declared too.
  Samples(ProfileBuilder& builder, bool collections);

  // `count` samples in a function of a module; `range` when the bytecodes are known.
  void add(std::string_view module, std::string_view function, std::int64_t count,
           const Range* range = nullptr);
  void add_collections(std::string_view kind, std::int64_t count, double milliseconds);
  std::int64_t total() const { return total_; }

 private:
  ProfileBuilder& builder_;
  MetricId samples_;
  bool collections_, bytecodes_ = false;
  std::int64_t total_ = 0;
  StringId range_key_;
};

Result<void> read_report(std::string_view text, ReadContext& context, ProfileBuilder& builder);
bool is_report(std::string_view text);
Result<void> read_raw(std::string_view json, std::uint64_t base, ReadContext& context,
                      ProfileBuilder& builder);

}  // namespace profd::vm_profiler
