// A flame graph as one self-contained SVG: hover, zoom, search with the matched share, reset, keyboard.
// Without script it is still a picture with tooltips. Every text from the profile is escaped.
// What a program finds in it: the root has data-metric, data-unit, data-total and data-view; every box (class
// "b") has its depth (data-k), place and width as fractions of the whole (data-s, data-w), its exact total
// and, where it is not 0, self (data-v, data-self), its kind where it is not native (data-kind) and
// data-inlined. Its <title> is lines: the whole name, the place and kind where they are known, the values in
// words. Class "r" is a remainder.
#pragma once

#include <string>
#include <vector>

#include "core/layout/flame.h"
#include "server/feature/box_colors.h"
#include "server/feature/box_sets.h"
#include "server/feature/changes.h"
#include "server/feature/flame_colors.h"

namespace profd {

// A page is zoomed by its reader: finer than the screen it opens on.
inline constexpr double kFlameSvgWidth = 4800;
inline constexpr std::uint32_t kFlameSvgBoxes = 5000;

struct FlameSvgOptions {
  std::string title = {};  // the file's name, or what the person calls it
  ViewSpec view = {};      // said on the page where it is not the usual one
  FlameScheme scheme = FlameScheme::module;
  bool inverted = false;  // the root at the bottom, flames grow upwards
  // What a reader must know of the file; what is to be said of the selection is known. All in one line.
  std::vector<std::string> notes = {};
  // Of a diff: colours the boxes, which say both sides. What is there on one side alone has a dashed edge.
  const BoxChanges* changes = nullptr;
  // By a metric, which boxes say, and a row above them says what the colours mean.
  const BoxColors* colors = nullptr;
  // By kind of work, with a row of what the colours mean.
  const BoxWork* work = nullptr;
  // The picture in a document of HTML, for who opens no SVG in a browser. It has not what profd reads back:
  // elements of that (`<b>`) would end the picture for a reader of HTML.
  bool html = false;
};

// `layout` is of the whole selection (not zoomed), made wider than a screen so that zooming shows more.
std::string flame_svg(const Selection& selection, const FlameLayout& layout, const FlameSvgOptions& options);

}  // namespace profd
