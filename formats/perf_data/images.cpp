#include "formats/perf_data/images.h"

#include <algorithm>
#include <limits>

#include "core/support/hash.h"
#include "formats/support/code_symbol.h"
#include "formats/support/jit_frames.h"
#include "formats/support/loaded_modules.h"

namespace profd::perf_data {
namespace {

std::uint64_t end_of(const MapRecord& record) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  return record.size > kMax - record.start ? kMax : record.start + record.size;
}

// A return address may be the first one behind its function: a call that does not return is the last thing
// in it.
std::uint64_t of_call(std::uint64_t address, bool is_return) {
  return is_return && address > 0 ? address - 1 : address;
}

}  // namespace

Process& Images::process(std::uint32_t pid) {
  const auto [at, is_new] = processes_.try_emplace(pid);
  if (is_new) {
    at->second.space = std::make_shared<AddressSpace>();
    at->second.space->id = next_space_++;
    at->second.space->perf_map = files_.perf_map(pid);
  }
  return at->second;
}

// The process's space, to be changed: no other process sees it.
AddressSpace& Images::own(Process& process) {
  if (process.space.use_count() > 1) {
    n_copied_ += process.space->mappings.size() + process.space->jit.size();
    process.space = std::make_shared<AddressSpace>(*process.space);
    process.space->id = next_space_++;
    process.space->missed = false;
  }
  return *process.space;
}

Result<void> Images::status() const {
  constexpr std::uint64_t kMaxCopied = std::uint64_t{1} << 23;
  if (n_copied_ <= kMaxCopied) return {};
  return fail(ErrorCode::limit, "forked processes have more than 8388608 mappings of their parents");
}

FunctionId Images::unresolved(std::string_view module) {
  return builder_.function(
      FunctionSpec{.name = builder_.string(unresolved_name(module)), .unresolved = true});
}

std::uint32_t Images::add_mapping(const MapRecord& record, bool kernel) {
  std::string_view name = record.file;
  Mapping mapping{.start = record.start, .file_offset = record.file_offset, .module = {}, .unresolved = {}};
  if (kernel) {
    mapping.kind = FrameKind::kernel;
    mapping.addresses = AddressKind::image_offset;  // of a module, which is one object file
    // "[kernel.kallsyms]_text": the module, and the symbol that the file offset is the address of.
    const std::size_t bracket = name.starts_with("[kernel") || name.starts_with("[guest.kernel")
                                    ? name.find(']')
                                    : std::string_view::npos;
    if (bracket != std::string_view::npos) {
      name = name.substr(0, bracket + 1);
      mapping.absolute = true;
    }
  } else {
    mapping.anonymous = is_anonymous_mapping(name);
    mapping.absolute = mapping.anonymous;
    if (name.find("/jitted-") != std::string_view::npos) mapping.kind = FrameKind::jit;
  }
  if (mapping.absolute) mapping.addresses = AddressKind::loaded;
  std::string_view build_id = record.build_id;
  if (build_id.empty()) {
    const auto known = features_.build_ids.find(name);
    if (known != features_.build_ids.end()) build_id = known->second;
  }
  mapping.file = builder_.string(name);
  mapping.build_id = builder_.string(build_id);
  if (build_id.empty() && !kernel && !mapping.anonymous) mapping.identity = record.identity;
  mappings_.push_back(mapping);
  return static_cast<std::uint32_t>(mappings_.size() - 1);
}

Mapping* Images::mapping_at(const AddressSpace& space, std::uint64_t address) {
  const std::uint32_t row = space.mappings.find(address);
  if (row == kNone) return nullptr;
  Mapping& mapping = mappings_[row];
  if (mapping.module.valid()) return &mapping;
  const std::string file(builder_.text(mapping.file)), build_id(builder_.text(mapping.build_id));
  mapping.module = builder_.module({.name = file, .build_id = build_id, .addresses = mapping.addresses});
  mapping.unresolved = unresolved(file);
  if (mapping.identity.inode != 0) add_identity(file, mapping.identity);
  return &mapping;
}

// Two files by one name are told apart by nothing: there is no saying which one code is of.
void Images::add_identity(const std::string& file, const FileIdentity& identity) {
  const auto known = std::find_if(identities_.begin(), identities_.end(),
                                  [&](const auto& other) { return other.first == file; });
  if (known == identities_.end())
    identities_.emplace_back(file, identity);
  else if (known->second != identity)
    known->second = {};
}

void Images::insert(AddressSpace& space, const MapRecord& record, std::uint32_t row) {
  const bool replaced = space.mappings.insert(record.start, end_of(record), row);
  if (!replaced && !space.missed) return;
  space.id = next_space_++;
  space.missed = false;
}

void Images::map(std::uint32_t pid, const MapRecord& record) {
  Process& target = process(pid);
  if (const auto dump = files_.jit_dump(record.file)) {
    const bool known = std::any_of(target.dumps.begin(), target.dumps.end(),
                                   [&](const Process::Dump& d) { return d.loaded == dump; });
    if (!known) target.dumps.push_back({dump, 0});
  }
  insert(own(target), record, add_mapping(record, false));
}

void Images::map_kernel(bool guest, const MapRecord& record) {
  AddressSpace& space = guest ? guest_kernel_ : kernel_;
  const std::uint32_t row = add_mapping(record, true);
  const std::size_t bracket = record.file.find(']');
  if (!guest && mappings_[row].absolute && bracket + 1 < record.file.size() && record.file_offset != 0) {
    reference_symbol_ = record.file.substr(bracket + 1);
    reference_address_ = record.file_offset;
    const std::uint64_t listed = files_.kallsyms() ? files_.kallsyms()->address_of(reference_symbol_) : 0;
    if (listed != 0) kernel_shift_ = reference_address_ - listed;
  }
  insert(space, record, row);
}

void Images::fork(std::uint32_t parent, std::uint32_t child) {
  if (parent == child) return;
  Process copy = process(parent);
  if (auto own_map = files_.perf_map(child)) own(copy).perf_map = std::move(own_map);
  processes_.insert_or_assign(child, std::move(copy));
}

void Images::exec(std::uint32_t pid) {
  processes_.erase(pid);
  process(pid);
}

void Images::kernel_symbol(std::uint64_t start, std::uint64_t size, std::string_view name, bool bpf,
                           bool gone) {
  const std::uint64_t end = size > ~std::uint64_t{0} - start ? ~std::uint64_t{0} : start + size;
  bool changed = true;
  if (gone) {
    changed = kernel_.jit.erase(start, end);
  } else {
    kernel_.jit.insert(start, end, static_cast<std::uint32_t>(kernel_symbols_.size()));
    kernel_symbols_.push_back({std::string(name), start, end - start, bpf});
  }
  if (changed) kernel_.id = next_space_++;
}

void Images::add_jit(Process& process, const std::shared_ptr<const LoadedJitDump>& dump, std::size_t code) {
  const JitCode& piece = dump->dump.code[code];
  JitRow row{dump, static_cast<std::uint32_t>(code), 0};
  AddressSpace& space = own(process);
  if (piece.moved) {
    const std::uint32_t from = space.jit.find(piece.moved_from);
    if (from == kNone) return;
    row = jit_rows_[from];
    row.moved_by += piece.start - piece.moved_from;
    space.jit.erase(piece.moved_from, piece.moved_from + piece.size);
  }
  const bool replaced =
      space.jit.insert(piece.start, piece.start + piece.size, static_cast<std::uint32_t>(jit_rows_.size()));
  jit_rows_.push_back(std::move(row));
  if (!replaced && !piece.moved && !space.missed) return;
  space.id = next_space_++;
  space.missed = false;
}

bool Images::would_advance(const Process& process, std::uint64_t time) {
  return std::any_of(process.dumps.begin(), process.dumps.end(), [&](const Process::Dump& dump) {
    const std::vector<JitCode>& code = dump.loaded->dump.code;
    return dump.next < code.size() && code[dump.next].time <= time;
  });
}

void Images::advance(Process& process, std::uint64_t time) {
  for (Process::Dump& dump : process.dumps) {
    const std::vector<JitCode>& code = dump.loaded->dump.code;
    while (dump.next < code.size() && code[dump.next].time <= time)
      add_jit(process, dump.loaded, dump.next++);
  }
}

ModuleId Images::in_memory(std::string_view name) {
  return builder_.module({.name = name, .addresses = AddressKind::loaded});
}

void Images::push_unresolved(const Mapping* mapping, std::uint64_t address, bool is_return, FrameKind kind,
                             std::string_view name) {
  FrameSpec spec;
  spec.kind = kind;
  spec.address = address;
  spec.is_return = is_return;
  if (mapping) {
    spec.function = mapping->unresolved;
    spec.module = mapping->module;
    spec.kind = mapping->kind;
    if (!mapping->absolute) spec.address = address - mapping->start + mapping->file_offset;
  } else {
    spec.function = unresolved(name);
    if (!name.empty()) spec.module = in_memory(name);
  }
  frames_.push_back(builder_.frame(spec));
}

void Images::resolve_user(AddressSpace& space, std::uint64_t address, bool is_return) {
  const std::uint64_t at = of_call(address, is_return);
  if (const std::uint32_t row = space.jit.find(at); row != kNone) {
    const JitRow& jit = jit_rows_[row];
    const JitCode& code = jit.dump->dump.code[jit.code];
    const JitPlace place{in_memory(jit.dump->module), address, is_return, code.start + jit.moved_by,
                         code.size};
    append_jit_frames(builder_, code.name, place, find_line(jit.dump->dump, code, at - jit.moved_by),
                      frames_);
    return;
  }
  const Mapping* mapping = mapping_at(space, at);
  space.missed |= !mapping || mapping->anonymous;
  if (space.perf_map && (!mapping || mapping->anonymous)) {
    const std::uint32_t symbol = space.perf_map->map.ranges.find(at);
    if (symbol != kNone) {
      const PerfMapLine& line = space.perf_map->map.symbols[symbol];
      const JitPlace place{in_memory(space.perf_map->module), address, is_return, line.start, line.size};
      append_jit_frames(builder_, line.name, place, nullptr, frames_);
      return;
    }
  }
  if (!mapping) ++n_unmapped_;
  push_unresolved(mapping, address, is_return, FrameKind::native, {});
}

void Images::resolve_kernel(AddressSpace& space, std::uint64_t address, bool is_return) {
  const std::uint64_t at = of_call(address, is_return);
  const Mapping* mapping = mapping_at(space, at);
  space.missed |= !mapping;
  std::string_view name, module;
  const KernelSymbol* made = nullptr;  // code that the kernel made
  if (const std::uint32_t symbol = space.jit.find(at); symbol != kNone) {
    made = &kernel_symbols_[symbol];
    name = made->name;
    module = made->bpf ? "[bpf]" : "[kernel.kallsyms]";
  } else if (&space == &kernel_ && files_.kallsyms()) {
    const bool main = !mapping || mapping->absolute;
    name = files_.kallsyms()->find(main ? at - kernel_shift_ : at);
  }
  if (name.empty()) {
    push_unresolved(mapping, address, is_return, FrameKind::kernel, {});
    return;
  }
  FrameSpec spec;
  spec.function = builder_.function(name);
  spec.kind = FrameKind::kernel;
  if (mapping && module.empty())
    spec.module = mapping->module;
  else
    spec.module = in_memory(module.empty() ? "[kernel.kallsyms]" : module);
  spec.address = mapping && !mapping->absolute && module.empty()
                     ? address - mapping->start + mapping->file_offset
                     : address;
  spec.is_return = is_return;
  if (made)
    spec.piece = builder_.piece({.module = spec.module,
                                 .start = made->start,
                                 .n_bytes = made->n_bytes,
                                 .name = builder_.string(made->name),
                                 .function = spec.function});
  frames_.push_back(builder_.frame(spec));
}

BranchPlace Images::place(Process& process, std::uint64_t address) {
  // The upper half is the kernel's on every 64-bit machine.
  const bool kernel = address >> 63 != 0;
  AddressSpace& space = kernel ? kernel_ : *process.space;
  if (const std::uint32_t row = space.jit.find(address); row != kNone) {
    if (!kernel) return {in_memory(jit_rows_[row].dump->module), address};
    return {in_memory(kernel_symbols_[row].bpf ? "[bpf]" : "[kernel.kallsyms]"), address};
  }
  const Mapping* mapping = mapping_at(space, address);
  const bool in_no_file = !mapping || mapping->anonymous;
  space.missed |= in_no_file;
  if (!kernel && in_no_file && space.perf_map && space.perf_map->map.ranges.find(address) != kNone)
    return {in_memory(space.perf_map->module), address};
  if (!mapping) return {};
  return {mapping->module, mapping->absolute ? address : address - mapping->start + mapping->file_offset};
}

std::span<const FrameId> Images::frames(Process& process, CpuMode mode, std::uint64_t address,
                                        bool is_return) {
  AddressSpace* space = process.space.get();
  if (mode == kModeKernel) space = &kernel_;
  if (mode == kModeGuestKernel) space = &guest_kernel_;
  const Key key{address, space->id, static_cast<std::uint8_t>(mode), is_return};
  const auto next = static_cast<std::uint32_t>(keys_.size());
  const std::uint64_t hash =
      mix64(hash_combine(address, (std::uint64_t{space->id} << 4) | key.mode << 1 | (is_return ? 1u : 0u)));
  const std::uint32_t row = known_.find_or_add(hash, next, [&](std::uint32_t r) { return keys_[r] == key; });
  if (row == next) {
    keys_.push_back(key);
    const auto first = static_cast<std::uint32_t>(frames_.size());
    switch (mode) {
      case kModeKernel:
      case kModeGuestKernel:
        resolve_kernel(*space, address, is_return);
        break;
      case kModeHypervisor:
        push_unresolved(nullptr, address, is_return, FrameKind::kernel, "[hypervisor]");
        break;
      case kModeGuestUser:
        push_unresolved(nullptr, address, is_return, FrameKind::native, "[guest]");
        break;
      case kModeUnknown:
        // The upper half is the kernel's on every 64-bit machine.
        if (address >> 63 != 0)
          resolve_kernel(kernel_, address, is_return);
        else
          resolve_user(*space, address, is_return);
        break;
      case kModeUser:
        resolve_user(*space, address, is_return);
        break;
    }
    meanings_.push_back({first, static_cast<std::uint32_t>(frames_.size()) - first});
  }
  return std::span<const FrameId>(frames_).subspan(meanings_[row].first, meanings_[row].n);
}

}  // namespace profd::perf_data
