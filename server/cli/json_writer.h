// JsonWriter: JSON straight into a buffer, without a document in between. The caller opens and closes in
// order; commas are the writer's. Text must be UTF-8 (a profile's always is); control characters are escaped.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/model/metric.h"

namespace profd {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }

  void key(std::string_view name) {
    comma();
    quote(name);
    out_ += ':';
    fresh_ = true;
  }

  void value(std::string_view text) {
    comma();
    quote(text);
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(bool b) {
    comma();
    out_ += b ? "true" : "false";
  }
  template <std::integral T>
  requires(!std::same_as<T, bool>) void value(T number) {
    comma();
    const fmt::format_int text(number);
    out_.append(text.data(), text.size());
  }
  // JSON has no NaN and no infinity: they are null.
  void value(double number) {
    comma();
    if (!std::isfinite(number)) {
      out_ += "null";
    } else {
      fmt::format_to(std::back_inserter(out_), "{}", number);
    }
  }
  void value(const Value& number) {
    if (const auto* integer = std::get_if<std::int64_t>(&number)) {
      value(*integer);
    } else {
      value(std::get<double>(number));
    }
  }
  void null() {
    comma();
    out_ += "null";
  }

  template <class T>
  void field(std::string_view name, const T& v) {
    key(name);
    value(v);
  }

 private:
  void comma() {
    if (!fresh_) out_ += ',';
    fresh_ = false;
  }
  void open(char bracket) {
    comma();
    out_ += bracket;
    fresh_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    fresh_ = false;
  }
  void quote(std::string_view text) {
    out_ += '"';
    std::size_t plain = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7F) continue;
      out_.append(text.substr(plain, i - plain));
      plain = i + 1;
      if (c == '"' || c == '\\') {
        out_ += '\\';
        out_ += text[i];
      } else if (c == '\n') {
        out_ += "\\n";
      } else if (c == '\t') {
        out_ += "\\t";
      } else {
        fmt::format_to(std::back_inserter(out_), "\\u{:04x}", c);
      }
    }
    out_.append(text.substr(plain));
    out_ += '"';
  }

  std::string& out_;
  bool fresh_ = true;
};

}  // namespace profd
