#include "protocol/any.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace profd::protocol {

Any::Any(nlohmann::json value) : value_(std::make_shared<const nlohmann::json>(std::move(value))) {}

const nlohmann::json& Any::get() const {
  static const nlohmann::json null;
  return value_ ? *value_ : null;
}

}  // namespace profd::protocol
