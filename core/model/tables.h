// The dictionary tables of a profile: modules, functions, frames, threads, label sets.
// Struct-of-arrays; row i of every column belongs to id i; immutable.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/support/column.h"
#include "core/support/id.h"

namespace profd {

enum class FrameKind : std::uint8_t {
  native,  // compiled ahead of time, or not known to be anything else
  jit,
  interpreted,
  kernel,
  gc,           // time of a collector or runtime service, not of user code
  waker,        // part of a wake-up chain above the sleeping stack
  data_object,  // a heap block or a static, in data-centric profiles
};
inline constexpr std::uint8_t kNFrameKinds = 7;

// What the addresses of a module's frames count from. Which one a source gives depends on the source; all but
// `vaddr` need the binary to become it (core/model/symbolize.h).
enum class AddressKind : std::uint8_t {
  unknown,       // as the source wrote them, which does not say
  vaddr,         // of the binary's symbol table: what `nm` prints
  file_offset,   // position in the binary's file
  image_offset,  // from the first byte of the image as it is loaded
  loaded,        // in the memory of the program, or of the kernel
};
inline constexpr std::uint8_t kNAddressKinds = 5;

// A binary, library, script bundle or package that code came from.
struct ModuleTable {
  Column<StringId> name;                       // path or name as the profiler wrote it
  Column<StringId> build_id;                   // lower-case hex, or ""
  Column<std::uint64_t> start, limit, offset;  // address range and file offset; 0 0 0 when unknown
  Column<AddressKind> addresses;               // what the addresses in it are
  Column<std::uint64_t> first;                 // the address, of that kind, that `start` has
  std::size_t size() const { return name.size(); }
};

struct FunctionTable {
  Column<StringId> name;             // as people read it (demangled where the source did so)
  Column<StringId> system_name;      // linker name, or "" when equal to name or unknown
  Column<StringId> file;             // file of the definition, "" unknown
  Column<std::uint32_t> start_line;  // 1-based, 0 unknown
  // Of the definition, 1-based, 0 unknown: tells functions of a script apart that share a line.
  Column<std::uint32_t> start_column;
  Column<std::uint8_t> unresolved;  // 1: no symbol was known; the name stands for a module or address
  std::size_t size() const { return name.size(); }
};

// A run of machine code that a linker or compiler made as one and that a symbol names: a function, with all
// that was inlined into it, or a part of one (`.cold`).
struct PieceTable {
  Column<ModuleId> module;        // or none
  Column<std::uint64_t> start;    // of the module's kind of addresses
  Column<std::uint64_t> n_bytes;  // 0 unknown
  Column<StringId> name;          // the symbol, not demangled, nothing cut off
  Column<FunctionId> function;    // that it is the code of, as people read it; or none
  std::size_t size() const { return module.size(); }
};

// One entry of a call stack at the finest grain the source has. is_return and piece are empty where no frame
// has them; value_or() reads either.
struct FrameTable {
  Column<FunctionId> function;    // always valid
  Column<ModuleId> module;        // or none
  Column<StringId> file;          // file of the line; equals the function's unless code came from elsewhere
  Column<std::uint32_t> line;     // 1-based, 0 unknown
  Column<std::uint32_t> column;   // 1-based, 0 unknown
  Column<std::uint64_t> address;  // 0 unknown; of its module's kind, see module_address.h
  Column<FrameKind> kind;
  Column<std::uint8_t> inlined;    // 1: inlined into the frame that calls it
  Column<std::uint8_t> is_return;  // 1: the address is where a call returns to, behind what made it
  Column<PieceId> piece;           // the code it was met in, or none
  std::size_t size() const { return function.size(); }
};

struct ThreadTable {
  Column<StringId> name;          // thread name, ""
  Column<StringId> process_name;  // ""
  Column<std::int64_t> tid, pid;  // -1 unknown
  std::size_t size() const { return name.size(); }
};

// Label sets share entries: set i owns entries [first[i], first[i + 1]). Set 0 is empty.
struct LabelTable {
  Column<std::uint32_t> first;
  Column<StringId> key;
  Column<StringId> text;        // the value of a text label, else ""
  Column<std::int64_t> number;  // the value of a numeric label
  Column<StringId> unit;        // of a numeric label, may be ""
  Column<std::uint8_t> is_number;
  std::size_t n_sets() const { return first.empty() ? 0 : first.size() - 1; }
};

}  // namespace profd
