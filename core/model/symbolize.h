// Symbolizing after the fact: what code of a profile is known by its address alone (`gather_code`), and the
// same profile with the names, lines and inlined functions that somebody found for it (`symbolized`). Who
// finds them, and in which files, is not known here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

// The frames of one binary: of all modules of a profile with its name, build id and kind of addresses,
// wherever they were loaded.
struct BinaryCode {
  StringId name, build_id;  // of the profile
  AddressKind kind = AddressKind::unknown;
  // Frames that have an address, and those of them without a name, or with a name and no line.
  std::uint64_t n_frames = 0, n_unnamed = 0, n_without_line = 0;
  // Of the default metric: spent in frames of the binary, and in those that have no name; and in stacks that
  // have a frame of it, each counted once.
  double self = 0, unnamed_self = 0, total = 0;
  // Lookup addresses (module_address.h) of frames without name or line: ascending, distinct, of `kind`. Empty
  // where that is unknown.
  std::vector<std::uint64_t> addresses;
};

// By total, costliest first; equal ones as they come in the profile. Binaries none of whose frames has an
// address are there as well: they count in self and total. Fails with `cancelled` alone.
Result<std::vector<BinaryCode>> gather_code(const Profile& profile, StopToken stop = {});

// A part of a binary as its file is loaded: `size` addresses from `from`, of the kind that was asked, are
// those from `vaddr` on.
struct AddressSegment {
  std::uint64_t from = 0, size = 0, vaddr = 0;
};

// Where an innermost frame is and what it is inlined into. Row i of every column is link i.
struct ChainLinks {
  std::vector<std::uint32_t> parent;  // an earlier link, which it is inlined into; kNone: it is the outermost
  std::vector<std::uint32_t> function;  // of SymbolFunctions, or kNone: only the line is known
  std::vector<std::uint32_t> file;      // text: of the line; "" the function's
  std::vector<std::uint32_t> line;      // in it, 0 unknown; of a parent, of the call that was inlined there
  std::vector<std::uint32_t> column;    // 0 unknown
  std::size_t size() const { return parent.size(); }
};

struct SymbolFunctions {
  std::vector<std::uint32_t> name;          // text: as people read it; not ""
  std::vector<std::uint32_t> linkage_name;  // text: as linkers read it; "" where equal or unknown
  std::vector<std::uint32_t> file;          // text: of the definition, "" unknown
  std::vector<std::uint32_t> first_line;    // 0 unknown
  std::size_t size() const { return name.size(); }
};

struct SymbolPieces {
  std::vector<std::uint64_t> start;     // vaddr
  std::vector<std::uint64_t> n_bytes;   // 0 unknown
  std::vector<std::uint32_t> name;      // text: the symbol, nothing cut off
  std::vector<std::uint32_t> function;  // of SymbolFunctions, or kNone
  std::size_t size() const { return start.size(); }
};

// What was found for the code of one binary. Texts are rows of `texts`, where 0 is "". It is data from
// outside: `symbolized` refuses what points nowhere.
struct BinarySymbols {
  std::string name, build_id;  // which binary of the profile: as BinaryCode says
  AddressKind kind = AddressKind::unknown;
  std::vector<std::uint64_t> addresses;  // ascending, distinct: those that were asked
  std::vector<std::uint32_t> link;       // by address: its innermost link, or kNone: nothing was found
  std::vector<std::uint32_t> piece;      // by address: the code it lies in, or kNone. Empty: none is known
  ChainLinks links;
  SymbolFunctions functions;
  SymbolPieces pieces;
  std::vector<std::string> texts;
  // For kinds other than vaddr: ascending by `from`, not overlapping. Addresses of the binary become vaddrs
  // by them, those that nobody asked for as well; what is in no segment stays what it is.
  std::vector<AddressSegment> segments;
};

// The same measurements with better names. Values, samples, threads, times, labels and associations stay with
// their contexts; a context whose frame becomes several is that of the innermost.
//
// A frame without a name becomes the chain of its address: the outermost function, then what was inlined into
// it, each with line, piece, address and mark of a return. A frame with a name keeps it; where it has no line
// it gets that, what was inlined there, and the function its file, and with it first line, where all frames
// of that function and binary agree on it. Frames that are inlined stay what they are; those that others are
// inlined into get the outermost function alone, as do all where contexts are an estimate: there a frame is a
// function.
//
// Symbols of binaries that the profile does not have change nothing, nor do those that were applied before.
// Of several of one binary the first that knows an address counts.
//
// Fails with `malformed` where ids, orders or depths (512 links at most) of `symbols` are wrong, `limit` and
// `cancelled` as ProfileBuilder does.
Result<ProfilePtr> symbolized(const Profile& profile, std::span<const BinarySymbols> symbols,
                              StopToken stop = {});

}  // namespace profd
