// The words of the data that profd's own pages carry beside their boxes: written by
// server/feature/flame_svg_data, read by profd_page. docs/formats/flamegraph-svg.md has the form.
#pragma once

#include <array>
#include <string_view>

#include "core/model/tables.h"

namespace profd::flamegraph_svg {

inline constexpr std::string_view kPageRoot = "profd";       // id of the svg element
inline constexpr std::string_view kPageData = "profd-data";  // id of the metadata element
inline constexpr std::string_view kPageVersion = "1";

// By FrameKind.
inline constexpr std::array<std::string_view, kNFrameKinds> kPageKinds{
    "native", "jit", "interpreted", "kernel", "gc", "waker", "data-object"};

}  // namespace profd::flamegraph_svg
