// What is valid on the wire, told from the model alone. The generated codecs of every language must agree
// with it; the test data and the check of the examples come from here.
#pragma once

#include <string>

#include "protocol/gen/model.h"

namespace profd::gen {

// "" when `value` is a valid `type`, else the place and the reason.
std::string why_invalid(const Model& model, const Type& type, const Json& value, const std::string& path);
std::string why_invalid(const Model& model, const Structure& structure, const Json& value,
                        const std::string& path);

// Whether a value is within the bounds psp.json puts on a field.
bool within_limits(const Json& limits, const Json& value);

// Throws std::runtime_error at the first example that is not valid.
void check_examples(const Model& model);

}  // namespace profd::gen
