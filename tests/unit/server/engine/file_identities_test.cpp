// Binaries that a recording knows by their inodes alone.
#include "server/engine/file_identities.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/model/profile_builder.h"
#include "core/support/unique_fd.h"
#include "server/engine/symbol_files.h"
#include "server/engine/symbolize_profile.h"
#include "tests/support/catch.h"
#include "tests/support/own_image.h"
#include "tests/support/temp_folder.h"

namespace profd {
namespace {

FileIdentity identity_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  int generation = 0;
  FileIdentity out{static_cast<std::uint32_t>(major(status.st_dev)),
                   static_cast<std::uint32_t>(minor(status.st_dev)), status.st_ino, 0};
  if (::ioctl(file.get(), FS_IOC_GETVERSION, &generation) == 0)
    out.generation = static_cast<std::uint32_t>(generation);
  return out;
}

void wait_a_tick() {
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
}

// A binary, and a recording that was begun after it was made.
struct RecordedFiles {
  test::TempFolder folder;
  std::string binary = folder.file("lib.so", "no more than a file");
  std::string recording;
  FileIdentity identity = identity_of(binary);

  RecordedFiles() {
    wait_a_tick();
    recording = folder.file("perf.data", "x");
  }
  [[nodiscard]] SymbolPlaces places() const {
    SymbolPlaces places = SymbolPlaces().of_file(recording);
    places.system = false;
    places.identities.by_name[binary] = identity;
    return places;
  }
};

std::optional<SymbolFile> first_binary(SymbolSearch& search) {
  worker::Wish wish;
  wish.kind = worker::WishKind::binary;
  return search.next(wish);
}

}  // namespace

TEST_CASE("identities are written as text and read again, and nothing else is") {
  const FileIdentity identity{8, 1, ~std::uint64_t{0}, 7};
  CHECK(parse_identity(identity_text(identity)) == identity);
  for (const char* text :
       {"", "8:1", "8:1 5", "8:1 5 ", "8:1 0 0", "8:1 5 7 9", "8:1 -5 7", "x8:1 5 7", "99999999999:1 5 7"})
    CHECK_FALSE(parse_identity(text));
}

TEST_CASE("without a build id a file is taken that is the one by its inode and older than the recording") {
  const RecordedFiles here;
  const SymbolPlaces places = here.places();
  SymbolSearch search(places, here.binary, "");
  const auto found = first_binary(search);
  REQUIRE(found);
  CHECK(found->path == here.binary);
  search.finish();
  CHECK(search.by_inode());
  CHECK_FALSE(search.unchecked());
}

TEST_CASE("another file by the same name, or one that was changed since, is not taken, and why is said") {
  RecordedFiles here;
  const std::string expected = GENERATE("another file", "changed since");
  if (expected == "another file") {
    ++here.identity.inode;
  } else {
    wait_a_tick();
    std::ofstream(here.binary, std::ios::app) << "and more";
  }
  const SymbolPlaces places = here.places();
  SymbolSearch search(places, here.binary, "");
  CHECK_FALSE(first_binary(search));
  REQUIRE(search.tried().size() == 1);
  CHECK(search.tried()[0].why.find(expected) != std::string::npos);
}

TEST_CASE("where a recording tells no generation, as of a program that ran before, the inode does") {
  RecordedFiles here;
  here.identity.generation = 0;
  const SymbolPlaces places = here.places();
  SymbolSearch search(places, here.binary, "");
  CHECK(first_binary(search));
}

TEST_CASE("where nothing says when a recording was made, inodes are no evidence") {
  const RecordedFiles here;
  SymbolPlaces places = here.places();
  places.identities.recorded_ns = 0;
  SymbolSearch search(places, here.binary, "");
  CHECK_FALSE(first_binary(search));
}

TEST_CASE("code of a binary that is known by its inode gets its names, marked so, and is asked for once") {
  test::TempFolder folder;
  const std::string binary = (folder.path / "app").string();
  std::filesystem::copy_file(std::filesystem::path(PROFD_SOURCE_DIR) / "tests/fixtures/symbols/app", binary);
  wait_a_tick();
  const std::string recording = folder.file("perf.data", "x");
  ProfileBuilder builder;
  ModuleSpec module;
  module.name = binary;
  module.addresses = AddressKind::vaddr;
  FrameSpec frame;
  frame.function = builder.function(FunctionSpec{.name = builder.string("[app]"), .unresolved = true});
  frame.module = builder.module(module);
  frame.address = 0x400150;  // of fill
  const MetricId metric = builder.add_metric("samples", "count");
  builder.add_self(builder.context(ContextId{0u}, builder.frame(frame)), metric, std::int64_t{1});
  builder.info().properties.emplace_back(std::string(kFileIdentityKey) + binary,
                                         identity_text(identity_of(binary)));
  const ProfilePtr profile = std::move(builder).finish().value();
  SymbolizeRequest request;
  request.places = SymbolPlaces().of_file(recording);
  request.places.system = false;
  const SymbolCache none("", 0);
  const auto found = symbolize_profile(profile, request, {PROFD_SYMBOLIZE, none}, {}, StopToken{});
  REQUIRE(found);
  REQUIRE(found->modules.size() == 1);
  CHECK(found->modules[0].answer.n_known == 1);
  CHECK(found->modules[0].answer.by_inode);

  // Of a program that is watched: what was found once stays.
  SymbolMemory memory;
  request.memory = &memory;
  for (const std::size_t n_asked : {std::size_t{1}, std::size_t{0}}) {
    const auto watched = symbolize_profile(profile, request, {PROFD_SYMBOLIZE, none}, {}, StopToken{});
    REQUIRE(watched);
    CHECK(watched->modules.size() == n_asked);
    const FrameTable& frames = watched->profile->frames();
    CHECK(watched->profile->function_name(frames.function[0]) == "fill");
  }
}

}  // namespace profd
