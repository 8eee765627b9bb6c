// Names for the code of live programs, of which agents of C and C++ tell addresses: from the files of its
// modules.
#pragma once

#include <functional>

#include "core/support/stop.h"
#include "server/engine/live_session.h"
#include "server/engine/symbol_files.h"
#include "server/engine/symbolizing.h"

namespace profd {

// Finds names for what a session has without one. A pass: blocks. `places`: where modules are looked for; of
// a program that runs here also where it says they are.
using LiveNamer =
    std::function<void(LiveSession& session, const SymbolPlaces& places, const StopToken& stop)>;

// Empty where names are not looked up as profiles are opened.
LiveNamer live_namer(const SymbolOptions& options);

}  // namespace profd
