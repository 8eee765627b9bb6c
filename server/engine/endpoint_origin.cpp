#include "server/engine/endpoint_origin.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "server/engine/origins.h"
#include "server/platform/http_get.h"

namespace profd {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kMaxAddress = 8192;
constexpr seconds kLongestRecording{3600};
constexpr std::size_t kMostRedirects = 5;
// A program that has recorded still has to write it down.
constexpr milliseconds kPatienceBeyond{20'000};
constexpr std::size_t kShownOfError = 120;

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

Result<void> check_host(std::string_view host, bool is_v6) {
  const std::string_view others = is_v6 ? ":." : ".-_";
  if (host.empty()) return fail(ErrorCode::invalid, "an address needs a host: http://HOST:PORT/PATH");
  if (!std::all_of(host.begin(), host.end(),
                   [&](char c) { return is_alphanumeric(c) || others.find(c) != others.npos; }))
    return fail(ErrorCode::invalid, "the host of an address has letters, digits, `.`, `-` and `_` alone");
  return {};
}

Result<void> check_target(std::string_view target) {
  if (!std::all_of(target.begin(), target.end(), [](char c) { return c > ' ' && c < '\x7f'; }))
    return fail(ErrorCode::invalid, "an address has spaces and other characters as %XX");
  return {};
}

// The value of `key` in a query, as it stands there.
std::optional<std::string_view> query_value(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    const std::size_t equals = one.find('=');
    if (one.substr(0, equals) == key) return equals == one.npos ? std::string_view() : one.substr(equals + 1);
  }
  return std::nullopt;
}

// As Go reads it: what is no whole number of seconds is the default of the page.
std::optional<std::int64_t> whole_seconds(std::optional<std::string_view> text) {
  std::int64_t value = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc::result_out_of_range) return kLongestRecording.count() + 1;
  if (error != std::errc() || end != text->data() + text->size() || value <= 0) return std::nullopt;
  return value;
}

Result<std::optional<seconds>> recorded_at(std::string_view path, std::string_view query) {
  constexpr std::int64_t kOfGo = 30;
  std::optional<std::int64_t> value = whole_seconds(query_value(query, "seconds"));
  if (!value && path.ends_with("/debug/pprof/profile")) value = kOfGo;
  if (!value) return std::optional<seconds>();
  if (*value > kLongestRecording.count())
    return fail(ErrorCode::invalid,
                fmt::format("a recording at an address is of at most {} seconds", kLongestRecording.count()));
  return std::optional(seconds(*value));
}

// The first line of what a server says of its error, where that is plain text.
std::string said(const std::string& body) {
  const std::string_view line = std::string_view(body).substr(0, body.find_first_of("\r\n"));
  const bool plain = !line.empty() && line.size() <= kShownOfError && line.front() != '<' &&
                     std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c < '\x7f'; });
  return plain ? fmt::format(" ({})", line) : "";
}

std::string advice_on(unsigned status, const Endpoint& endpoint) {
  if (status == 500 && endpoint.target.find("/debug/pprof/") != std::string::npos)
    return "another client may be recording there, of which there is one at a time: ask again when it is "
           "over";
  if (status >= 500) return "the program has a fault, or is not ready: ask again later";
  if (status == 404) return "nothing is there: look at the path, /debug/pprof/ lists those of a Go program";
  if (status == 401 || status == 403) return "it asks who you are: download it and open the file";
  return "download it in a browser or with curl and open the file";
}

Error status_error(const HttpAnswer& answer, const Endpoint& endpoint) {
  const ErrorCode code = answer.status == 404 || answer.status == 410 ? ErrorCode::not_found : ErrorCode::io;
  return Error{code,
               fmt::format("{}: it answers with status {}{}; {}", endpoint.uri, answer.status,
                           said(answer.body), advice_on(answer.status, endpoint)),
               std::nullopt,
               {}};
}

class EndpointOrigin final : public Origin {
 public:
  EndpointOrigin(Endpoint endpoint, OpenOptions options)
      : endpoint_(std::move(endpoint)),
        key_(fmt::format("{}\n{}\n{}\n{}", endpoint_.uri, options.format, options.partial,
                         options.gc_on_stack)),
        options_(std::move(options)) {}

  const std::string& key() const override { return key_; }
  const std::string& uri() const override { return endpoint_.uri; }
  std::string name() const override { return endpoint_.name; }
  const std::string& place() const override { return endpoint_.uri; }

  Result<Load> load(const LoadContext& context) const override {
    PROFD_TRY(OpenInput input,
              fetch_endpoint(endpoint_, options_.limits.input_bytes, context.stop, context.progress));
    PROFD_TRY(Load out, input_origin(endpoint_.uri, std::move(input), options_)->load(context));
    out.profiles->freshness = fmt::format("recording {}", ++n_recordings_);
    return out;
  }
  // What it was stands: looking whether it is another one would be to record again.
  std::optional<std::string> freshness() const override { return std::nullopt; }
  OriginPolicy policy() const override {
    OriginPolicy policy;
    policy.keep_previous = true;
    return policy;
  }

 private:
  Endpoint endpoint_;
  std::string key_;
  OpenOptions options_;
  mutable std::atomic<std::uint64_t> n_recordings_{0};  // tells one from the one before
};

// Once; what is not well encoded stays.
std::string decoded_once(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_code =
        text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    out += is_code ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (is_code) i += 2;
  }
  return out;
}

bool has_address(std::string_view text) {
  for (const std::string_view scheme : {kEndpointScheme, kSecureScheme}) {
    const std::string named = std::string(scheme) + ":";
    if (text.starts_with(named) || text.find("=" + named) != text.npos) return true;
  }
  return false;
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view uri) {
  constexpr std::string_view kBegin = "http://";
  if (scheme_of(uri) == kSecureScheme)
    return fail(ErrorCode::invalid,
                "addresses are read by http: alone; download it (curl -o profile.pb.gz ADDRESS) and open the "
                "file");
  if (!uri.starts_with(kBegin)) return fail(ErrorCode::invalid, "an address is http://HOST:PORT/PATH");
  if (uri.size() > kMaxAddress) return fail(ErrorCode::limit, "an address has at most 8,192 characters");
  std::string_view rest = uri.substr(kBegin.size());
  rest = rest.substr(0, rest.find('#'));
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  rest.remove_prefix(authority.size());
  if (authority.find('@') != authority.npos)
    return fail(ErrorCode::invalid,
                "an address has no name and password: whoever lists profiles would see them; download it and "
                "open the file");
  Endpoint out;
  const bool is_v6 = authority.starts_with('[');
  std::string_view after;
  if (is_v6) {
    const std::size_t end = authority.find(']');
    if (end == authority.npos) return fail(ErrorCode::invalid, "the host of an address has no closing `]`");
    out.host = authority.substr(1, end - 1);
    after = authority.substr(end + 1);
  } else {
    out.host = authority.substr(0, authority.find(':'));
    after = authority.substr(out.host.size());
  }
  PROFD_CHECK(check_host(out.host, is_v6));
  std::transform(out.host.begin(), out.host.end(), out.host.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  unsigned port = 80;
  if (!after.empty()) {
    const std::string_view digits = after.substr(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (after.front() != ':' || error != std::errc() || end != digits.data() + digits.size() || port == 0 ||
        port > 65535)
      return fail(ErrorCode::invalid, "the port of an address is a number from 1 to 65535");
  }
  out.port = fmt::format("{}", port);
  out.target = rest.starts_with('/') ? std::string(rest) : "/" + std::string(rest);
  PROFD_CHECK(check_target(out.target));
  const std::size_t query = out.target.find('?');
  const std::string_view path = std::string_view(out.target).substr(0, query);
  PROFD_TRY(out.recorded,
            recorded_at(path, query == std::string::npos ? std::string_view()
                                                         : std::string_view(out.target).substr(query + 1)));
  const std::string host = is_v6 ? "[" + out.host + "]" : out.host;
  const std::string place = port == 80 ? host : host + ":" + out.port;
  out.uri = fmt::format("{}{}{}", kBegin, place, out.target);
  out.name = place + std::string(path);
  return out;
}

Result<Endpoint> redirected(const Endpoint& from, std::string_view location) {
  const std::string_view host = std::string_view(from.uri).substr(0, from.uri.size() - from.target.size());
  std::string uri(location);
  if (location.starts_with('/') && !location.starts_with("//")) uri = std::string(host) + uri;
  const auto to = parse_endpoint(uri);
  if (to && to->host == from.host && to->port == from.port) return *to;
  return fail(
      ErrorCode::invalid,
      fmt::format("{}: it sends on to another place, which is not followed; name the address it means, or "
                  "download it and open the file",
                  from.uri));
}

Result<OpenInput> fetch_endpoint(
    const Endpoint& endpoint, std::uint64_t max_bytes, const StopToken& stop,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress) {
  Endpoint at = endpoint;
  for (std::size_t n = 0; n <= kMostRedirects; ++n) {
    HttpGet get;
    get.host = at.host;
    get.port = at.port;
    get.target = at.target;
    get.shown = at.uri;
    get.max_bytes = max_bytes;
    get.patience = kPatienceBeyond;
    get.reading = progress;
    if (endpoint.recorded) {
      const std::chrono::nanoseconds all = *endpoint.recorded;
      get.patience += *endpoint.recorded;
      get.waiting = [&progress, all](milliseconds since) {
        const std::chrono::nanoseconds done = std::min<std::chrono::nanoseconds>(since, all);
        if (progress)
          progress(static_cast<std::uint64_t>(done.count()), static_cast<std::uint64_t>(all.count()));
      };
    }
    PROFD_TRY(HttpAnswer answer, http_get(get, stop));
    if (answer.status == 200) {
      OpenInput out;
      // As a file there would be called: readers look at how a name ends.
      const std::string_view name = base_name(endpoint.name);
      out.file = memory_source(std::move(answer.body), std::string(name.empty() ? endpoint.name : name));
      return out;
    }
    const bool leads_on = answer.status >= 301 && answer.status <= 308 && answer.status != 304;
    if (!leads_on) return tl::unexpected<Error>(status_error(answer, at));
    PROFD_TRY(at, redirected(at, answer.location));
  }
  return fail(ErrorCode::limit, fmt::format("{}: it sends on and on, {} times; name the address it means",
                                            endpoint.uri, kMostRedirects + 1));
}

std::string recording_text(const Endpoint& endpoint, std::uint64_t done, std::uint64_t total) {
  if (!endpoint.recorded) return {};
  const std::chrono::nanoseconds all = *endpoint.recorded;
  if (total != static_cast<std::uint64_t>(all.count())) return {};
  const auto so_far = std::chrono::duration_cast<seconds>(
      std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(done, total))));
  return fmt::format("recording, {} of {} s", so_far.count(), endpoint.recorded->count());
}

Result<OriginPtr> endpoint_origin(std::string_view uri, const OpenOptions& options) {
  PROFD_TRY(Endpoint endpoint, parse_endpoint(uri));
  return std::make_shared<const EndpointOrigin>(std::move(endpoint), options);
}

bool is_endpoint(const Origin& origin) {
  return dynamic_cast<const EndpointOrigin*>(&origin) != nullptr;
}

bool names_endpoint(std::string_view uri) {
  constexpr std::size_t kMostRounds = 16;  // of encoding within encoding
  std::string text(uri);
  for (std::size_t round = 0; round < kMostRounds; ++round) {
    if (has_address(text)) return true;
    std::string next = decoded_once(text);
    if (next == text) return false;
    text = std::move(next);
  }
  return true;
}

}  // namespace profd
