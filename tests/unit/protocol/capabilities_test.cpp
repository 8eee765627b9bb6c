#include "protocol/capabilities.h"

#include <nlohmann/json.hpp>

#include "protocol/encode.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::protocol;
using nlohmann::json;

namespace {
psp::ClientCapabilities client(const json& capabilities) {
  psp::ClientCapabilities out;
  Path::Root root("capabilities");
  REQUIRE(psp::decode(capabilities, out, root));
  return out;
}
}  // namespace

TEST_CASE("capabilities: native support is found in both places") {
  CHECK_FALSE(profd_capabilities(client(json::object())));
  CHECK(profd_capabilities(client({{"profd", {{"selection", true}}}}))->selection);
  CHECK(profd_capabilities(client({{"experimental", {{"profd", {{"status", true}}}}}}))->status);
  CHECK(profd_capabilities(
            client({{"profd", json::object()}, {"experimental", {{"profd", {{"status", true}}}}}}))
            ->status == false);
}

TEST_CASE("capabilities: experimental members of other kinds are no native support") {
  for (const json& experimental : {json(true), json::array({1}), json(nullptr), json{{"profd", 7}},
                                   json{{"other", {}}}, json{{"profd", {{"selection", "yes"}}}}})
    CHECK_FALSE(profd_capabilities(client({{"experimental", experimental}})));
}

TEST_CASE("capabilities: native methods are announced in both places and nothing is lost") {
  psp::ServerCapabilities server;
  server.experimental = Any(json{{"other", 1}});
  psp::ProfdServerCapabilities native;
  native.methods = {"profile/open"};
  announce(native, server);
  const json encoded = psp::encode(server);
  CHECK(encoded.at("profd").at("methods") == json{"profile/open"});
  CHECK(encoded.at("experimental").at("profd") == encoded.at("profd"));
  CHECK(encoded.at("experimental").at("other") == 1);
}

TEST_CASE("capabilities: the client's first known encoding is chosen, else UTF-16") {
  const auto chosen = [](const json& encodings) {
    return choose_position_encoding(client({{"general", {{"positionEncodings", encodings}}}}));
  };
  CHECK(chosen({"utf-8", "utf-16"}) == psp::PositionEncodingKind::utf8);
  CHECK(chosen({"utf-16", "utf-8"}) == psp::PositionEncodingKind::utf16);
  CHECK(chosen({"ebcdic", "utf-32"}) == psp::PositionEncodingKind::utf32);
  CHECK(chosen(json::array()) == psp::PositionEncodingKind::utf16);
  CHECK(choose_position_encoding(client(json::object())) == psp::PositionEncodingKind::utf16);
}
