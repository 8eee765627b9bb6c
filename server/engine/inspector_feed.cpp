#include "server/engine/inspector_feed.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "core/support/executor.h"
#include "formats/open.h"
#include "server/engine/endpoint_origin.h"
#include "server/engine/inspector_messages.h"
#include "server/engine/sample_waits.h"
#include "server/platform/http_get.h"
#include "server/platform/web_socket_client.h"

namespace profd {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::string_view kSocketBegin = "ws://", kInspectorBegin = "inspector:";
constexpr milliseconds kProfileEach{250}, kProfileAtMost{1000};
// Until a profiler is started the program waits, and that time is in no profile: a batch is so many times as
// long.
constexpr int kTimesStarting = 10;
constexpr std::uint64_t kIntervalUs = 1000;
// A program that computes answers when it is through with what it does.
constexpr milliseconds kAnswerPatience{30'000};
constexpr std::size_t kMostOfMessage = std::size_t{64} << 20;
constexpr std::size_t kMostOfList = std::size_t{1} << 20;
constexpr milliseconds kWorkerGlance{5};

// Workers that answer later than the main thread are waited for so long; one that is in a call that nothing
// interrupts answers in a later batch.
constexpr milliseconds kWorkerPatience{100};
constexpr std::size_t kMostWorkers = 128;

// A thread that is profiled.
struct InspectedThread {
  std::string session;  // of the worker; "" the main thread
  std::string name;
  std::int64_t stopped = 0;  // what its profile answers; 0: none is asked for
  bool answered = false;
  std::string profile = {};  // that was answered; "" it was refused
};

class InspectorFeed final : public SampleFeed {
 public:
  InspectorFeed(Endpoint place, std::string path) : place_(std::move(place)), path_(std::move(path)) {}

  Result<std::optional<SampleBatch>> next(const StopToken& stop) override {
    if (!socket_) {
      PROFD_CHECK(connect(stop));
      // Without it Node waits at its end for whoever is attached, and does not say so.
      PROFD_CHECK(send("NodeRuntime.notifyWhenWaitingForDisconnect", R"({"enabled":true})", stop));
      PROFD_CHECK(ask("Profiler.enable", "", stop));
      PROFD_CHECK(ask("Profiler.setSamplingInterval", interval(), stop));
      PROFD_CHECK(ask("Profiler.start", "", stop));
      threads_.push_back({"", "main"});
      began_ = steady_clock::now();
      // Runtimes without workers refuse it.
      PROFD_CHECK(send("NodeWorker.enable", R"({"waitForDebuggerOnStart":false})", stop));
    }
    auto taken = next_batch(stop);
    if (taken) return std::optional<SampleBatch>(std::move(*taken));
    PROFD_CHECK(stop.status());
    if (seen_ && (ended_ || socket_->closed())) return std::optional<SampleBatch>();
    return tl::unexpected<Error>(std::move(taken).error());
  }

  SampleSource source() const override {
    SampleSource source;
    source.text = fmt::format("inspector ws://{}:{}, the main thread and its workers{}", place_.host,
                              place_.port, left_out_ ? fmt::format(", {} of them", kMostWorkers) : "");
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
    auto targets =
        list.status == 200 ? read_inspector_targets(list.body) : Result<std::vector<InspectorTarget>>();
    if (list.status != 200 || !targets || targets->empty())
      return fail(ErrorCode::io, fmt::format("{}: no inspector answers there; start the program with "
                                             "node --inspect={}, or send a running one SIGUSR1",
                                             shown(), place_.port));
    const auto found =
        path_ == "/" ? targets->begin()
                     : std::find_if(targets->begin(), targets->end(),
                                    [&](const InspectorTarget& target) { return target.path == path_; });
    if (found == targets->end())
      return fail(ErrorCode::not_found, fmt::format("{}: the inspector has nothing at {}", shown(), path_));
    const std::string_view named = found->url.empty() ? found->title : std::string_view(found->url);
    program_ = base_name(named);
    PROFD_TRY(socket_, WebSocketClient::connect({place_.host, place_.port, found->path, shown()},
                                                kMostOfMessage, stop));
    return {};
  }

  static std::string interval() { return fmt::format(R"({{"interval":{}}})", kIntervalUs); }

  Result<std::int64_t> send(std::string_view method, std::string_view params, const StopToken& stop) {
    const std::int64_t id = ++n_asked_;
    PROFD_CHECK(socket_->send(inspector_request(id, method, params), stop));
    return id;
  }

  Result<std::int64_t> send_to(const InspectedThread& thread, std::string_view method,
                               std::string_view params, const StopToken& stop) {
    if (thread.session.empty()) return send(method, params, stop);
    const std::int64_t id = ++n_asked_;
    PROFD_CHECK(socket_->send(
        worker_request(++n_asked_, thread.session, inspector_request(id, method, params)), stop));
    return id;
  }

  Result<void> ask(std::string_view method, std::string_view params, const StopToken& stop) {
    PROFD_TRY(const std::int64_t id, send(method, params, stop));
    return wait_for_answer(id, stop);
  }

  Result<void> wait_for_answer(std::int64_t id, const StopToken& stop) {
    while (true) {
      PROFD_TRY(const std::string text, socket_->receive(kAnswerPatience, stop));
      PROFD_TRY(const std::int64_t answered, take(text, stop));
      if (answered == id) return {};
    }
  }

  // What has come and comes up to then.
  Result<void> listen_until(steady_clock::time_point until, const StopToken& stop) {
    while (true) {
      const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
      if (left.count() <= 0) return {};
      PROFD_TRY(const auto text, socket_->receive_within(left, stop));
      if (text) PROFD_CHECK(take(*text, stop));
    }
  }

  // What the main thread answers to; 0: it is something else. Fails for what it refuses, and at its end.
  Result<std::int64_t> take(std::string_view text, const StopToken& stop) {
    PROFD_TRY(InspectorMessage message, read_inspector_message(text));
    switch (message.event) {
      case InspectorEvent::at_end:
        ended_ = true;
        return fail(ErrorCode::io, fmt::format("{}: the program has ended", shown()));
      case InspectorEvent::worker_attached:
        PROFD_CHECK(follow(std::move(message), stop));
        return std::int64_t{0};
      case InspectorEvent::worker_detached:
        threads_.erase(
            std::remove_if(threads_.begin(), threads_.end(),
                           [&](const InspectedThread& there) { return is_worker(there, message.session); }),
            threads_.end());
        return std::int64_t{0};
      case InspectorEvent::of_worker: {
        PROFD_TRY(const InspectorMessage answer, read_inspector_message(message.message));
        for (InspectedThread& thread : threads_)
          if (is_worker(thread, message.session)) take_answer(thread, answer);
        return std::int64_t{0};
      }
      case InspectorEvent::none:
        break;
    }
    InspectedThread* const main = threads_.empty() ? nullptr : &threads_.front();
    const bool is_profile = main != nullptr && message.id != 0 && message.id == main->stopped;
    if (is_profile) take_answer(*main, message);
    if (!message.error.empty() && (main == nullptr || is_profile))
      return fail(ErrorCode::io, fmt::format("{}: the inspector refuses: {}", shown(), message.error));
    return message.id;
  }

  static bool is_worker(const InspectedThread& thread, std::string_view session) {
    return !session.empty() && thread.session == session;
  }

  static void take_answer(InspectedThread& thread, const InspectorMessage& answer) {
    if (answer.id == 0 || answer.id != thread.stopped) return;
    thread.answered = true;
    thread.profile = answer.profile;
  }

  Result<void> follow(InspectorMessage worker, const StopToken& stop) {
    if (threads_.size() > kMostWorkers) left_out_ = true;
    if (threads_.empty() || left_out_) return {};
    threads_.push_back({std::move(worker.session), std::move(worker.worker)});
    const InspectedThread thread = threads_.back();
    PROFD_CHECK(send_to(thread, "Profiler.enable", "", stop));
    PROFD_CHECK(send_to(thread, "Profiler.setSamplingInterval", interval(), stop));
    PROFD_CHECK(send_to(thread, "Profiler.start", "", stop));
    return {};
  }

  Result<SampleBatch> next_batch(const StopToken& stop) {
    PROFD_CHECK(listen_until(began_ + each_, stop));
    // Both at once, so that next to no time lies between two profiles.
    std::int64_t started = 0;
    for (InspectedThread& thread : threads_) {
      if (thread.stopped != 0) continue;
      PROFD_TRY(thread.stopped, send_to(thread, "Profiler.stop", "", stop));
      PROFD_TRY(const std::int64_t start, send_to(thread, "Profiler.start", "", stop));
      if (thread.session.empty()) started = start;
    }
    SampleBatch batch;
    batch.from = began_;
    while (!threads_.front().answered) {
      PROFD_TRY(const std::string text, socket_->receive(kAnswerPatience, stop));
      PROFD_CHECK(take(text, stop));
    }
    batch.to = steady_clock::now();
    began_ = batch.to;
    PROFD_CHECK(wait_for_answer(started, stop));
    const auto starting = std::chrono::duration_cast<milliseconds>(steady_clock::now() - batch.to);
    each_ = std::clamp(kTimesStarting * starting, kProfileEach, kProfileAtMost);
    const auto until = steady_clock::now() + kWorkerPatience;
    while (steady_clock::now() < until &&
           std::any_of(threads_.begin(), threads_.end(),
                       [](const InspectedThread& thread) { return thread.stopped != 0 && !thread.answered; }))
      PROFD_CHECK(listen_until(std::min(until, steady_clock::now() + kWorkerGlance), stop));
    for (InspectedThread& thread : threads_) {
      if (!thread.answered) continue;
      thread.stopped = 0;
      thread.answered = false;
      std::string text = std::exchange(thread.profile, {});
      // A worker that is not profiled yet, or by somebody else.
      if (text.empty() && !thread.session.empty()) continue;
      PROFD_TRY(ProfilePtr profile, profile_in(std::move(text), stop));
      if (thread.session.empty())
        batch.profile = std::move(profile);
      else
        batch.others.push_back({thread.name, std::move(profile)});
    }
    seen_ = true;
    return batch;
  }

  Result<ProfilePtr> profile_in(std::string text, const StopToken& stop) {
    if (text.empty()) return fail(ErrorCode::io, fmt::format("{}: the inspector gave no profile", shown()));
    OpenOptions options;
    options.format = "cpuprofile";
    PROFD_TRY(OpenedFile opened,
              open_profiles(memory_source(std::move(text), "live.cpuprofile"), options, executor_, stop));
    return opened.profiles.front();
  }

  Endpoint place_;
  std::string path_, program_;
  SerialExecutor executor_;
  std::unique_ptr<WebSocketClient> socket_;
  std::int64_t n_asked_ = 0;
  steady_clock::time_point began_;
  milliseconds each_ = kProfileEach;
  bool seen_ = false, ended_ = false;
  bool left_out_ = false;                 // there are more workers
  std::vector<InspectedThread> threads_;  // the main one first
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
