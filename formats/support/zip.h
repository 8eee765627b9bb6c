// zip archives by their central directory: stored and deflated members. zip64 is refused.
#pragma once

#include "formats/support/archive.h"

namespace profd {

bool is_zip(std::span<const std::byte> bytes);
// Regular files only; folders are left out. `partial`: where the directory contradicts itself or the members
// it is believed, and that is reported; otherwise it is an error.
Result<std::vector<ArchiveMember>> list_zip(std::span<const std::byte> in, bool partial,
                                            ImportReport& report);
// The member's bytes; the result borrows from the archive when it was stored (owner is then null). Bytes
// whose checksum does not match are an error; with `partial` they are reported and given.
Result<Expanded> expand_member(const ArchiveMember& member, const ExpandOptions& options,
                               ImportReport& report);

}  // namespace profd
