// Names of kernel code from lists of symbols, in a folder made as the files of a running system are.
#include "server/engine/kernel_names.h"

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace profd {
namespace {

// Two notes: of Linux, and the build id.
const std::string kNotes(
    "\6\0\0\0\4\0\0\0\1\1\0\0Linux\0\0\0\0\0\0\0"
    "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\x0a\x1b\x2c\x3d",
    44);
constexpr const char* kList =
    "ffffffff81000000 T srso_alias_untrain_ret\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000100 t do_work\n"
    "ffffffff81000180 D some_data\n"
    "ffffffff81000200 T _etext\n"
    "ffffffffc0000000 t xfs_begin\t[xfs]\n"
    "ffffffffc0000040 t xfs_read\t[xfs]\n"
    "ffffffffc0001000 t prog\t[bpf]\n";

// The kernel and xfs run here; the kernel was recorded 16 MiB further on.
struct System {
  test::TempFolder folder;
  SymbolPlaces places;
  KernelQuestion kernel, xfs;

  explicit System(const std::string& list = kList) {
    folder.file("sys/kernel/notes", kNotes);
    folder.file("sys/module/xfs/notes/.note.gnu.build-id", kNotes);
    folder.file("proc/kallsyms", list);
    folder.file("proc/modules",
                "xfsx 4096 0 - Live 0xffffffffc0100000\nxfs 4096 1 - Live 0xffffffffc0000000\n");
    places.system = false;
    places.kernel = folder.path.string();
    kernel.name = "[kernel.kallsyms]";
    kernel.build_id = "0a1b2c3d";
    kernel.kind = AddressKind::loaded;
    kernel.addresses = {0xffffffff82000110, 0xffffffff82000300, 0xffffffffc1000000};
    kernel.reference = KernelReference{"_text", 0xffffffff82000000};
    xfs.name = "/lib/modules/6.1/kernel/fs/xfs/xfs.ko.xz";
    xfs.build_id = "0a1b2c3d";
    xfs.kind = AddressKind::image_offset;
    xfs.addresses = {0x48, 0x1000};
  }
};

std::vector<std::string> names_of(const KernelAnswer& answer) {
  std::vector<std::string> names;
  REQUIRE(answer.symbols);
  const BinarySymbols& symbols = *answer.symbols;
  for (const std::uint32_t link : symbols.link)
    names.push_back(link == kNone ? "" : symbols.texts[symbols.functions.name[symbols.links.function[link]]]);
  return names;
}

}  // namespace

TEST_CASE("kernel code has the names of the kernel that runs, moved to where it was recorded") {
  const System system;
  const KernelAnswer answer = kernel_names(system.kernel, system.places);
  // Behind the end of the code and in modules there is none of the kernel's.
  CHECK(names_of(answer) == std::vector<std::string>{"do_work", "", ""});
  CHECK(answer.n_known == 1);
  CHECK(answer.problem.empty());
  REQUIRE(answer.tried.size() == 1);
  CHECK(answer.tried[0].path == system.folder.path.string() + "/proc/kallsyms");
}

TEST_CASE("code of a kernel module has names by its place in the module") {
  System system;
  CHECK(names_of(kernel_names(system.xfs, system.places)) == std::vector<std::string>{"xfs_read", ""});
  system.xfs.name = "[xfs]";
  CHECK(names_of(kernel_names(system.xfs, system.places)) == std::vector<std::string>{"xfs_read", ""});
}

TEST_CASE("a kernel of another build gives no names, and both builds are said") {
  System system;
  system.kernel.build_id = system.xfs.build_id = "ffffffff";
  for (const KernelQuestion* question : {&system.kernel, &system.xfs}) {
    const KernelAnswer answer = kernel_names(*question, system.places);
    CHECK_FALSE(answer.symbols);
    CHECK(answer.problem == "the one that runs here is another build: 0a1b2c3d, not ffffffff");
  }
  system.kernel.build_id.clear();
  CHECK_FALSE(kernel_names(system.kernel, system.places).symbols);
}

TEST_CASE("what is not known of a kernel is said and not guessed") {
  {
    const System hidden("0000000000000000 T _text\n0000000000000000 t do_work\n");
    const KernelAnswer answer = kernel_names(hidden.kernel, hidden.places);
    CHECK_FALSE(answer.symbols);
    CHECK(answer.problem.find("kptr_restrict") != std::string::npos);
  }
  System system;
  system.kernel.reference.reset();
  CHECK(kernel_names(system.kernel, system.places).problem ==
        "the recording does not say where the kernel was");
  system.xfs.name = "/lib/modules/6.1/kernel/fs/ext4.ko";
  CHECK(kernel_names(system.xfs, system.places).problem == "it does not run here");
  system.kernel.reference = KernelReference{"_nothing", 1};
  CHECK(kernel_names(system.kernel, system.places).problem ==
        system.folder.path.string() + "/proc/kallsyms does not have _nothing");
}

TEST_CASE("a list that is kept by the kernel's build id is used wherever it runs") {
  System system;
  system.places.kernel.clear();
  const std::string kept = system.folder.file("cache/.build-id/0a/1b2c3d/kallsyms", kList);
  system.places.directories = {(system.folder.path / "cache").string()};
  const KernelAnswer answer = kernel_names(system.kernel, system.places);
  CHECK(names_of(answer)[0] == "do_work");
  CHECK(answer.tried[0].path == std::filesystem::canonical(kept).string());
}

TEST_CASE("damaged notes are no build id") {
  for (std::size_t size = 0; size < kNotes.size(); ++size) {
    System system;
    system.folder.file("sys/kernel/notes", kNotes.substr(0, size));
    CHECK_FALSE(kernel_names(system.kernel, system.places).symbols);
  }
}

TEST_CASE("which modules the kernel lists is told by name and kind of address") {
  CHECK(is_in_kallsyms("[kernel.kallsyms]", AddressKind::loaded));
  CHECK(is_in_kallsyms("[xfs]", AddressKind::image_offset));
  CHECK(is_in_kallsyms("/lib/modules/6.1/snd-hda.ko.zst", AddressKind::image_offset));
  CHECK_FALSE(is_in_kallsyms("[vdso]", AddressKind::image_offset));
  CHECK_FALSE(is_in_kallsyms("/usr/lib/libc.so.6", AddressKind::image_offset));
  CHECK_FALSE(is_in_kallsyms("/usr/lib/a.kode", AddressKind::image_offset));
  CHECK_FALSE(is_in_kallsyms("[kernel.kallsyms]", AddressKind::vaddr));
}

}  // namespace profd
