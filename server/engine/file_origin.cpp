#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "server/engine/origin.h"
#include "server/engine/recording_title.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

std::string token_of(const FileStamp& stamp) {
  return fmt::format("{} {} {}", stamp.mtime_ns, stamp.size, stamp.inode);
}

OpenOptions options_for(const LoadContext& context, const std::string& place, OpenOptions options) {
  if (context.unwinder) options.unwind = context.unwinder(place);
  return options;
}

Load load_of(CachedOpen opened) {
  Load out;
  out.profiles = std::make_shared<LoadedProfiles>();
  out.profiles->memory = memory_of(opened.file.profiles);
  out.profiles->profiles = std::move(opened.file.profiles);
  out.profiles->decision = std::move(opened.file.decision);
  out.profiles->report = std::move(opened.file.report);
  out.keep = std::move(opened.write_entry);
  return out;
}

// `place`: of the file that was read.
Result<void> apply_source_maps(const LoadContext& context, const std::string& place, LoadedProfiles& loaded) {
  const ScriptRoots roots = context.scripts.of_file(place);
  for (ProfilePtr& profile : loaded.profiles) {
    PROFD_TRY(ScriptsMapped mapped, map_scripts_of(profile, roots, context.stop));
    profile = std::move(mapped.profile);
    report_scripts(mapped.scripts, loaded.report);
    loaded.scripts.push_back(std::move(mapped.scripts));
  }
  loaded.memory = memory_of(loaded.profiles);
  return {};
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
  std::string name() const override { return profile_title(path_); }
  const std::string& place() const override { return path_; }

  Result<Load> load(const LoadContext& context) const override {
    PROFD_CHECK(context.stop.status());
    // Before the reading: a change during it is one to be seen.
    PROFD_TRY(const FileStamp stamp, stamp_of(path_));
    PROFD_TRY(CachedOpen opened, open_cached(context.cache, path_, options_for(context, path_, options_),
                                             context.executor, context.stop, context.progress));
    Load out = load_of(std::move(opened));
    PROFD_CHECK(apply_source_maps(context, path_, *out.profiles));
    out.profiles->freshness = token_of(stamp);
    out.profiles->watched.push_back({path_, stamp});
    return out;
  }

  std::optional<std::string> freshness() const override {
    const auto stamp = stamp_of(path_);
    return stamp ? std::optional(token_of(*stamp)) : std::nullopt;
  }

  OriginPolicy policy() const override {
    OriginPolicy policy;
    policy.keep_previous = true;
    return policy;
  }

 private:
  std::string path_, uri_, key_;
  OpenOptions options_;
};

// Read once, and again from the same bytes: nothing that changes.
class InputOrigin final : public Origin {
 public:
  InputOrigin(std::string place, OpenInput input, OpenOptions options)
      : place_(std::move(place)), input_(std::move(input)), options_(std::move(options)) {}

  const std::string& key() const override { return place_; }
  const std::string& uri() const override { return place_; }
  std::string name() const override { return std::string(base_name(place_)); }
  const std::string& place() const override { return place_; }
  Result<Load> load(const LoadContext& context) const override {
    PROFD_CHECK(context.stop.status());
    PROFD_TRY(CachedOpen opened, open_cached(context.cache, input_, options_for(context, place_, options_),
                                             context.executor, context.stop, context.progress));
    Load out = load_of(std::move(opened));
    PROFD_CHECK(apply_source_maps(context, place_, *out.profiles));
    return out;
  }
  std::optional<std::string> freshness() const override { return std::nullopt; }

 private:
  std::string place_;
  OpenInput input_;
  OpenOptions options_;
};

}  // namespace

std::size_t memory_of(const std::vector<ProfilePtr>& profiles) {
  std::size_t memory = 0;
  for (const ProfilePtr& profile : profiles) memory += profile->memory();
  return memory;
}

OriginPtr input_origin(std::string place, OpenInput input, OpenOptions options) {
  return std::make_shared<InputOrigin>(std::move(place), std::move(input), std::move(options));
}

OriginPtr file_origin(std::string path, OpenOptions options) {
  return std::make_shared<FileOrigin>(std::move(path), std::move(options));
}

}  // namespace profd
