#include "formats/support/map_guard.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "formats/open.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

class BigFile {
 public:
  explicit BigFile(std::size_t n_lines) {
    char pattern[] = "/tmp/profd-test-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    std::ofstream out(path());
    for (std::size_t i = 0; i < n_lines; ++i) out << "main;work;a_function_with_a_long_name 1\n";
  }
  ~BigFile() { static_cast<void>(std::system(("rm -rf " + folder_).c_str())); }
  [[nodiscard]] std::string path() const { return folder_ + "/big.folded"; }

 private:
  std::string folder_;
};

constexpr std::size_t kLines = 1 << 19;  // 20 MB: mapped

}  // namespace

TEST_CASE("reading what a mapped file no longer has gives zeros, and is told") {
  const BigFile file(kLines);
  const auto source = open_file(file.path(), 1u << 30);
  REQUIRE(source);
  REQUIRE(!source->is_private());
  CHECK(source->text()[0] == 'm');
  CHECK(!source->shrank());
  REQUIRE(::truncate(file.path().c_str(), 4096) == 0);
  CHECK(source->text().substr(0, 4) == "main");
  CHECK(source->text().back() == '\0');
  CHECK(source->text()[1 << 20] == '\0');
  CHECK(source->shrank());
}

TEST_CASE("two mapped files are told apart") {
  const BigFile a(kLines), b(kLines);
  const auto shrinks = open_file(a.path(), 1u << 30), stays = open_file(b.path(), 1u << 30);
  REQUIRE((shrinks && stays));
  REQUIRE(::truncate(a.path().c_str(), 0) == 0);
  CHECK(shrinks->text().back() == '\0');
  CHECK(stays->text().back() == '\n');
  CHECK(shrinks->shrank());
  CHECK(!stays->shrank());
}

TEST_CASE("a file that is cut while it is read is an error, not a profile of what was left") {
  const BigFile file(kLines);
  const auto source = open_file(file.path(), 1u << 30);
  REQUIRE(source);
  REQUIRE(::truncate(file.path().c_str(), 1 << 20) == 0);
  SerialExecutor serial;
  const auto opened = open_profiles(*source, {}, serial, {});
  REQUIRE(!opened);
  CHECK(opened.error().code == ErrorCode::io);
  CHECK(opened.error().message.find("became shorter") != std::string::npos);
}

TEST_CASE("more mappings than are guarded are refused a guard, and free ones are used again") {
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* place = ::mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(place != MAP_FAILED);
  {
    std::vector<std::shared_ptr<MapGuard>> guards;
    while (auto guard = MapGuard::make(place, page)) guards.push_back(std::move(guard));
    CHECK(guards.size() >= 16);
  }
  CHECK(MapGuard::make(place, page) != nullptr);
  ::munmap(place, page);
}
