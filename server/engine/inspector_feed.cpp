#include "server/engine/inspector_feed.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "core/support/executor.h"
#include "formats/open.h"
#include "formats/support/json_cursor.h"
#include "server/engine/endpoint_origin.h"
#include "server/engine/sample_waits.h"
#include "server/platform/http_get.h"
#include "server/platform/web_socket_client.h"

namespace profd {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kSocketBegin = "ws://", kInspectorBegin = "inspector:";
constexpr milliseconds kProfileEach{250};
constexpr std::uint64_t kIntervalUs = 1000;
// A program that computes answers when it is through with what it does.
constexpr milliseconds kAnswerPatience{30'000};
constexpr std::size_t kMostOfMessage = std::size_t{64} << 20;
constexpr std::size_t kMostOfList = std::size_t{1} << 20;
constexpr std::uint32_t kInspectorDepth = 256;

// A program that the inspector lists.
struct Target {
  std::string path;  // of its WebSocket
  std::string title, url;
};

std::string path_of_socket(std::string_view url) {
  if (url.starts_with(kSocketBegin)) url.remove_prefix(kSocketBegin.size());
  const std::size_t slash = url.find('/');
  return slash == std::string_view::npos ? "/" : std::string(url.substr(slash));
}

Result<std::vector<Target>> read_targets(std::string_view text) {
  std::vector<Target> targets;
  JsonCursor in(text, kInspectorDepth);
  for (in.begin_array(); in.next_element();) {
    Target target;
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      if (key == "webSocketDebuggerUrl")
        target.path = path_of_socket(in.string());
      else if (key == "title")
        target.title = in.string();
      else if (key == "url")
        target.url = in.string();
      else
        in.skip();
    }
    if (!target.path.empty()) targets.push_back(std::move(target));
  }
  PROFD_CHECK(in.finish());
  return targets;
}

// An answer of the inspector: what it is to, and the profile or error that it has, as it stands there.
struct InspectorAnswer {
  std::int64_t id = 0;  // 0: an event, which is no answer
  bool at_end = false;  // the event that the program is over and waits for whoever is attached to leave
  std::string_view profile;
  std::string error;
};

Result<InspectorAnswer> read_answer(std::string_view text) {
  InspectorAnswer answer;
  JsonCursor in(text, kInspectorDepth);
  auto slice = [&] {
    const std::uint64_t begin = in.offset();
    in.skip();
    return text.substr(begin, in.offset() - begin);
  };
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "id") {
      answer.id = in.integer();
    } else if (key == "method") {
      answer.at_end = in.string() == "NodeRuntime.waitingForDisconnect";
    } else if (key == "result" && in.kind() == JsonKind::object) {
      for (in.begin_object(); in.next_key(key);) {
        if (key == "profile")
          answer.profile = slice();
        else
          in.skip();
      }
    } else if (key == "error" && in.kind() == JsonKind::object) {
      for (in.begin_object(); in.next_key(key);) {
        if (key == "message")
          answer.error = in.string();
        else
          in.skip();
      }
    } else {
      in.skip();
    }
  }
  PROFD_CHECK(in.finish());
  return answer;
}

class InspectorFeed final : public SampleFeed {
 public:
  InspectorFeed(Endpoint place, std::string path) : place_(std::move(place)), path_(std::move(path)) {}

  Result<std::optional<SampleBatch>> next(const StopToken& stop) override {
    if (!socket_) {
      PROFD_CHECK(connect(stop));
      // Without it Node waits at its end for whoever is attached, and does not say so.
      PROFD_CHECK(send("NodeRuntime.notifyWhenWaitingForDisconnect", R"({"enabled":true})", stop));
      PROFD_CHECK(ask("Profiler.enable", "", stop));
      PROFD_CHECK(
          ask("Profiler.setSamplingInterval", fmt::format(R"({{"interval":{}}})", kIntervalUs), stop));
      PROFD_CHECK(ask("Profiler.start", "", stop));
      began_ = steady_clock::now();
    }
    PROFD_CHECK(wait_until(began_ + kProfileEach, stop));
    auto taken = take(stop);
    if (taken) return std::optional<SampleBatch>(std::move(*taken));
    PROFD_CHECK(stop.status());
    if (seen_ && (ended_ || socket_->closed())) return std::optional<SampleBatch>();
    return tl::unexpected<Error>(std::move(taken).error());
  }

  SampleSource source() const override {
    SampleSource source;
    source.text = fmt::format("inspector ws://{}:{}, the main thread", place_.host, place_.port);
    source.program = program_;
    source.language = "javascript";
    source.period_ns = kIntervalUs * 1000;
    source.thread = "main";
    return source;
  }

 private:
  [[nodiscard]] std::string shown() const { return fmt::format("ws://{}:{}", place_.host, place_.port); }

  Result<void> connect(const StopToken& stop) {
    HttpGet get;
    get.host = place_.host;
    get.port = place_.port;
    get.target = "/json/list";
    get.shown = shown();
    get.max_bytes = kMostOfList;
    PROFD_TRY(const HttpAnswer list, http_get(get, stop));
    auto targets = list.status == 200 ? read_targets(list.body) : Result<std::vector<Target>>();
    if (list.status != 200 || !targets || targets->empty())
      return fail(ErrorCode::io, fmt::format("{}: no inspector answers there; start the program with "
                                             "node --inspect={}, or send a running one SIGUSR1",
                                             shown(), place_.port));
    const auto found = path_ == "/"
                           ? targets->begin()
                           : std::find_if(targets->begin(), targets->end(),
                                          [&](const Target& target) { return target.path == path_; });
    if (found == targets->end())
      return fail(ErrorCode::not_found, fmt::format("{}: the inspector has nothing at {}", shown(), path_));
    const std::string_view named = found->url.empty() ? found->title : std::string_view(found->url);
    program_ = base_name(named);
    PROFD_TRY(socket_, WebSocketClient::connect({place_.host, place_.port, found->path, shown()},
                                                kMostOfMessage, stop));
    return {};
  }

  Result<std::int64_t> send(std::string_view method, std::string_view params, const StopToken& stop) {
    const std::int64_t id = ++n_asked_;
    PROFD_CHECK(socket_->send(fmt::format(R"({{"id":{},"method":"{}"{}{}}})", id, method,
                                          params.empty() ? "" : R"(,"params":)", params),
                              stop));
    return id;
  }

  // The answer to `id`, as text; what it says lies in `message_`.
  Result<InspectorAnswer> answer_to(std::int64_t id, const StopToken& stop) {
    while (true) {
      PROFD_TRY(message_, socket_->receive(kAnswerPatience, stop));
      PROFD_TRY(InspectorAnswer answer, read_answer(message_));
      ended_ = ended_ || answer.at_end;
      if (ended_) return fail(ErrorCode::io, fmt::format("{}: the program has ended", shown()));
      if (answer.id != id) continue;
      if (!answer.error.empty())
        return fail(ErrorCode::io, fmt::format("{}: the inspector refuses: {}", shown(), answer.error));
      return answer;
    }
  }

  Result<void> ask(std::string_view method, std::string_view params, const StopToken& stop) {
    PROFD_TRY(const std::int64_t id, send(method, params, stop));
    PROFD_CHECK(answer_to(id, stop));
    return {};
  }

  Result<SampleBatch> take(const StopToken& stop) {
    // Both at once, so that next to no time lies between two profiles.
    PROFD_TRY(const std::int64_t stopped, send("Profiler.stop", "", stop));
    PROFD_TRY(const std::int64_t started, send("Profiler.start", "", stop));
    SampleBatch batch;
    batch.from = began_;
    PROFD_TRY(const InspectorAnswer answer, answer_to(stopped, stop));
    batch.to = steady_clock::now();
    std::string text(answer.profile);
    PROFD_CHECK(answer_to(started, stop));
    began_ = batch.to;
    if (text.empty()) return fail(ErrorCode::io, fmt::format("{}: the inspector gave no profile", shown()));
    OpenOptions options;
    options.format = "cpuprofile";
    PROFD_TRY(OpenedFile opened,
              open_profiles(memory_source(std::move(text), "live.cpuprofile"), options, executor_, stop));
    batch.profile = opened.profiles.front();
    seen_ = true;
    return batch;
  }

  Endpoint place_;
  std::string path_, program_, message_;
  SerialExecutor executor_;
  std::unique_ptr<WebSocketClient> socket_;
  std::int64_t n_asked_ = 0;
  steady_clock::time_point began_;
  bool seen_ = false, ended_ = false;
};

}  // namespace

bool names_inspector(std::string_view text) {
  return text.starts_with(kSocketBegin) || text.starts_with(kInspectorBegin);
}

Result<std::unique_ptr<SampleFeed>> inspector_feed(std::string_view address) {
  std::string place(address);
  if (address.starts_with(kInspectorBegin)) {
    const std::string_view rest = address.substr(kInspectorBegin.size());
    const bool port_alone = !rest.empty() && rest.find_first_not_of("0123456789") == std::string_view::npos;
    place = port_alone ? fmt::format("127.0.0.1:{}", rest) : std::string(rest);
  } else {
    place = address.substr(std::min(address.size(), kSocketBegin.size()));
  }
  PROFD_TRY(Endpoint endpoint, parse_endpoint("http://" + place));
  std::string path = endpoint.target;
  return std::make_unique<InspectorFeed>(std::move(endpoint), std::move(path));
}

}  // namespace profd
