// What a message is, as far as passing it on needs to know.
#pragma once

#include <string>
#include <string_view>

#include "protocol/json_spans.h"

namespace profd {

// Views into the body; "" where it has no such member.
struct MessageHead {
  std::string method;
  std::string_view id, params, result, error;
};

inline MessageHead read_head(std::string_view body) {
  MessageHead head;
  protocol::JsonMembers members(body);
  while (const auto member = members.next()) {
    if (member->key == "id")
      head.id = member->value;
    else if (member->key == "method")
      head.method = protocol::json_string(member->value).value_or("");
    else if (member->key == "params")
      head.params = member->value;
    else if (member->key == "result")
      head.result = member->value;
    else if (member->key == "error")
      head.error = member->value;
  }
  return head;
}

}  // namespace profd
