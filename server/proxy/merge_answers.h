// Two answers to one request as one, and the marks by which what profd gave is known again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/proxy/abilities.h"

namespace profd {

// The result of both. All of the server's stays as it wrote it and comes first. Nothing where profd's has
// nothing to add, or the server's is nothing that can be added to: then the server's stands. `uri`: of the
// document that was asked about, as JSON.
std::optional<std::string> merged_result(MergeKind kind, std::string_view server, std::string_view profd,
                                         std::string_view uri);

// A result of profd whose items say whose they are, in their `data`. Other results stay as they are.
std::string marked_result(std::string_view method, std::string_view result, std::string_view tag);
// An item as profd made it; nothing where it has not this mark.
std::optional<std::string> unmarked_item(std::string_view item, std::string_view tag);

}  // namespace profd
