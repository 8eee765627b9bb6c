// The JSON value of a generated structure, for the few that must look into it or hand it on as an Any:
// written, then parsed. Where text will do, write() is several times quicker.
#pragma once

#include <nlohmann/json.hpp>

#include "protocol/json_text.h"

namespace profd::psp {

template <class T>
nlohmann::json encode(const T& value) {
  protocol::JsonText text;
  write(text, value);
  return text.parsed();
}

}  // namespace profd::psp
