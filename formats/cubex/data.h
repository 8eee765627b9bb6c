// The values of one metric: <id>.index and <id>.data.
#pragma once

#include <variant>

#include "formats/cubex/anchor.h"

namespace profd::cubex {

class MetricData {
 public:
  static Result<MetricData> open(const Folder& folder, const std::string& prefix, const Metric& metric,
                                 const Anchor& anchor, const std::vector<std::uint32_t>& wide,
                                 ReadContext& context);

  // Of row `node` at a location; 0 where the file has none.
  double real(std::size_t node, std::size_t location) const;
  std::int64_t integer(std::size_t node, std::size_t location) const;
  std::uint64_t n_values() const { return values_.size() / size_; }
  std::uint64_t n_clamped() const { return n_clamped_; }

 private:
  const std::byte* place(std::size_t node, std::size_t location) const;

  ByteSource source_;
  std::vector<std::byte> expanded_;
  std::span<const std::byte> values_;
  std::vector<std::uint32_t> row_;  // by node; kNone: no values
  std::size_t size_ = 8, n_locations_ = 0;
  ValueKind kind_ = ValueKind::real;
  bool swap_ = false;
  mutable std::uint64_t n_clamped_ = 0;
};

}  // namespace profd::cubex
