#include "server/engine/profile_cache.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "formats/profd/profd_file.h"
#include "server/engine/atomic_file.h"
#include "server/engine/cache_folder.h"
#include "server/platform/leased_map.h"

namespace profd {
namespace {

namespace fs = std::filesystem;

// Raise when entries of before must not be read for a reason that neither readers nor program show.
constexpr std::uint64_t kRevision = 1;
constexpr std::string_view kSuffix = ".profd";

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  unsigned shift = 0;
  if (!unit.empty()) {
    const std::size_t power = std::string_view("KMGT").find(unit.front());
    if (power == std::string_view::npos) return std::nullopt;
    unit.remove_prefix(1);
    if (!unit.empty() && unit != "B" && unit != "iB") return std::nullopt;
    shift = 10 * (static_cast<unsigned>(power) + 1);
  }
  if (size > (~std::uint64_t{0} >> shift)) return std::nullopt;
  return size << shift;
}

// A file maps to the same profile only while the same program reads it.
std::uint64_t digest_of_program() {
  struct stat status {};
  if (::stat("/proc/self/exe", &status) != 0) return 0;
  const std::array<std::int64_t, 3> parts{status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  return XXH3_64bits(parts.data(), sizeof parts);
}

// Only names end in what readers look at; the rest of a name changes nothing.
std::string known_endings(std::string_view name) {
  std::string endings;
  for (const FormatReader* reader : all_readers()) {
    for (std::string_view extension : reader->info().extensions) {
      if (name.find(extension) != std::string_view::npos) endings += fmt::format("{} ", extension);
    }
  }
  return endings;
}

enum class Found { yes, no, bad };

Found map_entry(const std::string& path, LeasedBytes& out) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid()) return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? Found::no : Found::bad;
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid() ||
      (status.st_mode & 022) != 0 || status.st_size <= 0)
    return Found::bad;
  ::futimens(file.get(), nullptr);  // used now: last to be removed
  auto mapped = leased_bytes(std::move(file));
  if (!mapped) return Found::no;
  out = std::move(*mapped);
  return Found::yes;
}

}  // namespace

CacheOptions cache_options_from_environment() {
  CacheOptions options;
  const std::string use = from_environment("PROFD_CACHE");
  if (use == "off" || use == "0" || use == "no") return options;
  if (const auto size = parse_size(from_environment("PROFD_CACHE_SIZE"))) options.max_bytes = *size;
  if (options.max_bytes == 0) return options;
  // The specification says that paths which are not absolute are to be ignored.
  const std::string cache = from_environment("XDG_CACHE_HOME");
  const std::string home = from_environment("HOME");
  if (cache.starts_with('/'))
    options.directory = cache + "/profd";
  else if (home.starts_with('/'))
    options.directory = home + "/.cache/profd";
  return options;
}

std::uint64_t digest_of(std::span<const FormatReader* const> readers) {
  std::string text;
  for (const FormatReader* reader : readers)
    text += fmt::format("{} {}\n", reader->info().id, reader->info().version);
  return XXH3_64bits(text.data(), text.size());
}

ProfileCache::ProfileCache(CacheOptions options)
    : options_(std::move(options)), program_(digest_of(all_readers()) ^ digest_of_program()) {}

CacheKey ProfileCache::key_of(const ByteSource& bytes, const OpenOptions& options) const {
  const XXH128_hash_t content = XXH3_128bits(bytes.bytes().data(), bytes.bytes().size());
  const ReadLimits& l = options.limits;
  const std::string text = fmt::format(
      "{:016x}{:016x} {} {} {} format={} partial={} gc={} unwind={} {} {} {} {} {} {} {} endings={}",
      content.high64, content.low64, bytes.bytes().size(), kRevision, program_, options.format,
      options.partial, options.gc_on_stack, static_cast<bool>(options.unwind), bytes.truncated(),
      l.input_bytes, l.expanded_bytes, l.expansion_ratio, l.container_depth, l.nesting, l.stack_depth,
      known_endings(bytes.name()));
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  CacheKey key;
  std::transform(std::begin(canonical.digest), std::end(canonical.digest), key.begin(),
                 [](unsigned char c) { return std::byte{c}; });
  return key;
}

std::string ProfileCache::path_of(const CacheKey& key) const {
  std::string name;
  for (std::byte b : key) name += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return fmt::format("{}/{}{}", options_.directory, name, kSuffix);
}

std::optional<OpenedFile> ProfileCache::find(const CacheKey& key, Executor& executor) const {
  if (!enabled()) return std::nullopt;
  const std::string path = path_of(key);
  LeasedBytes mapping;
  const Found found = map_entry(path, mapping);
  if (found == Found::no) return std::nullopt;
  if (found == Found::yes) {
    auto opened = read_cached_profd(mapping.bytes, mapping.owner, key, executor);
    if (opened) return std::move(*opened);
  }
  ::unlink(path.c_str());
  return std::nullopt;
}

Result<void> ProfileCache::make_directory() const {
  std::error_code error;
  // Parents that are missing get the user's umask; ours is closed to others before anything is in it.
  fs::create_directories(fs::path(options_.directory).parent_path(), error);
  const std::string& path = options_.directory;
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(ErrorCode::io, fmt::format("{}: {}", path, std::generic_category().message(errno)));
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid())
    return fail(ErrorCode::io, fmt::format("{} is not a directory of this user; nothing is cached", path));
  if ((status.st_mode & 077) != 0 && ::chmod(path.c_str(), 0700) != 0)
    return fail(ErrorCode::io, fmt::format("{} is open to others; nothing is cached", path));
  return {};
}

Result<bool> ProfileCache::store(const CacheKey& key, const OpenedFile& file, const StopToken& stop) const {
  if (!enabled()) return false;
  const std::string path = path_of(key);
  if (::access(path.c_str(), F_OK) == 0) return false;
  const ProfdWriteOptions options{.decision = &file.decision, .report = &file.report, .cache_key = key};
  const std::uint64_t size = profd_size(file.profiles, options);
  if (size > options_.max_bytes) return false;
  PROFD_CHECK(make_directory());
  // Filling the user's disk would cost more than a slow opening.
  struct statvfs disk {};
  if (::statvfs(options_.directory.c_str(), &disk) == 0 &&
      static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize < 2 * size)
    return false;
  PROFD_TRY(AtomicFile entry, AtomicFile::create(path, 0600));
  const auto sink = [&](std::span<const std::byte> bytes) -> Result<void> {
    constexpr std::size_t kPart = 16u << 20;
    for (std::size_t at = 0; at < bytes.size(); at += kPart) {
      PROFD_CHECK(stop.status());
      PROFD_CHECK(entry.write(bytes.subspan(at, std::min(kPart, bytes.size() - at))));
    }
    return {};
  };
  PROFD_CHECK(write_profd(file.profiles, options, sink));
  PROFD_CHECK(entry.commit());
  make_room(options_.directory, kSuffix, options_.max_bytes);
  return true;
}

Result<CachedOpen> open_cached(const ProfileCache& cache, const OpenInput& input, const OpenOptions& options,
                               Executor& executor, StopToken stop,
                               const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  CachedOpen out;
  CacheKey key{};
  // Empty and oversized inputs have their own errors, which opening gives.
  const std::size_t size = input.file.bytes().size();
  const bool use = cache.enabled() && !input.folder && size > 0 && size <= options.limits.input_bytes;
  if (use) {
    key = cache.key_of(input.file, options);
    PROFD_CHECK(stop.status());
    if (auto found = cache.find(key, executor)) {
      out.file = std::move(*found);
      out.from_cache = true;
      return out;
    }
  }
  const auto start = std::chrono::steady_clock::now();
  PROFD_TRY(out.file, open_profiles(input, options, executor, stop, progress));
  const auto took = std::chrono::steady_clock::now() - start;
  // A native file is as quick to open as its entry would be.
  const bool native = out.file.decision.format == "profd" && out.file.decision.containers.empty();
  if (use && !native && !out.file.looked_around && took >= cache.options().min_import)
    out.write_entry = [cache, key, file = out.file](const StopToken& s) { return cache.store(key, file, s); };
  return out;
}

Result<CachedOpen> open_cached(const ProfileCache& cache, const std::string& path, const OpenOptions& options,
                               Executor& executor, StopToken stop,
                               const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  PROFD_TRY(const OpenInput input, open_input(path, options.limits.input_bytes, OpenRule::regular, stop));
  return open_cached(cache, input, options, executor, std::move(stop), progress);
}

}  // namespace profd
