#include "server/engine/uri_parameters.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/engine/uri.h"

namespace profd {

Result<std::vector<UriParameter>> parameters_of_uri(std::string_view uri) {
  std::vector<UriParameter> out;
  const std::size_t query = uri.find('?');
  std::string_view rest = query == std::string_view::npos ? std::string_view() : uri.substr(query + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view parameter = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t equals = parameter.find('=');
    if (equals == std::string_view::npos)
      return fail(ErrorCode::invalid, fmt::format("`{}` in the URI has no value", parameter));
    PROFD_TRY(std::string value, fragment_decoded(parameter.substr(equals + 1)));
    out.push_back({parameter.substr(0, equals), std::move(value)});
  }
  return out;
}

}  // namespace profd
