// What every decompressor takes and gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "core/support/executor.h"
#include "core/support/result.h"
#include "core/support/stop.h"
#include "formats/import_report.h"

namespace profd {

// How much may still come out, and which setting says so.
struct ExpansionLimit {
  std::uint64_t bytes = 0;
  std::string_view name;  // "expanded_bytes", "expansion_ratio", or kMemoryBudget
};
inline constexpr std::string_view kMemoryBudget = "--memory-budget";
// The limit, or what is left of the memory that this work may take, where that is less.
ExpansionLimit within_memory(ExpansionLimit limit);

struct Expanded {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  bool truncated =
      false;  // the stream ended early or was damaged; `bytes` is what came before (partial only)
};

// partial: keep what could be read of a damaged stream and say so in the report.
struct ExpandOptions {
  ExpansionLimit limit;
  bool partial = false;
  StopToken stop;
  Executor* executor =
      nullptr;  // where there is one, another core makes memory ready ahead of what comes out
};

// `claimed`: the size that the file states for what is inside, where it does.
Error expansion_error(const ExpansionLimit& limit, std::uint64_t offset,
                      std::optional<std::uint64_t> claimed = std::nullopt);

// For decompressors of others that take their memory through functions of ours: null when there is none.
void* allocate_for_decoder(std::size_t n, std::size_t size);
void free_of_decoder(void* block);

}  // namespace profd
