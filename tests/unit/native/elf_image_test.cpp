#include <string>
#include <vector>

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "native/elf/debug_links.h"
#include "native/elf/eh_frame.h"
#include "native/elf/expanded.h"
#include "native/elf/image.h"
#include "native/elf/symbols.h"
#include "tests/support/catch.h"
#include "tests/support/elf_file.h"

using namespace profd;
using namespace profd::native;
using profd::test::ByteWriter;
using profd::test::elf_file;
using profd::test::ElfSection;

namespace {

constexpr std::uint64_t kCode = 6;  // SHF_ALLOC, SHF_EXECINSTR
constexpr std::uint64_t kCompressed = 0x800;

std::vector<std::uint8_t> symbol(std::uint32_t name, unsigned info, std::uint16_t section,
                                 std::uint64_t value, std::uint64_t size) {
  return ByteWriter().u32(name).u8(info).u8(0).u16(section).u64(value).u64(size).bytes;
}

std::vector<std::uint8_t> chdr(std::uint32_t kind, std::uint64_t size,
                               const std::vector<std::uint8_t>& stream) {
  return ByteWriter().u32(kind).u32(0).u64(size).u64(1).all(stream).bytes;
}

std::vector<std::uint8_t> deflated(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint8_t> out(compressBound(bytes.size()));
  uLongf size = out.size();
  REQUIRE(compress(out.data(), &size, bytes.data(), bytes.size()) == Z_OK);
  out.resize(size);
  return out;
}

std::vector<std::uint8_t> zstd_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint8_t> out(ZSTD_compressBound(bytes.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1));
  return out;
}

Result<SectionBytes> expanded(const ElfSection& section, std::uint64_t budget = 1 << 20) {
  static std::vector<std::uint8_t> file;
  file = elf_file({section});
  const auto image = read_elf(file);
  REQUIRE(image);
  ExpansionBudget left{budget};
  return section_bytes(*image, image->sections[1], left);
}

}  // namespace

TEST_CASE("headers that contradict themselves are refused, and what is cut off is left out") {
  const auto whole = elf_file({{".text", 1, kCode, 0x1000, {0x90, 0xc3}}});
  REQUIRE(read_elf(whole));
  CHECK(read_elf(whole)->sections.size() == 3);
  CHECK(find_section(*read_elf(whole), ".text")->vaddr == 0x1000);

  std::vector<std::uint8_t> bytes = whole;
  SECTION("no ELF file") {
    bytes[1] = 'X';
    CHECK(read_elf(bytes).error().code == ErrorCode::unsupported);
  }
  SECTION("neither 32 nor 64 bits") {
    bytes[4] = 3;
    CHECK(read_elf(bytes).error().code == ErrorCode::malformed);
  }
  SECTION("unknown byte order") {
    bytes[5] = 0;
    CHECK(read_elf(bytes).error().code == ErrorCode::malformed);
  }
  SECTION("ends within the header") {
    bytes.resize(51);
    CHECK(read_elf(bytes).error().code == ErrorCode::truncated);
  }
  SECTION("section headers shorter than they are") {
    bytes[58] = 10;
    CHECK(read_elf(bytes).error().code == ErrorCode::malformed);
  }
  SECTION("section headers behind the end") {
    bytes.resize(bytes.size() - 100);
    REQUIRE(read_elf(bytes));
    CHECK(read_elf(bytes)->sections.empty());
  }
  SECTION("more sections than a file may have, by section 0") {
    bytes[60] = bytes[61] = 0;
    const std::size_t first = bytes.size() - 3 * 64;
    bytes[first + 32 + 3] = 1;
    CHECK(read_elf(bytes).error().code == ErrorCode::limit);
  }
}

TEST_CASE("sections reach no further than the file") {
  ElfSection section{".data", 1, 0, 0, {1, 2, 3}};
  section.stated_size = UINT64_MAX - 1;
  const auto file = elf_file({section});
  const auto image = read_elf(file);
  REQUIRE(image);
  const Bytes bytes = raw_bytes(*image, image->sections[1]);
  CHECK(bytes.data() + bytes.size() == file.data() + file.size());
  section.stated_offset = UINT64_MAX - 5;
  const auto beyond = elf_file({section});
  CHECK(raw_bytes(*read_elf(beyond), read_elf(beyond)->sections[1]).empty());
}

TEST_CASE("offsets of the file become addresses by the segment they are loaded with") {
  // As lld and mold lay files out: the address of code is not its offset.
  const auto file = elf_file({}, {{1, 4, 0, 0, 0x1234, 0x1234}, {1, 5, 0x1234, 0x2234, 0x800, 0x800}});
  const auto image = read_elf(file);
  REQUIRE(image);
  CHECK(vaddr_of_offset(*image, 0x1300) == 0x2300u);
  // Mappings begin and end at pages.
  CHECK(vaddr_of_offset(*image, 0x1000) == 0x2000u);
  CHECK(vaddr_of_offset(*image, 0x1fff) == 0x2fffu);
  CHECK(vaddr_of_offset(*image, 0x10) == 0x10u);
  CHECK_FALSE(vaddr_of_offset(*image, 0x9000));

  // Files of debug information alone have no bytes of segments; offsets are those of the program.
  const auto debug = elf_file({}, {{1, 4, 0, 0, 0, 0x1234}, {1, 5, 0, 0x2000, 0, 0x800}});
  CHECK(vaddr_of_offset(*read_elf(debug), 0x300) == 0x2300u);
}

TEST_CASE("a build id is found among other notes, in sections or in segments") {
  ByteWriter notes;
  notes.u32(4).u32(4).u32(1).text("GNU").u32(7);
  notes.u32(4).u32(3).u32(3).text("GNU").u8(0xab).u8(0xcd).u8(0xef).u8(0);
  const auto by_section = elf_file({{".note.x", 7, 2, 0, notes.bytes}});
  CHECK(hex(build_id(*read_elf(by_section))) == "abcdef");

  auto by_segment =
      elf_file({{"x", 1, 0, 0, notes.bytes}}, {{4, 4, 120, 0, notes.bytes.size(), notes.bytes.size()}});
  CHECK(hex(build_id(*read_elf(by_segment))) == "abcdef");

  ByteWriter endless;
  endless.u32(4).u32(0xffffffff).u32(3).text("GNU");
  const auto damaged = elf_file({{".note.x", 7, 2, 0, endless.bytes}});
  CHECK(build_id(*read_elf(damaged)).empty());
}

TEST_CASE("compressed sections expand to what they claim, or not at all") {
  const std::vector<std::uint8_t> content(5000, 'x');
  const auto zlib = deflated(content), zstd = zstd_of(content);
  CHECK(expanded({".debug_x", 1, kCompressed, 0, chdr(1, 5000, zlib)})->bytes.size() == 5000);
  CHECK(expanded({".debug_x", 1, kCompressed, 0, chdr(2, 5000, zstd)})->bytes[4999] == 'x');
  ByteWriter gnu;
  gnu.text("ZLIB").bytes.pop_back();
  for (int i = 0; i < 8; ++i) gnu.u8(i < 6 ? 0 : i == 6 ? 5000 >> 8 : 5000 & 0xff);
  CHECK(expanded({".zdebug_x", 1, 0, 0, gnu.all(zlib).bytes})->bytes.size() == 5000);

  const struct {
    const char* what;
    std::vector<std::uint8_t> bytes;
    ErrorCode code;
  } bad[] = {
      {"claims more than there is", chdr(1, 5001, zlib), ErrorCode::malformed},
      {"claims less than there is", chdr(2, 4999, zstd), ErrorCode::malformed},
      {"claims what no stream can hold", chdr(1, std::uint64_t{1} << 60, zlib), ErrorCode::malformed},
      {"is larger than the budget", chdr(1, 1 << 20, std::vector<std::uint8_t>(5000)), ErrorCode::limit},
      {"an unknown way", chdr(9, 5000, zlib), ErrorCode::unsupported},
      {"ends within its header", {1, 0, 0, 0, 0}, ErrorCode::truncated},
      {"no zlib stream", chdr(1, 100, {1, 2, 3, 4}), ErrorCode::malformed},
      {"no zstd stream", chdr(2, 100, {1, 2, 3, 4}), ErrorCode::malformed},
  };
  for (const auto& one : bad) {
    INFO(one.what);
    const auto result = expanded({".debug_x", 1, kCompressed, 0, one.bytes}, 100000);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == one.code);
  }
}

TEST_CASE("an xz stream of unknown size stays within the budget") {
  const std::vector<std::uint8_t> content(100000, 'y');
  std::vector<std::uint8_t> xz(1 << 16);
  std::size_t size = 0;
  REQUIRE(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, nullptr, content.data(), content.size(), xz.data(),
                                  &size, xz.size()) == LZMA_OK);
  xz.resize(size);
  ExpansionBudget budget{1 << 20};
  CHECK(expand_xz(xz, budget)->bytes.size() == content.size());
  ExpansionBudget narrow{70000};
  CHECK(expand_xz(xz, narrow).error().code == ErrorCode::limit);
  xz.resize(size / 2);
  CHECK(expand_xz(xz, budget).error().code == ErrorCode::malformed);
}

TEST_CASE("symbols of code come sorted, those that say more first, marks of ARM apart") {
  ByteWriter strings, table;
  strings.u8(0);
  const auto name = [&](const char* text) {
    const auto at = static_cast<std::uint32_t>(strings.bytes.size());
    strings.text(text);
    return at;
  };
  const unsigned local_function = 2, weak_function = 0x22, global_function = 0x12, local_label = 0;
  table.all(symbol(0, 0, 0, 0, 0));
  table.all(symbol(name("weak"), weak_function, 1, 0x1010, 4));
  table.all(symbol(name("__global"), global_function, 1, 0x1010, 4));
  table.all(symbol(name("global"), global_function, 1, 0x1010, 4));
  table.all(symbol(name("label"), local_label, 1, 0x1010, 0));
  table.all(symbol(name("local"), local_function, 1, 0x1000, UINT64_MAX));
  table.all(symbol(name("$x"), local_label, 1, 0x1000, 0));
  table.all(symbol(name("$d.7"), local_label, 1, 0x1008, 0));
  table.all(symbol(name("elsewhere"), global_function, 1, 0x9000, 4));
  table.all(symbol(name("imported"), global_function, 0, 0, 0));
  table.all(symbol(name("absolute"), global_function, 0xfff1, 0x1004, 0));
  table.all(symbol(name("data"), 0x11, 1, 0x1004, 4));
  table.all(symbol(0xffffff, global_function, 1, 0x1004, 4));
  const auto file = elf_file({{".text", 1, kCode, 0x1000, std::vector<std::uint8_t>(64)},
                              {".symtab", 2, 0, 0, table.bytes, 3},
                              {".strtab", 3, 0, 0, strings.bytes}},
                             {}, 183);
  const auto image = read_elf(file);
  REQUIRE(image);
  std::string names;
  for (const Symbol& one : code_symbols(*image, SymbolTable::symtab)) names += std::string(one.name) + " ";
  CHECK(names == "local global __global weak label ");
  // A size that leads around the address space is none.
  CHECK(code_symbols(*image, SymbolTable::symtab)[0].size == 0);
  CHECK(code_symbols(*image, SymbolTable::dynsym).empty());
  const auto marks = code_marks(*image);
  REQUIRE(marks.size() == 2);
  CHECK(marks[0].mark == CodeMark::aarch64);
  CHECK((marks[1].vaddr == 0x1008 && marks[1].mark == CodeMark::data));
}

TEST_CASE("bounds of functions are what the frames say, and frames that say nonsense are passed over") {
  ByteWriter frames;
  const auto cie = [&] {
    ByteWriter body;
    body.u32(0).u8(1).text("zR").uleb(1).sleb(-8).u8(16).uleb(1).u8(0x1b);
    while (body.bytes.size() % 4 != 0) body.u8(0);
    frames.all(ByteWriter::with_length(body));
  };
  const auto fde = [&](std::uint32_t cie_distance, std::int64_t begin, std::uint32_t size) {
    const std::uint64_t field = 0x2000 + frames.bytes.size() + 8;
    ByteWriter body;
    body.u32(cie_distance)
        .u32(static_cast<std::uint32_t>(begin - static_cast<std::int64_t>(field)))
        .u32(size)
        .uleb(0);
    while (body.bytes.size() % 4 != 0) body.u8(0);
    frames.all(ByteWriter::with_length(body));
  };
  cie();
  fde(static_cast<std::uint32_t>(frames.bytes.size()) + 4, 0x1020, 0x10);
  fde(static_cast<std::uint32_t>(frames.bytes.size()) + 4, 0x1000, 0x20);
  fde(static_cast<std::uint32_t>(frames.bytes.size()) + 4, 0x1040, 0);  // empty
  fde(3, 0x1050, 0x10);                                                 // of no CIE
  frames.u32(0x7fffffff);                                               // longer than the section
  const auto file = elf_file({{".eh_frame", 1, 2, 0x2000, frames.bytes}});
  const auto ranges = frame_ranges(*read_elf(file));
  REQUIRE(ranges.size() == 2);
  CHECK((ranges[0].begin == 0x1000 && ranges[0].end == 0x1020));
  CHECK((ranges[1].begin == 0x1020 && ranges[1].end == 0x1030));
}

TEST_CASE("links to other files are names without folders, checksums and ids") {
  ByteWriter link;
  link.text("a.debug").u32(0xcafe0123);
  const auto linked = elf_file({{".gnu_debuglink", 1, 0, 0, link.bytes}});
  REQUIRE(debug_link(*read_elf(linked)));
  CHECK(debug_link(*read_elf(linked))->name == "a.debug");
  CHECK(debug_link(*read_elf(linked))->crc == 0xcafe0123);
  const std::uint8_t digits[] = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  CHECK(debug_link_crc(digits) == 0xcbf43926);

  ByteWriter path;
  path.text("../../etc/passwd").bytes.resize(20);
  const auto led_astray = elf_file({{".gnu_debuglink", 1, 0, 0, path.u32(1).bytes}});
  CHECK_FALSE(debug_link(*read_elf(led_astray)));

  ByteWriter alternate;
  alternate.text("/usr/lib/common.debug").u32(0x04030201);
  const auto shared = elf_file({{".gnu_debugaltlink", 1, 0, 0, alternate.bytes}});
  REQUIRE(alternate_link(*read_elf(shared)));
  CHECK(hex(alternate_link(*read_elf(shared))->build_id) == "01020304");
  const auto empty = elf_file({{".gnu_debugaltlink", 1, 0, 0, ByteWriter().text("x").bytes}});
  CHECK_FALSE(alternate_link(*read_elf(empty)));
}
