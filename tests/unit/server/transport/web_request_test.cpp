// Who is let in over HTTP: tables of what browsers, programs and attackers send.
#include "server/transport/web_request.h"

#include "server/engine/uri.h"
#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("web: a host is this machine by one of three names, with a port or without") {
  for (const char* own : {"localhost", "localhost:1", "LocalHost:65535", "127.0.0.1", "127.0.0.1:8080",
                          "[::1]", "[::1]:40817", "localhost:00080"}) {
    INFO(own);
    CHECK(is_own_host(own));
  }
  for (const char* other : {"",
                            ":80",
                            "localhost:",
                            "localhost:99999",
                            "localhost:1a",
                            "localhost.:80",
                            "localhost.evil.com",
                            "evil.localhost",
                            "localhostx",
                            "127.0.0.1.evil.com",
                            "127.0.0.1x",
                            "127.0.0.2",
                            "127.1",
                            "0.0.0.0",
                            "::1",
                            "[::1",
                            "[::1]x",
                            "[::1].evil.com",
                            "[::2]",
                            "[0:0:0:0:0:0:0:1]",
                            "user@localhost",
                            "localhost@evil.com",
                            "localhost:80@evil.com",
                            "localhost:80:80",
                            " localhost",
                            "localhost ",
                            "localhost/",
                            "localhost#",
                            "2130706433",
                            "0x7f000001",
                            "localhost:-1",
                            "localhost:123456"}) {
    INFO(other);
    CHECK_FALSE(is_own_host(other));
  }
}

TEST_CASE("web: an origin is http and the same host and port, or none of ours") {
  CHECK(is_own_origin("http://127.0.0.1:8080", "127.0.0.1:8080"));
  CHECK(is_own_origin("http://LOCALHOST:8080", "localhost:8080"));
  CHECK(is_own_origin("http://[::1]:8080", "[::1]:8080"));
  for (const char* other :
       {"null", "", "https://127.0.0.1:8080", "http://127.0.0.1:8081", "http://127.0.0.1",
        "http://localhost:8080", "http://127.0.0.1:8080.evil.com", "http://127.0.0.1:8080/",
        "http://evil.com", "http://evil.com/127.0.0.1:8080", "file://", "127.0.0.1:8080",
        "HTTP://127.0.0.1:8080", "ws://127.0.0.1:8080", "chrome-extension://127.0.0.1:8080"}) {
    INFO(other);
    CHECK_FALSE(is_own_origin(other, "127.0.0.1:8080"));
  }
  // A name that an attacker's server resolves to 127.0.0.1: equality alone would let it in.
  CHECK_FALSE(is_own_origin("http://evil.com:8080", "evil.com:8080"));
}

namespace {

struct Asked {
  WebHead head;
  WebAsk expected;
};

WebHead head(const char* method, const char* target) {
  WebHead out;
  out.method = method;
  out.target = target;
  out.host = "127.0.0.1:8080";
  return out;
}
WebHead with_origin(WebHead out, const char* origin) {
  out.origin = origin;
  return out;
}
WebHead from(WebHead out, const char* site, const char* mode = "cors", const char* dest = "empty") {
  out.fetch_site = site;
  out.fetch_mode = mode;
  out.fetch_dest = dest;
  return out;
}
WebHead upgraded(WebHead out) {
  out.upgrade = true;
  return out;
}
WebHead at(WebHead out, const char* host) {
  out.host = host;
  return out;
}

}  // namespace

TEST_CASE("web: what is asked, and by whom, decides before any secret is looked at") {
  const char* const own = "http://127.0.0.1:8080";
  const Asked table[] = {
      {head("GET", "/"), WebAsk::file},
      {head("HEAD", "/app.js?v=1"), WebAsk::file},
      {head("POST", "/"), WebAsk::method},
      {head("OPTIONS", "/"), WebAsk::method},
      {head("PUT", "/app.js"), WebAsk::method},
      {head("POST", "/token"), WebAsk::token},
      {head("GET", "/token"), WebAsk::method},
      {head("POST", "/code"), WebAsk::code},
      {head("GET", "/code"), WebAsk::method},
      {head("GET", "/psp"), WebAsk::unknown},
      {head("POST", "/psp"), WebAsk::method},
      {upgraded(head("GET", "/psp")), WebAsk::session},
      {upgraded(head("GET", "/psp?x=1")), WebAsk::session},
      {upgraded(head("GET", "/")), WebAsk::unknown},
      {head("GET", "http://127.0.0.1:8080/"), WebAsk::unknown},
      {head("GET", "*"), WebAsk::unknown},
      {head("GET", ""), WebAsk::unknown},
      // under another name
      {at(head("GET", "/"), "evil.com"), WebAsk::misplaced},
      {at(head("GET", "/"), ""), WebAsk::misplaced},
      {upgraded(at(head("GET", "/psp"), "evil.com:8080")), WebAsk::misplaced},
      // from another page
      {with_origin(head("POST", "/token"), own), WebAsk::token},
      {with_origin(head("POST", "/token"), "null"), WebAsk::misplaced},
      {with_origin(upgraded(head("GET", "/psp")), own), WebAsk::session},
      {with_origin(upgraded(head("GET", "/psp")), "null"), WebAsk::misplaced},
      {with_origin(upgraded(head("GET", "/psp")), "http://127.0.0.1:9090"), WebAsk::misplaced},
      {with_origin(upgraded(head("GET", "/psp")), "http://localhost:8080"), WebAsk::misplaced},
      {with_origin(upgraded(at(head("GET", "/psp"), "evil.com:8080")), "http://evil.com:8080"),
       WebAsk::misplaced},
      // as browsers tell it
      {from(head("GET", "/app.js"), "same-origin"), WebAsk::file},
      {from(head("GET", "/"), "none", "navigate", "document"), WebAsk::file},
      {from(head("GET", "/app.js"), "cross-site", "no-cors", "script"), WebAsk::misplaced},
      {from(head("GET", "/app.js"), "same-site", "no-cors", "script"), WebAsk::misplaced},
      {from(head("POST", "/token"), "same-site"), WebAsk::misplaced},
      {from(head("POST", "/code"), "same-site"), WebAsk::misplaced},
      {from(upgraded(head("GET", "/psp")), "same-site", "websocket", "websocket"), WebAsk::misplaced},
      {from(upgraded(head("GET", "/psp")), "cross-site", "websocket", "websocket"), WebAsk::misplaced},
      {from(head("GET", "/"), "something-new"), WebAsk::misplaced},
      // a link may lead to the static page, a frame or a file of it may not be had
      {from(head("GET", "/"), "cross-site", "navigate", "document"), WebAsk::file},
      {from(head("GET", "/"), "cross-site", "navigate", "iframe"), WebAsk::misplaced},
      {from(head("GET", "/app.js"), "cross-site", "navigate", "document"), WebAsk::misplaced},
      {from(head("POST", "/token"), "cross-site", "navigate", "document"), WebAsk::misplaced},
  };
  for (const Asked& asked : table) {
    INFO(asked.head.method << " " << asked.head.target << " host " << asked.head.host << " origin "
                           << asked.head.origin << " site " << asked.head.fetch_site << " "
                           << asked.head.fetch_mode << " " << asked.head.fetch_dest);
    CHECK(judge(asked.head) == asked.expected);
  }
}

TEST_CASE("web: the token comes in the list of subprotocols, once, beside the protocol's own name") {
  CHECK(token_of_protocols("profd.v1, profd.t.abc") == "abc");
  CHECK(token_of_protocols("profd.t.abc,profd.v1") == "abc");
  CHECK(token_of_protocols(" profd.v1 ,\tprofd.t.abc , other") == "abc");
  CHECK(token_of_protocols("profd.v1, profd.t.") == "");
  for (const char* wrong :
       {"", "profd.v1", "profd.t.abc", "profd.v2, profd.t.abc", "profd.v1 profd.t.abc",
        "profd.v1, profd.t.abc, profd.t.def", "PROFD.V1, profd.t.abc", "profd.v1, PROFD.T.abc"}) {
    INFO(wrong);
    CHECK_FALSE(token_of_protocols(wrong).has_value());
  }
}

TEST_CASE("web: credentials are of one scheme") {
  CHECK(credentials("Code abc", "Code") == "abc");
  CHECK(credentials("code  abc ", "Code") == "abc");
  for (const char* wrong : {"", "Code", "Code ", "Codeabc", "Bearer abc", "Code: abc"}) {
    INFO(wrong);
    CHECK_FALSE(credentials(wrong, "Code").has_value());
  }
}

TEST_CASE("web: a code is good once, for a minute, and only so many are") {
  const auto now = WebSecrets::Clock::now();
  WebSecrets secrets;
  CHECK(secrets.token().size() == 43);  // 256 bits
  CHECK(WebSecrets().token() != secrets.token());
  CHECK(secrets.is_token(secrets.token()));
  for (const std::string& wrong : {std::string(), secrets.token().substr(1), secrets.token() + "A"})
    CHECK_FALSE(secrets.is_token(wrong));
  const std::string code = secrets.new_code(now);
  CHECK_FALSE(secrets.is_token(code));
  CHECK_FALSE(secrets.redeem(secrets.token(), now));
  CHECK_FALSE(secrets.redeem("", now));
  CHECK(secrets.redeem(code, now));
  CHECK_FALSE(secrets.redeem(code, now));
  const std::string old = secrets.new_code(now);
  CHECK_FALSE(secrets.redeem(old, now + WebSecrets::kCodeLife + std::chrono::milliseconds(1)));
  const std::string first = secrets.new_code(now), second = secrets.new_code(now);
  for (std::size_t i = 2; i <= WebSecrets::kMaxCodes; ++i) secrets.new_code(now);
  CHECK_FALSE(secrets.redeem(first, now));
  CHECK(secrets.redeem(second, now));
}

TEST_CASE("web: what costs something is asked of codes alone, and of one code only so often") {
  const auto now = WebSecrets::Clock::now();
  WebSecrets secrets;
  int n_asked = 0;
  const auto no = [&] { return ++n_asked, false; };
  const std::string code = secrets.new_code(now);
  for (const std::string& wrong : {std::string(), std::string("wrong"), secrets.token()})
    CHECK_FALSE(secrets.redeem(wrong, now, no));
  CHECK(n_asked == 0);
  CHECK_FALSE(secrets.redeem(code, now, no));
  CHECK(n_asked == 1);
  CHECK(secrets.redeem(code, now, [] { return true; }));
  const std::string other = secrets.new_code(now);
  for (int i = 0; i < 10; ++i) CHECK_FALSE(secrets.redeem(other, now, no));
  CHECK(n_asked == 1 + WebSecrets::kMaxRefused);
  CHECK_FALSE(secrets.redeem(other, now));
}

TEST_CASE("web: what stands in an address is percent-encoded, whatever it is") {
  CHECK(percent_encoded("file:///a b/ü&#%.pprof") == "file%3A%2F%2F%2Fa%20b%2F%C3%BC%26%23%25.pprof");
  CHECK(*fragment_decoded("file:///a+b/%C3%BC%26%23%25.pprof") == "file:///a b/ü&#%.pprof");
  for (const char* wrong : {"%", "%4", "%4g", "a%"}) CHECK_FALSE(fragment_decoded(wrong).has_value());
}
