// LeasedBytes: the bytes of a file of this user, mapped where the system promises that nobody cuts them
// short.
//
// Pages of a mapping that lie behind the end of its file raise SIGBUS, and what lay there is gone. A read
// lease (fcntl F_SETLEASE) makes the system ask before it lets anybody truncate the file or open it for
// writing: then what is mapped is copied into memory of this process, at the same addresses, before the other
// goes on. Where no lease is to be had (another system, a network file system, a file that somebody has open
// for writing) the file is read instead.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/support/result.h"
#include "core/support/unique_fd.h"

namespace profd {

struct LeasedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
  bool mapped = false;  // false: read
};

// A regular file, open for reading.
Result<LeasedBytes> leased_bytes(UniqueFd file);

}  // namespace profd
