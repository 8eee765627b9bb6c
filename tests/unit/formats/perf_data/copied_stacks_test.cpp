// Samples with registers and a copy of their stack.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/model/module_address.h"
#include "core/support/id.h"
#include "formats/open.h"
#include "tests/support/catch.h"
#include "tests/support/perf_data_file.h"

using namespace profd;
using namespace profd::test;

namespace {

using File = PerfDataFile;
constexpr std::uint64_t kRegisters = 1 << 12, kStack = 1 << 13;
constexpr std::uint64_t kCopied = File::kPlain | kRegisters | kStack;
// bp, sp, ip and r8 of x86-64, by perf's numbers.
constexpr std::uint64_t kMask = 1 << 6 | 1 << 7 | 1 << 8 | 1 << 16;

File copied_file(std::string_view arch = "x86_64") {
  File file(kCopied);
  constexpr std::size_t kRegistersOfUser = 16 + 8 + 80;
  file.bytes.replace(kRegistersOfUser, 8, File::of(kMask));
  constexpr std::uint32_t kFeature = 80, kArch = 6;
  const std::string text = File::padded(arch);
  file.record(kFeature, 0, File::of(kArch) + File::of(text.size(), 4) + text + File::of(0, 4));
  return file;
}

struct Copy {
  std::uint64_t abi = 2, ip = 0x1010, sp = 0x7f00;
  std::string bytes = std::string(16, 'a');
  std::uint64_t n_valid = 8;
};

void add_sample(File& file, std::uint16_t misc, std::uint32_t pid, std::uint64_t time, const Copy& copy,
                const std::vector<std::uint64_t>& chain = {}) {
  std::string body = File::of(chain.empty() ? copy.ip : chain.back()) + File::of(pid, 4) + File::of(pid, 4) +
                     File::of(time) + File::of(5) + File::of(chain.size());
  for (const std::uint64_t entry : chain) body += File::of(entry);
  body += File::of(copy.abi);
  if (copy.abi != 0) body += File::of(0xb) + File::of(copy.sp) + File::of(copy.ip) + File::of(8);
  body += File::of(copy.bytes.size()) + copy.bytes;
  if (!copy.bytes.empty()) body += File::of(copy.n_valid);
  file.record(9, misc, body);
}

// What a reader asks, and stacks of a frame that is called from 0x1020 and 0x1030.
struct Asked {
  std::vector<StackBatch> batches;
  UnwoundStacks answer;

  UnwindStacks unwind() {
    return [this](const StackBatch& batch) -> Result<UnwoundStacks> {
      batches.push_back(batch);
      UnwoundStacks out;
      for (std::size_t i = 0; i < batch.size(); ++i) {
        out.n_addresses.push_back(3);
        for (const std::uint64_t address : {batch.pc[i], std::uint64_t{0x1020}, last})
          out.addresses.push_back(address);
        out.end.push_back(end);
        out.module.push_back(end == StackEnd::no_binary ? 0 : kNone);
      }
      out.repeatable = end != StackEnd::no_binary;
      return out;
    };
  }
  std::uint64_t last = 0x1030;
  StackEnd end = StackEnd::whole;
};

OpenedFile read(const File& file, Asked* asked) {
  OpenOptions options;
  if (asked != nullptr) options.unwind = asked->unwind();
  SerialExecutor executor;
  auto opened = open_profiles(memory_source(file.bytes, ""), options, executor, {});
  REQUIRE(opened);
  return std::move(*opened);
}

std::uint64_t n_reported(const OpenedFile& file, std::string_view kind) {
  for (const ReportRow& row : file.report.rows())
    if (row.kind == kind) return row.count;
  return 0;
}

std::string message_of_row(const OpenedFile& file, std::string_view kind) {
  for (const ReportRow& row : file.report.rows())
    if (row.kind == kind) return row.message;
  return {};
}

}  // namespace

TEST_CASE(
    "perf.data: registers and copies of stacks are asked for together, with the memory of their process") {
  File file = copied_file();
  file.comm(7, "demo");
  file.mmap(2, 7, 0x1000, 0x1000, "/bin/demo");
  file.mmap(2, 7, 0x3000, 0x1000, "//anon");
  add_sample(file, 2, 7, 10, {});
  add_sample(file, 2, 7, 11, {.ip = 0x1018, .n_valid = 16});
  Asked asked;
  const OpenedFile opened = read(file, &asked);
  REQUIRE(asked.batches.size() == 1);
  const StackBatch& batch = asked.batches.front();
  CHECK(batch.machine == StackMachine::x86_64);
  REQUIRE(batch.modules.size() == 1);
  CHECK(batch.modules[0].name == "/bin/demo");
  REQUIRE(batch.maps.size() == 1);
  CHECK(std::pair(batch.maps[0].start, batch.maps[0].end) ==
        std::pair<std::uint64_t, std::uint64_t>(0x1000, 0x2000));
  CHECK(batch.space == std::vector<std::uint32_t>{0, 0});
  CHECK(batch.pc == std::vector<std::uint64_t>{0x1010, 0x1018});
  CHECK(batch.n_bytes == std::vector<std::uint32_t>{8, 16});  // what was there to be copied
  // rbp, rsp and r8, as DWARF counts them.
  CHECK(batch.known[0] == (1u << 6 | 1u << 7 | 1u << 8));
  CHECK(batch.registers[6] == 0xb);
  CHECK(batch.registers[7] == 0x7f00);
  CHECK(batch.registers[8] == 8);
  CHECK(n_reported(opened, "stacks-unwound") == 2);
  CHECK_FALSE(opened.looked_around);
  CHECK(opened.profiles.front()->n_samples() == 2);
}

TEST_CASE(
    "perf.data: the callers that are found stand above the frame, below those of the kernel, as return "
    "addresses") {
  File file = copied_file();
  file.comm(7, "demo");
  file.mmap(2, 7, 0x1000, 0x1000, "/bin/demo");
  file.mmap(1, 0xffffffff, 0xffffffff81000000, 0x100000, "[kernel.kallsyms]_text");
  add_sample(file, 1, 7, 10, {}, {File::kKernelMark, 0xffffffff81000010});
  Asked asked;
  const auto profile = read(file, &asked).profiles.front();
  const FrameTable& frames = profile->frames();
  std::vector<std::pair<std::uint64_t, bool>> user;
  for (std::uint32_t f = 0; f < frames.size(); ++f)
    if (frames.kind[f] == FrameKind::native && frames.address[f] != 0)
      user.emplace_back(frames.address[f], is_return(frames, f));
  CHECK(user.size() == 3);
  CHECK(std::count(user.begin(), user.end(), std::pair<std::uint64_t, bool>(0x10, false)) == 1);
  CHECK(std::count(user.begin(), user.end(), std::pair<std::uint64_t, bool>(0x20, true)) == 1);
  CHECK(std::count(user.begin(), user.end(), std::pair<std::uint64_t, bool>(0x30, true)) == 1);
}

TEST_CASE("perf.data: stacks are unwound before the memory of their process changes") {
  File file = copied_file();
  file.comm(7, "demo");
  file.mmap(2, 7, 0x1000, 0x1000, "/bin/demo");
  add_sample(file, 2, 7, 10, {});
  file.mmap(2, 8, 0x1000, 0x1000, "/bin/other", 11);  // of another process
  add_sample(file, 2, 7, 12, {});
  file.mmap(2, 7, 0x5000, 0x1000, "/lib/more.so", 13);
  add_sample(file, 2, 7, 14, {});
  file.comm(7, "next", 15, true);
  file.mmap(2, 7, 0x1000, 0x1000, "/bin/next", 15);
  add_sample(file, 2, 7, 16, {});
  Asked asked;
  read(file, &asked);
  REQUIRE(asked.batches.size() == 3);
  CHECK(asked.batches[0].size() == 2);
  CHECK(asked.batches[1].maps.size() == 2);
  CHECK(asked.batches[1].modules.size() == 1);  // the other one was told before
  CHECK(asked.batches[2].modules.size() == 1);
}

TEST_CASE("perf.data: what cuts a stack is counted, and what memory has no code for is no caller") {
  File file = copied_file();
  file.mmap(2, 7, 0x1000, 0x1000, "/bin/demo");
  add_sample(file, 2, 7, 10, {});
  add_sample(file, 2, 7, 11, {});
  Asked missing;
  missing.end = StackEnd::no_binary;
  const OpenedFile cut = read(file, &missing);
  CHECK(n_reported(cut, "stack-without-binary") == 2);
  CHECK(message_of_row(cut, "stack-without-binary").find("demo (2)") != std::string::npos);
  CHECK(cut.looked_around);
  Asked ended;
  ended.end = StackEnd::copy_ended;
  CHECK(n_reported(read(file, &ended), "stack-copy-ended") == 2);
  Asked nowhere;
  nowhere.end = StackEnd::no_module;
  nowhere.last = 0x9999;
  const OpenedFile left = read(file, &nowhere);
  CHECK(n_reported(left, "stack-without-file") == 2);
  for (const std::uint64_t address : left.profiles.front()->frames().address) CHECK(address != 0x9999);
}

TEST_CASE("perf.data: copies that cannot be unwound leave where the thread was, and are counted") {
  const auto n_left = [](const File& file, Asked* asked) {
    const OpenedFile opened = read(file, asked);
    CHECK(opened.profiles.front()->n_samples() == 1);
    CHECK(n_reported(opened, "stacks-unwound") == 0);
    return n_reported(opened, "user-stack");
  };
  const auto file_of = [](const Copy& copy, std::string_view arch) {
    File file = copied_file(arch);
    file.mmap(2, 7, 0x1000, 0x1000, "/bin/demo");
    add_sample(file, 2, 7, 10, copy);
    return file;
  };
  Asked asked;
  CHECK(n_left(file_of({}, "x86_64"), nullptr) == 1);
  CHECK(n_left(file_of({.abi = 1}, "x86_64"), &asked) == 1);
  CHECK(n_left(file_of({}, "s390x"), &asked) == 1);
  CHECK(n_left(file_of({.abi = 0}, "x86_64"), &asked) == 1);
  CHECK(n_left(file_of({.bytes = ""}, "x86_64"), &asked) == 0);  // there is no copy
  CHECK(asked.batches.empty());
}
