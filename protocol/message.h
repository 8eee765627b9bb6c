// One JSON-RPC message, checked to be one and not yet decoded further.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "protocol/any.h"
#include "protocol/json_parse.h"
#include "protocol/request_id.h"
#include "protocol/response_error.h"

namespace profd::protocol {

struct Message {
  enum class Kind : unsigned char { request, notification, response };
  Kind kind = Kind::notification;
  std::optional<RequestId> id;  // of requests and responses; a response to nothing in particular has none
  std::string method;           // of requests and notifications
  Any params;                   // null: none were sent
  Any result;                   // of responses
  std::optional<ResponseError> error;  // of responses
};

// A body that is no message. The id is known when the fault is elsewhere.
struct MessageFault {
  std::optional<RequestId> id;
  ResponseError error;
  bool answer = true;  // false: it looked like a response, and those are not answered
};

// Pure: large bodies can be parsed on any thread.
[[nodiscard]] tl::expected<Message, MessageFault> parse_message(std::string_view body,
                                                                const JsonLimits& limits = {});

// The id of a body that there is no memory to parse; nothing when it has none, or stands behind what cannot
// be had either. Builds nothing of the message.
[[nodiscard]] std::optional<RequestId> find_request_id(std::string_view body);

// An id as it is written in a message; nothing where it is neither a string nor an integer.
[[nodiscard]] std::optional<RequestId> request_id_of(std::string_view json);

// Bodies of messages. `params` and `result` are JSON text; "" stands for no params.
[[nodiscard]] std::string request_text(const RequestId& id, std::string_view method, std::string_view params);
[[nodiscard]] std::string notification_text(std::string_view method, std::string_view params);
[[nodiscard]] std::string result_text(const RequestId& id, std::string_view result);
[[nodiscard]] std::string error_text(const std::optional<RequestId>& id, const ResponseError& error);

}  // namespace profd::protocol
