#include "server/cli/time_options.h"

#include <fmt/format.h>

namespace profd {

Result<Filter> window_of(const std::string& text) {
  auto filters = parse_filters("time " + text);
  if (!filters || filters->size() != 1 || (*filters)[0].every_ns)
    return fail(ErrorCode::invalid,
                fmt::format("--time is a window such as 10ms..2s, 1.5s.. or ..300us; \"{}\" is none", text));
  return (*filters)[0];
}

Result<std::int64_t> length_of(const std::string& option, const std::string& text) {
  const auto filters = parse_filters("time .." + text);
  if (!filters || filters->size() != 1 || !(*filters)[0].to_ns || *(*filters)[0].to_ns < 0)
    return fail(ErrorCode::invalid,
                fmt::format("{} is a length of time such as 10ms; \"{}\" is none", option, text));
  return *(*filters)[0].to_ns;
}

}  // namespace profd
