#include "server/engine/origins.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/engine/composed_origin.h"
#include "server/engine/endpoint_origin.h"
#include "server/engine/role_origin.h"
#include "server/engine/script_origin.h"
#include "server/engine/uri.h"

namespace profd {

std::string scheme_of(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const std::size_t end = text.find(':');
  if (end == std::string_view::npos || end == 0 || !is_letter(text.front())) return "";
  const std::string_view scheme = text.substr(0, end);
  const bool is_scheme = std::all_of(scheme.begin(), scheme.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
  return is_scheme ? std::string(scheme) : "";
}

Origins::Origins() {
  add("file", [](std::string_view uri, const OpenOptions& options) -> Result<OriginPtr> {
    PROFD_TRY(std::string path, path_of_uri(uri));
    return file_origin(std::move(path), options);
  });
  for (const std::string_view scheme : {kEndpointScheme, kSecureScheme})
    add(std::string(scheme), &endpoint_origin);
  for (const char* scheme : {"aggregate", "diff", "join"})
    add(scheme, [this](std::string_view uri, const OpenOptions& options) {
      return composed_origin(uri, options, *this);
    });
  add(std::string(kScriptScheme), [this](std::string_view uri, const OpenOptions& options) {
    return script_origin(uri, options, *this);
  });
  add(std::string(kPairsScheme),
      [this](std::string_view uri, const OpenOptions& options) { return role_origin(uri, options, *this); });
}

void Origins::add(std::string scheme, Factory make) {
  by_scheme_[std::move(scheme)] = std::move(make);
}

Result<OriginPtr> Origins::make(const std::string& uri, const OpenOptions& options) const {
  const bool is_path = !uri.empty() && uri.front() == '/';
  const auto found = by_scheme_.find(is_path ? "file" : scheme_of(uri));
  if (found != by_scheme_.end()) return found->second(uri, options);
  std::vector<std::string> known;
  for (const auto& [scheme, factory] : by_scheme_)
    if (scheme != kSecureScheme) known.push_back(scheme + ":");
  return fail(ErrorCode::invalid,
              fmt::format("only {} URIs and absolute paths can be opened", fmt::join(known, ", ")));
}

}  // namespace profd
