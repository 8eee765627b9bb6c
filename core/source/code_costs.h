// What the code of a profile costs, piece by piece and instruction by instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "core/code/rows.h"
#include "core/model/profile.h"

namespace profd {

// One piece of code of a binary, however often the binary was loaded; of code in memory (AddressKind::loaded)
// what has one name, start and size.
struct CodePiece {
  PieceId example{};  // one of the profile's pieces that it is
  ModuleId module{};
  std::uint64_t start = 0;    // of the module's kind of addresses
  std::uint64_t n_bytes = 0;  // 0 unknown
};

struct CodePieces {
  std::vector<CodePiece> pieces;        // by name of the module, build id and start
  std::vector<std::uint32_t> of_frame;  // by frame: the piece that it was met in, or kNone
};

// A frame without a piece whose address lies in one of its module is in that one.
CodePieces code_pieces(const Profile& profile);

// The one of `pieces` that an address of a module is in, or kNone.
std::uint32_t piece_at(const Profile& profile, const CodePieces& pieces, ModuleId module,
                       std::uint64_t address);
// Whether two modules, which are there, are one binary.
bool is_same_binary(const ModuleTable& modules, ModuleId a, ModuleId b);

// By frame, for sum_slots(): the row that its lookup address lies in; one more than the last row for frames
// of the piece that lie in none, two more for those without an address; kNone for all others.
std::vector<std::uint32_t> slots_of_rows(const Profile& profile, const CodePieces& pieces,
                                         std::uint32_t piece, const CodeRows& rows);

}  // namespace profd
