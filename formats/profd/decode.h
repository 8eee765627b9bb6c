// From bytes to columns: what a native file says, before anything is believed. Lengths and wire types are
// checked, absent columns are filled with their defaults; ids, order and texts are not checked (see
// validate.h).
#pragma once

#include <optional>
#include <vector>

#include "core/model/profile.h"
#include "core/support/executor.h"
#include "formats/open.h"
#include "formats/profd/field_cursor.h"

namespace profd::profd_format {

struct DecodedProfile {
  ProfileData data;  // tree is empty when the profile is loose; totals as stated
  bool loose = false;
  bool in_modules = false;  // Frames.in_modules, or Modules.addresses is there
  ContextTree contexts;     // of a loose profile: parent and frame of the contexts 1, 2, ...
  std::optional<std::uint64_t> n_samples;
  std::uint64_t offset = 0;  // in the file
};

struct DecodedFile {
  std::vector<DecodedProfile> profiles;
  bool has_import = false;
  FormatDecision decision;
  ImportReport report;  // of the import
  std::span<const std::byte> cache_key;
  std::uint64_t n_repaired = 0;  // texts outside the string tables that were not UTF-8
  std::optional<Field> checksum;
};

// Where columns live once decoded.
enum class Storage {
  borrowed,  // in `bytes`, which `owner` keeps alive and nobody may change
  copied,    // in memory of their own
};

Result<DecodedFile> decode_file(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                                Storage storage, Executor& executor);

}  // namespace profd::profd_format
