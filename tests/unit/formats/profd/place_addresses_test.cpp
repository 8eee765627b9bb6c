#include "formats/profd/place_addresses.h"

#include <string>

#include "tests/support/catch.h"

using namespace profd;

namespace {

StringTable strings_of(const std::vector<std::string>& texts) {
  std::vector<std::uint64_t> ends{0};
  std::vector<char> bytes;
  for (const std::string& text : texts) {
    bytes.insert(bytes.end(), text.begin(), text.end());
    ends.push_back(bytes.size());
  }
  return StringTable(Column(std::move(ends)), Column(std::move(bytes)));
}

}  // namespace

TEST_CASE("native files with addresses in memory are read as offsets in modules") {
  ProfileData data;
  data.strings = strings_of({"", "/bin/app", "//anon", "ab"});
  data.modules.name = Column(std::vector{StringId{1u}, StringId{2u}, StringId{1u}});
  data.modules.build_id = Column(std::vector{StringId{3u}, StringId{0u}, StringId{0u}});
  data.modules.start = Column(std::vector<std::uint64_t>{0x5000, 0x8000, 0});
  data.modules.limit = Column(std::vector<std::uint64_t>{0x7000, 0x9000, 0});
  data.modules.offset = Column(std::vector<std::uint64_t>{0x1000, 0x3000, 0});
  data.modules.addresses =
      Column(std::vector{AddressKind::file_offset, AddressKind::file_offset, AddressKind::unknown});
  data.modules.first = data.modules.offset;
  data.frames.module =
      Column(std::vector{ModuleId{0u}, ModuleId{0u}, ModuleId{1u}, ModuleId{2u}, ModuleId{}, ModuleId{0u}});
  data.frames.address = Column(std::vector<std::uint64_t>{0x5123, 0x7000, 0x8010, 0x40, 0x50, 0});
  profd_format::place_addresses(data);
  const std::vector<std::uint64_t> addresses(data.frames.address.begin(), data.frames.address.end());
  CHECK(addresses == std::vector<std::uint64_t>{0x1123, 0x7000, 0x8010, 0x40, 0x50, 0});
  // Outside its module's range, and in anonymous memory: modules of the same names without a range.
  REQUIRE(data.modules.size() == 5);
  const ModuleId outside = data.frames.module[1], anonymous = data.frames.module[2];
  CHECK(data.modules.name[outside.v] == StringId{1u});
  CHECK(data.modules.build_id[outside.v] == StringId{3u});
  CHECK(data.modules.limit[outside.v] == 0);
  CHECK(data.modules.addresses[outside.v] == AddressKind::loaded);
  CHECK(data.modules.name[anonymous.v] == StringId{2u});
  CHECK(data.modules.limit[anonymous.v] == 0);
  CHECK(data.frames.module[0] == ModuleId{0u});
  CHECK(data.frames.module[5] == ModuleId{0u});
}
