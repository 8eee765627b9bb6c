// A JSON value of a peer, copied and let go of where no memory may be left.
//
// The destructor of a nlohmann array or object allocates a list of its elements. It is noexcept, so that a
// process without memory, or a thread whose account is spent, ends there. What is taken apart first, from its
// ends inwards, allocates nothing. The depth of each value here is bounded by parse_json.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace profd::protocol {

// Leaves null. Allocates nothing.
void take_apart(nlohmann::json& value) noexcept;

// Takes `value` apart at the end of the scope; what was moved out of it by then is no longer in it. Not for a
// value that the function returns by its name: that one is the caller's already.
class TakenApart {
 public:
  explicit TakenApart(nlohmann::json& value) : value_(value) {}
  ~TakenApart() { take_apart(value_); }
  TakenApart(const TakenApart&) = delete;
  TakenApart& operator=(const TakenApart&) = delete;

 private:
  nlohmann::json& value_;
};

// Equal to `value`. Throws std::bad_alloc, and then has taken apart what was copied until there.
[[nodiscard]] nlohmann::json copy_of(const nlohmann::json& value);

}  // namespace profd::protocol
