// What may be asked of the daemon over HTTP, and by whom. Any page that the user visits can send requests to
// a port of this machine; decision 80 says what keeps it out. Text in, a decision out: no I/O here.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace profd {

// The headers that decide, as they came; "" is absent. A header that came twice is refused before.
struct WebHead {
  std::string_view method, target, host, origin, fetch_site, fetch_mode, fetch_dest, authorization, protocols;
  bool upgrade = false;  // to a WebSocket
};

enum class WebAsk : std::uint8_t {
  file,       // of the bundle; `target` names it
  session,    // a WebSocket; the token is still to be looked at
  token,      // for a code
  code,       // for the token: what a link has that its user copies
  misplaced,  // 403: from another site, or under another name than this machine's
  unknown,    // 404
  method,     // 405
};
WebAsk judge(const WebHead& head);

// "localhost:8080", "127.0.0.1", "[::1]:80": a name that means this machine alone, with a port or without. In
// any case, and nothing else: no user, no dot behind it, no other number of 127/8.
bool is_own_host(std::string_view host);
// "http://" and `host`, which is one of these.
bool is_own_origin(std::string_view origin, std::string_view host);

// Of "profd.v1, profd.t.<token>" the token; nothing where either is missing, or there are two.
std::optional<std::string_view> token_of_protocols(std::string_view protocols);
// Of "<scheme> <rest>" the rest; nothing for another scheme.
std::optional<std::string_view> credentials(std::string_view authorization, std::string_view scheme);

// The path of a target without its query, "" for what is no path: "/app.js?v=1" is "/app.js".
std::string_view path_of_target(std::string_view target);

inline constexpr std::string_view kSessionPath = "/psp", kTokenPath = "/token", kCodePath = "/code",
                                  kProtocol = "profd.v1";

// The token, and codes that are good once in its place.
class WebSecrets {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kCodeLife{60};
  static constexpr std::size_t kMaxCodes = 64;  // with more the oldest is forgotten

  WebSecrets();
  [[nodiscard]] const std::string& token() const { return token_; }
  [[nodiscard]] bool is_token(std::string_view text) const;
  std::string new_code(Clock::time_point now);
  // Whether it is a code, which it is no more afterwards. `may`, which costs something, is asked of codes
  // alone; where it says no the code stays good, but is asked about only so often.
  bool redeem(std::string_view code, Clock::time_point now, const std::function<bool()>& may = {});
  static constexpr int kMaxRefused = 3;

 private:
  std::string token_;
  struct Code {
    std::string text;
    Clock::time_point until;
    int n_refused = 0;
  };
  std::map<std::uint64_t, Code> codes_;  // oldest first
  std::uint64_t next_ = 0;
};

}  // namespace profd
