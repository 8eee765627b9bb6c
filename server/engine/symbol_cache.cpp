#include "server/engine/symbol_cache.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/support/unique_fd.h"
#include "server/engine/atomic_file.h"
#include "server/engine/cache_folder.h"

namespace profd {
namespace {

// Raise when chunks of before must not be read.
constexpr std::string_view kSymbolMagic = "profd symbols " PROFD_VERSION " 1\n";
constexpr std::string_view kSymbolSuffix = ".symbols";
constexpr std::uint64_t kMaxSymbolEntry = std::uint64_t{64} << 20;
constexpr std::size_t kMaxUsedFiles = 10000;

// Numbers as eight bytes, texts and chunks with their length.
class EntryWriter {
 public:
  void number(std::uint64_t value) {
    for (unsigned i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  void text(std::string_view text) {
    number(text.size());
    bytes_ += text;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// What is not there reads as nothing, and failed() is true from then on.
class EntryReader {
 public:
  explicit EntryReader(std::string_view bytes) : left_(bytes) {}
  std::uint64_t number() {
    if (left_.size() < 8) {
      fail();
      return 0;
    }
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<unsigned char>(left_[i])} << (8 * i);
    left_.remove_prefix(8);
    return value;
  }
  std::string_view text() {
    const std::uint64_t size = number();
    if (size > left_.size()) {
      fail();
      return {};
    }
    const std::string_view out = left_.substr(0, size);
    left_.remove_prefix(size);
    return out;
  }
  [[nodiscard]] bool done() const { return left_.empty() && !failed_; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  void fail() {
    failed_ = true;
    left_ = {};
  }
  std::string_view left_;
  bool failed_ = false;
};

std::string written(const KnownModule& known) {
  EntryWriter out;
  out.number(known.unchecked ? 1 : 0);
  out.number(known.used.size());
  for (const SymbolSearch::Used& used : known.used) {
    out.text(used.path);
    out.number(static_cast<std::uint64_t>(used.stamp.mtime_ns));
    out.number(used.stamp.size);
    out.number(used.stamp.inode);
  }
  out.number(known.chunks.size());
  for (const KnownChunk& chunk : known.chunks) {
    worker::ModuleOrder order;
    order.addresses = chunk.addresses;
    out.text(encode(worker::Order(std::move(order))));
    out.text(encode(worker::Report(chunk.chunk)));
  }
  return out.take();
}

std::optional<KnownModule> read_entry(std::string_view bytes) {
  EntryReader in(bytes);
  KnownModule known;
  known.unchecked = in.number() != 0;
  const std::uint64_t n_used = in.number();
  if (n_used > kMaxUsedFiles) return std::nullopt;
  for (std::uint64_t i = 0; i < n_used; ++i) {
    SymbolSearch::Used used;
    used.path = std::string(in.text());
    used.stamp.mtime_ns = static_cast<std::int64_t>(in.number());
    used.stamp.size = in.number();
    used.stamp.inode = in.number();
    const auto now = stamp_of(used.path);
    if (!now || *now != used.stamp) return std::nullopt;
    known.used.push_back(std::move(used));
  }
  const std::uint64_t n_chunks = in.number();
  for (std::uint64_t i = 0; i < n_chunks && !in.failed(); ++i) {
    auto order = worker::decode_order(in.text());
    auto report = worker::decode_report(in.text());
    if (!order || !report) return std::nullopt;
    auto* module = std::get_if<worker::ModuleOrder>(&*order);
    auto* chunk = std::get_if<worker::Chunk>(&*report);
    if (module == nullptr || chunk == nullptr) return std::nullopt;
    for (const std::uint32_t asked : chunk->asked)
      if (asked >= module->addresses.size()) return std::nullopt;
    known.chunks.push_back({std::move(module->addresses), std::move(*chunk)});
  }
  if (!in.done() || known.used.empty()) return std::nullopt;
  return known;
}

// A regular file of this user that nobody else can write.
std::optional<std::string> read_own_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid() || (status.st_mode & 022) != 0 || status.st_size <= 0 ||
      static_cast<std::uint64_t>(status.st_size) > kMaxSymbolEntry)
    return std::nullopt;
  ::futimens(file.get(), nullptr);  // used now: last to be removed
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (n <= 0) return std::nullopt;
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

}  // namespace

SymbolCache::SymbolCache(std::string directory, std::uint64_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes) {}

std::string SymbolCache::path_of(const std::string& build_id, worker::Addresses kind) const {
  return fmt::format("{}/{}-{}{}", directory_, build_id, static_cast<int>(kind), kSymbolSuffix);
}

std::optional<KnownModule> SymbolCache::find(const std::string& build_id, worker::Addresses kind) const {
  if (directory_.empty() || !is_build_id(build_id)) return std::nullopt;
  const auto bytes = read_own_file(path_of(build_id, kind));
  if (!bytes) return std::nullopt;
  std::string_view left = *bytes;
  constexpr std::size_t kHash = sizeof(XXH64_hash_t);
  if (!left.starts_with(kSymbolMagic) || left.size() < kSymbolMagic.size() + kHash) return std::nullopt;
  left.remove_prefix(kSymbolMagic.size());
  XXH64_hash_t stated = 0;
  std::memcpy(&stated, left.data(), kHash);
  left.remove_prefix(kHash);
  if (XXH3_64bits(left.data(), left.size()) != stated) return std::nullopt;
  return read_entry(left);
}

void SymbolCache::store(const std::string& build_id, worker::Addresses kind, const KnownModule& known) const {
  if (directory_.empty() || !is_build_id(build_id)) return;
  const std::string body = written(known);
  if (body.size() > std::min(kMaxSymbolEntry, max_bytes_)) return;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(directory_).parent_path(), error);
  if (::mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) return;
  struct stat status {};
  if (::lstat(directory_.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
      (status.st_mode & 077) != 0)
    return;
  auto file = AtomicFile::create(path_of(build_id, kind), 0600);
  if (!file) return;
  const XXH64_hash_t hash = XXH3_64bits(body.data(), body.size());
  std::string head(kSymbolMagic);
  head.append(reinterpret_cast<const char*>(&hash), sizeof hash);
  for (const std::string* part : {&std::as_const(head), &body})
    if (!file->write(std::as_bytes(std::span(*part)))) return;
  if (file->commit()) make_room(directory_, kSymbolSuffix, max_bytes_);
}

}  // namespace profd
