#include "protocol/capabilities.h"

#include <nlohmann/json.hpp>

#include "protocol/encode.h"

namespace profd::protocol {

std::optional<psp::ProfdClientCapabilities> profd_capabilities(const psp::ClientCapabilities& client) {
  if (client.profd) return client.profd;
  if (!client.experimental || !(*client.experimental)->is_object()) return std::nullopt;
  const auto& experimental = client.experimental->get();
  const auto found = experimental.find("profd");
  if (found == experimental.end()) return std::nullopt;
  psp::ProfdClientCapabilities native;
  Path::Root root("capabilities.experimental.profd");
  if (!psp::decode(*found, native, root)) return std::nullopt;
  return native;
}

void announce(const psp::ProfdServerCapabilities& native, psp::ServerCapabilities& server) {
  server.profd = native;
  nlohmann::json experimental = server.experimental && (*server.experimental)->is_object()
                                    ? server.experimental->get()
                                    : nlohmann::json::object();
  experimental["profd"] = psp::encode(native);
  server.experimental = Any(std::move(experimental));
}

psp::PositionEncodingKind choose_position_encoding(const psp::ClientCapabilities& client) {
  if (client.general && client.general->position_encodings)
    for (const auto& encoding : *client.general->position_encodings)
      if (encoding.known()) return encoding.value();
  return psp::PositionEncodingKind::utf16;
}

}  // namespace profd::protocol
