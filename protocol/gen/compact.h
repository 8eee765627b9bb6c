// Types as short nested lists, for the table-driven checkers of the scripting languages:
//   "s" string  "b" boolean  "i" integer  "u" uinteger  "l" long  "n" any number  "0" null  "*" anything
//   ["S", name]  ["a", element]  ["m", value]  ["o", alternatives...]  ["=", literal]
// A field is {type, required, limits}. Enumerations are open, so they are "s" or "i"; aliases are expanded.
#pragma once

#include <string>

#include "protocol/gen/model.h"

namespace profd::gen {

struct CompactSyntax {
  std::string open;    // of a list: "[" or "{"
  std::string close;   // "]" or "}"
  std::string assign;  // between a key and its value: ": " or " = "
};

std::string compact_type(const Model& model, const Type& type, const CompactSyntax& syntax);
std::string compact_property(const Model& model, const Property& property, const CompactSyntax& syntax);

}  // namespace profd::gen
