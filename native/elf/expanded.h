// Sections whose bytes are compressed (SHF_COMPRESSED with zlib or zstd, .zdebug_*), and .gnu_debugdata.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/support/result.h"
#include "native/elf/image.h"

namespace profd::native {

// What may be expanded in all, for one module: the sizes that files state are claims.
struct ExpansionBudget {
  std::uint64_t left = std::uint64_t{4} << 30;
};

// Bytes of a section, its own or expanded ones that it keeps.
struct SectionBytes {
  Bytes bytes;
  std::shared_ptr<const std::vector<std::uint8_t>> owned;  // null where `bytes` lie in the image
};

// `limit` where the budget does not suffice, malformed where the bytes do not expand to what they claim.
Result<SectionBytes> section_bytes(const ElfImage& image, const Section& section, ExpansionBudget& budget);

// A whole file that is compressed by xz or zstd, as modules of kernels are; null where it is neither.
Result<std::shared_ptr<const std::vector<std::uint8_t>>> expand_file(Bytes bytes, ExpansionBudget& budget);

// An xz stream of unknown size, as .gnu_debugdata holds.
Result<SectionBytes> expand_xz(Bytes bytes, ExpansionBudget& budget);

}  // namespace profd::native
