// psp.jsonschema.json (for anyone's validator) and psp.metamodel.json (psp.json with mixins folded in).

#include "protocol/gen/emit.h"

namespace profd::gen {

namespace {

Json reference(const std::string& name) {
  return {{"$ref", "#/$defs/" + name}};
}

Json integer(double low, double high) {
  return {{"type", "integer"},
          {"minimum", static_cast<std::int64_t>(low)},
          {"maximum", static_cast<std::int64_t>(high)}};
}

Json base_schema(const std::string& name) {
  if (name == "boolean" || name == "null" || name == "string") return {{"type", name}};
  if (name == "URI" || name == "DocumentUri") return {{"type", "string"}, {"format", "uri"}};
  if (name == "decimal" || name == "number") return {{"type", "number"}};
  if (name == "integer") return integer(-2147483648.0, 2147483647.0);
  if (name == "uinteger") return integer(0, 2147483647.0);
  return integer(-9007199254740991.0, 9007199254740991.0);
}

Json type_schema(const Type& type) {
  switch (type.kind) {
    case Type::Kind::base:
      return base_schema(type.name);
    case Type::Kind::reference:
      return type.name == "LSPAny" ? Json::object() : reference(type.name);
    case Type::Kind::array:
      return {{"type", "array"}, {"items", type_schema(type.items[0])}};
    case Type::Kind::map:
      return {{"type", "object"}, {"additionalProperties", type_schema(type.items[1])}};
    case Type::Kind::string_literal:
      return {{"const", type.name}};
    case Type::Kind::one_of: {
      Json alternatives = Json::array();
      for (const auto& item : type.items) alternatives.push_back(type_schema(item));
      return {{"anyOf", alternatives}};
    }
  }
  return Json::object();
}

Json property_schema(const Property& p) {
  Json schema = type_schema(p.type);
  if (!p.limits.is_null())
    for (const auto& [name, bound] : p.limits.items()) schema[name] = bound;
  if (p.optional && !is_nullable(p.type) && !schema.empty())
    schema = {{"anyOf", Json::array({schema, {{"type", "null"}}})}};
  schema["description"] = p.documentation;
  if (!p.default_value.is_null()) schema["default"] = p.default_value;
  return schema;
}

Json structure_schema(const Structure& s) {
  Json schema = {{"type", "object"}, {"description", s.documentation}};
  Json properties = Json::object();
  Json required = Json::array();
  for (const auto& p : s.properties) {
    properties[p.name] = property_schema(p);
    if (!p.optional) required.push_back(p.name);
  }
  schema["properties"] = properties;
  if (!required.empty()) schema["required"] = required;
  return schema;
}

Json enumeration_schema(const Enumeration& e) {
  Json known = Json::array();
  for (const auto& v : e.values) known.push_back(v.value);
  Json schema = e.is_string ? Json{{"type", "string"}} : base_schema("integer");
  schema["description"] = e.documentation + " Newer peers may send other values.";
  schema["examples"] = known;
  return schema;
}

}  // namespace

std::vector<OutputFile> emit_json_schema(const Model& model) {
  Json defs = Json::object();
  for (const auto& s : model.structures) defs[s.name] = structure_schema(s);
  for (const auto& e : model.enumerations) defs[e.name] = enumeration_schema(e);
  for (const auto& a : model.aliases) {
    defs[a.name] = type_schema(a.type);
    defs[a.name]["description"] = a.documentation;
  }
  Json methods = Json::object();
  for (const auto& m : model.messages) {
    Json entry = {{"direction", m.direction}};
    if (m.has_params) entry["params"] = type_schema(m.params);
    if (m.is_request) entry["result"] = type_schema(m.result);
    methods[m.method] = entry;
  }
  const Json document = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "Profile Server Protocol " + model.version},
      {"description", "The types of psp.json; `methods` says which message carries which."},
      {"methods", methods},
      {"$defs", defs}};
  return {{"protocol/generated/psp.jsonschema.json", document.dump(1) + "\n"}};
}

std::vector<OutputFile> emit_resolved(const Json& document, const Model& model) {
  Json resolved = document;
  std::map<std::string, Json> properties;
  for (const auto& s : document.at("structures")) properties[s.at("name")] = s.at("properties");
  for (auto& s : resolved["structures"]) {
    Json all = Json::array();
    for (const auto& mixin : s.value("mixins", Json::array()))
      for (const auto& p : properties.at(mixin.at("name"))) all.push_back(p);
    for (const auto& p : s.at("properties")) all.push_back(p);
    s["properties"] = all;
    s.erase("mixins");
  }
  resolved["metaData"]["version"] = model.version;
  return {{"protocol/generated/psp.metamodel.json", resolved.dump(1) + "\n"}};
}

}  // namespace profd::gen
