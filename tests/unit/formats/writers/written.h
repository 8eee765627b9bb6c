// What a writer wrote, and what it said of it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "formats/writer.h"

namespace profd::test {

struct Written {
  std::string bytes;
  LossReport losses;
  Result<void> result;
  ByteSink sink() {
    return [this](std::span<const std::byte> some) -> Result<void> {
      bytes.append(reinterpret_cast<const char*>(some.data()), some.size());
      return {};
    };
  }
};

inline bool lost(const Written& written, std::string_view kind) {
  return std::any_of(written.losses.rows().begin(), written.losses.rows().end(),
                     [&](const ReportRow& row) { return row.kind == kind; });
}

}  // namespace profd::test
