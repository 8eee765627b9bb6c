// What lies where in the memory of a process or of the kernel, at the moment the records have reached.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile_builder.h"
#include "core/support/file_identity.h"
#include "formats/perf_data/symbol_files.h"
#include "formats/support/code_ranges.h"

namespace profd::perf_data {

// A piece of a file in memory.
struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t file_offset = 0;  // of `start`
  StringId file{0u}, build_id{0u};
  ModuleId module;        // none until code in it was met
  FunctionId unresolved;  // what that is called when no symbol is known
  FrameKind kind = FrameKind::native;
  bool anonymous = false;  // no file's code: a JIT compiler may have written there
  bool absolute = false;   // addresses are kept as they are: the kernel itself
  AddressKind addresses = AddressKind::file_offset;
  FileIdentity identity = {};  // where there is no build id
};

// Immutable when shared: fork() makes two processes point to one. `id` changes whenever an address that was
// looked up before may have another meaning now.
struct AddressSpace {
  std::uint32_t id = 0;
  CodeRanges mappings;  // rows of all mappings
  CodeRanges jit;       // rows of all JIT code
  std::shared_ptr<const LoadedPerfMap> perf_map;
  bool missed = false;  // an address without a mapping was looked up
};

// A code piece that a jitdump announced.
struct JitRow {
  std::shared_ptr<const LoadedJitDump> dump;
  std::uint32_t code = 0;      // in dump->dump.code; the load that has name and lines
  std::uint64_t moved_by = 0;  // added to its addresses, modulo 2^64
};

struct Process {
  std::shared_ptr<AddressSpace> space;
  // Dumps this process wrote; code up to `next` is in the space.
  struct Dump {
    std::shared_ptr<const LoadedJitDump> loaded;
    std::size_t next = 0;
  };
  std::vector<Dump> dumps;
};

}  // namespace profd::perf_data
