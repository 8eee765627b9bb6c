// The loop around a streaming decompressor: room is made as bytes come out, limits and stops are kept.
#pragma once

#include <algorithm>
#include <functional>
#include <string_view>

#include "formats/support/expansion.h"

namespace profd {

enum class StreamStep : std::uint8_t { more, finished, damaged, no_memory };

// One call of a decompressor: takes from the front of `in`, writes to the front of `out`, and shortens both.
// `finished` at the end of all streams; `damaged` when the bytes contradict the format,
// `no_memory` when the decompressor could not have what it works in.
using StreamDecoder = std::function<StreamStep(std::span<const std::byte>& in, std::span<std::byte>& out)>;

// `name`: of the compression, for errors and the report ("bzip2").
Result<Expanded> expand_stream(std::span<const std::byte> in, const ExpandOptions& options,
                               ImportReport& report, std::string_view name, const StreamDecoder& decode);

}  // namespace profd
