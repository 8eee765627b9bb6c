// A JSON Schema validator for the keywords our own schemas use; an unknown keyword is an error, not ignored.
#pragma once

#include <string>

#include "protocol/gen/model.h"

namespace profd::gen {

// "" when `value` fits `schema`, else the place and the reason. References are looked up in `root`.
std::string schema_fault(const Json& root, const Json& schema, const Json& value, const std::string& path);

}  // namespace profd::gen
