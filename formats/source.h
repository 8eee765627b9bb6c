// ByteSource: the bytes a reader reads. One contiguous block, mapped or in memory, with the name it came
// from. Readers see decompressed content; containers (gzip, zstd, zip, tar) are peeled before them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

class MapGuard;

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, std::string name)
      : bytes_(bytes), owner_(std::move(owner)), name_(std::move(name)) {}

  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }
  const std::string& name() const { return name_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  // Nobody outside this process can change or cut the bytes: they are not a mapped file. Readers that keep
  // pointing into a source after read() may do so only then.
  bool is_private() const { return private_; }
  void set_private(bool is_private) { private_ = is_private; }
  // Gives back the memory of bytes that will hardly be read again; they can still be.
  void forget_pages() const;
  void set_mapped_file(std::shared_ptr<const MapGuard> guard) { guard_ = std::move(guard); }
  // The mapped file became shorter while it was read: what was read is not what it holds.
  bool shrank() const;
  bool truncated() const { return truncated_; }
  void set_truncated(bool truncated) { truncated_ = truncated; }

 private:
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  std::string name_;
  bool private_ = false;
  std::shared_ptr<const MapGuard> guard_;  // of a mapped file
  bool truncated_ = false;                 // a container ended early; what is here is a prefix
};

// What a path may stand for. A person who types it may mean a pipe, or what the kernel makes up below /proc.
// Everybody else (a client, a project file, a folder that is looked through) means a file: pipes block,
// devices do things when they are opened, and what the kernel makes up can be without an end.
enum class OpenRule : std::uint8_t { anything, regular };

// Maps a regular file, reads anything else (pipes) up to `max_bytes`. Ends soon after `stop`: of pipes nobody
// writes to, of files that take long to read.
Result<ByteSource> open_file(const std::string& path, std::uint64_t max_bytes,
                             OpenRule rule = OpenRule::anything, const StopToken& stop = {});
ByteSource memory_source(std::string content, std::string name);

}  // namespace profd
