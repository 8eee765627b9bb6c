// LSPAny: any JSON value, shared and immutable.
//
// A handle rather than a nlohmann::json so that generated headers need only the forward declaration, and so
// that copying a message never copies (recursively) what a peer sent.
#pragma once

#include <memory>

#include <nlohmann/json_fwd.hpp>

namespace profd::protocol {

class Any {
 public:
  Any() = default;  // null
  // Any JSON value is an Any.
  Any(nlohmann::json&& value);       // NOLINT(google-explicit-constructor)
  Any(const nlohmann::json& value);  // NOLINT(google-explicit-constructor)

  [[nodiscard]] const nlohmann::json& get() const;
  const nlohmann::json& operator*() const { return get(); }
  const nlohmann::json* operator->() const { return &get(); }

 private:
  std::shared_ptr<const nlohmann::json> value_;
};

}  // namespace profd::protocol
