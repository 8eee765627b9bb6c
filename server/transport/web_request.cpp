#include "server/transport/web_request.h"

#include <algorithm>

#include "core/support/text.h"
#include "server/runtime/secret.h"

namespace profd {
namespace {

bool same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

bool is_port(std::string_view text) {
  if (text.empty() || text.size() > 5) return false;
  unsigned port = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    port = port * 10 + static_cast<unsigned>(c - '0');
  }
  return port <= 65535;
}

// Browsers say where a request comes from; who says nothing is no browser, or an old one that sends an
// Origin.
bool is_from_here(const WebHead& head) {
  if (head.fetch_site.empty() || head.fetch_site == "same-origin" || head.fetch_site == "none") return true;
  // A link on another page may lead here: the page that comes up knows nothing without the token.
  return head.method == "GET" && !head.upgrade && head.fetch_mode == "navigate" &&
         head.fetch_dest == "document" && path_of_target(head.target) == "/";
}

}  // namespace

bool is_own_host(std::string_view host) {
  std::string_view name = host;
  if (!host.empty() && host.front() == '[') {
    const std::size_t end = host.find(']');
    if (end == host.npos) return false;
    name = host.substr(0, end + 1);
  } else {
    name = host.substr(0, host.find(':'));
  }
  if (!same_word(name, "localhost") && name != "127.0.0.1" && name != "[::1]") return false;
  const std::string_view rest = host.substr(name.size());
  return rest.empty() || (rest.front() == ':' && is_port(rest.substr(1)));
}

bool is_own_origin(std::string_view origin, std::string_view host) {
  constexpr std::string_view kScheme = "http://";
  if (origin.substr(0, kScheme.size()) != kScheme) return false;
  const std::string_view from = origin.substr(kScheme.size());
  return is_own_host(from) && same_word(from, host);
}

std::string_view path_of_target(std::string_view target) {
  if (target.empty() || target.front() != '/') return {};
  return target.substr(0, target.find('?'));
}

WebAsk judge(const WebHead& head) {
  if (!is_own_host(head.host)) return WebAsk::misplaced;
  if (!head.origin.empty() && !is_own_origin(head.origin, head.host)) return WebAsk::misplaced;
  if (!is_from_here(head)) return WebAsk::misplaced;
  const std::string_view path = path_of_target(head.target);
  if (path.empty()) return WebAsk::unknown;
  if (path == kSessionPath) {
    if (head.method != "GET") return WebAsk::method;
    return head.upgrade ? WebAsk::session : WebAsk::unknown;
  }
  if (path == kCodePath) return head.method == "POST" ? WebAsk::code : WebAsk::method;
  if (path == kTokenPath) return head.method == "POST" ? WebAsk::token : WebAsk::method;
  if (head.upgrade) return WebAsk::unknown;
  return head.method == "GET" || head.method == "HEAD" ? WebAsk::file : WebAsk::method;
}

std::optional<std::string_view> token_of_protocols(std::string_view protocols) {
  constexpr std::string_view kToken = "profd.t.";
  std::optional<std::string_view> token;
  bool ours = false;
  while (true) {
    const std::size_t end = protocols.find(',');
    const std::string_view one = trimmed(protocols.substr(0, end));
    if (one == kProtocol) ours = true;
    if (one.substr(0, kToken.size()) == kToken) {
      if (token) return std::nullopt;
      token = one.substr(kToken.size());
    }
    if (end == protocols.npos) break;
    protocols.remove_prefix(end + 1);
  }
  return ours ? token : std::nullopt;
}

std::optional<std::string_view> credentials(std::string_view authorization, std::string_view scheme) {
  const std::size_t space = authorization.find(' ');
  if (space == authorization.npos || !same_word(authorization.substr(0, space), scheme)) return std::nullopt;
  const std::string_view rest = trimmed(authorization.substr(space));
  return rest.empty() ? std::nullopt : std::optional(rest);
}

WebSecrets::WebSecrets() : token_(make_secret(32)) {}

bool WebSecrets::is_token(std::string_view text) const {
  return equal_in_constant_time(text, token_);
}

std::string WebSecrets::new_code(Clock::time_point now) {
  std::erase_if(codes_, [&](const auto& code) { return code.second.until < now; });
  if (codes_.size() >= kMaxCodes) codes_.erase(codes_.begin());
  std::string code = make_secret(16);
  codes_.emplace(next_++, Code{code, now + kCodeLife, 0});
  return code;
}

bool WebSecrets::redeem(std::string_view code, Clock::time_point now, const std::function<bool()>& may) {
  std::erase_if(codes_, [&](const auto& known) { return known.second.until < now; });
  auto found = codes_.end();
  for (auto known = codes_.begin(); known != codes_.end(); ++known)
    if (equal_in_constant_time(code, known->second.text)) found = known;
  if (found == codes_.end()) return false;
  const bool taken = !may || may();
  if (taken || ++found->second.n_refused >= kMaxRefused) codes_.erase(found);
  return taken;
}

}  // namespace profd
