// Profiles at an address, as origins: `http://HOST:PORT/PATH?QUERY`, what a running program serves (the
// net/http/pprof of Go) or any server that has profiles lying about. It is asked when it is opened, and again
// when it is opened again; nothing else asks it, and nothing watches it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "server/engine/origin.h"

namespace profd {

inline constexpr std::string_view kEndpointScheme = "http";
// With it the sentence that says what to do instead is told.
inline constexpr std::string_view kSecureScheme = "https";

// The parts of an address, checked: whatever stands in them goes into a request as it is.
struct Endpoint {
  std::string host;    // lower case, IPv6 without brackets
  std::string port;    // "80" where none is named
  std::string target;  // "/debug/pprof/heap?gc=1"
  std::string uri;     // of these: two spellings of an address have one
  std::string name;    // "host:port/path", for people
  // For so long the program records before it answers; nothing: it answers at once.
  std::optional<std::chrono::seconds> recorded;
};
// `invalid` for other schemes, an empty host, names with passwords, characters that an address has not, a
// port out of range, and a recording of more than an hour. What follows "#" is not part of it.
Result<Endpoint> parse_endpoint(std::string_view uri);

// Where a redirect leads: within the same host and port alone, else `invalid`.
Result<Endpoint> redirected(const Endpoint& from, std::string_view location);

// What is at the address, in memory. While the program records, progress is in nanoseconds of the time that
// was asked for.
Result<OpenInput> fetch_endpoint(
    const Endpoint& endpoint, std::uint64_t max_bytes, const StopToken& stop,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress);
// "recording, 12 of 30 s" where that progress is of a recording; else "".
std::string recording_text(const Endpoint& endpoint, std::uint64_t done, std::uint64_t total);

Result<OriginPtr> endpoint_origin(std::string_view uri, const OpenOptions& options);
// Whether opening it again asks anew.
bool is_endpoint(const Origin& origin);

// Whether a URI is an address or is put together of any, however deeply; true also where that cannot be told.
bool names_endpoint(std::string_view uri);

}  // namespace profd
