// What every decompressor takes and gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
  std::string_view name;  // "expanded_bytes" or "expansion_ratio"
};

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

Error expansion_error(const ExpansionLimit& limit, std::uint64_t offset);

}  // namespace profd
