#include "protocol/json_memory.h"

#include <nlohmann/json.hpp>

namespace profd::protocol {

using Json = nlohmann::json;

namespace {

void copy(const Json& from, Json& to) {
  if (const auto* array = from.get_ptr<const Json::array_t*>()) {
    to = Json::array();
    auto& out = to.get_ref<Json::array_t&>();
    out.reserve(array->size());
    for (const Json& element : *array) copy(element, out.emplace_back());
  } else if (const auto* object = from.get_ptr<const Json::object_t*>()) {
    to = Json::object();
    auto& out = to.get_ref<Json::object_t&>();
    for (const auto& [name, member] : *object) copy(member, out[name]);
  } else {
    to = from;
  }
}

}  // namespace

void take_apart(Json& value) noexcept {
  if (auto* array = value.get_ptr<Json::array_t*>()) {
    for (Json& element : *array) take_apart(element);
    array->clear();
  } else if (auto* object = value.get_ptr<Json::object_t*>()) {
    for (auto& [name, member] : *object) take_apart(member);
    object->clear();
  }
  value = nullptr;
}

Json copy_of(const Json& value) {
  Json out;
  try {
    copy(value, out);
  } catch (...) {
    take_apart(out);
    throw;
  }
  return out;
}

}  // namespace profd::protocol
