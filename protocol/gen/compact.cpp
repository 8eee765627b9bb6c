#include "protocol/gen/compact.h"

#include <map>

#include "protocol/gen/text.h"

namespace profd::gen {

std::string compact_type(const Model& model, const Type& type, const CompactSyntax& syntax) {
  auto list = [&](const std::string& tag, const std::vector<std::string>& items) {
    std::string out = syntax.open + json_string(tag);
    for (const auto& item : items) out += ", " + item;
    return out + syntax.close;
  };
  switch (type.kind) {
    case Type::Kind::base: {
      static const std::map<std::string, std::string> kTags = {
          {"string", "s"},   {"URI", "s"},  {"DocumentUri", "s"}, {"boolean", "b"}, {"integer", "i"},
          {"uinteger", "u"}, {"long", "l"}, {"decimal", "n"},     {"number", "n"},  {"null", "0"}};
      return json_string(kTags.at(type.name));
    }
    case Type::Kind::array:
      return list("a", {compact_type(model, type.items[0], syntax)});
    case Type::Kind::map:
      return list("m", {compact_type(model, type.items[1], syntax)});
    case Type::Kind::string_literal:
      return list("=", {json_string(type.name)});
    case Type::Kind::one_of: {
      std::vector<std::string> items;
      for (const auto& item : type.items) items.push_back(compact_type(model, item, syntax));
      return list("o", items);
    }
    case Type::Kind::reference:
      break;
  }
  if (type.name == "LSPAny") return json_string("*");
  if (const auto* a = model.alias(type.name)) return compact_type(model, a->type, syntax);
  if (const auto* e = model.enumeration(type.name)) return json_string(e->is_string ? "s" : "i");
  return list("S", {json_string(type.name)});
}

std::string compact_property(const Model& model, const Property& property, const CompactSyntax& syntax) {
  std::string out = "{ type" + syntax.assign + compact_type(model, property.type, syntax);
  if (!property.optional) out += ", required" + syntax.assign + "true";
  if (!property.limits.is_null())
    for (const auto& [name, bound] : property.limits.items())
      out += ", " + name + syntax.assign + bound.dump();
  return out + " }";
}

}  // namespace profd::gen
