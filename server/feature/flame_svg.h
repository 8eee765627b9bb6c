// A flame graph as one self-contained SVG: hover, zoom, search with the matched share, reset, keyboard.
// Without script it is still a picture with tooltips. Every text from the profile is escaped.
#pragma once

#include <string>

#include "core/layout/flame.h"
#include "server/feature/flame_colors.h"

namespace profd {

// A page is zoomed by its reader: finer than the screen it opens on.
inline constexpr double kFlameSvgWidth = 4800;
inline constexpr std::uint32_t kFlameSvgBoxes = 5000;

struct FlameSvgOptions {
  std::string title = {};  // the file's name
  ViewSpec view = {};      // said on the page where it is not the usual one
  FlameScheme scheme = FlameScheme::module;
};

// `layout` is of the whole selection (not zoomed), made wider than a screen so that zooming shows more.
std::string flame_svg(const Selection& selection, const FlameLayout& layout, const FlameSvgOptions& options);

}  // namespace profd
