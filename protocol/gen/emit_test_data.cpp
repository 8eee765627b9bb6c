// Type-valid-NNN.json and Type-invalid-NNN.json: what every codec must take and refuse.

#include <cstdio>
#include <set>

#include "protocol/gen/emit.h"
#include "protocol/gen/validity.h"

namespace profd::gen {

namespace {

constexpr std::int64_t kMaxInteger = 2147483647;
constexpr std::int64_t kMaxSafe = 9007199254740991;
// Longer strings and arrays than this are not written out just to test a limit.
constexpr std::size_t kMaxGenerated = 20000;

class Generator {
 public:
  explicit Generator(const Model& model) : model_(model) {}

  std::vector<OutputFile> run() {
    for (const auto& structure : model_.structures) of_structure(structure);
    return std::move(files_);
  }

 private:
  void of_structure(const Structure& s) {
    structure_ = &s;
    n_valid_ = n_invalid_ = 0;
    const Json minimal = sample(s, false);
    const Json full = sample(s, true);
    add(minimal);
    add(full);
    Json extra = full;
    extra["unknownField"] = {{"a", Json::array({1, nullptr})}};
    add(extra);
    for (const Json& other : {Json(), Json::array(), Json("x"), Json(0), Json(true), Json::array({minimal})})
      add(other);
    for (const auto& p : s.properties) of_property(p, full);
  }

  void of_property(const Property& p, const Json& full) {
    Json without = full;
    without.erase(p.name);
    add(without);
    auto with = [&](const Json& value) {
      Json object = full;
      object[p.name] = value;
      add(object);
    };
    for (const Json& value : wrong_kinds()) with(value);
    for (const Json& value : samples(p.type)) with(value);
    for (const Json& value : boundaries(p)) with(value);
  }

  // Every kind of JSON value; most are wrong for any one field, and why_invalid() says which.
  static const std::vector<Json>& wrong_kinds() {
    static const std::vector<Json> kValues = {
        Json(),           Json(true),           Json(-1),       Json(0.5),
        Json("text"),     Json::array(),        Json::object(), Json::array({nullptr}),
        Json::array({7}), Json::array({"one"}), Json(-7.25)};
    return kValues;
  }

  std::vector<Json> boundaries(const Property& p) {
    std::vector<Json> values;
    add_boundaries(p.type, values);
    if (p.limits.is_null()) return values;
    for (const char* bound : {"minimum", "maximum"}) {
      if (!p.limits.contains(bound)) continue;
      const double at = p.limits[bound].get<double>();
      for (const double value : {at - 1, at, at + 1}) values.emplace_back(value);
    }
    if (p.limits.contains("maxLength")) {
      const auto length = p.limits["maxLength"].get<std::size_t>();
      if (length < kMaxGenerated) {
        values.emplace_back(std::string(length, 'x'));
        values.emplace_back(std::string(length + 1, 'x'));
      }
    }
    if (p.limits.contains("maxItems")) {
      const auto n_items = p.limits["maxItems"].get<std::size_t>();
      if (n_items < kMaxGenerated) {
        Json items = Json::array();
        const Json element = samples(p.type.items.at(0)).front();
        for (std::size_t i = 0; i < n_items; ++i) items.push_back(element);
        values.push_back(items);
        items.push_back(element);
        values.push_back(items);
      }
    }
    return values;
  }

  void add_boundaries(const Type& type, std::vector<Json>& values) {
    if (type.kind == Type::Kind::one_of)
      for (const auto& item : type.items) add_boundaries(item, values);
    if (type.kind == Type::Kind::array) {
      std::vector<Json> elements;
      add_boundaries(type.items[0], elements);
      for (const auto& element : elements) values.push_back(Json::array({element}));
    }
    const Enumeration* e = type.kind == Type::Kind::reference ? model_.enumeration(type.name) : nullptr;
    const Alias* a = type.kind == Type::Kind::reference ? model_.alias(type.name) : nullptr;
    if (a != nullptr) add_boundaries(a->type, values);
    const bool integral = (e != nullptr && !e->is_string) ||
                          (type.kind == Type::Kind::base &&
                           (type.name == "integer" || type.name == "uinteger" || type.name == "long"));
    if (e != nullptr && e->is_string) values.emplace_back("aValueOfTomorrow");
    if (integral)
      for (const std::int64_t value :
           {std::int64_t{0}, std::int64_t{-1}, kMaxInteger, kMaxInteger + 1, -kMaxInteger - 1,
            -kMaxInteger - 2, kMaxSafe, kMaxSafe + 1, -kMaxSafe, -kMaxSafe - 1})
        values.emplace_back(value);
    if (integral || (type.kind == Type::Kind::base && (type.name == "number" || type.name == "decimal")))
      for (const double value : {2.0, 2.5, -1e15, 1e300}) values.emplace_back(value);
  }

  // Valid values, the plainest first; one for every alternative.
  std::vector<Json> samples(const Type& type, bool full = true) {
    switch (type.kind) {
      case Type::Kind::base:
        return {base_sample(type.name)};
      case Type::Kind::string_literal:
        return {Json(type.name)};
      case Type::Kind::array: {
        Json one = Json::array();
        for (auto& element : samples(type.items[0], full)) one.push_back(element);
        return {one, Json::array()};
      }
      case Type::Kind::map:
        return {Json::object({{"key", samples(type.items[1], full).front()}}), Json::object()};
      case Type::Kind::one_of: {
        std::vector<Json> all;
        for (const auto& item : type.items)
          for (auto& value : samples(item, full)) all.push_back(value);
        return all;
      }
      case Type::Kind::reference:
        break;
    }
    if (type.name == "LSPAny") return {Json::object({{"any", Json::array({1, "x", nullptr})}}), Json()};
    if (const auto* a = model_.alias(type.name)) return samples(a->type, full);
    if (const auto* s = model_.structure(type.name)) return {sample(*s, full)};
    std::vector<Json> all;
    for (const auto& value : model_.enumeration(type.name)->values) all.push_back(value.value);
    return all;
  }

  static Json base_sample(const std::string& name) {
    if (name == "boolean") return true;
    if (name == "null") return nullptr;
    if (name == "decimal") return 0.75;
    if (name == "number") return 9007199254740993;
    if (name == "URI" || name == "DocumentUri") return "file:///w/caf%C3%A9.cc";
    if (name == "string") return "text \"\\\n\u00e9\U0001f525";
    return 7;
  }

  Json sample(const Structure& s, bool full) {
    Json object = Json::object();
    for (const auto& p : s.properties) {
      if (p.optional && !full) continue;
      Json value = samples(p.type, full).front();
      if (!within_limits(p.limits, value))
        value = p.limits.contains("minimum") ? p.limits["minimum"] : p.limits["maximum"];
      object[p.name] = value;
    }
    return object;
  }

  void add(const Json& value) {
    std::string text = value.dump() + "\n";
    if (!seen_.insert(structure_->name + text).second) return;
    const bool valid = why_invalid(model_, *structure_, value, "").empty();
    int& n = valid ? n_valid_ : n_invalid_;
    char number[16];
    std::snprintf(number, sizeof number, "%03d", n++);
    files_.push_back(
        {structure_->name + (valid ? "-valid-" : "-invalid-") + number + ".json", std::move(text)});
  }

  const Model& model_;
  const Structure* structure_ = nullptr;
  int n_valid_ = 0;
  int n_invalid_ = 0;
  std::set<std::string> seen_;
  std::vector<OutputFile> files_;
};

}  // namespace

std::vector<OutputFile> emit_test_data(const Model& model) {
  return Generator(model).run();
}

}  // namespace profd::gen
