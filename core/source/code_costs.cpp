#include "core/source/code_costs.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/model/module_address.h"

namespace profd {
namespace {

// One binary has several modules where it was loaded several times.
struct Binary {
  std::uint32_t name = 0, build_id = 0;
  AddressKind kind = AddressKind::unknown;
  auto operator<=>(const Binary&) const = default;
};

Binary binary_of(const ModuleTable& modules, ModuleId module) {
  if (!module.valid()) return {};
  return {modules.name[module.v].v, modules.build_id[module.v].v, modules.addresses[module.v]};
}

std::uint32_t find_piece(const ModuleTable& modules, const std::vector<CodePiece>& pieces,
                         const Binary& binary, std::uint64_t address) {
  const auto behind =
      std::upper_bound(pieces.begin(), pieces.end(), std::tuple(binary, address),
                       [&](const auto& place, const CodePiece& piece) {
                         return place < std::tuple(binary_of(modules, piece.module), piece.start);
                       });
  if (behind == pieces.begin()) return kNone;
  const CodePiece& piece = *std::prev(behind);
  const bool holds = binary_of(modules, piece.module) == binary && address - piece.start < piece.n_bytes;
  return holds ? static_cast<std::uint32_t>(behind - pieces.begin() - 1) : kNone;
}

}  // namespace

CodePieces code_pieces(const Profile& profile) {
  const PieceTable& table = profile.pieces();
  const ModuleTable& modules = profile.modules();
  const FrameTable& frames = profile.frames();
  // Memory is used again: what was compiled to one place at two times is two pieces.
  const auto place_of = [&](std::uint32_t i) {
    const Binary binary = binary_of(modules, table.module[i]);
    const bool in_memory = binary.kind == AddressKind::loaded;
    return std::tuple(binary, table.start[i], in_memory ? table.n_bytes[i] : 0,
                      in_memory ? table.name[i].v : 0);
  };
  std::vector<std::uint32_t> order(table.size()), piece_of(table.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return place_of(a) < place_of(b); });
  CodePieces out;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t at = order[i];
    if (i == 0 || place_of(order[i - 1]) != place_of(at)) {
      out.pieces.push_back({PieceId{at}, table.module[at], table.start[at], table.n_bytes[at]});
    }
    CodePiece& piece = out.pieces.back();
    piece.n_bytes = std::max(piece.n_bytes, table.n_bytes[at]);
    piece_of[at] = static_cast<std::uint32_t>(out.pieces.size() - 1);
  }
  out.of_frame.assign(frames.size(), kNone);
  if (out.pieces.empty()) return out;
  for (std::uint32_t frame = 0; frame < frames.size(); ++frame) {
    const PieceId piece = value_or(frames.piece, frame, PieceId{});
    if (piece.valid()) {
      out.of_frame[frame] = piece_of[piece.v];
    } else if (frames.address[frame] != 0 && frames.module[frame].valid()) {
      out.of_frame[frame] = find_piece(modules, out.pieces, binary_of(modules, frames.module[frame]),
                                       lookup_address(frames, frame));
    }
  }
  return out;
}

std::uint32_t piece_at(const Profile& profile, const CodePieces& pieces, ModuleId module,
                       std::uint64_t address) {
  if (!module.valid()) return kNone;
  return find_piece(profile.modules(), pieces.pieces, binary_of(profile.modules(), module), address);
}

bool is_same_binary(const ModuleTable& modules, ModuleId a, ModuleId b) {
  return binary_of(modules, a) == binary_of(modules, b);
}

std::vector<std::uint32_t> slots_of_rows(const Profile& profile, const CodePieces& pieces,
                                         std::uint32_t piece, const CodeRows& rows) {
  const FrameTable& frames = profile.frames();
  const auto n = static_cast<std::uint32_t>(rows.size());
  std::vector<std::uint32_t> slots(frames.size(), kNone);
  for (std::uint32_t frame = 0; frame < frames.size(); ++frame) {
    if (pieces.of_frame[frame] != piece) continue;
    const std::uint64_t address = lookup_address(frames, frame);
    const std::uint32_t row = address == 0 ? kNone : row_at(rows, address);
    slots[frame] = address == 0 ? n + 1 : row == kNone ? n : row;
  }
  return slots;
}

}  // namespace profd
