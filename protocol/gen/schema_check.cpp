#include "protocol/gen/schema_check.h"

#include <cmath>
#include <functional>
#include <stdexcept>

namespace profd::gen {

namespace {

bool is_type(const std::string& type, const Json& value) {
  if (type == "integer") return value.is_number() && value.get<double>() == std::floor(value.get<double>());
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  throw std::runtime_error("schema: unknown type " + type);
}

using Keyword = std::function<std::string(const Json& root, const Json& schema, const Json& rule,
                                          const Json& value, const std::string& path)>;

std::string check_properties(const Json& root, const Json&, const Json& rule, const Json& value,
                             const std::string& path) {
  if (!value.is_object()) return "";
  for (const auto& [name, sub] : rule.items()) {
    if (!value.contains(name)) continue;
    auto fault = schema_fault(root, sub, value.at(name), path + "." + name);
    if (!fault.empty()) return fault;
  }
  return "";
}

std::string check_additional(const Json& root, const Json& schema, const Json& rule, const Json& value,
                             const std::string& path) {
  if (!value.is_object()) return "";
  for (const auto& [name, item] : value.items()) {
    if (schema.contains("properties") && schema.at("properties").contains(name)) continue;
    if (rule.is_boolean()) {
      if (!rule.get<bool>()) return path + "." + name + ": unknown field";
      continue;
    }
    auto fault = schema_fault(root, rule, item, path + "." + name);
    if (!fault.empty()) return fault;
  }
  return "";
}

std::string check_items(const Json& root, const Json&, const Json& rule, const Json& value,
                        const std::string& path) {
  if (!value.is_array()) return "";
  for (std::size_t i = 0; i < value.size(); ++i) {
    auto fault = schema_fault(root, rule, value[i], path + "[" + std::to_string(i) + "]");
    if (!fault.empty()) return fault;
  }
  return "";
}

std::string check_any_of(const Json& root, const Json&, const Json& rule, const Json& value,
                         const std::string& path) {
  std::string last = path + ": no alternative";
  for (const auto& sub : rule) {
    last = schema_fault(root, sub, value, path);
    if (last.empty()) return "";
  }
  return last;
}

std::string check_required(const Json&, const Json&, const Json& rule, const Json& value,
                           const std::string& path) {
  if (!value.is_object()) return "";
  for (const auto& name : rule)
    if (!value.contains(name.get<std::string>())) return path + "." + name.get<std::string>() + ": missing";
  return "";
}

std::string check_enum(const Json&, const Json&, const Json& rule, const Json& value,
                       const std::string& path) {
  for (const auto& known : rule)
    if (known == value) return "";
  return path + ": not one of " + rule.dump();
}

const std::map<std::string, Keyword>& keywords() {
  auto bound = [](auto fits, const char* what) -> Keyword {
    return
        [fits, what](const Json&, const Json&, const Json& rule, const Json& value, const std::string& path) {
          return fits(rule, value) ? std::string() : path + ": " + what + " " + rule.dump();
        };
  };
  static const std::map<std::string, Keyword> kKeywords = {
      {"$ref",
       [](const Json& root, const Json&, const Json& rule, const Json& value, const std::string& path) {
         return schema_fault(root, root.at(Json::json_pointer(rule.get<std::string>().substr(1))), value,
                             path);
       }},
      {"type", bound([](const Json& rule, const Json& value) { return is_type(rule, value); }, "expected")},
      {"const", bound([](const Json& rule, const Json& value) { return rule == value; }, "expected")},
      {"enum", check_enum},
      {"properties", check_properties},
      {"additionalProperties", check_additional},
      {"required", check_required},
      {"items", check_items},
      {"anyOf", check_any_of},
      {"minimum", bound([](const Json& r,
                           const Json& v) { return !v.is_number() || v.get<double>() >= r.get<double>(); },
                        "must be at least")},
      {"maximum", bound([](const Json& r,
                           const Json& v) { return !v.is_number() || v.get<double>() <= r.get<double>(); },
                        "must be at most")},
      {"minLength",
       bound([](const Json& r, const Json& v) { return !v.is_string() || v.get<std::string>().size() >= r; },
             "must have a length of at least")},
      {"maxLength",
       bound([](const Json& r, const Json& v) { return !v.is_string() || v.get<std::string>().size() <= r; },
             "must have a length of at most")},
      {"minItems", bound([](const Json& r, const Json& v) { return !v.is_array() || v.size() >= r; },
                         "items must number at least")},
      {"maxItems", bound([](const Json& r, const Json& v) { return !v.is_array() || v.size() <= r; },
                         "items must number at most")},
  };
  return kKeywords;
}

bool is_remark(const std::string& keyword) {
  return keyword == "description" || keyword == "default" || keyword == "examples" || keyword == "format" ||
         keyword == "title" || keyword == "$schema" || keyword == "$defs" || keyword == "methods";
}

}  // namespace

std::string schema_fault(const Json& root, const Json& schema, const Json& value, const std::string& path) {
  for (const auto& [keyword, rule] : schema.items()) {
    if (is_remark(keyword)) continue;
    const auto found = keywords().find(keyword);
    if (found == keywords().end()) throw std::runtime_error("schema: keyword not supported: " + keyword);
    auto fault = found->second(root, schema, rule, value, path);
    if (!fault.empty()) return fault;
  }
  return "";
}

}  // namespace profd::gen
