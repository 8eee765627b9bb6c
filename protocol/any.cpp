#include "protocol/any.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "protocol/json_memory.h"

namespace profd::protocol {

namespace {

struct Held {
  nlohmann::json value;
  const TakenApart at_the_end{value};

  explicit Held(nlohmann::json&& what) : value(std::move(what)) {}
};

std::shared_ptr<const nlohmann::json> held(nlohmann::json&& value) {
  const TakenApart where_it_cannot_be_held(value);
  auto held = std::make_shared<Held>(std::move(value));
  return {held, &held->value};
}

}  // namespace

Any::Any(nlohmann::json&& value) : value_(held(std::move(value))) {}

Any::Any(const nlohmann::json& value) : value_(held(copy_of(value))) {}

const nlohmann::json& Any::get() const {
  static const nlohmann::json null;
  return value_ ? *value_ : null;
}

}  // namespace profd::protocol
