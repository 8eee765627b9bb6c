// Why a request was not answered with a result.
#pragma once

#include <string>

#include "protocol/any.h"
#include "protocol/generated/psp_types.h"

namespace profd::protocol {

struct ResponseError {
  psp::ErrorCodes code = psp::ErrorCodes::internal_error;
  std::string message;  // a sentence a person can act on
  Any data;             // psp::ErrorData as a rule; null: none

  ResponseError() = default;
  ResponseError(psp::ErrorCodes error_code, std::string text) : code(error_code), message(std::move(text)) {}
  ResponseError(psp::ErrorCodes error_code, std::string text, const psp::ErrorData& error_data);
};

}  // namespace profd::protocol
