#include "server/feature/flame_colors.h"

#include <algorithm>
#include <cmath>

#include "core/support/hash.h"
#include "core/view/packages.h"

namespace profd {
namespace {

std::uint32_t spread(std::string_view text, std::uint32_t n) {
  return static_cast<std::uint32_t>(mix64(hash_bytes(text)) % n);
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

Hsl kind_color(const ColoredFrame& frame, int brightness) {
  if (frame.inlined) return {180, 48, 62 + brightness};
  switch (frame.kind) {
    case FrameKind::kernel:
      return {28, 85, 62 + brightness};
    case FrameKind::jit:
    case FrameKind::interpreted:
      return {115, 45, 60 + brightness};
    case FrameKind::gc:
      return {275, 38, 70 + brightness};
    case FrameKind::waker:
      return {215, 45, 70 + brightness};
    case FrameKind::data_object:
      return {200, 30, 72 + brightness};
    case FrameKind::native:
      break;
  }
  if (has(frame.name, "::")) return {50, 75, 60 + brightness};
  return {4, 65, 66 + brightness};
}

Hsl by_name(const ColoredFrame& frame, int first_hue, int n_hues, int brightness) {
  return {first_hue + static_cast<int>(spread(frame.name, static_cast<std::uint32_t>(n_hues))), 82,
          64 + brightness};
}

// Folded stacks know no modules: their boxes still differ.
Hsl by_group(const ColoredFrame& frame, std::string_view group, int brightness) {
  if (!group.empty()) {
    // 30 hues twelve degrees apart: neighbours still differ.
    return {static_cast<int>(spread(group, 30)) * 12, 52, 70 + brightness};
  }
  if (frame.kind != FrameKind::native) return kind_color(frame, brightness);
  return by_name(frame, 8, 44, brightness);
}

}  // namespace

std::string_view color_group(const ColoredFrame& frame) {
  return package_of(frame.name, frame.module, frame.file);
}

Hsl flame_color(FlameScheme scheme, const ColoredFrame& frame) {
  const int brightness = static_cast<int>(spread(frame.name, 11)) - 5;
  switch (scheme) {
    case FlameScheme::kind:
      return kind_color(frame, brightness);
    case FlameScheme::warm:
      return by_name(frame, 8, 44, brightness);
    case FlameScheme::cool:
      return by_name(frame, 160, 70, brightness);
    case FlameScheme::file:
      return by_group(frame, frame.file, brightness);
    case FlameScheme::module:
    case FlameScheme::work:
      break;
  }
  return by_group(frame, color_group(frame), brightness);
}

Hsl work_color(std::optional<int> hue, std::string_view name) {
  const int brightness = static_cast<int>(spread(name, 11)) - 5;
  return hue ? Hsl{*hue, 52, 70 + brightness} : Hsl{220, 5, 84 + brightness / 2};
}

Hsl change_color(double strength) {
  const double size = std::fabs(strength);
  if (size < 0.02) return {220, 5, 86};
  return {strength > 0 ? 26 : 212, static_cast<int>(std::lround(45 + 45 * size)),
          static_cast<int>(std::lround(88 - 30 * size))};
}

Hsl scale_color(std::optional<double> place) {
  if (!place) return {220, 5, 86};
  const auto between = [&](double little, double much) {
    return static_cast<int>(std::lround(little + (much - little) * *place));
  };
  return {between(52, 18), between(70, 92), between(88, 58)};
}

Rgb to_rgb(const Hsl& color) {
  const double s = color.saturation / 100.0, l = color.lightness / 100.0;
  const double a = s * std::min(l, 1 - l);
  const auto channel = [&](double n) {
    const double k = std::fmod(n + color.hue / 30.0, 12.0);
    const double value = l - a * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    return static_cast<std::uint8_t>(std::lround(value * 255));
  };
  return {channel(0), channel(8), channel(4)};
}

}  // namespace profd
