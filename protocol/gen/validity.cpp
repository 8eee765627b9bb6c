#include "protocol/gen/validity.h"

#include <cmath>
#include <stdexcept>

namespace profd::gen {

namespace {

constexpr double kMaxSafe = 9007199254740991.0;  // 2^53 - 1

bool is_integer(const Json& value, double low, double high) {
  if (!value.is_number()) return false;
  const auto real = value.get<double>();
  return real == std::floor(real) && real >= low && real <= high;
}

std::string base_fault(const std::string& name, const Json& value) {
  if (name == "string" || name == "URI" || name == "DocumentUri")
    return value.is_string() ? "" : "expected string";
  if (name == "boolean") return value.is_boolean() ? "" : "expected boolean";
  if (name == "null") return value.is_null() ? "" : "expected null";
  if (name == "decimal" || name == "number") return value.is_number() ? "" : "expected number";
  if (name == "integer") return is_integer(value, -2147483648.0, 2147483647.0) ? "" : "expected integer";
  if (name == "uinteger") return is_integer(value, 0, 2147483647.0) ? "" : "expected uinteger";
  return is_integer(value, -kMaxSafe, kMaxSafe) ? "" : "expected long";
}

std::string reference_fault(const Model& model, const std::string& name, const Json& value,
                            const std::string& path) {
  if (name == "LSPAny") return "";
  if (const auto* s = model.structure(name)) return why_invalid(model, *s, value, path);
  if (const auto* a = model.alias(name)) return why_invalid(model, a->type, value, path);
  const auto* e = model.enumeration(name);
  const std::string fault = base_fault(e->is_string ? "string" : "integer", value);
  return fault.empty() ? "" : path + ": " + fault;
}

}  // namespace

std::string why_invalid(const Model& model, const Type& type, const Json& value, const std::string& path) {
  switch (type.kind) {
    case Type::Kind::base: {
      const std::string fault = base_fault(type.name, value);
      return fault.empty() ? "" : path + ": " + fault;
    }
    case Type::Kind::reference:
      return reference_fault(model, type.name, value, path);
    case Type::Kind::string_literal:
      return value == type.name ? "" : path + ": expected \"" + type.name + "\"";
    case Type::Kind::array: {
      if (!value.is_array()) return path + ": expected array";
      for (std::size_t i = 0; i < value.size(); ++i) {
        auto fault = why_invalid(model, type.items[0], value[i], path + "[" + std::to_string(i) + "]");
        if (!fault.empty()) return fault;
      }
      return "";
    }
    case Type::Kind::map: {
      if (!value.is_object()) return path + ": expected object";
      for (const auto& [key, item] : value.items()) {
        auto fault = why_invalid(model, type.items[1], item, path + "." + key);
        if (!fault.empty()) return fault;
      }
      return "";
    }
    case Type::Kind::one_of: {
      std::string last;
      for (const auto& alternative : type.items) {
        last = why_invalid(model, alternative, value, path);
        if (last.empty()) return "";
      }
      return last;
    }
  }
  throw std::logic_error("unknown kind of type");
}

std::string why_invalid(const Model& model, const Structure& structure, const Json& value,
                        const std::string& path) {
  if (!value.is_object()) return path + ": expected object";
  for (const auto& property : structure.properties) {
    const std::string place = path + "." + property.name;
    const auto found = value.find(property.name);
    if (found == value.end() || (property.optional && found->is_null())) {
      if (!property.optional) return place + ": missing";
      continue;
    }
    auto fault = why_invalid(model, property.type, *found, place);
    if (!fault.empty()) return fault;
    if (!within_limits(property.limits, *found)) return place + ": outside its limits";
  }
  return "";
}

bool within_limits(const Json& limits, const Json& value) {
  if (limits.is_null()) return true;
  if (value.is_number()) {
    if (limits.contains("minimum") && value.get<double>() < limits["minimum"].get<double>()) return false;
    if (limits.contains("maximum") && value.get<double>() > limits["maximum"].get<double>()) return false;
  }
  if (value.is_array() && limits.contains("maxItems"))
    return value.size() <= limits["maxItems"].get<std::size_t>();
  if (value.is_string() && limits.contains("maxLength"))
    return value.get_ref<const std::string&>().size() <= limits["maxLength"].get<std::size_t>();
  return true;
}

void check_examples(const Model& model) {
  for (const auto& m : model.messages) {
    if (m.example.is_null()) continue;
    auto check = [&](const char* part, const Type& type) {
      if (!m.example.contains(part)) return;
      auto fault = why_invalid(model, type, m.example[part], part);
      if (!fault.empty()) throw std::runtime_error("example of " + m.method + ": " + fault);
    };
    if (m.has_params) check("params", m.params);
    if (m.is_request) check("result", m.result);
    if (m.example.contains("error") && m.example["error"].contains("data")) {
      auto fault =
          why_invalid(model, *model.structure("ErrorData"), m.example["error"]["data"], "error.data");
      if (!fault.empty()) throw std::runtime_error("example of " + m.method + ": " + fault);
    }
  }
}

}  // namespace profd::gen
