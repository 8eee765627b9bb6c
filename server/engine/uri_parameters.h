// What stands behind the "?" of a URI: KEY=VALUE&KEY=VALUE.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"

namespace profd {

struct UriParameter {
  std::string_view key;
  std::string value;  // decoded
};
// In their order. `invalid` for one without a value, and for a value that is not well encoded.
Result<std::vector<UriParameter>> parameters_of_uri(std::string_view uri);

}  // namespace profd
