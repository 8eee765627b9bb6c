#include "formats/support/loaded_modules.h"

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE(
    "addresses in memory become offsets in the module's file, wherever "
    "it was loaded") {
  ProfileBuilder builder;
  LoadedModules modules(builder);
  const std::uint32_t first = modules.add(
      {.name = "/bin/app", .build_id = "ab", .start = 0x55d000, .limit = 0x55f000, .offset = 0x1000});
  const std::uint32_t second = modules.add(
      {.name = "/bin/app", .build_id = "ab", .start = 0x7fa000, .limit = 0x7fc000, .offset = 0x1000});
  CHECK(modules.at(first, 0x55d123).address == 0x1123);
  CHECK(modules.at(second, 0x7fa123).address == 0x1123);
  CHECK(modules.at(first, 0x55d123).module == modules.module(first));
  CHECK(modules.module(first) != modules.module(second));
  // The end is not in it; what lies outside keeps its address under a module of
  // no range.
  const LoadedModules::Place outside = modules.at(first, 0x55f000);
  CHECK(outside.address == 0x55f000);
  CHECK(outside.module != modules.module(first));
  CHECK(modules.at(second, 0x10).module == outside.module);
  CHECK(modules.at(first, 0).address == 0);
  CHECK(modules.at(first, 0).module == modules.module(first));
}

TEST_CASE(
    "addresses in anonymous memory and in modules without a range stay "
    "what they are") {
  ProfileBuilder builder;
  LoadedModules modules(builder);
  for (const char* name : {"", "//anon", "[heap]", "[stack]", "/memfd:jit (deleted)"}) {
    const std::uint32_t row = modules.add({.name = name, .start = 0x1000, .limit = 0x2000, .offset = 0x5000});
    INFO(name);
    CHECK(modules.at(row, 0x1010).address == 0x1010);
  }
  const std::uint32_t plain = modules.add({.name = "/bin/app"});
  CHECK(modules.at(plain, 0x1010).address == 0x1010);
  CHECK(modules.at(plain, 0x1010).module == modules.module(plain));
  // A kernel whose place is chosen at each boot; arithmetic is modulo 2^64.
  const std::uint32_t kernel = modules.add(
      {.name = "[kernel.kallsyms]", .start = 0xffffffff9a000000, .limit = 0xffffffffffffffff, .offset = 0});
  CHECK(modules.at(kernel, 0xffffffff9a000010).address == 0x10);
  const std::uint32_t fixed = modules.add({.name = "[kernel.kallsyms]_stext",
                                           .start = 0xffffffff81000000,
                                           .limit = 0xffffffffffffffff,
                                           .offset = 0xffffffff81000000});
  CHECK(modules.at(fixed, 0xffffffff81000010).address == 0xffffffff81000010);
  const auto profile = [&] {
    builder.add_metric("cpu", "nanoseconds");
    return std::move(builder).finish().value();
  }();
  const auto kind = [&](std::uint32_t row) { return address_kind(profile->modules(), modules.module(row)); };
  CHECK(kind(plain) == AddressKind::unknown);
  CHECK(kind(kernel) == AddressKind::image_offset);
  CHECK(kind(fixed) == AddressKind::loaded);
}

TEST_CASE("an offset in a module's file leads back to the address in memory") {
  const ModuleRange range{0x55d000, 0x55f000, 0x1000};
  for (const std::uint64_t loaded : {std::uint64_t{0x55d001}, std::uint64_t{0x55efff}}) {
    CHECK(range.holds(loaded));
    CHECK(range.to_loaded(range.to_module(loaded)) == loaded);
  }
  CHECK_FALSE(ModuleRange{}.known());
}
