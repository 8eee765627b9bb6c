// The stacks of a profile as addresses, root first: "0x10 0x20<" where a call returns to 0x20; "-" for none.
#pragma once

#include <set>
#include <string>

#include <fmt/format.h>

#include "core/model/module_address.h"
#include "core/model/profile.h"

namespace profd::test {

inline std::set<std::string> address_paths(const Profile& p) {
  std::set<std::string> out;
  for (std::uint32_t context : p.self().contexts) {
    std::string path;
    for (; context != 0; context = p.tree().parent[context]) {
      const std::uint32_t frame = p.tree().frame[context];
      const std::uint64_t address = p.frames().address[frame];
      path = (address == 0 ? "-" : fmt::format("{:#x}{}", address, is_return(p.frames(), frame) ? "<" : "")) +
             (path.empty() ? "" : " ") + path;
    }
    out.insert(path);
  }
  return out;
}

// "main 0x10+16", or "" where the frame's code piece is not known.
inline std::string piece_of(const Profile& p, std::uint32_t frame) {
  const PieceId piece = value_or(p.frames().piece, frame, PieceId{});
  if (!piece.valid()) return "";
  return fmt::format("{} {:#x}+{}", p.strings()[p.pieces().name[piece.v]], p.pieces().start[piece.v],
                     p.pieces().n_bytes[piece.v]);
}

}  // namespace profd::test
