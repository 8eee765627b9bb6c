// tar archives: ustar, with the long names and sizes of GNU tar and pax. Members borrow from the archive.
#pragma once

#include "formats/support/archive.h"

namespace profd {

// Checks the first header's checksum, so that old archives without "ustar" are known too.
bool is_tar(std::span<const std::byte> bytes);
// Regular files only. `partial`: a member cut off by the end of the file is listed with what is there, and
// reported.
Result<std::vector<ArchiveMember>> list_tar(std::span<const std::byte> in, bool partial,
                                            ImportReport& report);

}  // namespace profd
