// Images: from an address and the process it was met in to frames.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/model/branches.h"
#include "core/support/file_identity.h"
#include "core/support/interner.h"
#include "formats/perf_data/address_space.h"
#include "formats/perf_data/features.h"
#include "formats/perf_data/record.h"

namespace profd::perf_data {

// MMAP and MMAP2.
struct MapRecord {
  std::uint64_t start = 0, size = 0, file_offset = 0;
  std::string_view file;
  std::string build_id;
  FileIdentity identity = {};  // of MMAP2 without a build id
};

class Images {
 public:
  Images(ProfileBuilder& builder, SymbolFiles& files, const Features& features)
      : builder_(builder), files_(files), features_(features) {}

  Process& process(std::uint32_t pid);
  void map(std::uint32_t pid, const MapRecord& record);
  void map_kernel(bool guest, const MapRecord& record);
  void fork(std::uint32_t parent, std::uint32_t child);
  void exec(std::uint32_t pid);
  // PERF_RECORD_KSYMBOL: code the kernel generated.
  void kernel_symbol(std::uint64_t start, std::uint64_t size, std::string_view name, bool bpf, bool gone);

  // Whether advance() would change what is there.
  static bool would_advance(const Process& process, std::uint64_t time);
  // JIT code loaded up to this time (in the clock of the dumps) is there.
  void advance(Process& process, std::uint64_t time);

  // Frames at an address, innermost first; at least one. `is_return`: the instruction before it made a call.
  std::span<const FrameId> frames(Process& process, CpuMode mode, std::uint64_t address, bool is_return);

  // Where an address is in its module; no module: nothing is known of it. Of a branch, so exact.
  BranchPlace place(Process& process, std::uint64_t address);
  // Changes whenever an address of the kernel that was looked up before may have another meaning.
  std::uint32_t kernel_id() const { return kernel_.id; }

  bool is_mapped(const Process& process, std::uint64_t address) const {
    return process.space->mappings.find(address) != kNone;
  }
  // Calls visit(start, end, mapping) for what files are mapped to, by start.
  template <class Visit>
  void each_file(const Process& process, Visit visit) const {
    process.space->mappings.each([&](std::uint64_t start, std::uint64_t end, std::uint32_t row) {
      if (!mappings_[row].anonymous) visit(start, end, mappings_[row]);
    });
  }
  std::string_view text(StringId id) const { return builder_.text(id); }
  std::string_view arch() const { return features_.arch; }
  std::uint64_t n_unmapped() const { return n_unmapped_; }
  // The symbol that the kernel was recorded with the place of; "" none.
  const std::string& kernel_symbol_name() const { return reference_symbol_; }
  std::uint64_t kernel_symbol_address() const { return reference_address_; }
  // Files with code that was met, and no build id.
  const std::vector<std::pair<std::string, FileIdentity>>& identities() const { return identities_; }
  // Memory maps that were copied for forked processes are bounded.
  Result<void> status() const;

 private:
  struct Key {
    std::uint64_t address = 0;
    std::uint32_t space = 0;
    std::uint8_t mode = 0;
    bool is_return = false;
    bool operator==(const Key&) const = default;
  };
  struct KernelSymbol {
    std::string name;
    std::uint64_t start = 0, n_bytes = 0;
    bool bpf = false;
  };
  struct Meaning {
    std::uint32_t first = 0, n = 0;
  };

  AddressSpace& own(Process& process);
  std::uint32_t add_mapping(const MapRecord& record, bool kernel);
  Mapping* mapping_at(const AddressSpace& space, std::uint64_t address);  // null: nothing is there
  void add_identity(const std::string& file, const FileIdentity& identity);
  void insert(AddressSpace& space, const MapRecord& record, std::uint32_t row);
  void add_jit(Process& process, const std::shared_ptr<const LoadedJitDump>& dump, std::size_t code);
  FunctionId unresolved(std::string_view module);
  void resolve_user(AddressSpace& space, std::uint64_t address, bool is_return);
  void resolve_kernel(AddressSpace& space, std::uint64_t address, bool is_return);
  void push_unresolved(const Mapping* mapping, std::uint64_t address, bool is_return, FrameKind kind,
                       std::string_view name);
  ModuleId in_memory(std::string_view name);

  ProfileBuilder& builder_;
  SymbolFiles& files_;
  const Features& features_;
  std::uint32_t next_space_ = 2;
  AddressSpace kernel_{.id = 0, .mappings = {}, .jit = {}, .perf_map = nullptr, .missed = false};
  AddressSpace guest_kernel_{.id = 1, .mappings = {}, .jit = {}, .perf_map = nullptr, .missed = false};
  std::uint64_t kernel_shift_ = 0;  // where the kernel was, less where kallsyms says it is
  std::string reference_symbol_;
  std::uint64_t reference_address_ = 0;
  std::unordered_map<std::uint32_t, Process> processes_;
  std::vector<Mapping> mappings_;
  std::vector<std::pair<std::string, FileIdentity>> identities_;
  std::vector<JitRow> jit_rows_;
  std::vector<KernelSymbol> kernel_symbols_;  // rows of kernel_.jit
  RowSet known_;
  std::vector<Key> keys_;
  std::vector<Meaning> meanings_;  // by row of keys_
  std::vector<FrameId> frames_;
  std::uint64_t n_unmapped_ = 0;
  std::uint64_t n_copied_ = 0;
};

}  // namespace profd::perf_data
