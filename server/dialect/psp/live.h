// live/*: programs that run, and recordings of them.
#pragma once

#include <memory>

#include "server/dialect/psp/module.h"

namespace profd {

std::unique_ptr<Module> make_live_module(SessionContext& session);

}  // namespace profd
