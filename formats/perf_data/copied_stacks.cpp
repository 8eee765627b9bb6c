#include "formats/perf_data/copied_stacks.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/support/base_name.h"

namespace profd::perf_data {
namespace {

// Together in memory, and in one message.
constexpr std::size_t kMaxBatchBytes = std::size_t{4} << 20, kMaxBatchStacks = 1024;
constexpr std::size_t kMaxBatchMaps = std::size_t{1} << 18;
// Of all batches: a file could change a process's memory between any two of its samples.
constexpr std::uint64_t kMaxMapsTold = std::uint64_t{1} << 26;
constexpr std::uint64_t kAbi64 = 2;

std::optional<StackMachine> machine_of(std::string_view arch) {
  if (arch == "x86_64") return StackMachine::x86_64;
  if (arch == "aarch64") return StackMachine::aarch64;
  return std::nullopt;
}

constexpr unsigned kNotFollowed = 255, kAddress = 254;

// perf's number of a register as DWARF has it.
unsigned dwarf_register(StackMachine machine, unsigned number) {
  if (machine == StackMachine::aarch64) return number < 32 ? number : number == 32 ? kAddress : kNotFollowed;
  constexpr std::array<std::uint8_t, 9> kFirst{0, 3, 2, 1, 4, 5, 6, 7, kAddress};
  constexpr unsigned kR8 = 16, kR15 = 23;
  if (number < kFirst.size()) return kFirst[number];
  return number >= kR8 && number <= kR15 ? number - 8 : kNotFollowed;
}

}  // namespace

bool CopiedStacks::takes(const Sample& sample, std::string_view arch, std::endian order) const {
  return unwind_ != nullptr && *unwind_ && order == std::endian::little && machine_of(arch) &&
         sample.registers_abi == kAbi64 && sample.user_ip != 0 && sample.stack.left() > 0 &&
         n_maps_told_ < kMaxMapsTold;
}

bool CopiedStacks::full() const {
  return batch_.bytes.size() >= kMaxBatchBytes || waiting_.size() >= kMaxBatchStacks ||
         batch_.maps.size() >= kMaxBatchMaps;
}

std::uint32_t CopiedStacks::module_of(const Images& images, const Mapping& mapping) {
  const std::uint64_t key = std::uint64_t{mapping.file.v} << 32 | mapping.build_id.v;
  const auto [at, is_new] = module_rows_.try_emplace(key, static_cast<std::uint32_t>(modules_.size()));
  if (is_new) {
    modules_.push_back({std::string(images.text(mapping.file)), std::string(images.text(mapping.build_id)),
                        mapping.identity});
    batch_.modules.push_back(modules_.back());
  }
  return at->second;
}

std::uint32_t CopiedStacks::space_of(std::uint32_t pid, const Images& images, const Process& process) {
  const auto [at, is_new] = spaces_.try_emplace(pid, static_cast<std::uint32_t>(spaces_.size()));
  if (!is_new) return at->second;
  const std::size_t before = batch_.maps.size();
  images.each_file(process, [&](std::uint64_t start, std::uint64_t end, const Mapping& mapping) {
    batch_.maps.push_back(
        {start, end, start - mapping.start + mapping.file_offset, module_of(images, mapping)});
  });
  n_maps_told_ += batch_.maps.size() - before;
  batch_.space_end.push_back(static_cast<std::uint32_t>(batch_.maps.size()));
  return at->second;
}

void CopiedStacks::add(const Sample& sample, std::uint64_t mask, const Images& images, const Process& process,
                       WaitingSample waiting) {
  if (n_unwound_++ == 0) first_offset_ = waiting.offset;
  batch_.machine = *machine_of(images.arch());
  const unsigned n_registers = registers_of(batch_.machine);
  const std::size_t first = batch_.registers.size();
  batch_.registers.resize(first + n_registers);
  std::uint64_t known = 0;
  ByteCursor values = sample.registers;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((mask >> bit & 1) == 0) continue;
    const std::uint64_t value = values.u64();
    const unsigned number = dwarf_register(batch_.machine, bit);
    if (number >= n_registers) continue;
    batch_.registers[first + number] = value;
    known |= std::uint64_t{1} << number;
  }
  batch_.space.push_back(space_of(waiting.pid, images, process));
  batch_.pc.push_back(sample.user_ip);
  batch_.known.push_back(known);
  const auto copy = sample.stack.rest();
  batch_.n_bytes.push_back(static_cast<std::uint32_t>(copy.size()));
  batch_.bytes.append(reinterpret_cast<const char*>(copy.data()), copy.size());
  waiting_.push_back(std::move(waiting));
}

void CopiedStacks::clear() {
  const StackMachine machine = batch_.machine;
  batch_ = {};
  batch_.machine = machine;
  waiting_.clear();
  spaces_.clear();
}

void CopiedStacks::count(const UnwoundStacks& unwound, std::size_t row) {
  Cut& cut = ends_[static_cast<std::size_t>(unwound.end[row])];
  ++cut.n;
  if (unwound.module[row] != kNone) ++cut.by_module[unwound.module[row]];
}

std::string CopiedStacks::modules_text(const Cut& cut) const {
  constexpr std::size_t kMostNamedModules = 3;
  std::map<std::string, std::uint64_t> by_name;  // of several builds one
  for (const auto& [row, n] : cut.by_module) by_name[std::string(profd::base_name(modules_[row].name))] += n;
  std::vector<std::pair<std::string, std::uint64_t>> sorted(by_name.begin(), by_name.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (const auto& [name, n] : sorted) {
    if (names.size() == kMostNamedModules) {
      names.push_back(fmt::format("{} more", sorted.size() - names.size()));
      break;
    }
    names.push_back(fmt::format("{} ({})", name, n));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void CopiedStacks::report() const {
  if (n_unwound_ == 0) return;
  const auto cut = [&](std::string_view kind, StackEnd end, const std::string& message) {
    const std::uint64_t n = ends_[static_cast<std::size_t>(end)].n;
    report_.add(kind, Severity::loss, message, first_offset_, n);
  };
  const auto named = [&](StackEnd end) { return modules_text(ends_[static_cast<std::size_t>(end)]); };
  report_.add("stacks-unwound", Severity::info, "stacks were unwound from their copies (--call-graph dwarf)",
              first_offset_, n_unwound_);
  if (!problem_.empty()) {
    report_.add("stack-reader", Severity::loss, "callers are missing from stacks: " + problem_, first_offset_,
                ends_[static_cast<std::size_t>(StackEnd::no_binary)].n);
  } else {
    cut("stack-without-binary", StackEnd::no_binary,
        fmt::format(
            "stacks were cut in binaries that were not found by their build id, which are {}; perf record "
            "--buildid-all notes the ids of libraries",
            named(StackEnd::no_binary)));
  }
  cut("stack-copy-ended", StackEnd::copy_ended,
      "stacks were cut where their copy ends; perf record --call-graph dwarf,65528 copies more of them");
  cut("stack-without-rules", StackEnd::no_rules,
      fmt::format("stacks were cut in code that its binary has no unwinding rules for: {}",
                  named(StackEnd::no_rules)));
  cut("stack-without-file", StackEnd::no_module,
      "stacks were cut in code that is in no file, as that of JIT compilers is");
  cut("stack-damaged", StackEnd::damaged,
      fmt::format("stacks were cut where the rules of their code lead to no caller: {}",
                  named(StackEnd::damaged)));
}

}  // namespace profd::perf_data
