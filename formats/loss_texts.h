// What was lost in reading a file, as sentences for everyone who is shown numbers of it.
#pragma once

#include <string>
#include <vector>

#include "formats/import_report.h"

namespace profd {

// A sentence a kind of loss or error, with how often; what was only noted is left out. Never more than a
// screen has room for: the last one then counts the kinds that are not named.
std::vector<std::string> loss_texts(const ImportReport& report);

}  // namespace profd
