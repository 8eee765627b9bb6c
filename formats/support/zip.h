// zip archives by their central directory: stored and deflated members. zip64 is refused.
#pragma once

#include "formats/support/archive.h"

namespace profd {

bool is_zip(std::span<const std::byte> bytes);
// Regular files only; folders are left out.
Result<std::vector<ArchiveMember>> list_zip(std::span<const std::byte> in);
// The member's bytes; the result borrows from the archive when it was stored (owner is then null).
Result<Expanded> expand_member(const ArchiveMember& member, const ExpandOptions& options);

}  // namespace profd
