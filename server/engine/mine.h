// What of a profile is the user's own code: what the filter `mine` leaves as it is.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/view/spec.h"
#include "server/engine/source_map.h"

namespace profd {

// `named`: folders, packages or namespaces, modules; a frame of any of them is the user's. Without names
// these are the frames whose file is in the workspace, and not in a folder of other people's code (vendor,
// node_modules, site-packages).
std::shared_ptr<const FrameRule> mine_rule(WorkspaceSnapshot workspace, std::vector<std::string> named);

// Gives the filters that need it the rule; what makes one is asked only then.
void decide_mine(std::vector<Filter>& filters, const std::function<std::shared_ptr<const FrameRule>()>& rule);

}  // namespace profd
