#include <utility>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "server/engine/origin.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

std::string token_of(const FileStamp& stamp) {
  return fmt::format("{} {} {}", stamp.mtime_ns, stamp.size, stamp.inode);
}

class FileOrigin final : public Origin {
 public:
  FileOrigin(std::string path, OpenOptions options)
      : path_(std::move(path)),
        uri_(uri_of_path(path_)),
        key_(fmt::format("{}\n{}\n{}\n{}", path_, options.format, options.partial, options.gc_on_stack)),
        options_(std::move(options)) {}

  const std::string& key() const override { return key_; }
  const std::string& uri() const override { return uri_; }
  std::string name() const override { return std::string(base_name(path_)); }
  const std::string& place() const override { return path_; }

  Result<Load> load(const LoadContext& context) const override {
    PROFD_CHECK(context.stop.status());
    Load out;
    out.profiles = std::make_shared<LoadedProfiles>();
    // Before the reading: a change during it is one to be seen.
    PROFD_TRY(const FileStamp stamp, stamp_of(path_));
    out.profiles->freshness = token_of(stamp);
    out.profiles->watched.push_back({path_, stamp});
    PROFD_TRY(CachedOpen opened,
              open_cached(context.cache, path_, options_, context.executor, context.stop, context.progress));
    out.profiles->opened = std::move(opened.file);
    out.keep = std::move(opened.write_entry);
    for (const ProfilePtr& profile : out.profiles->opened.profiles) out.profiles->memory += profile->memory();
    return out;
  }

  std::optional<std::string> freshness() const override {
    const auto stamp = stamp_of(path_);
    return stamp ? std::optional(token_of(*stamp)) : std::nullopt;
  }

 private:
  std::string path_, uri_, key_;
  OpenOptions options_;
};

}  // namespace

OriginPtr file_origin(std::string path, OpenOptions options) {
  return std::make_shared<FileOrigin>(std::move(path), std::move(options));
}

}  // namespace profd
