// Who is let in over HTTP: whatever the headers are, a decision is made, and nobody is let in whose host or
// origin is not spelled as this machine's, by a second way of telling.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/transport/web_request.h"

using namespace profd;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

// By trying all names, instead of taking the text apart.
bool names_this_machine(std::string_view host) {
  std::string lower(host);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  for (const std::string name : {"localhost", "127.0.0.1", "[::1]"}) {
    if (lower == name) return true;
    if (lower.compare(0, name.size() + 1, name + ":") != 0) continue;
    const std::string port = lower.substr(name.size() + 1);
    if (!port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string::npos &&
        std::stoul(port) <= 65535)
      return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::array<std::string_view, 9> fields;
  for (std::string_view& field : fields) {
    const std::size_t end = text.find('\n');
    field = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  WebHead head;
  head.method = fields[0];
  head.target = fields[1];
  head.host = fields[2];
  head.origin = fields[3];
  head.fetch_site = fields[4];
  head.fetch_mode = fields[5];
  head.fetch_dest = fields[6];
  head.authorization = fields[7];
  head.protocols = fields[8];
  must(is_own_host(head.host) == names_this_machine(head.host));
  for (const bool upgrade : {false, true}) {
    head.upgrade = upgrade;
    const WebAsk ask = judge(head);
    if (ask == WebAsk::misplaced) continue;
    must(names_this_machine(head.host));
    must(head.origin.empty() || head.origin.size() == head.host.size() + 7);
    must(head.origin != "null");
    if (ask != WebAsk::file) must(head.fetch_site != "cross-site" || ask != WebAsk::session);
    if (ask == WebAsk::session)
      must(upgrade && head.fetch_site != "same-site" && head.fetch_site != "cross-site");
    if (ask == WebAsk::token) must(head.method == "POST" && head.fetch_site != "same-site");
  }
  if (const auto token = token_of_protocols(head.protocols)) {
    must(head.protocols.find("profd.v1") != std::string_view::npos);
    must(token->find(',') == std::string_view::npos);
  }
  if (const auto code = credentials(head.authorization, "Code")) must(!code->empty());
  return 0;
}
