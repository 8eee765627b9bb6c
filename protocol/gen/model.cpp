#include "protocol/gen/model.h"

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>

namespace profd::gen {

namespace {

[[noreturn]] void bad(const std::string& where, const std::string& what) {
  throw std::runtime_error(where + ": " + what);
}

Type read_type(const Json& json, const std::string& where) {
  Type type;
  const std::string kind = json.at("kind");
  if (kind == "base") {
    static const std::set<std::string> kNames = {"string", "integer", "uinteger", "decimal",     "boolean",
                                                 "null",   "URI",     "long",     "DocumentUri", "number"};
    type.name = json.at("name");
    if (kNames.count(type.name) == 0) bad(where, "unknown base type " + type.name);
  } else if (kind == "reference") {
    type.kind = Type::Kind::reference;
    type.name = json.at("name");
  } else if (kind == "array") {
    type.kind = Type::Kind::array;
    type.items.push_back(read_type(json.at("element"), where));
  } else if (kind == "map") {
    type.kind = Type::Kind::map;
    type.items.push_back(read_type(json.at("key"), where));
    type.items.push_back(read_type(json.at("value"), where));
  } else if (kind == "or") {
    type.kind = Type::Kind::one_of;
    for (const auto& item : json.at("items")) type.items.push_back(read_type(item, where));
  } else if (kind == "stringLiteral") {
    type.kind = Type::Kind::string_literal;
    type.name = json.at("value");
  } else {
    bad(where, "unknown kind of type " + kind);
  }
  return type;
}

Property read_property(const Json& json, const std::string& where) {
  Property property;
  property.name = json.at("name");
  property.type = read_type(json.at("type"), where + "." + property.name);
  property.optional = json.value("optional", false);
  property.default_value = json.value("default", Json());
  property.limits = json.value("limits", Json());
  property.documentation = json.at("documentation");
  if (!property.default_value.is_null() && !property.optional)
    bad(where + "." + property.name, "has a default and is not optional");
  return property;
}

void read_structures(const Json& document, Model& model) {
  std::map<std::string, const Json*> by_name;
  for (const auto& json : document.at("structures")) by_name[json.at("name")] = &json;
  for (const auto& json : document.at("structures")) {
    Structure structure;
    structure.name = json.at("name");
    structure.documentation = json.at("documentation");
    for (const auto& mixin : json.value("mixins", Json::array())) {
      const std::string name = mixin.at("name");
      if (by_name.count(name) == 0) bad(structure.name, "unknown mixin " + name);
      if (by_name[name]->contains("mixins")) bad(structure.name, "mixin " + name + " has mixins itself");
      for (const auto& property : by_name[name]->at("properties"))
        structure.properties.push_back(read_property(property, name));
    }
    for (const auto& property : json.at("properties"))
      structure.properties.push_back(read_property(property, structure.name));
    std::set<std::string> seen;
    for (const auto& property : structure.properties)
      if (!seen.insert(property.name).second) bad(structure.name, "two fields named " + property.name);
    model.structures.push_back(std::move(structure));
  }
}

void read_enumerations(const Json& document, Model& model) {
  for (const auto& json : document.at("enumerations")) {
    Enumeration enumeration;
    enumeration.name = json.at("name");
    enumeration.is_string = json.at("type").at("name") == "string";
    enumeration.bits = json.value("bits", false);
    enumeration.documentation = json.at("documentation");
    for (const auto& value : json.at("values"))
      enumeration.values.push_back({value.at("name"), value.at("value"), value.at("documentation")});
    model.enumerations.push_back(std::move(enumeration));
  }
}

void read_messages(const Json& document, const char* section, bool is_request, Model& model) {
  for (const auto& json : document.at(section)) {
    Message message;
    message.method = json.at("method");
    message.type_name = json.at("typeName");
    message.is_request = is_request;
    message.direction = json.at("messageDirection");
    message.lane = json.at("lane");
    message.awaits_profile = json.value("awaitsProfile", false);
    message.has_params = json.contains("params");
    if (message.has_params) message.params = read_type(json.at("params"), message.method);
    if (is_request) message.result = read_type(json.at("result"), message.method);
    message.has_error_data = json.contains("errorData");
    message.capability = json.value("serverCapability", json.value("clientCapability", ""));
    message.since = json.at("since");
    message.documentation = json.at("documentation");
    message.example = json.value("example", Json());
    model.messages.push_back(std::move(message));
  }
}

void for_each_reference(const Type& type, const std::function<void(const std::string&)>& visit) {
  if (type.kind == Type::Kind::reference) visit(type.name);
  for (const auto& item : type.items) for_each_reference(item, visit);
}

void check_references(const Model& model) {
  std::set<std::string> names = {"LSPAny"};
  auto define = [&](const std::string& name) {
    if (!names.insert(name).second) bad(name, "defined twice");
  };
  for (const auto& s : model.structures) define(s.name);
  for (const auto& e : model.enumerations) define(e.name);
  for (const auto& a : model.aliases) define(a.name);
  auto check = [&](const Type& type, const std::string& where) {
    for_each_reference(type, [&](const std::string& name) {
      if (names.count(name) == 0) bad(where, "refers to unknown type " + name);
    });
  };
  for (const auto& s : model.structures)
    for (const auto& p : s.properties) check(p.type, s.name + "." + p.name);
  for (const auto& a : model.aliases) check(a.type, a.name);
  std::set<std::string> methods;
  for (const auto& m : model.messages) {
    if (m.has_params) check(m.params, m.method);
    if (m.is_request) check(m.result, m.method);
    if (!methods.insert(m.method).second) bad(m.method, "declared twice");
    define(m.type_name);
  }
}

// A request that is about a profile is held back while the one that is meant is read.
void check_waiting(const Model& model) {
  for (const auto& m : model.messages) {
    if (!m.is_request || m.awaits_profile || !m.has_params || m.params.kind != Type::Kind::reference)
      continue;
    const Structure* params = model.structure(m.params.name);
    if (params == nullptr) continue;
    for (const auto& p : params->properties)
      if (p.name == "profile") bad(m.method, "has a profile, and does not say awaitsProfile");
  }
}

}  // namespace

const Structure* Model::structure(const std::string& name) const {
  for (const auto& s : structures)
    if (s.name == name) return &s;
  return nullptr;
}
const Enumeration* Model::enumeration(const std::string& name) const {
  for (const auto& e : enumerations)
    if (e.name == name) return &e;
  return nullptr;
}
const Alias* Model::alias(const std::string& name) const {
  for (const auto& a : aliases)
    if (a.name == name) return &a;
  return nullptr;
}

std::vector<std::string> Model::in_dependency_order() const {
  std::vector<std::string> order;
  std::map<std::string, int> state;  // 1: being visited, 2: done
  std::function<void(const std::string&)> visit = [&](const std::string& name) {
    if (name == "LSPAny" || enumeration(name) != nullptr || state[name] == 2) return;
    if (state[name] == 1) bad(name, "refers to itself; flatten it");
    state[name] = 1;
    if (const Structure* s = structure(name))
      for (const auto& p : s->properties) for_each_reference(p.type, visit);
    if (const Alias* a = alias(name)) for_each_reference(a->type, visit);
    state[name] = 2;
    order.push_back(name);
  };
  for (const auto& s : structures) visit(s.name);
  for (const auto& a : aliases) visit(a.name);
  return order;
}

Model load_model(const Json& document) {
  Model model;
  model.version = document.at("metaData").at("version");
  model.protocol_version = document.at("metaData").at("protocolVersion");
  read_structures(document, model);
  read_enumerations(document, model);
  for (const auto& json : document.at("typeAliases"))
    model.aliases.push_back(
        {json.at("name"), read_type(json.at("type"), json.at("name")), json.at("documentation")});
  read_messages(document, "requests", true, model);
  read_messages(document, "notifications", false, model);
  check_references(model);
  check_waiting(model);
  static_cast<void>(model.in_dependency_order());  // throws when there is none
  return model;
}

bool is_nullable(const Type& type) {
  return type.kind == Type::Kind::one_of &&
         std::any_of(type.items.begin(), type.items.end(),
                     [](const Type& t) { return t.kind == Type::Kind::base && t.name == "null"; });
}

Type without_null(const Type& type) {
  if (!is_nullable(type)) return type;
  Type rest = type;
  rest.items.erase(
      std::remove_if(rest.items.begin(), rest.items.end(),
                     [](const Type& t) { return t.kind == Type::Kind::base && t.name == "null"; }),
      rest.items.end());
  return rest.items.size() == 1 ? rest.items.front() : rest;
}

}  // namespace profd::gen
