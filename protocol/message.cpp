#include "protocol/message.h"

#include <charconv>
#include <cmath>
#include <new>
#include <utility>

#include <nlohmann/json.hpp>

#include "protocol/codec.h"
#include "protocol/encode.h"
#include "protocol/json_memory.h"
#include "protocol/json_spans.h"

namespace profd::protocol {

namespace {

using psp::ErrorCodes;

constexpr std::string_view kVersion = R"({"jsonrpc":"2.0")";

std::optional<RequestId> read_id(const Json& value) {
  if (value.is_string()) return RequestId(value.get<std::string>());
  if (auto integer = integer_within(value, -kMaxSafeInteger, kMaxSafeInteger)) return RequestId(*integer);
  return std::nullopt;
}

std::string member(std::string_view name, std::string_view json) {
  std::string out = ",\"";
  out += name;
  out += "\":";
  out += json;
  return out;
}

ResponseError read_error(Json& json) {
  ResponseError error;
  if (!json.is_object()) {
    error.message = "malformed error object";
    return error;
  }
  if (auto code = json.find("code"); code != json.end())
    if (auto integer = integer_within(*code, std::numeric_limits<std::int32_t>::min(),
                                      std::numeric_limits<std::int32_t>::max()))
      error.code = static_cast<ErrorCodes>(*integer);
  if (auto text = json.find("message"); text != json.end() && text->is_string())
    error.message = text->get<std::string>();
  if (auto data = json.find("data"); data != json.end()) error.data = Any(std::move(*data));
  return error;
}

}  // namespace

ResponseError::ResponseError(psp::ErrorCodes error_code, std::string text, const psp::ErrorData& error_data)
    : code(error_code), message(std::move(text)), data(psp::encode(error_data)) {}

std::string RequestId::json() const {
  if (const auto* integer = number()) return std::to_string(*integer);
  return dump_json(*text());
}

tl::expected<Message, MessageFault> parse_message(std::string_view body, const JsonLimits& limits) {
  auto parsed = parse_json(body, limits);
  if (!parsed)
    return tl::make_unexpected(
        MessageFault{std::nullopt, {ErrorCodes::parse_error, "not JSON: " + parsed.error().message}});
  Json& json = *parsed;
  const TakenApart what_is_left(json);
  MessageFault fault{std::nullopt, {ErrorCodes::invalid_request, {}}};
  auto invalid = [&](std::string why) {
    fault.error.message = std::move(why);
    return tl::make_unexpected(std::move(fault));
  };
  if (json.is_array()) return invalid("batches are not supported: send one message at a time");
  if (!json.is_object()) return invalid("a message must be a JSON object");

  const auto id = json.find("id");
  if (id != json.end()) fault.id = read_id(*id);
  const auto method = json.find("method");
  fault.answer = method != json.end() || (!json.contains("result") && !json.contains("error"));
  const auto version = json.find("jsonrpc");
  if (version == json.end() || *version != "2.0") return invalid("jsonrpc must be \"2.0\"");
  if (id != json.end() && !fault.id && !(id->is_null() && method == json.end()))
    return invalid("id must be a string or an integer");

  Message message;
  message.id = fault.id;
  if (method != json.end()) {
    if (!method->is_string()) return invalid("method must be a string");
    message.kind = message.id ? Message::Kind::request : Message::Kind::notification;
    message.method = method->get<std::string>();
    if (auto params = json.find("params"); params != json.end()) message.params = Any(std::move(*params));
    return message;
  }
  message.kind = Message::Kind::response;
  const auto result = json.find("result");
  const auto error = json.find("error");
  // Some peers send "error": null beside a result.
  if (error != json.end() && !error->is_null()) {
    message.error = read_error(*error);
  } else if (result != json.end()) {
    message.result = Any(std::move(*result));
  } else {
    return invalid("a message needs a method, a result or an error");
  }
  return message;
}

std::optional<RequestId> request_id_of(std::string_view value) {
  if (value.empty()) return std::nullopt;
  if (value.front() == '"') {
    auto text = json_string(value);
    if (!text) return std::nullopt;
    return RequestId(std::move(*text));
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size()) return std::nullopt;
  return RequestId(number);
}

std::optional<RequestId> find_request_id(std::string_view body) try {
  return request_id_of(json_member(body, "id"));
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

std::string request_text(const RequestId& id, std::string_view method, std::string_view params) {
  std::string out(kVersion);
  out += member("id", id.json());
  out += member("method", dump_json(std::string(method)));
  if (!params.empty()) out += member("params", params);
  return out + "}";
}

std::string notification_text(std::string_view method, std::string_view params) {
  std::string out(kVersion);
  out += member("method", dump_json(std::string(method)));
  if (!params.empty()) out += member("params", params);
  return out + "}";
}

std::string result_text(const RequestId& id, std::string_view result) {
  std::string out;
  out.reserve(result.size() + 64);
  out += kVersion;
  out += member("id", id.json());
  out += ",\"result\":";
  out += result;
  out += '}';
  return out;
}

std::string error_text(const std::optional<RequestId>& id, const ResponseError& error) {
  Json json = {{"code", static_cast<std::int32_t>(error.code)}, {"message", error.message}};
  if (!error.data->is_null()) json["data"] = *error.data;
  std::string out(kVersion);
  out += member("id", id ? id->json() : "null");
  out += member("error", dump_json(json));
  return out + "}";
}

}  // namespace profd::protocol
