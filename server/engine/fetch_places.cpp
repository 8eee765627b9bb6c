#include "server/engine/fetch_places.h"

#include <algorithm>
#include <cstdlib>

#include "server/engine/profile_cache.h"

namespace profd {
namespace {

constexpr std::size_t kMaxServers = 20;
constexpr std::size_t kMaxServerBytes = 1000;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::optional<FetchConsent> fetch_consent_of(std::string_view text) {
  if (text == "off") return FetchConsent::off;
  if (text == "ask") return FetchConsent::ask;
  if (text == "on") return FetchConsent::on;
  return std::nullopt;
}

bool is_server(std::string_view text) {
  const bool has_scheme =
      (text.starts_with("http://") && text.size() > 7) || (text.starts_with("https://") && text.size() > 8);
  return has_scheme && text.size() <= kMaxServerBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

FetchPlaces fetch_places_from_environment() {
  FetchPlaces places;
  places.consent = fetch_consent_of(variable("PROFD_DEBUGINFOD")).value_or(FetchConsent::off);
  const std::string urls = variable("DEBUGINFOD_URLS");
  std::string_view left = urls;
  constexpr std::string_view kSpace = " \t\n";
  while (places.servers.size() < kMaxServers) {
    left.remove_prefix(std::min(left.find_first_not_of(kSpace), left.size()));
    if (left.empty()) break;
    const std::string_view one = left.substr(0, left.find_first_of(kSpace));
    if (is_server(one)) places.servers.emplace_back(one);
    left.remove_prefix(one.size());
  }
  const CacheOptions cache = cache_options_from_environment();
  if (!cache.directory.empty()) places.folder = cache.directory + "/debuginfod";
  places.max_bytes = cache.max_bytes;
  return places;
}

std::string servers_text(const std::vector<std::string>& servers) {
  std::string out;
  for (const std::string& server : servers) {
    std::string_view host = server;
    host.remove_prefix(host.find("//") + 2);
    // Who is asked, without what a password may be in.
    host = host.substr(0, host.find('/'));
    if (const std::size_t at = host.rfind('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
    out += (out.empty() ? "" : ", ") + std::string(host);
  }
  return out;
}

}  // namespace profd
