#include <memory>

#include <zstd.h>

#include "tests/support/address_paths.h"
#include "tests/support/catch.h"
#include "tests/support/perf_data_file.h"
#include "tests/support/read_with.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;

namespace {

using File = PerfDataFile;
constexpr auto kUser = File::kUserMark, kKernel = File::kKernelMark;

ProfilePtr read(const File& file) {
  const ReadOutcome outcome = read_with("perf-data", file.bytes);
  INFO(outcome.error);
  REQUIRE(outcome.profiles.size() == 1);
  return outcome.profiles.front();
}

OpenedFile read_beside(const TempFolder& folder, const File& file) {
  const auto input = open_input(folder.file("perf.data", file.bytes), 1 << 30);
  REQUIRE(input);
  SerialExecutor executor;
  auto opened = open_profiles(*input, {}, executor, {});
  REQUIRE(opened);
  return std::move(*opened);
}

// A jitdump with one function of 0x100 bytes for each name.
std::string jit_dump(const std::vector<std::pair<std::uint64_t, std::string>>& loads, std::uint64_t address) {
  std::string out = File::of(0x4A695444, 4) + File::of(1, 4) + File::of(40, 4) + File::of(62, 4) +
                    File::of(0, 4) + File::of(7, 4) + File::of(0) + File::of(0);
  for (const auto& [time, name] : loads) {
    const std::string lines = File::of(address) + File::of(2) + File::of(address, 8) + File::of(3, 4) +
                              File::of(1, 4) + "a.js" + '\0' + File::of(address + 0x40) + File::of(5, 4) +
                              File::of(9, 4) + "a.js" + '\0';
    out += File::of(2, 4) + File::of(16 + lines.size(), 4) + File::of(time) + lines;
    const std::string load = File::of(7, 4) + File::of(7, 4) + File::of(address) + File::of(address) +
                             File::of(0x100) + File::of(0) + name + '\0';
    out += File::of(0, 4) + File::of(16 + load.size(), 4) + File::of(time) + load;
  }
  return out;
}

}  // namespace

TEST_CASE("perf.data: a stack is process, user part, kernel part, whatever the order in the chain") {
  File file;
  file.comm(7, "demo");
  file.mmap(2, 7, 0x1000, 0x1000, "/bin/demo");
  file.mmap(1, 0xffffffff, 0xffffffff81000000, 0x100000, "[kernel.kallsyms]_text");
  file.sample(1, 7, 10, 5, {kKernel, 0xffffffff81000010, kUser, 0x1010, 0x1020});
  const auto profile = read(file);
  CHECK(self_by_path(*profile, "cpu-clock") ==
        std::map<std::string, double>{{"demo;[demo];[demo];[kernel.kallsyms]", 5}});
  // Addresses are places in the file, of the kernel those in memory.
  const auto& frames = profile->frames();
  CHECK(std::find(frames.address.begin(), frames.address.end(), 0x20) != frames.address.end());
  CHECK(std::find(frames.address.begin(), frames.address.end(), 0xffffffff81000010) != frames.address.end());
}

TEST_CASE("perf.data: an address is exact behind each context mark, and what a call returns to elsewhere") {
  File file;
  file.comm(7, "demo");
  file.mmap(2, 7, 0x1000, 0x1000, "/bin/demo");
  file.mmap(1, 0xffffffff, 0xffffffff81000000, 0x100000, "[kernel.kallsyms]_text");
  file.mmap(1, 0xffffffff, 0xffffffffc0000000, 0x1000, "[ext4]");
  file.sample(1, 7, 10, 5, {kKernel, 0xffffffffc0000010, 0xffffffff81000010, kUser, 0x1010, 0x1020, 0x1020});
  const auto profile = read(file);
  CHECK(address_paths(*profile) == std::set<std::string>{"- 0x20< 0x20< 0x10 0xffffffff81000010< 0x10"});
  const ModuleTable& modules = profile->modules();
  std::map<std::string, AddressKind> kinds;
  for (std::size_t m = 0; m < modules.size(); ++m)
    kinds[std::string(profile->strings()[modules.name[m]])] = modules.addresses[m];
  CHECK(kinds == std::map<std::string, AddressKind>{{"/bin/demo", AddressKind::file_offset},
                                                    {"[kernel.kallsyms]", AddressKind::loaded},
                                                    {"[ext4]", AddressKind::image_offset}});
}

TEST_CASE("perf.data: code that the kernel made knows where it begins and ends") {
  File file;
  file.comm(7, "demo");
  file.record(17, 0,
              File::of(0xffffffffa0000000) + File::of(64, 4) + File::of(1, 2) + File::of(0, 2) +
                  std::string("bpf_prog") + std::string(8, '\0') + file.tail(7, 5));
  file.sample(1, 7, 10, 1, {kKernel, 0xffffffffa0000010});
  const auto profile = read(file);
  CHECK(piece_of(*profile, profile->tree().frame[2]) == "bpf_prog 0xffffffffa0000000+64");
}

TEST_CASE("perf.data: a child has its parent's memory until it calls exec") {
  File file;
  file.comm(7, "shell");
  file.mmap(2, 7, 0x1000, 0x1000, "/bin/sh");
  file.record(
      7, 0,
      File::of(8, 4) + File::of(7, 4) + File::of(8, 4) + File::of(7, 4) + File::of(5) + file.tail(8, 5));
  file.sample(2, 8, 10, 1, {kUser, 0x1010});
  file.comm(8, "demo", 20, true);
  file.sample(2, 8, 30, 1, {kUser, 0x1010});
  file.mmap(2, 8, 0x1000, 0x1000, "/bin/demo", 40);
  file.sample(2, 8, 50, 1, {kUser, 0x1010});
  file.sample(2, 7, 60, 1, {kUser, 0x1010});
  CHECK(self_by_path(*read(file), "cpu-clock") ==
        std::map<std::string, double>{{"shell;[sh]", 2}, {"demo;[unknown]", 1}, {"demo;[demo]", 1}});
}

TEST_CASE("perf.data: records take effect in the order of time, not of the file") {
  File file;
  file.comm(7, "demo");
  file.sample(2, 7, 30, 1, {kUser, 0x1010});
  file.mmap(2, 7, 0x1000, 0x1000, "/bin/demo", 20);
  file.sample(2, 7, 10, 1, {kUser, 0x1010});
  file.record(68, 0, "");
  const auto profile = read(file);
  CHECK(self_by_path(*profile, "cpu-clock") ==
        std::map<std::string, double>{{"demo;[demo]", 1}, {"demo;[unknown]", 1}});
  CHECK(profile->samples()->time[0] == 0);
  CHECK(profile->samples()->time[1] == 20);
}

TEST_CASE("perf.data: a later mapping replaces what it overlaps and nothing else") {
  File file;
  file.comm(7, "demo");
  file.mmap(2, 7, 0x1000, 0x3000, "/bin/a");
  file.sample(2, 7, 10, 1, {kUser, 0x2010});
  file.mmap(2, 7, 0x2000, 0x1000, "/bin/b", 20);
  for (std::uint64_t at : {0x1010, 0x2010, 0x3010}) file.sample(2, 7, 30, 1, {kUser, at});
  CHECK(self_by_path(*read(file), "cpu-clock") ==
        std::map<std::string, double>{{"demo;[a]", 3}, {"demo;[b]", 1}});
}

TEST_CASE("perf.data: a group that is read at once counts what each event advanced by") {
  File file(1 | 2 | 4 | 1 << 4 | 1 << 6 | 1 << 8, 4 | 8);  // IP TID TIME READ ID PERIOD; ID and GROUP
  file.add_event(1, 2, 4 | 8, 0, false, 12);
  file.comm(7, "demo");
  file.mmap(2, 7, 0x1000, 0x1000, "/bin/demo");
  for (std::uint64_t i = 1; i <= 3; ++i)
    file.record(9, 2,
                File::of(0x1010) + File::of(7, 4) + File::of(7, 4) + File::of(i) + File::of(11) +
                    File::of(99) + File::of(2) + File::of(100 * i) + File::of(11) +
                    File::of(i == 3 ? 20 : 10 * i) + File::of(12));
  const auto profile = read(file);
  CHECK(total_of(*profile, "cpu-clock") == 300);
  CHECK(total_of(*profile, "page-faults") == 20);
  CHECK(total_of(*profile, "samples") == 3);
  CHECK(profile->n_samples() == 3);
}

TEST_CASE("perf.data: the branches of --call-graph lbr are the callers") {
  File file(File::kPlain | 1 << 11, 0, 1 << 11);
  file.comm(7, "demo");
  file.mmap(2, 7, 0x1000, 0x1000, "/bin/demo");
  const std::string chain = File::of(2) + File::of(kUser) + File::of(0x1010);
  const std::string branches = File::of(2) + File::of(0x1200) + File::of(0x1000) + File::of(0) +
                               File::of(0x1300) + File::of(0x1100) + File::of(0);
  file.record(
      9, 2,
      File::of(0x1010) + File::of(7, 4) + File::of(7, 4) + File::of(10) + File::of(5) + chain + branches);
  const auto profile = read(file);
  CHECK(self_by_path(*profile, "cpu-clock") ==
        std::map<std::string, double>{{"demo;[demo];[demo];[demo]", 5}});
  std::vector<std::uint64_t> addresses(profile->frames().address.begin(), profile->frames().address.end());
  std::sort(addresses.begin(), addresses.end());
  CHECK(addresses == std::vector<std::uint64_t>{0, 0x10, 0x200, 0x300});
}

TEST_CASE("perf.data: symbols of JIT code come from the perf map beside it") {
  TempFolder folder;
  folder.file("perf-7.map", "5000 100 LazyCompile:*run /a.js:3:1\n0x5100 0x10 stub with blanks\nnonsense\n");
  File file;
  file.comm(7, "node");
  file.mmap(2, 7, 0x5000, 0x1000, "//anon");
  file.sample(2, 7, 10, 1, {kUser, 0x5104, 0x5100, 0x5800});
  const OpenedFile opened = read_beside(folder, file);
  // 0x5100 is a return address: the call is the last thing in `run`.
  CHECK(self_by_path(*opened.profiles.front(), "cpu-clock") ==
        std::map<std::string, double>{{"node;[anon];run;stub with blanks", 1}});
  CHECK(opened.looked_around);
}

TEST_CASE("perf.data: jitdump code is what was loaded at the moment of the sample") {
  for (const bool monotonic : {true, false}) {
    TempFolder folder;
    folder.file("jit-7.dump", jit_dump({{100, "first"}, {200, "second"}}, 0x5000));
    File file(File::kPlain, 0, 0, monotonic);
    file.comm(7, "node");
    file.mmap(2, 7, 0x5000, 0x1000, "//anon");
    file.mmap(2, 7, 0x9000, 0x1000, "/tmp/jit-7.dump", 50);
    file.sample(2, 7, 60, 1, {kUser, 0x5004});
    file.sample(2, 7, 150, 1, {kUser, 0x5004});
    file.sample(2, 7, 250, 1, {kUser, 0x5048});
    const ProfilePtr profile = read_beside(folder, file).profiles.front();
    const auto paths = self_by_path(*profile, "cpu-clock");
    const auto last = static_cast<std::uint32_t>(profile->tree().size() - 1);
    CHECK(piece_of(*profile, profile->tree().frame[last]) == "second 0x5000+256");
    // Clocks that cannot be compared: the last word holds for all.
    if (monotonic)
      CHECK(paths ==
            std::map<std::string, double>{{"node;[anon]", 1}, {"node;first:3", 1}, {"node;second:5", 1}});
    else
      CHECK(paths == std::map<std::string, double>{{"node;second:3", 2}, {"node;second:5", 1}});
  }
}

TEST_CASE("perf.data: kernel code has names from a kallsyms beside it, moved to where the kernel was") {
  TempFolder folder;
  folder.file("kallsyms",
              "ffffffff81000000 T first\nffffffff81000000 T _text\nffffffff81000100 t "
              "do_work\nffffffff81000100 D data\n");
  File file;
  file.comm(7, "demo");
  // The kernel of the recording lay 0x1000000 higher.
  file.record(1, 1,
              File::of(0xffffffff, 4) + File::of(0xffffffff, 4) + File::of(0xffffffff82000000) +
                  File::of(0x100000) + File::of(0xffffffff82000000) + File::padded("[kernel.kallsyms]_text") +
                  file.tail(0, 1));
  file.sample(1, 7, 10, 1, {kKernel, 0xffffffff82000104});
  const ProfilePtr profile = read_beside(folder, file).profiles.front();
  CHECK(self_by_path(*profile, "cpu-clock") == std::map<std::string, double>{{"demo;do_work", 1}});
  const auto& properties = profile->info().properties;
  CHECK(std::find(properties.begin(), properties.end(),
                  std::pair<std::string, std::string>("kernel _text", "0xffffffff82000000")) !=
        properties.end());
}

namespace {

// Payloads of one zstd stream, each flushed as perf does, for the pieces of `records`.
std::vector<std::string> payloads(const std::vector<std::string>& pieces) {
  const std::unique_ptr<ZSTD_CStream, decltype(&ZSTD_freeCStream)> stream(ZSTD_createCStream(),
                                                                          &ZSTD_freeCStream);
  ZSTD_initCStream(stream.get(), 1);
  std::vector<std::string> out;
  for (const std::string& piece : pieces) {
    std::string payload(ZSTD_compressBound(piece.size()) + 64, '\0');
    ZSTD_inBuffer in{piece.data(), piece.size(), 0};
    ZSTD_outBuffer to{payload.data(), payload.size(), 0};
    REQUIRE_FALSE(ZSTD_isError(ZSTD_compressStream2(stream.get(), &to, &in, ZSTD_e_flush)));
    payload.resize(to.pos);
    out.push_back(payload);
  }
  return out;
}

// A pipe of two samples in two compressed records; `cut` bytes of the records lie in the second payload's
// place and are missing.
PerfDataFile compressed_pipe(bool aligned, std::size_t cut) {
  File file, inside;
  inside.bytes.clear();
  inside.comm(7, "demo");
  inside.mmap(2, 7, 0x1000, 0x1000, "/bin/demo");
  inside.sample(2, 7, 10, 1, {kUser, 0x1010});
  const std::size_t split = inside.bytes.size() - 20;
  inside.sample(2, 7, 20, 5, {kUser, 0x1020});
  const auto pieces = payloads(
      {inside.bytes.substr(0, split), inside.bytes.substr(split, inside.bytes.size() - split - cut)});
  for (const std::string& payload : pieces) {
    std::string body = payload;
    if (aligned) {
      body = File::of(payload.size()) + payload;
      while (body.size() % 8 != 0) body.push_back('\0');
    }
    file.record(aligned ? 83 : 81, 0, body);
    if (&payload == &pieces.back())
      file.bytes.erase(file.bytes.size() - (aligned ? (8 - payload.size() % 8) % 8 : 0));
  }
  return file;
}

}  // namespace

TEST_CASE("perf.data: a pipe may end with a compressed record, and lack what aligns it") {
  for (const bool aligned : {false, true}) {
    const ReadOutcome whole = read_with("perf-data", compressed_pipe(aligned, 0).bytes);
    INFO(whole.error);
    REQUIRE(whole.profiles.size() == 1);
    CHECK(self_by_path(*whole.profiles.front(), "cpu-clock") ==
          std::map<std::string, double>{{"demo;[demo]", 6}});
    CHECK(whole.report.rows().empty());

    const ReadOutcome cut = read_with("perf-data", compressed_pipe(aligned, 9).bytes);
    REQUIRE(cut.profiles.size() == 1);
    CHECK(self_by_path(*cut.profiles.front(), "cpu-clock") ==
          std::map<std::string, double>{{"demo;[demo]", 1}});
    REQUIRE(cut.report.rows().size() == 1);
    CHECK(cut.report.rows().front().kind == "cut-record");
  }
}

TEST_CASE("perf.data: the folder of perf record --threads is one recording") {
  TempFolder folder;
  File main, other;
  main.comm(7, "demo");
  main.sample(2, 7, 30, 1, {kUser, 0x1010});
  other.bytes.clear();
  other.mmap(2, 7, 0x1000, 0x1000, "/bin/demo", 20);
  other.sample(2, 7, 10, 1, {kUser, 0x1010});
  folder.file("data", main.bytes);
  folder.file("data.0", other.bytes);
  const auto input = open_input(folder.path.string(), 1 << 30);
  REQUIRE(input);
  SerialExecutor executor;
  const auto opened = open_profiles(*input, {}, executor, {});
  REQUIRE(opened);
  REQUIRE(opened->profiles.size() == 1);
  CHECK(self_by_path(*opened->profiles.front(), "cpu-clock") ==
        std::map<std::string, double>{{"demo;[demo]", 1}, {"demo;[unknown]", 1}});
}
