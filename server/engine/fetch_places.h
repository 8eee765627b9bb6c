// Servers that have debug information by build id (debuginfod), and whether they may be asked. Who is asked
// learns which builds somebody profiles: nothing is asked without their consent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profd {

enum class FetchConsent : std::uint8_t {
  off,
  ask,  // each time; until then it is said what there would be
  on
};
// "off", "ask", "on"; nothing for other texts.
std::optional<FetchConsent> fetch_consent_of(std::string_view text);

struct FetchPlaces {
  FetchConsent consent = FetchConsent::off;
  std::vector<std::string> servers;                  // is_server()
  std::string folder;                                // of what was fetched; "": nothing is, and nothing was
  std::uint64_t max_bytes = std::uint64_t{4} << 30;  // of that folder: who was used longest ago goes
};

// An address that may be asked: http: or https:, printable, without spaces.
bool is_server(std::string_view text);

// PROFD_DEBUGINFOD has the consent; DEBUGINFOD_URLS names servers and is none. The folder is in the cache.
FetchPlaces fetch_places_from_environment();

// "debuginfod.debian.net, localhost:8002" for sentences.
std::string servers_text(const std::vector<std::string>& servers);

}  // namespace profd
