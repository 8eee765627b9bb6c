// Containers: gzip and zstd streams, zip and tar archives, UTF-16 around text, one inside another to a
// bounded depth.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/folder.h"
#include "formats/reader.h"
#include "formats/source.h"

namespace profd {

enum class ContainerKind : std::uint8_t { none, gzip, zstd, zip, tar, bzip2, xz, lz4, utf16 };
ContainerKind container_of(std::span<const std::byte> bytes);

// Content found inside, with the way to it: {"gzip", "tar: a/cpu.pb"} from the outside in.
struct Content {
  ByteSource source;
  std::vector<std::string> containers;
  std::vector<std::string> names;        // of the file and of what was peeled, outermost first
  std::shared_ptr<const Folder> beside;  // the archive it comes from, or the directory of the file
};

// One thing that was in the file: content, or why it could not be had.
using ContentVisitor = std::function<Result<void>(Result<Content>)>;

// Asked for every archive before its members are visited: true when all of it was taken at once. `archive`
// has the way to it.
using FolderVisitor = std::function<Result<bool>(const Folder& folder, const Content& archive)>;

// Calls `visit` for everything at the bottom, in order; stops at the first error it returns.
// `claimed(bytes)`: a reader takes this archive as it is (a format that is itself a zip or a tar).
// Expanded bytes are counted over the whole file: an archive cannot evade the limits by nesting.
Result<void> peel(Content file, const ReadLimits& limits, bool partial, Executor& executor, StopToken stop,
                  ImportReport& report, const std::function<bool(std::span<const std::byte>)>& claimed,
                  const ContentVisitor& visit, const FolderVisitor& visit_folder = {});

}  // namespace profd
