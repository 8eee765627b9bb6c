#include "server/engine/inspector_messages.h"

#include <utility>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "formats/support/json_cursor.h"

namespace profd {
namespace {

constexpr std::uint32_t kInspectorDepth = 256;
constexpr std::string_view kNoName = "WorkerThread";  // what Node calls workers that were given no name
constexpr std::string_view kSocketScheme = "ws://";

std::string path_of_socket(std::string_view url) {
  if (url.starts_with(kSocketScheme)) url.remove_prefix(kSocketScheme.size());
  const std::size_t slash = url.find('/');
  return slash == std::string_view::npos ? "/" : std::string(url.substr(slash));
}

InspectorEvent event_of(std::string_view method) {
  if (method == "NodeRuntime.waitingForDisconnect") return InspectorEvent::at_end;
  if (method == "NodeWorker.attachedToWorker") return InspectorEvent::worker_attached;
  if (method == "NodeWorker.detachedFromWorker") return InspectorEvent::worker_detached;
  if (method == "NodeWorker.receivedMessageFromWorker") return InspectorEvent::of_worker;
  return InspectorEvent::none;
}

// "[worker 1] hasher" of file:///w/pool.js.
std::string worker_name(const std::string& id, std::string_view title, std::string_view url) {
  const std::size_t bracket = title.find(']');
  std::string_view own = bracket == std::string_view::npos ? title : title.substr(bracket + 1);
  while (own.starts_with(' ')) own.remove_prefix(1);
  if (own.empty() || own == kNoName) own = base_name(url);
  return own.empty() ? fmt::format("worker {}", id) : fmt::format("{} (worker {})", own, id);
}

void read_worker(JsonCursor& in, InspectorMessage& message) {
  std::string id, title, url;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "workerId")
      id = in.string();
    else if (key == "title")
      title = in.string();
    else if (key == "url")
      url = in.string();
    else
      in.skip();
  }
  message.worker = worker_name(id, title, url);
}

void read_params(JsonCursor& in, InspectorMessage& message) {
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "sessionId")
      message.session = in.string();
    else if (key == "message" && in.kind() == JsonKind::string)
      message.message = in.string();
    else if (key == "workerInfo" && in.kind() == JsonKind::object)
      read_worker(in, message);
    else
      in.skip();
  }
}

}  // namespace

Result<std::vector<InspectorTarget>> read_inspector_targets(std::string_view text) {
  std::vector<InspectorTarget> targets;
  JsonCursor in(text, kInspectorDepth);
  for (in.begin_array(); in.next_element();) {
    InspectorTarget target;
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

Result<InspectorMessage> read_inspector_message(std::string_view text) {
  InspectorMessage message;
  JsonCursor in(text, kInspectorDepth);
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "id") {
      message.id = in.integer();
    } else if (key == "method") {
      message.event = event_of(in.string());
    } else if (key == "params" && in.kind() == JsonKind::object) {
      read_params(in, message);
    } else if (key == "result" && in.kind() == JsonKind::object) {
      for (in.begin_object(); in.next_key(key);) {
        const std::uint64_t begin = in.offset();
        in.skip();
        if (key == "profile") message.profile = text.substr(begin, in.offset() - begin);
      }
    } else if (key == "error" && in.kind() == JsonKind::object) {
      for (in.begin_object(); in.next_key(key);) {
        if (key == "message")
          message.error = in.string();
        else
          in.skip();
      }
    } else {
      in.skip();
    }
  }
  PROFD_CHECK(in.finish());
  return message;
}

std::string inspector_request(std::int64_t id, std::string_view method, std::string_view params) {
  return fmt::format(R"({{"id":{},"method":"{}"{}{}}})", id, method, params.empty() ? "" : R"(,"params":)",
                     params);
}

std::string worker_request(std::int64_t id, std::string_view session, std::string_view request) {
  std::string escaped;
  for (const char c : request) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return inspector_request(id, "NodeWorker.sendMessageToWorker",
                           fmt::format(R"({{"sessionId":"{}","message":"{}"}})", session, escaped));
}

}  // namespace profd
