// Modules of kernels, laid out; with lines they are tested in tests/unit/server/engine/kernel_files_test.cpp.
#include "native/elf/kernel_module.h"

#include <vector>

#include "tests/support/catch.h"

namespace profd::native {

TEST_CASE("a module of a kernel that is larger than is allowed is refused before it is laid out") {
  const std::vector<std::uint8_t> bytes(200);
  ElfImage image;
  image.bytes = bytes;
  image.relocatable = true;
  image.machine = Machine::x86_64;
  ExpansionBudget little{199};
  const auto refused = lay_out_module(image, little);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::limit);
  CHECK(little.left == 199);
}

TEST_CASE("what is no object file of a known processor is not laid out") {
  const std::vector<std::uint8_t> bytes(200);
  ElfImage image;
  image.bytes = bytes;
  image.machine = Machine::x86_64;
  ExpansionBudget budget;
  CHECK(lay_out_module(image, budget).error().code == ErrorCode::unsupported);
  image.relocatable = true;
  image.machine = Machine::arm;
  CHECK(lay_out_module(image, budget).error().code == ErrorCode::unsupported);
}

}  // namespace profd::native
