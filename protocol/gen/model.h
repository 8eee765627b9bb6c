// The protocol model: psp.json as plain data, checked and with mixins folded in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace profd::gen {

using Json = nlohmann::ordered_json;

struct Type {
  enum class Kind { base, reference, array, map, one_of, string_literal };
  Kind kind = Kind::base;
  std::string name;         // of a base type or reference; the text of a literal
  std::vector<Type> items;  // element; key and value; alternatives
};

// NOLINTNEXTLINE(bugprone-exception-escape): nlohmann does not declare its move noexcept.
struct Property {
  std::string name;
  Type type;
  bool optional = false;
  Json default_value;  // null: none
  Json limits;         // minimum, maximum, maxItems, maxLength; null: none
  std::string documentation;
};

struct Structure {
  std::string name;
  std::vector<Property> properties;  // those of mixins first
  std::string documentation;
};

struct EnumValue {
  std::string name;
  Json value;
  std::string documentation;
};

struct Enumeration {
  std::string name;
  bool is_string = false;
  bool bits = false;
  std::vector<EnumValue> values;
  std::string documentation;
};

struct Alias {
  std::string name;
  Type type;
  std::string documentation;
};

// NOLINTNEXTLINE(bugprone-exception-escape): nlohmann does not declare its move noexcept.
struct Message {
  std::string method;
  std::string type_name;
  bool is_request = false;
  std::string direction;  // clientToServer, serverToClient, both
  std::string lane;       // inline, interactive, bulk
  // Asked without a profile while the one that is meant is still being read, it waits for that.
  bool awaits_profile = false;
  bool has_params = false;
  Type params;
  Type result;
  bool has_error_data = false;
  std::string capability;  // "" when always there; of the receiver of the message
  std::string since;
  std::string documentation;
  Json example;
};

struct Model {
  std::string version;
  int protocol_version = 0;
  std::vector<Message> messages;  // requests, then notifications
  std::vector<Structure> structures;
  std::vector<Enumeration> enumerations;
  std::vector<Alias> aliases;

  [[nodiscard]] const Structure* structure(const std::string& name) const;
  [[nodiscard]] const Enumeration* enumeration(const std::string& name) const;
  [[nodiscard]] const Alias* alias(const std::string& name) const;
  // Names of structures and aliases, each after everything it refers to.
  [[nodiscard]] std::vector<std::string> in_dependency_order() const;
};

// Throws std::runtime_error naming the place when the model does not hang together. `document` was validated
// against psp.schema.json before.
Model load_model(const Json& document);

// Whether null is one of the alternatives, and the type without it.
bool is_nullable(const Type& type);
Type without_null(const Type& type);

}  // namespace profd::gen
