// JsonWriter: how commands write JSON. The caller opens and closes in order; commas are the writer's. The
// text is added to `out` when the outermost object or array is closed.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/metric.h"
#include "protocol/json_text.h"

namespace profd {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}
  // `n_bytes`: about how many there will be.
  JsonWriter(std::string& out, std::size_t n_bytes) : out_(out) { json_.reserve(n_bytes); }

  void begin_object() {
    begin_value();
    json_.begin_object();
    ++depth_;
  }
  void end_object() {
    json_.end_object();
    end_level();
  }
  void begin_array() {
    begin_value();
    json_.begin_array();
    ++depth_;
  }
  void end_array() {
    json_.end_array();
    end_level();
  }

  void key(std::string_view name) {
    json_.key(name);
    after_key_ = true;
  }
  void value(std::string_view text) {
    begin_value();
    json_.string(text);
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(bool b) {
    begin_value();
    json_.boolean(b);
  }
  template <std::integral T>
  requires(!std::same_as<T, bool>) void value(T number) {
    begin_value();
    if constexpr (std::signed_integral<T>)
      json_.integer(number);
    else
      json_.natural(number);
  }
  // JSON has no NaN and no infinity: they are null.
  void value(double number) {
    begin_value();
    json_.real(number);
  }
  void value(const Value& number) {
    if (const auto* integer = std::get_if<std::int64_t>(&number)) {
      value(*integer);
    } else {
      value(std::get<double>(number));
    }
  }
  template <class T>
  void value(const std::optional<T>& v) {
    if (v)
      value(*v);
    else
      null();
  }
  void null() {
    begin_value();
    json_.null();
  }

  template <class T>
  void field(std::string_view name, const T& v) {
    key(name);
    value(v);
  }

 private:
  void begin_value() {
    if (!std::exchange(after_key_, false) && depth_ > 0) json_.item();
  }
  void end_level() {
    if (--depth_ == 0) out_ += std::move(json_).take();
  }

  std::string& out_;
  protocol::JsonText json_;
  std::size_t depth_ = 0;
  bool after_key_ = false;
};

}  // namespace profd
