// What the inspector of Node says: the programs that it lists, answers, and what becomes of worker threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"

namespace profd {

// A program that the inspector lists.
struct InspectorTarget {
  std::string path;  // of its WebSocket
  std::string title, url;
};
Result<std::vector<InspectorTarget>> read_inspector_targets(std::string_view text);

enum class InspectorEvent : std::uint8_t {
  none,             // an answer, or an event that says nothing here
  at_end,           // the program is over and waits for whoever is attached to leave
  worker_attached,  // a worker thread has begun, or was there
  worker_detached,
  of_worker,  // what a worker says, as a message of its own
};

struct InspectorMessage {
  std::int64_t id = 0;       // of what was asked; 0: an event
  std::string_view profile;  // as it stands in the text that was read; "" none
  std::string error;         // why it was refused; "" it was not
  InspectorEvent event = InspectorEvent::none;
  std::string session;  // of the worker that an event is of
  std::string worker;   // "hasher (worker 1)", "pool.js (worker 2)": of one that is attached
  std::string message;  // of a worker
};
Result<InspectorMessage> read_inspector_message(std::string_view text);

// What is asked, as text; `params`: an object, "" none.
std::string inspector_request(std::int64_t id, std::string_view method, std::string_view params);
// The same of a worker, sent through the program; `id` is of the sending.
std::string worker_request(std::int64_t id, std::string_view session, std::string_view request);

}  // namespace profd
