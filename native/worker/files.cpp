#include "native/worker/files.h"

#include <utility>

#include <sys/mman.h>
#include <sys/stat.h>

#include "native/elf/debug_links.h"
#include "native/elf/expanded.h"
#include "native/elf/kernel_module.h"
#include "workers/frames.h"

namespace profd::worker {
namespace {

using native::ElfImage;

constexpr std::size_t kMaxSplit = 4096;

std::string id_of(const ElfImage& image) {
  return native::hex(native::build_id(image));
}

bool has_debug_information(const ElfImage& image) {
  for (const char* name : {".debug_info", ".zdebug_info"})
    if (const native::Section* section = native::find_section(image, name);
        section != nullptr && section->has_bytes() && section->size > 0)
      return true;
  return false;
}

// Why a file is not used; "" when it is.
struct Verdict {
  std::string refused;
  bool other_build = false;
};

Verdict same_build(const ElfImage& image, const std::string& wanted) {
  const std::string found = id_of(image);
  if (wanted.empty() || found == wanted) return {};
  if (found.empty()) return {"it has no build id", false};
  return {"another build: " + found, true};
}

// Asks until a file comes that `check` has nothing against; null when there is none.
template <class Check>
Result<MappedFilePtr> wish_for(int socket, Wish wish, const Check& check) {
  while (true) {
    PROFD_CHECK(send_frame(socket, encode(Report(wish))));
    PROFD_TRY(const Frame frame, receive_frame(socket));
    PROFD_TRY(const Order order, decode_order(frame.bytes));
    const auto* answer = std::get_if<FileAnswer>(&order);
    if (answer == nullptr || answer->there != (frame.files.size() == 1))
      return fail(ErrorCode::malformed, "a wish was answered with something else");
    if (!answer->there) return MappedFilePtr();
    auto mapped = MappedFile::map(frame.files.front().get());
    Verdict verdict = mapped ? check((*mapped)->image()) : Verdict{mapped.error().message};
    if (verdict.refused.empty()) return std::move(*mapped);
    wish.refused = std::move(verdict.refused);
    wish.refused.resize(std::min(wish.refused.size(), kMaxTextBytes));
    wish.other_build = verdict.other_build;
  }
}

Result<MappedFilePtr> find_debug(int socket, const std::string& build_id, const ElfImage* binary) {
  if (!build_id.empty()) {
    const auto check = [&](const ElfImage& image) {
      Verdict verdict = same_build(image, build_id);
      if (verdict.refused.empty() && !has_debug_information(image))
        verdict.refused = "it has no debug information";
      return verdict;
    };
    Wish wish;
    wish.kind = WishKind::debug_file;
    wish.build_id = build_id;
    PROFD_TRY(MappedFilePtr found, wish_for(socket, std::move(wish), check));
    if (found) return found;
  }
  const auto link = binary == nullptr ? std::nullopt : native::debug_link(*binary);
  if (!link) return MappedFilePtr();
  Wish wish;
  wish.kind = WishKind::debug_link;
  wish.name = std::string(link->name);
  wish.crc = link->crc;
  return wish_for(socket, std::move(wish), [&](const ElfImage& image) {
    if (native::debug_link_crc(image.bytes) != link->crc) return Verdict{"another checksum than the link's"};
    const std::string theirs = id_of(image), ours = id_of(*binary);
    return theirs.empty() || ours.empty() ? Verdict() : same_build(image, ours);
  });
}

Result<MappedFilePtr> find_alternate(int socket, const ElfImage& debug) {
  const auto link = native::alternate_link(debug);
  if (!link) return MappedFilePtr();
  Wish wish;
  wish.kind = WishKind::alternate;
  wish.name = std::string(link->path);
  wish.build_id = native::hex(link->build_id);
  const std::string wanted = wish.build_id;
  return wish_for(socket, std::move(wish), [&](const ElfImage& image) { return same_build(image, wanted); });
}

}  // namespace

Result<MappedFilePtr> MappedFile::map(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0)
    return fail(ErrorCode::unsupported, "it is no regular file, or empty");
  const auto size = static_cast<std::size_t>(status.st_size);
  void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (at == MAP_FAILED) return fail(ErrorCode::limit, "it cannot be mapped");
  MappedFilePtr file(new MappedFile(at, size));
  PROFD_CHECK(file->expand());
  return file;
}

Result<void> MappedFile::expand() {
  // The largest modules have some tens of megabytes, those with debug information ten times that.
  native::ExpansionBudget budget{std::uint64_t{768} << 20};
  native::Bytes bytes(static_cast<const std::uint8_t*>(at_), size_);
  PROFD_TRY(owned_, native::expand_file(bytes, budget));
  if (owned_) bytes = *owned_;
  PROFD_TRY(image_, native::read_elf(bytes));
  if (!image_.relocatable) return {};
  PROFD_TRY(std::vector<std::uint8_t> laid_out, native::lay_out_module(image_, budget));
  owned_ = std::make_shared<const std::vector<std::uint8_t>>(std::move(laid_out));
  PROFD_TRY(image_, native::read_elf(*owned_));
  return {};
}

MappedFile::~MappedFile() {
  ::munmap(at_, size_);
}

const ElfImage* ModuleImages::best() const {
  if (debug) return &debug->image();
  return binary ? &binary->image() : nullptr;
}

Result<MappedFilePtr> find_binary(int socket, const std::string& name, const std::string& build_id) {
  Wish wish;
  wish.kind = WishKind::binary;
  wish.name = name;
  wish.build_id = build_id;
  return wish_for(socket, std::move(wish),
                  [&](const ElfImage& image) { return same_build(image, build_id); });
}

Result<ModuleImages> find_images(int socket, const ModuleOrder& order) {
  ModuleImages images;
  PROFD_TRY(images.binary, find_binary(socket, order.name, order.build_id));
  const ElfImage* binary = images.binary ? &images.binary->image() : nullptr;
  if (binary == nullptr || !has_debug_information(*binary)) {
    const std::string id = binary != nullptr ? id_of(*binary) : order.build_id;
    PROFD_TRY(images.debug, find_debug(socket, id, binary));
  }
  if (const ElfImage* best = images.best(); best != nullptr) {
    PROFD_TRY(images.alternate, find_alternate(socket, *best));
  }
  return images;
}

Result<void> find_split(int socket, ModuleImages& images, native::Resolver& resolver,
                        const std::vector<std::uint64_t>& vaddrs) {
  const auto add = [&](Wish wish) -> Result<void> {
    PROFD_TRY(MappedFilePtr found, wish_for(socket, std::move(wish), [&](const ElfImage& image) {
                return resolver.add_split(image) > 0 ? Verdict() : Verdict{"it has no unit of this build"};
              }));
    if (found) images.split.push_back(std::move(found));
    return {};
  };
  if (resolver.wishes(vaddrs).empty()) return {};
  Wish package;
  package.kind = WishKind::package;
  if (images.binary) package.build_id = id_of(images.binary->image());
  PROFD_CHECK(add(std::move(package)));
  for (const native::SplitWish& split : resolver.wishes(vaddrs)) {
    if (images.split.size() == kMaxSplit) break;
    if (std::max(split.name.size(), split.folder.size()) > kMaxTextBytes) continue;
    Wish wish;
    wish.kind = WishKind::split;
    wish.name = split.name;
    wish.folder = split.folder;
    PROFD_CHECK(add(std::move(wish)));
  }
  return {};
}

}  // namespace profd::worker
