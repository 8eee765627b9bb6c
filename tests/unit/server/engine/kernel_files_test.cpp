// Lines of the kernel and of its modules from their files. What stands for them is made here: an ELF file at
// the kernel's addresses and an object file, with build ids of their own.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "core/model/profile_builder.h"
#include "server/engine/kernel_names.h"
#include "server/engine/symbolize_profile.h"
#include "server/platform/run.h"
#include "tests/support/catch.h"
#include "tests/support/not_run.h"
#include "tests/support/objdump.h"
#include "tests/support/temp_folder.h"

namespace profd {
namespace {

constexpr const char* kKernelId = "0102030405060708090a0b0c0d0e0f1011121314";
constexpr const char* kNote = R"(
__asm__(".section .note.gnu.build-id,\"a\",@note\n.long 4,20,3\n.asciz \"GNU\"\n"
        ".byte 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20\n.text\n");
)";
constexpr const char* kKernelSource = R"(
__asm__(".globl _text\n_text:\n");
#line 10 "kernel.c"
__attribute__((noinline)) int kernel_add(int a) {
  return a * 3 + 1;
}
int kernel_main(int a) { return kernel_add(a) + 5; }
)";
constexpr const char* kModuleSource = R"(
#line 20 "module.c"
__attribute__((noinline)) int module_read(int a) {
  return a * 3 + 1;
}
__attribute__((section(".init.text"))) int module_begin(int a) { return module_read(a) - 1; }
__attribute__((noinline, section(".text.unlikely"))) int module_cold(int a) { return a * 5; }
)";

std::string output_of(std::vector<std::string> argv) {
  RunRequest request;
  request.argv = std::move(argv);
  request.timeout = std::chrono::milliseconds(60'000);
  const auto answer = run_program(request, StopToken{});
  INFO(request.argv[0]);
  REQUIRE(answer);
  INFO(answer->errors);
  REQUIRE(answer->exit_code == 0);
  return answer->output;
}

bool has_tools() {
#if defined(__x86_64__) && defined(__linux__)
  if (test::has_program("gcc") && test::has_program("nm") && test::has_program("objdump")) return true;
#endif
  test::not_run("no gcc and binutils for x86-64");
  return false;
}

std::uint64_t value_of(const std::string& file, const std::string& symbol) {
  std::istringstream lines(output_of({"nm", file}));
  for (std::string value, kind, name; lines >> value >> kind >> name;)
    if (name == symbol) return std::stoull(value, nullptr, 16);
  FAIL("no symbol " << symbol);
  return 0;
}

ProfilePtr profile_of(const std::string& name, AddressKind kind, const std::vector<std::uint64_t>& addresses,
                      const std::optional<KernelReference>& reference) {
  ProfileBuilder builder;
  ModuleSpec module;
  module.name = name;
  module.build_id = kKernelId;
  module.addresses = kind;
  const ModuleId of = builder.module(module);
  const FunctionId unknown =
      builder.function(FunctionSpec{.name = builder.string("[here]"), .unresolved = true});
  const MetricId metric = builder.add_metric("samples", "count");
  for (const std::uint64_t address : addresses) {
    FrameSpec frame;
    frame.function = unknown;
    frame.module = of;
    frame.address = address;
    builder.add_self(builder.context(ContextId{0u}, builder.frame(frame)), metric, std::int64_t{1});
  }
  if (reference)
    builder.info().properties.emplace_back("kernel " + reference->symbol,
                                           fmt::format("{:#x}", reference->address));
  return std::move(builder).finish().value();
}

Symbolized look_up(const ProfilePtr& profile, const SymbolPlaces& places) {
  SymbolizeRequest request;
  request.places = places;
  const SymbolCache none("", 0);
  auto symbolized = symbolize_profile(profile, request, {PROFD_SYMBOLIZE, none}, {}, StopToken{});
  REQUIRE(symbolized);
  return std::move(*symbolized);
}

std::set<std::string> functions_and_lines(const Profile& profile) {
  std::set<std::string> out;
  const FrameTable& frames = profile.frames();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::string name(profile.strings()[profile.functions().name[frames.function[i].v]]);
    if (frames.address[i] != 0) out.insert(name + ":" + std::to_string(frames.line[i]));
  }
  return out;
}

SymbolPlaces places_in(const test::TempFolder& folder) {
  SymbolPlaces places;
  places.system = false;
  places.kernel = folder.path.string();
  return places;
}

}  // namespace

TEST_CASE("a kernel has lines by its vmlinux, moved to where it was when it was recorded") {
  if (!has_tools()) return;
  const test::TempFolder folder;
  const std::string source = folder.file("kernel.c", kKernelSource);
  std::filesystem::create_directories(folder.path / "boot");
  const std::string file = (folder.path / "boot/vmlinux-6.1.0-test").string();
  output_of({"gcc", "-O1", "-g", "-ffreestanding", "-fno-toplevel-reorder", "-fno-pic", "-mcmodel=kernel",
             "-no-pie", "-nostdlib", "-static", "-fno-asynchronous-unwind-tables",
             "-Wl,-Ttext=0xffffffff81000000", std::string("-Wl,--build-id=0x") + kKernelId,
             "-Wl,-e,kernel_main", "-o", file, source});
  const std::uint64_t shift = 0x1a200000, text = value_of(file, "_text");
  const std::vector<std::uint64_t> addresses = {value_of(file, "kernel_add") + shift,
                                                value_of(file, "kernel_main") + shift, 0xffffffffc0000010};
  const ProfilePtr profile =
      profile_of("[kernel.kallsyms]", AddressKind::loaded, addresses, KernelReference{"_text", text + shift});
  const Symbolized found = look_up(profile, places_in(folder));
  CHECK(functions_and_lines(*found.profile) ==
        std::set<std::string>{"kernel_add:11", "kernel_main:13", "[here]:0"});
  REQUIRE(found.modules.size() == 1);
  CHECK(found.modules[0].answer.lines);
  CHECK(found.modules[0].answer.n_known == 2);
  CHECK(found.modules[0].answer.tried.back().path == file);

  SECTION("by a symbol that it lacks nothing is guessed") {
    const ProfilePtr other = profile_of("[kernel.kallsyms]", AddressKind::loaded, addresses,
                                        KernelReference{"_stext", text + shift});
    const Symbolized nothing = look_up(other, places_in(folder));
    CHECK(nothing.modules[0].answer.n_known == 0);
    CHECK(nothing.modules[0].answer.problem.find("_stext") != std::string::npos);
  }
  SECTION("its debug information may be a file of its own, named by somebody or by its place") {
    const std::string debug = (folder.path / "debug/vmlinux").string();
    std::filesystem::create_directories(folder.path / "debug");
    output_of({"objcopy", "--only-keep-debug", file, debug});
    std::filesystem::remove(file);
    SymbolPlaces places = places_in(folder);
    places.directories = {(folder.path / "debug").string()};
    CHECK(look_up(profile, places).modules[0].answer.n_known == 2);
    // Names that are there before are those of the list.
    CHECK(look_up(profile, places_in(folder)).modules[0].answer.n_known == 0);
  }
  SECTION("another build is refused") {
    std::filesystem::rename(file, file + "-other");
    std::fstream bytes(file + "-other", std::ios::in | std::ios::out | std::ios::binary);
    std::string content((std::istreambuf_iterator<char>(bytes)), {});
    const std::size_t id = content.find(std::string("GNU\0\1\2\3\4", 8));
    REQUIRE(id != std::string::npos);
    bytes.clear();
    bytes.seekp(static_cast<std::streamoff>(id + 4));
    bytes.put('\x77');
    bytes.close();
    const Symbolized nothing = look_up(profile, places_in(folder));
    CHECK(nothing.modules[0].answer.n_known == 0);
    CHECK(nothing.modules[0].answer.tried.front().other_build);
  }
}

TEST_CASE("a module of the kernel has lines by its object file, laid out as the kernel does") {
  if (!has_tools()) return;
  const test::TempFolder folder;
  const std::string source = folder.file("module.c", std::string(kNote) + kModuleSource);
  const std::string file = (folder.path / "xfs.ko").string();
  const std::string compress = GENERATE("", "-gz=zlib");
  std::vector<std::string> command = {
      "gcc", "-O1", "-g", "-ffreestanding", "-fno-pic", "-mcmodel=kernel", "-c", "-o", file, source};
  if (!compress.empty()) command.insert(command.begin() + 1, compress);
  output_of(command);
  std::istringstream sections(output_of({"objdump", "-h", file}));
  std::uint64_t text_size = 0, alignment = 1;
  for (std::string line; std::getline(sections, line);) {
    std::istringstream in(line);
    std::string index, name, size, vma, lma, offset, aligned;
    if (!(in >> index >> name >> size >> vma >> lma >> offset >> aligned)) continue;
    if (name == ".text") text_size = std::stoull(size, nullptr, 16);
    if (name == ".text.unlikely" && aligned.starts_with("2**"))
      alignment = std::uint64_t{1} << std::stoul(aligned.substr(3));
  }
  REQUIRE(text_size > 0);
  const std::uint64_t cold = (text_size + alignment - 1) / alignment * alignment;
  // An address of 0 is none. Of several rows at one address the last counts: the first line has no code of
  // its own.
  const std::vector<std::uint64_t> addresses = {value_of(file, "module_read") + 1, cold, 0x100000};
  const ProfilePtr profile = profile_of(file, AddressKind::image_offset, addresses, std::nullopt);
  const std::set<std::string> expected = {"module_read:21", "module_cold:24", "[here]:0"};
  SymbolPlaces places = places_in(folder);
  places.recording = folder.path.string();
  CHECK(functions_and_lines(*look_up(profile, places).profile) == expected);
  CHECK(look_up(profile, places).modules[0].answer.lines);

  for (const auto& [program, suffix] : {std::pair("xz", ".xz"), std::pair("zstd", ".zst")}) {
    if (!test::has_program(program)) continue;
    output_of({program, "-q", "-k", "-f", file});
    const std::string packed = file + suffix;
    REQUIRE(std::filesystem::exists(packed));
    std::filesystem::rename(file, file + ".away");
    const ProfilePtr other = profile_of(packed, AddressKind::image_offset, addresses, std::nullopt);
    INFO(packed);
    CHECK(functions_and_lines(*look_up(other, places).profile) == expected);
    std::filesystem::rename(file + ".away", file);
    std::filesystem::remove(packed);
  }
}

}  // namespace profd
