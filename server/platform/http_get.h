// One GET by HTTP/1.1, on the calling thread, within bounds of time and size.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "core/support/result.h"
#include "core/support/stop.h"

namespace profd {

struct HttpGet {
  std::string host;    // a name or an address, IPv6 without its brackets
  std::string port;    // a number
  std::string target;  // path and query, percent-encoded
  std::string shown;   // what errors call it
  // Until the answer begins; then again for the whole of the body, and `silence` between two pieces of it.
  std::chrono::milliseconds patience{20'000};
  std::chrono::milliseconds body_time{600'000};
  std::chrono::milliseconds silence{20'000};
  std::uint64_t max_bytes = 0;  // of the body as it is sent
  // Every now and then while it is waited for, with the time since it was asked; may be empty.
  std::function<void(std::chrono::milliseconds since)> waiting;
  // What came of the body; `total` 0 where the server does not say. May be empty.
  std::function<void(std::uint64_t done, std::uint64_t total)> reading;
};

struct HttpAnswer {
  unsigned status = 0;
  std::string location;  // of a redirect
  std::string body;      // of an error its beginning
};

// Any status is an answer. Fails with `io` where nobody answers, time is over, what comes is no HTTP or half
// an answer, with `limit` for one that is too large, `cancelled` soon after `stop` (but for the time that the
// system takes to look for a host); the connection is closed in any case.
Result<HttpAnswer> http_get(const HttpGet& request, const StopToken& stop);

}  // namespace profd
