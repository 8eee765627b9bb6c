// Chains while they are put together: rows that are equal are one row.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/support/interner.h"
#include "native/lines/chains.h"

namespace profd::native {

class ChainTable {
 public:
  ChainTable();

  std::uint32_t text(std::string_view text);
  std::uint32_t link(const Chains::Link& link);
  // Of one linkage name the first place of declaration stays; functions without one are one by name and
  // place.
  std::uint32_t function(std::string_view linkage, std::string_view name, std::uint32_t file,
                         std::uint32_t line);
  std::uint32_t piece(std::uint64_t start, std::uint64_t size, std::string_view raw_name,
                      std::uint32_t function);

  // Adds the rows of another table; says what its links and pieces are here.
  struct Moved {
    std::vector<std::uint32_t> links, pieces;
  };
  Moved add(const Chains& other);

  const Chains& rows() const { return rows_; }
  Chains take() && { return std::move(rows_); }

 private:
  Chains rows_;
  RowSet texts_, links_, functions_, pieces_;
};

}  // namespace profd::native
