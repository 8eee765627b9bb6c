// Symbols that stand beside a recording: perf-PID.map and jit-PID.dump of JIT compilers, the kernel's
// kallsyms.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "formats/folder.h"
#include "formats/import_report.h"
#include "formats/support/jitdump.h"
#include "formats/support/kallsyms.h"
#include "formats/support/perf_map.h"
#include "formats/support/text_source.h"

namespace profd::perf_data {

struct LoadedPerfMap {
  std::string module;  // "/tmp/perf-7.map", as perf names it
  DecodedText text;
  PerfMap map;
};

struct LoadedJitDump {
  std::string module;
  ByteSource bytes;
  JitDump dump;
};

class SymbolFiles {
 public:
  // `beside` may be null: there is nothing then.
  SymbolFiles(const Folder* beside, ImportReport& report) : beside_(beside), report_(report) {}

  // Null when there is none. Read once.
  std::shared_ptr<const LoadedPerfMap> perf_map(std::uint32_t pid);
  // By the path of the mapping that names it.
  std::shared_ptr<const LoadedJitDump> jit_dump(std::string_view path);
  const Kallsyms* kallsyms();

 private:
  const Folder* beside_;
  ImportReport& report_;
  std::map<std::uint32_t, std::shared_ptr<const LoadedPerfMap>> perf_maps_;
  std::map<std::string, std::shared_ptr<const LoadedJitDump>, std::less<>> jit_dumps_;
  bool kallsyms_read_ = false;
  DecodedText kallsyms_text_;
  std::unique_ptr<Kallsyms> kallsyms_;
};

}  // namespace profd::perf_data
