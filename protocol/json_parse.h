// Parsing JSON from a peer that may be hostile.
//
// nlohmann parses a million nested brackets without recursion, but copying or dumping the result overflows
// the stack, so depth is bounded while parsing; the number of values is too, because "[0,0,0,...]" takes
// eight times its size in memory. Nothing throws.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

namespace profd::protocol {

// What a message may have; more is refused before it is kept.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20;

struct JsonLimits {
  std::size_t max_bytes = kMaxMessageBytes;
  std::size_t max_depth = 128;       // of nested arrays and objects
  std::size_t max_values = 250'000;  // scalars, arrays and objects together: they are decoded on the strand
};

struct JsonError {
  std::size_t byte = 0;  // offset of the byte that ended the parse
  std::string message;   // a sentence, with the offset
};

[[nodiscard]] tl::expected<nlohmann::json, JsonError> parse_json(std::string_view text,
                                                                 const JsonLimits& limits = {});

// One line. Bytes that are not UTF-8 become U+FFFD instead of an exception. `value` must be of bounded depth:
// one of our own, or from parse_json.
[[nodiscard]] std::string dump_json(const nlohmann::json& value);

}  // namespace profd::protocol
