// What the daemon and profd-fetch say to each other (symbols.proto), as plain structs, written and read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"

namespace profd::worker {

struct FetchOrder {
  std::string build_id;  // lower-case hex
  std::vector<std::string> servers;
  std::string folder;  // absolute
  std::uint64_t most_bytes = 0;
  std::vector<std::string> variables;  // NAME=VALUE
};

enum class FetchEnd : std::uint8_t { goes_on, there, absent, unreachable, unable };

struct Fetching {
  std::string version;
  std::string from;  // "": not known yet
  std::uint64_t done = 0, total = 0;
  FetchEnd end = FetchEnd::goes_on;
  std::string why;
};

std::string encode(const FetchOrder& order);
std::string encode(const Fetching& fetching);
// Fields that are not known are skipped.
Result<FetchOrder> decode_fetch_order(std::string_view bytes);
Result<Fetching> decode_fetching(std::string_view bytes);

}  // namespace profd::worker
