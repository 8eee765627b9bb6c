// Opening that ends soon after `stop`: of pipes nobody writes to, of files that take long to read. What
// source.h, folder.h and open.h have is the same without a way to stop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/support/stop.h"
#include "formats/folder.h"
#include "formats/open.h"
#include "formats/source.h"

namespace profd {

Result<ByteSource> open_file(const std::string& path, std::uint64_t max_bytes, const StopToken& stop);
// Reading their files ends, too.
Result<std::shared_ptr<const Folder>> open_folder(const std::string& path, std::uint64_t max_bytes,
                                                  const StopToken& stop);
std::shared_ptr<const Folder> folder_beside(const std::string& path, std::uint64_t max_bytes,
                                            const StopToken& stop);
Result<OpenInput> open_input(const std::string& path, std::uint64_t max_bytes, const StopToken& stop);

}  // namespace profd
