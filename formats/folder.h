// Folder: the files of a directory or of an archive, by their paths inside it. For formats whose unit is a
// folder (TAU, HPCToolkit, gprofng), and for files that stand beside the one that is read.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "formats/source.h"
#include "formats/support/archive.h"

namespace profd {

class Folder {
 public:
  virtual ~Folder() = default;
  virtual const std::string& name() const = 0;
  // '/'-separated, in natural order ("rank-2" before "rank-10"). Regular files only; hidden ones, links out
  // of the folder and what lies deeper than kMaxFolderDepth are left out.
  virtual const std::vector<std::string>& files() const = 0;
  virtual bool has(std::string_view file) const = 0;
  // The file's bytes, decompressed when it is a gzip or zstd stream. `not_found` when it is not one of
  // files(). Every call reads or maps anew.
  virtual Result<ByteSource> open(std::string_view file) const = 0;
  // Directories of it that could not be listed, each with its path in `where`.
  virtual std::vector<Error> unreadable() const { return {}; }
};

inline constexpr std::size_t kMaxFolderFiles = 100'000;
inline constexpr std::size_t kMaxFolderDepth = 8;

// A directory with everything below it. `max_bytes`: of one file, expanded. `stop` ends reading its files.
Result<std::shared_ptr<const Folder>> open_folder(const std::string& path, std::uint64_t max_bytes,
                                                  const StopToken& stop = {});
// The directory a file lies in: only files directly in it, listed when first asked for.
std::shared_ptr<const Folder> folder_beside(const std::string& path, std::uint64_t max_bytes,
                                            const StopToken& stop = {});
// Members with unsafe names (absolute, upward, hidden) are not in it.
std::shared_ptr<const Folder> archive_folder(ByteSource archive, std::vector<ArchiveMember> members,
                                             std::uint64_t max_bytes);
// What lies below `path` in `outer`, which must outlive it.
std::unique_ptr<Folder> sub_folder(const Folder& outer, std::string_view path);

// "a2" < "a10": runs of digits compare as numbers. A total order.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace profd
