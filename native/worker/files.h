// The files of one module: asked of the daemon one after the other, mapped, and checked to be those of what
// ran before anything of them is used.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/support/result.h"
#include "native/elf/image.h"
#include "native/lines/resolver.h"
#include "workers/symbols.h"

namespace profd::worker {

// A whole file, mapped to be read. One that is cut short meanwhile ends this process, as it is meant to.
// Modules of kernels are expanded and laid out (native/elf/kernel_module.h).
class MappedFile {
 public:
  static Result<std::unique_ptr<MappedFile>> map(int fd);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] const native::ElfImage& image() const { return image_; }

 private:
  MappedFile(void* at, std::size_t size) : at_(at), size_(size) {}

  Result<void> expand();

  void* at_;
  std::size_t size_;
  std::shared_ptr<const std::vector<std::uint8_t>> owned_;  // what the image is of; null: the file
  native::ElfImage image_;
};
using MappedFilePtr = std::unique_ptr<MappedFile>;

struct ModuleImages {
  MappedFilePtr binary, debug, alternate;  // null: none
  std::vector<MappedFilePtr> split;

  // What has debug information, or else anything; null: no file at all.
  [[nodiscard]] const native::ElfImage* best() const;
};

// What ran alone, of a build; null: it is not to be had. As find_images().
Result<MappedFilePtr> find_binary(int socket, const std::string& name, const std::string& build_id);

// Talks to the daemon at `socket`. An error is one of the socket: files that are missing or wrong are none.
Result<ModuleImages> find_images(int socket, const ModuleOrder& order);
// Adds to the resolver what it wishes for `vaddrs`: the package of split units, and of what is in none the
// files of their own.
Result<void> find_split(int socket, ModuleImages& images, native::Resolver& resolver,
                        const std::vector<std::uint64_t>& vaddrs);

}  // namespace profd::worker
