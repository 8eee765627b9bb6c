// Colours of flame-graph boxes: stable between openings and machines, readable on dark and light.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/model/tables.h"

namespace profd {

enum class FlameScheme : std::uint8_t {
  module,  // hue by module or package, brightness by name; by kind, else warm, where neither is known
  file,    // hue by source file, the same where it is not known
  warm,    // the classic palette, by name
  cool,    // blues and greens, by name: for what is not time
  kind,    // java green, c++ yellow, user red, kernel orange, inlined aqua
  work,    // by kind of work, which work_color() has for each box; without it as `module`
};

struct Hsl {
  int hue = 0;         // 0..359
  int saturation = 0;  // percent
  int lightness = 0;   // percent, on a light ground
};
struct Rgb {
  std::uint8_t r = 0, g = 0, b = 0;
};

struct ColoredFrame {
  std::string_view name = {}, module = {}, file = {};
  FrameKind kind = FrameKind::native;
  bool inlined = false;
};

Hsl flame_color(FlameScheme scheme, const ColoredFrame& frame);
// Of a kind of work with that hue, brightness by name; grey where the frame has none.
Hsl work_color(std::optional<int> hue, std::string_view name);
// What became of a box, -1 less (blue) to 1 more (orange): colour-blind people tell the two apart, and what
// did not change is grey.
Hsl change_color(double strength);
// Of a metric, from little (0) to much (1): pale yellow to deep orange, which all eyes tell apart; what has
// no value is grey.
Hsl scale_color(std::optional<double> place);
Rgb to_rgb(const Hsl& color);

// What frames are grouped by: package_of() of core/view/packages.h, which filters by package go by, too.
std::string_view color_group(const ColoredFrame& frame);

}  // namespace profd
