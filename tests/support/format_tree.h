// Views as indented text, for tests that want to see their output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/layout/flame.h"
#include "core/view/table.h"

namespace profd::test {

// The whole tree of a shape, siblings by name, "total self" after each name:
//   all 50 0
//     main 50 0
//       read 30 30
// Estimates are marked with "≈". A view that cannot be made reads "error: <message>".
std::string format_tree(const Selection& selection, Shape shape = Shape::top_down,
                        const std::vector<std::string>& focus = {});
std::string format_layout(const Selection& selection, const FlameLayout& layout);
// Rows by name: "main total self".
std::string format_flat(const Selection& selection);

// profile_from_text, parse_view_spec and select in one, throwing std::invalid_argument on failure.
SelectionPtr select_text(std::string_view profile_text, std::string_view spec_text = "top-down");
// The keys called so; throws when there is none.
std::vector<Key> keys_called(const Selection& selection, const std::vector<std::string>& names);
std::string format_value(const Value& value);
// `text` without the indentation of its first line and without a leading newline.
std::string dedent(std::string_view text);

}  // namespace profd::test
