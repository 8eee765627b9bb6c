// Which open profile a person means by what was typed.
#pragma once

#include <string>
#include <vector>

#include "core/support/result.h"
#include "server/engine/engine.h"

namespace profd {

// The handle of the one that `named` means: a handle; number or name of a profile of the file that `meant`
// (may be null) is of; the name, URI or path of an open profile, the name that its file gives it, or the end
// of its path. Fails with `invalid` and the candidates where several are meant, with `not_found` and what is
// open where none is.
Result<std::string> find_open(const std::vector<ProfileEntry>& open, const OpenProfilePtr& meant,
                              const std::string& named);

}  // namespace profd
