#include <numeric>
#include <string>
#include <vector>

#include "native/lines/resolver.h"
#include "tests/support/catch.h"
#include "tests/support/dwarf_file.h"

using namespace profd;
using namespace profd::native;
using profd::test::ByteWriter;
using profd::test::DwarfFile;
using profd::test::ElfSection;

namespace {

std::string name_of(const Chains& chains, std::uint32_t row) {
  if (row == kNone) return "??";
  const Chains::Function& function = chains.functions[row];
  return chains.texts[function.linkage != 0 ? function.linkage : function.name];
}

// "inner a.c:3 < outer a.c:7", or "" where nobody knows.
std::string chain_text(const Chains& chains, std::size_t i) {
  std::string text;
  for (std::uint32_t row = chains.link_of[i]; row != kNone; row = chains.links[row].parent) {
    const Chains::Link& link = chains.links[row];
    const std::string& path = chains.texts[link.file];
    text += (text.empty() ? "" : " < ") + name_of(chains, link.function) + " " +
            path.substr(path.rfind('/') + 1) + ":" + std::to_string(link.line);
  }
  return text;
}

std::vector<std::string> chains_of(const std::vector<std::uint8_t>& file,
                                   const std::vector<std::uint64_t>& vaddrs) {
  const auto image = read_elf(file);
  REQUIRE(image);
  ModuleFiles files;
  files.binary = &*image;
  const auto resolver = Resolver::open(files, {1 << 20});
  REQUIRE(resolver);
  SerialExecutor executor;
  const auto chains = resolver->resolve(vaddrs, executor);
  REQUIRE(chains);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < vaddrs.size(); ++i) texts.push_back(chain_text(*chains, i));
  return texts;
}
std::string chain_of(const DwarfFile& dwarf, std::uint64_t vaddr) {
  return chains_of(dwarf.file(), {vaddr})[0];
}

// f: 0x1010 to 0x1050, lines 10, 20 and 30 from 0x1010, 0x1020 and 0x1030 on.
DwarfFile simple(unsigned version = 4) {
  DwarfFile dwarf;
  dwarf.version = version;
  dwarf.add_function("f", 0x1010, 0x40);
  dwarf.end_children();
  dwarf.set_address(0x1010);
  dwarf.row(0, 9);
  dwarf.row(0x10, 10);
  dwarf.row(0x10, 10);
  dwarf.end_sequence(0x20);
  return dwarf;
}

ElfSection with_symbols(const std::vector<std::pair<std::string, std::uint64_t>>& functions,
                        ElfSection& strings, std::uint32_t strings_at) {
  ByteWriter table, names;
  names.u8(0);
  table.u32(0).number(0, 8).number(0, 12);
  for (const auto& [name, vaddr] : functions) {
    table.u32(names.bytes.size()).u8(0x12).u8(0).u16(1).u64(vaddr).u64(0x20);
    names.text(name);
  }
  strings = {".strtab", 3, 0, 0, names.bytes};
  return {".symtab", 2, 0, 0, table.bytes, strings_at};
}
void add_symbols(DwarfFile& dwarf, const std::vector<std::pair<std::string, std::uint64_t>>& functions) {
  ElfSection strings;
  dwarf.more.push_back(with_symbols(functions, strings, 6));
  dwarf.more.push_back(strings);
}

}  // namespace

TEST_CASE("an address has the row at or before it within its sequence") {
  const DwarfFile dwarf = simple();
  CHECK(chains_of(dwarf.file(), {0x100f, 0x1010, 0x101f, 0x1020, 0x104f, 0x1050}) ==
        std::vector<std::string>{"", "f a.c:10", "f a.c:10", "f a.c:20", "f a.c:30", ""});
}

TEST_CASE("of several rows at one address the last one holds") {
  DwarfFile dwarf;
  dwarf.add_function("f", 0x1000, 0x40);
  dwarf.end_children();
  dwarf.set_address(0x1000);
  dwarf.row(0, 4);
  dwarf.row(0, 5);
  dwarf.lines.u8(6);  // not a statement: no matter
  dwarf.row(0, -3);
  dwarf.end_sequence(0x40);
  CHECK(chain_of(dwarf, 0x1000) == "f a.c:7");
}

TEST_CASE("line 0 is no line, and not the one before") {
  DwarfFile dwarf;
  dwarf.add_function("f", 0x1000, 0x40);
  dwarf.end_children();
  dwarf.set_address(0x1000);
  dwarf.row(0, 4);
  dwarf.row(0x10, -5);
  dwarf.row(0x10, 8);
  dwarf.end_sequence(0x20);
  CHECK(chains_of(dwarf.file(), {0x1000, 0x1010, 0x1020}) ==
        std::vector<std::string>{"f a.c:5", "f a.c:0", "f a.c:8"});
}

TEST_CASE("files count from 1 before DWARF 5 and from 0 in it") {
  for (const unsigned version : {4u, 5u}) {
    DwarfFile dwarf;
    dwarf.version = version;
    const std::uint32_t inner = dwarf.add_abstract("inner");
    dwarf.add_function("f", 0x1000, 0x40);
    dwarf.add_inlined(inner, 0x1010, 0x10, 1, 77);
    dwarf.end_children();
    dwarf.end_children();
    dwarf.set_address(0x1000);
    dwarf.lines.u8(4).uleb(version >= 5 ? 0 : 2);
    dwarf.row(0, 4);
    dwarf.end_sequence(0x40);
    CHECK(chain_of(dwarf, 0x1010) == "inner b.c:5 < f a.c:77");
  }
}

TEST_CASE("inlined calls of overlapping siblings: the later one; beyond their parent: not theirs") {
  DwarfFile dwarf = simple();
  dwarf.entries = {};
  const std::uint32_t a = dwarf.add_abstract("a"), b = dwarf.add_abstract("b");
  dwarf.add_function("f", 0x1010, 0x20);
  dwarf.add_inlined(a, 0x1010, 0x18, 1, 1);
  dwarf.add_inlined(b, 0x1000, 0x1000, 1, 3);  // in a, and says it spans the program
  dwarf.end_children();
  dwarf.end_children();
  dwarf.add_inlined(b, 0x1020, 0x10, 1, 2);
  dwarf.end_children();
  dwarf.end_children();
  dwarf.add_function("g", 0x1030, 0x20);
  dwarf.end_children();
  CHECK(chains_of(dwarf.file(), {0x1010, 0x1024, 0x102f, 0x1030}) ==
        std::vector<std::string>{"b a.c:10 < a a.c:3 < f a.c:1", "b a.c:20 < f a.c:2", "b a.c:20 < f a.c:2",
                                 "g a.c:30"});
}

TEST_CASE("equal code that was made one takes the function that its symbol names") {
  for (const std::string kept : {"first", "second"}) {
    DwarfFile dwarf = simple();
    dwarf.entries = {};
    for (const char* name : {"first", "second"}) {
      dwarf.add_function(name, 0x1010, 0x20);
      dwarf.end_children();
    }
    CHECK(chain_of(dwarf, 0x1010) == "second a.c:10");
    add_symbols(dwarf, {{kept, 0x1010}});
    CHECK(chain_of(dwarf, 0x1010) == kept + " a.c:10");
  }
}

TEST_CASE("code that the linker threw away has no addresses, even where it seems long enough") {
  DwarfFile dwarf = simple();
  dwarf.entries = {};
  dwarf.add_function("alive", 0x1010, 0x20);
  dwarf.end_children();
  dwarf.add_function("dead", 0, 0x2000);
  dwarf.end_children();
  dwarf.set_address(0);
  dwarf.row(0, 998);
  dwarf.end_sequence(0x2000);
  CHECK(chain_of(dwarf, 0x1010) == "alive a.c:10");
}

TEST_CASE("a unit that states no range is found by its line table") {
  DwarfFile dwarf = simple();
  dwarf.entries = {};
  dwarf.unit_states_range = false;
  dwarf.add_function("f", 0x1010, 0x40);
  dwarf.end_children();
  CHECK(chain_of(dwarf, 0x1020) == "f a.c:20");
  CHECK(chain_of(dwarf, 0x1060).empty());
}

TEST_CASE("or by .debug_aranges, which goes before the line table") {
  DwarfFile dwarf = simple();
  dwarf.entries = {};
  dwarf.unit_states_range = false;
  dwarf.add_function("f", 0x1010, 0x40);
  dwarf.end_children();
  ByteWriter set;
  set.u16(2).u32(0).u8(8).u8(0).u32(0).u64(0x1020).u64(0x10).u64(0).u64(0);
  dwarf.more.push_back({".debug_aranges", 1, 0, 0, ByteWriter::with_length(set)});
  CHECK(chain_of(dwarf, 0x1020) == "f a.c:20");
  CHECK(chain_of(dwarf, 0x1010).empty());
}

TEST_CASE("without debug information addresses have symbols, inside of them alone") {
  DwarfFile dwarf;
  dwarf.info = {0};
  add_symbols(dwarf, {{"_Z1fv.cold", 0x1100}, {"g", 0x1200}});
  CHECK(chains_of(dwarf.file(), {0x10ff, 0x1100, 0x111f, 0x1120, 0x1210}) ==
        std::vector<std::string>{"", "_Z1fv :0", "_Z1fv :0", "", "g :0"});
}

TEST_CASE("pieces of one function are apart and say which one it is") {
  DwarfFile dwarf = simple();
  add_symbols(dwarf, {{"f.constprop.0", 0x1010}, {"f.cold", 0x1030}});
  const auto file = dwarf.file();
  const auto image = read_elf(file);
  const auto resolver = Resolver::open({&*image, nullptr, nullptr, {}});
  SerialExecutor executor;
  const auto chains = resolver->resolve(std::vector<std::uint64_t>{0x1010, 0x1030, 0x1031, 0x1060}, executor);
  REQUIRE(chains);
  CHECK(chains->functions.size() == 1);
  REQUIRE(chains->pieces.size() == 2);
  CHECK(chains->texts[chains->pieces[0].raw_name] == "f.constprop.0");
  CHECK((chains->pieces[1].start == 0x1030 && chains->pieces[1].size == 0x20 &&
         chains->pieces[1].function == 0));
  CHECK(chains->piece_of == std::vector<std::uint32_t>{0, 1, 1, kNone});
}

TEST_CASE("what is inlined of a function without a linkage name is the function that its own code is") {
  DwarfFile dwarf = simple();
  dwarf.entries = {};
  const std::uint32_t helper = dwarf.here();
  dwarf.entries.u8(DwarfFile::bare_function).text("helper");
  dwarf.add_function("f", 0x1010, 0x20);
  dwarf.add_inlined(helper, 0x1018, 8, 1, 3);
  dwarf.end_children();
  dwarf.end_children();
  CHECK(chain_of(dwarf, 0x1018) == "helper a.c:10 < f a.c:3");
  dwarf.entries.u8(DwarfFile::own_code).u32(helper).u64(0x1030).u32(0x10);
  SECTION("by its symbol") {
    add_symbols(dwarf, {{"f", 0x1010}, {"_ZN1aL6helperEv.isra.0", 0x1030}});
    CHECK(chains_of(dwarf.file(), {0x1018, 0x1030}) ==
          std::vector<std::string>{"_ZN1aL6helperEv a.c:10 < f a.c:3", "_ZN1aL6helperEv a.c:30"});
  }
  SECTION("unless that spells another name") {
    add_symbols(dwarf, {{"f", 0x1010}, {"_ZN1aL5otherEv", 0x1030}});
    CHECK(chain_of(dwarf, 0x1018) == "helper a.c:10 < f a.c:3");
  }
}

TEST_CASE("answers come a part at a time, every place once, and the same as in one") {
  DwarfFile dwarf = simple();
  dwarf.unit_states_range = false;  // so that the unit has what its lines cover, and the rest is of no unit
  dwarf.entries = {};
  dwarf.add_function("f", 0x1010, 0x40);
  dwarf.end_children();
  add_symbols(dwarf, {{"first", 0x1000}, {"last", 0x1100}});
  const auto file = dwarf.file();
  const std::vector<std::uint64_t> vaddrs = {0x1004, 0x1010, 0x1024, 0x1104, 0x1105};
  const auto whole = chains_of(file, vaddrs);
  CHECK(whole == std::vector<std::string>{"first :0", "f a.c:10", "f a.c:20", "last :0", "last :0"});
  const auto image = read_elf(file);
  const auto resolver = Resolver::open({&*image, nullptr, nullptr, {}});
  SerialExecutor executor;
  std::vector<std::string> by_place(vaddrs.size());
  std::vector<std::size_t> sizes;
  const auto take = [&](std::span<const std::uint32_t> places, Chains chains) -> Result<void> {
    sizes.push_back(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) by_place[places[i]] += chain_text(chains, i);
    return {};
  };
  REQUIRE(resolver->resolve_parts(vaddrs, {2, 2}, executor, {}, take));
  CHECK(sizes == std::vector<std::size_t>{2, 3});
  CHECK(by_place == whole);
  const auto refused = resolver->resolve_parts(
      vaddrs, {2, 2}, executor, {},
      [](auto, Chains) -> Result<void> { return fail(ErrorCode::io, "nobody listens"); });
  CHECK(refused.error().message == "nobody listens");
}

TEST_CASE("who does not wait for an answer gets none") {
  const auto file = simple().file();
  const auto image = read_elf(file);
  const auto resolver = Resolver::open({&*image, nullptr, nullptr, {}});
  SerialExecutor executor;
  StopSource source;
  source.request_stop();
  CHECK(resolver->resolve(std::vector<std::uint64_t>{0x1010}, executor, StopToken(source)).error().code ==
        ErrorCode::cancelled);
}

TEST_CASE("sections that do not expand are said, and lines are none") {
  DwarfFile dwarf = simple();
  dwarf.info = {1};
  dwarf.more.push_back({".debug_str", 1, 0x800, 0, {1, 2, 3}});
  const auto file = dwarf.file();
  const auto image = read_elf(file);
  const auto resolver = Resolver::open({&*image, nullptr, nullptr, {}});
  REQUIRE(resolver);
  CHECK_FALSE(resolver->has_lines());
  CHECK(resolver->problems() ==
        std::vector<std::string>{".debug_str: a compressed section ends within its header"});
}

TEST_CASE("origins in a circle and out of the file give no name and no end") {
  DwarfFile dwarf = simple();
  dwarf.entries = {};
  const std::uint32_t circle = dwarf.here();
  dwarf.entries.u8(DwarfFile::pointer).u32(circle + 5);
  dwarf.entries.u8(DwarfFile::pointer).u32(circle);
  dwarf.add_function("f", 0x1010, 0x40);
  dwarf.add_inlined(circle, 0x1010, 0x10, 1, 1);
  dwarf.end_children();
  dwarf.add_inlined(0xffffffff, 0x1020, 0x10, 1, 2);
  dwarf.end_children();
  dwarf.end_children();
  CHECK(chains_of(dwarf.file(), {0x1010, 0x1020}) ==
        std::vector<std::string>{"?? a.c:10 < f a.c:1", "?? a.c:20 < f a.c:2"});
}

TEST_CASE("a chain of origins is followed sixteen times") {
  for (const unsigned hops : {15u, 17u}) {
    DwarfFile dwarf = simple();
    dwarf.entries = {};
    std::uint32_t last = dwarf.add_abstract("named");
    for (unsigned i = 0; i < hops; ++i) {
      const std::uint32_t at = dwarf.here();
      dwarf.entries.u8(DwarfFile::pointer).u32(last);
      last = at;
    }
    dwarf.add_function("f", 0x1010, 0x40);
    dwarf.add_inlined(last, 0x1010, 0x10, 1, 1);
    dwarf.end_children();
    dwarf.end_children();
    CHECK(chain_of(dwarf, 0x1010) == std::string(hops == 15 ? "named" : "??") + " a.c:10 < f a.c:1");
  }
}

TEST_CASE("calls inlined deeper than 512 are their caller's") {
  DwarfFile dwarf = simple();
  dwarf.entries = {};
  const std::uint32_t deep = dwarf.add_abstract("deep");
  dwarf.add_function("f", 0x1010, 0x40);
  for (int i = 0; i < 2000; ++i) dwarf.add_inlined(deep, 0x1010, 0x10, 1, 1);
  for (int i = 0; i < 2001; ++i) dwarf.end_children();
  const std::string chain = chain_of(dwarf, 0x1010);
  CHECK(std::count(chain.begin(), chain.end(), '<') == 512);
}

TEST_CASE("a unit is read up to where its entries lie too deep") {
  DwarfFile dwarf = simple();
  for (int i = 0; i < 100000; ++i) dwarf.entries.u8(DwarfFile::block);
  CHECK(chain_of(dwarf, 0x1010) == "f a.c:10");
}

TEST_CASE("files of another build are refused and both ids are said") {
  const auto with_id = [](std::uint8_t id) {
    ByteWriter note;
    note.u32(4).u32(4).u32(3).text("GNU").u8(id).u8(1).u8(1).u8(1);
    DwarfFile dwarf = simple();
    dwarf.more.push_back({".note.gnu.build-id", 7, 2, 0, note.bytes});
    return dwarf.file();
  };
  const auto one = with_id(0xaa), other = with_id(0xbb);
  const auto binary = read_elf(one), debug = read_elf(other);
  const auto refused = Resolver::open({&*binary, &*debug, nullptr, {}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "the debug file has build id bb010101, the program has aa010101");
  CHECK(Resolver::open({&*binary, &*binary, nullptr, {}}));
  CHECK_FALSE(Resolver::open({}));
}

TEST_CASE("addresses that are asked unsorted are a mistake of the asker") {
  const auto file = simple().file();
  const auto image = read_elf(file);
  const auto resolver = Resolver::open({&*image, nullptr, nullptr, {}});
  SerialExecutor executor;
  CHECK(resolver->resolve(std::vector<std::uint64_t>{2, 1}, executor).error().code == ErrorCode::invalid);
}

TEST_CASE("damaged debug information leaves symbols, and what is before the damage") {
  const auto damaged = [](const char* what, const std::string& expected, auto change) {
    INFO(what);
    for (const unsigned version : {4u, 5u}) {
      INFO("DWARF " << version);
      DwarfFile dwarf = simple(version);
      add_symbols(dwarf, {{"symbol", 0x1010}});
      change(dwarf);
      CHECK(chain_of(dwarf, 0x1010) == expected);
    }
  };
  const auto at = [](std::vector<std::uint8_t> bytes, std::size_t place, std::uint8_t value) {
    bytes[place] = value;
    return bytes;
  };
  damaged("nothing", "f a.c:10", [](DwarfFile&) {});
  damaged("a unit longer than the section", "symbol :0",
          [&](DwarfFile& d) { d.info = at(d.made_info(), 3, 0x7f); });
  damaged("a unit of no known version", "symbol :0", [&](DwarfFile& d) { d.info = at(d.made_info(), 4, 9); });
  damaged("addresses of three bytes", "symbol :0", [](DwarfFile& d) { d.address_size = 3; });
  damaged("abbreviations behind their section", "symbol :0",
          [](DwarfFile& d) { d.abbreviations_at = 0xfffffff; });
  damaged("an abbreviation of an unknown form", "symbol :0", [](DwarfFile& d) {
    ByteWriter unknown;
    d.abbreviations = unknown.uleb(1).uleb(0x11).u8(1).uleb(3).uleb(0x7e).uleb(0).uleb(0).uleb(0);
  });
  damaged("an abbreviation that is cut off", "symbol :0",
          [](DwarfFile& d) { d.abbreviations.bytes.resize(4); });
  damaged("an entry without an abbreviation", "symbol a.c:10", [](DwarfFile& d) { d.entries.bytes[0] = 99; });
  damaged("no line table", "f :0", [](DwarfFile& d) { d.line = {0}; });
  damaged("a line table longer than its section", "f :0",
          [&](DwarfFile& d) { d.line = at(d.made_line(), 3, 0x7f); });
  damaged("a header longer than its table", "f :0",
          [&](DwarfFile& d) { d.line = at(d.made_line(), d.version >= 5 ? 11 : 9, 0x7f); });
  damaged("a line range of zero", "f :0", [](DwarfFile& d) {
    d.line_header = d.standard_line_header();
    d.line_header.bytes[4] = 0;
  });
  damaged("no opcodes", "f :0", [](DwarfFile& d) {
    d.line_header = d.standard_line_header();
    d.line_header.bytes[5] = 0;
  });
  damaged("a program that ends within a row", "f a.c:10",
          [](DwarfFile& d) { d.lines.bytes.resize(d.lines.bytes.size() - 4); });
  damaged("an extended opcode longer than the program", "f a.c:10", [](DwarfFile& d) {
    d.lines.bytes.resize(d.lines.bytes.size() - 3);
    d.lines.u8(0).uleb(1u << 30).u8(1);
  });
  damaged("rows of a file that there is none of", "f :10", [](DwarfFile& d) {
    d.lines = {};
    d.set_address(0x1010);
    d.lines.u8(4).uleb(1000000);
    d.row(0, 9);
    d.end_sequence(0x20);
  });
  damaged("addresses that fall", "f a.c:10", [](DwarfFile& d) {
    d.lines = {};
    d.set_address(0x1030);
    d.row(0, 9);
    d.set_address(0x1010);
    d.row(0, 0);
    d.end_sequence(0x20);
  });
}

TEST_CASE("a table of files without bytes is not counted through") {
  DwarfFile dwarf = simple(5);
  dwarf.line_header = dwarf.line_header_up_to_files();
  dwarf.line_header.u8(0)
      .uleb(0)
      .u8(1)
      .uleb(1)
      .uleb(native::dwarf::flag_present)
      .uleb(std::uint64_t{1} << 60);
  CHECK(chain_of(dwarf, 0x1010) == "f :10");
}

TEST_CASE("whatever is cut off, the answer is the whole one, less of it, or none") {
  for (const unsigned version : {4u, 5u}) {
    DwarfFile dwarf = simple(version);
    const auto info = dwarf.made_info(), line = dwarf.made_line();
    for (std::size_t keep = 1; keep < info.size(); ++keep) {
      dwarf.info.assign(info.begin(), info.begin() + static_cast<std::ptrdiff_t>(keep));
      const std::string chain = chain_of(dwarf, 0x1020);
      CHECK((chain.empty() || chain == "f a.c:20"));
    }
    dwarf.info.clear();
    for (std::size_t keep = 1; keep < line.size(); ++keep) {
      dwarf.line.assign(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(keep));
      CHECK(chain_of(dwarf, 0x1020) == "f :0");
    }
  }
}
