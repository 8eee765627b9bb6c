// Symbols of compiled code as people read them: which kind of code a module holds, and what the names that
// JIT compilers give stand for. Shared by everything that reads what Linux perf knows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/tables.h"

namespace profd {

// A symbol of a JIT map can be a chain of inlined methods: several of these, outermost first.
struct CodeSymbol {
  std::string name;
  std::string_view system_name;  // as written, when that differs
  std::string_view file;
  std::uint32_t start_line = 0;
  bool unresolved = false;
  FrameKind kind = FrameKind::native;
};

// By the module's name: "[kernel.kallsyms]" kernel, "/tmp/perf-7.map" jit, "/bin/x" native.
FrameKind kind_of_module(std::string_view module);

// The name of code without a symbol: "[libc.so.6]", "[unknown]" for "".
std::string unresolved_name(std::string_view module);

// `symbol` as perf prints it; "[unknown]" when there is none. Views point into `symbol`.
std::vector<CodeSymbol> code_symbols(std::string_view symbol, std::string_view module);
// The same for a symbol that is known to be JIT code.
std::vector<CodeSymbol> jit_symbols(std::string_view symbol);

}  // namespace profd
