#include "core/support/result.h"

namespace profd {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::malformed:
      return "malformed";
    case ErrorCode::truncated:
      return "truncated";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::limit:
      return "limit";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::invalid:
      return "invalid";
    case ErrorCode::io:
      return "io";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

std::string describe(const Error& error) {
  std::string text = error.message;
  if (!error.offset && error.where.empty()) return text;
  text += " (";
  if (error.offset) text += "at byte " + std::to_string(*error.offset);
  for (std::size_t i = 0; i < error.where.size(); ++i) {
    if (i == 0) text += error.offset ? ", in " : "in ";
    if (i > 0) text += " of ";
    text += error.where[i];
  }
  text += ')';
  return text;
}

}  // namespace profd
