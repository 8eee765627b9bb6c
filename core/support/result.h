// Result<T> and Error: how anything that depends on input reports failure.
// Exceptions never cross a layer; asserts are for our own invariants only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace profd {

enum class ErrorCode : std::uint8_t {
  malformed,    // the bytes contradict the format
  truncated,    // the bytes end too early
  unsupported,  // a valid file of a version or kind that is not read
  limit,        // a stated bound was exceeded; the message names the bound
  not_found,
  invalid,  // a request or argument that makes no sense
  io,
  cancelled,
  internal,
};

std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;                  // a sentence a person can act on
  std::optional<std::uint64_t> offset;  // byte offset in the stream the parser saw
  std::vector<std::string> where;       // innermost first: "location_id[3]", "sample[12]", "gzip member 1"
  std::string format{};                 // id of the format whose reader says so; "" where none does

  Error&& in(std::string place) && {
    where.push_back(std::move(place));
    return std::move(*this);
  }
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message,
                                  std::optional<std::uint64_t> offset = std::nullopt) {
  return tl::unexpected<Error>(Error{code, std::move(message), offset, {}});
}

// "message (at byte 41202, in sample[12] of gzip member 1)".
std::string describe(const Error& error);

}  // namespace profd

#define PROFD_CONCAT_(a, b) a##b
#define PROFD_CONCAT(a, b) PROFD_CONCAT_(a, b)

// PROFD_TRY(auto x, expr): unwraps expr into x or returns its error from the enclosing function.
#define PROFD_TRY(target, expr) PROFD_TRY_(PROFD_CONCAT(profd_result_, __LINE__), target, expr)
#define PROFD_TRY_(tmp, target, expr)                                      \
  auto tmp = (expr);                                                       \
  if (!tmp) return tl::unexpected<::profd::Error>(std::move(tmp).error()); \
  target = std::move(*tmp)

// PROFD_CHECK(expr): for Result<void>.
#define PROFD_CHECK(expr)                                                      \
  do {                                                                         \
    if (auto profd_checked = (expr); !profd_checked)                           \
      return tl::unexpected<::profd::Error>(std::move(profd_checked).error()); \
  } while (false)
