// Which of some beginnings encloses a line of a text, by how far lines are indented: profiles of functions
// alone do not say where these end.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "server/engine/piece_text.h"

namespace profd {

// Of `begins`, 0-based lines in any order, the nearest above `line` that is less indented, as everything
// between them is. Nothing: there is none, the line is blank, or another definition is nearer.
std::optional<std::uint32_t> enclosing_line(const PieceText& text, std::span<const std::uint32_t> begins,
                                            std::uint32_t line);

}  // namespace profd
