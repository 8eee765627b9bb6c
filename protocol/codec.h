// Templates behind the generated codecs: one Codec for every C++ type that psp.json can ask for.
//
// Included by the generated .cpp files only (it pulls in all of nlohmann). Rules, the same in every language:
// unknown fields are ignored; null counts as absent for an optional field; a number with no fraction is an
// integer however it is written; integers are range-checked; limits of psp.json hold.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "protocol/any.h"
#include "protocol/json_text.h"
#include "protocol/number.h"
#include "protocol/open_enum.h"
#include "protocol/path.h"

namespace profd::protocol {

using Json = nlohmann::json;

// Integers that every peer can hold exactly, whatever its number type.
inline constexpr std::int64_t kMaxSafeInteger = (std::int64_t{1} << 53) - 1;

// The integer a JSON number stands for, if it is one within [low, high].
std::optional<std::int64_t> integer_within(const Json& value, std::int64_t low, std::int64_t high);
// "expected integer" or "expected integer from 0 to 10", whichever tells more about `value`.
bool fail_integer(const Json& value, std::int64_t low, std::int64_t high, const Path& path);

// The free functions beside a generated structure. Called from here because inside Codec its own members of
// the same name would hide them.
template <class T>
bool decode_structure(const Json& value, T& out, const Path& path) {
  return decode(value, out, path);
}
template <class T>
void write_structure(JsonText& out, const T& value) {
  write(out, value);
}

// Generated structures and integer enumerations.
template <class T>
struct Codec {
  static constexpr std::string_view kExpected = "object";
  static bool accepts(const Json& value) { return value.is_object(); }
  static bool decode(const Json& value, T& out, const Path& path) {
    if constexpr (std::is_enum_v<T>) {
      auto integer = integer_within(value, std::numeric_limits<std::int32_t>::min(),
                                    std::numeric_limits<std::int32_t>::max());
      if (!integer) return path.fail("expected integer");
      out = static_cast<T>(*integer);
      return true;
    } else {
      return decode_structure(value, out, path);
    }
  }
  static void write(JsonText& out, const T& value) {
    if constexpr (std::is_enum_v<T>) {
      out.integer(static_cast<std::int32_t>(value));
    } else {
      write_structure(out, value);
    }
  }
};

template <class T, std::int64_t kLow, std::int64_t kHigh>
struct IntegerCodec {
  static constexpr std::string_view kExpected = "integer";
  static bool accepts(const Json& value) { return value.is_number(); }
  static bool decode(const Json& value, T& out, const Path& path) {
    auto integer = integer_within(value, kLow, kHigh);
    if (!integer) return fail_integer(value, kLow, kHigh, path);
    out = static_cast<T>(*integer);
    return true;
  }
  static void write(JsonText& out, T value) { out.integer(value); }
};
template <>
struct Codec<std::int32_t> : IntegerCodec<std::int32_t, std::numeric_limits<std::int32_t>::min(),
                                          std::numeric_limits<std::int32_t>::max()> {};
template <>
struct Codec<std::uint32_t> : IntegerCodec<std::uint32_t, 0, std::numeric_limits<std::int32_t>::max()> {};
template <>
struct Codec<std::int64_t> : IntegerCodec<std::int64_t, -kMaxSafeInteger, kMaxSafeInteger> {};

template <>
struct Codec<double> {
  static constexpr std::string_view kExpected = "number";
  static bool accepts(const Json& value) { return value.is_number(); }
  static bool decode(const Json& value, double& out, const Path& path) {
    if (!value.is_number()) return path.fail("expected number");
    out = value.get<double>();
    return true;
  }
  static void write(JsonText& out, double value) { out.real(value); }
};

template <>
struct Codec<Number> {
  static constexpr std::string_view kExpected = "number";
  static bool accepts(const Json& value) { return value.is_number(); }
  static bool decode(const Json& value, Number& out, const Path& path);
  static void write(JsonText& out, const Number& value) {
    value.is_integer() ? out.integer(value.as_int64()) : out.real(value.as_double());
  }
};

template <>
struct Codec<bool> {
  static constexpr std::string_view kExpected = "boolean";
  static bool accepts(const Json& value) { return value.is_boolean(); }
  static bool decode(const Json& value, bool& out, const Path& path) {
    if (!value.is_boolean()) return path.fail("expected boolean");
    out = value.get<bool>();
    return true;
  }
  static void write(JsonText& out, bool value) { out.boolean(value); }
};

template <>
struct Codec<std::string> {
  static constexpr std::string_view kExpected = "string";
  static bool accepts(const Json& value) { return value.is_string(); }
  static bool decode(const Json& value, std::string& out, const Path& path) {
    if (!value.is_string()) return path.fail("expected string");
    out = value.get_ref<const std::string&>();
    return true;
  }
  static void write(JsonText& out, const std::string& value) { out.string(value); }
};

template <>
struct Codec<Any> {
  static constexpr std::string_view kExpected = "value";
  static bool accepts(const Json&) { return true; }
  static bool decode(const Json& value, Any& out, const Path&) {
    out = Any(value);  // depth was bounded by parse_json, so the copy is
    return true;
  }
  static void write(JsonText& out, const Any& value) { out.any(value); }
};

template <>
struct Codec<std::monostate> {
  static constexpr std::string_view kExpected = "null";
  static bool accepts(const Json& value) { return value.is_null(); }
  static bool decode(const Json& value, std::monostate&, const Path& path) {
    return value.is_null() || path.fail("expected null");
  }
  static void write(JsonText& out, std::monostate) { out.null(); }
};

template <class E>
struct Codec<OpenEnum<E>> {
  static constexpr std::string_view kExpected = "string";
  static bool accepts(const Json& value) { return value.is_string(); }
  static bool decode(const Json& value, OpenEnum<E>& out, const Path& path) {
    if (!value.is_string()) return path.fail("expected string");
    out = OpenEnum<E>::from_text(value.get<std::string>());
    return true;
  }
  static void write(JsonText& out, const OpenEnum<E>& value) { out.string(value.text()); }
};

template <class T>
struct Codec<std::vector<T>> {
  static constexpr std::string_view kExpected = "array";
  static bool accepts(const Json& value) { return value.is_array(); }
  static bool decode(const Json& value, std::vector<T>& out, const Path& path) {
    if (!value.is_array()) return path.fail("expected array");
    out.clear();
    out.reserve(value.size());
    for (const Json& item : value) {
      T element{};
      if (!Codec<T>::decode(item, element, path.index(out.size()))) return false;
      out.push_back(std::move(element));
    }
    return true;
  }
  static void write(JsonText& out, const std::vector<T>& value) {
    out.begin_array();
    for (const auto& element : value) {
      out.item();
      Codec<T>::write(out, element);
    }
    out.end_array();
  }
};

template <class T>
struct Codec<std::map<std::string, T>> {
  static constexpr std::string_view kExpected = "object";
  static bool accepts(const Json& value) { return value.is_object(); }
  static bool decode(const Json& value, std::map<std::string, T>& out, const Path& path) {
    if (!value.is_object()) return path.fail("expected object");
    out.clear();
    for (const auto& [key, item] : value.items())
      if (!Codec<T>::decode(item, out[key], path.field(key))) return false;
    return true;
  }
  static void write(JsonText& out, const std::map<std::string, T>& value) {
    out.begin_object();
    for (const auto& [key, item] : value) {
      out.key(key);
      Codec<T>::write(out, item);
    }
    out.end_object();
  }
};

// "T or null".
template <class T>
struct Codec<std::optional<T>> {
  static constexpr std::string_view kExpected = Codec<T>::kExpected;
  static bool accepts(const Json& value) { return value.is_null() || Codec<T>::accepts(value); }
  static bool decode(const Json& value, std::optional<T>& out, const Path& path) {
    out.reset();
    return value.is_null() || Codec<T>::decode(value, out.emplace(), path);
  }
  static void write(JsonText& out, const std::optional<T>& value) {
    value ? Codec<T>::write(out, *value) : out.null();
  }
};

// The first alternative that fits. When only one has the right kind of JSON value, its error is the one
// reported.
template <class... Ts>
struct Codec<std::variant<Ts...>> {
  using Variant = std::variant<Ts...>;
  static constexpr std::string_view kExpected = "value";
  static bool accepts(const Json& value) { return (Codec<Ts>::accepts(value) || ...); }
  static bool decode(const Json& value, Variant& out, const Path& path) {
    const int n_candidates = (static_cast<int>(Codec<Ts>::accepts(value)) + ...);
    if (n_candidates == 0) return path.fail(expected());
    bool done = false;
    ((done = done || (Codec<Ts>::accepts(value) && decode_as<Ts>(value, out, path, n_candidates == 1))), ...);
    return done || path.fail(expected());
  }
  static void write(JsonText& out, const Variant& value) {
    std::visit([&out](const auto& v) { Codec<std::decay_t<decltype(v)>>::write(out, v); }, value);
  }

 private:
  template <class T>
  static bool decode_as(const Json& value, Variant& out, const Path& path, bool only) {
    T alternative{};
    if (only) {
      if (!Codec<T>::decode(value, alternative, path)) return false;
    } else {
      Path::Root scratch("");
      if (!Codec<T>::decode(value, alternative, scratch)) return false;
    }
    out = std::move(alternative);
    return true;
  }
  static std::string expected() {
    std::string text = "expected ";
    std::size_t left = sizeof...(Ts);
    ((text += Codec<Ts>::kExpected, text += --left == 0 ? "" : left == 1 ? " or " : ", "), ...);
    return text;
  }
};

// Bounds that psp.json puts on a field, in the terms of its type.
struct Limits {
  double minimum = -std::numeric_limits<double>::infinity();
  double maximum = std::numeric_limits<double>::infinity();
  std::size_t max_items = std::numeric_limits<std::size_t>::max();
  std::size_t max_length = std::numeric_limits<std::size_t>::max();  // bytes of UTF-8
};
bool within(double value, const Limits& limits, const Path& path);
bool within(const std::string& value, const Limits& limits, const Path& path);
bool within_items(std::size_t n_items, const Limits& limits, const Path& path);
template <class T>
bool within(const std::vector<T>& value, const Limits& limits, const Path& path) {
  return within_items(value.size(), limits, path);
}

// Reads the fields of an object; stops at the first error.
class ObjectReader {
 public:
  ObjectReader(const Json& value, const Path& path) : value_(value), path_(path) {
    ok_ = value.is_object() || path.fail("expected object");
  }
  [[nodiscard]] bool ok() const { return ok_; }

  template <class T>
  ObjectReader& required(const char* name, T& out) {
    if (!ok_) return *this;
    const auto found = value_.find(name);
    ok_ = found != value_.end() ? Codec<T>::decode(*found, out, path_.field(name))
                                : path_.field(name).fail("missing");
    return *this;
  }
  // Absent and null leave `out` as it is: empty, or the default.
  template <class T>
  ObjectReader& optional(const char* name, std::optional<T>& out) {
    if (const Json* found = present(name)) ok_ = Codec<T>::decode(*found, out.emplace(), path_.field(name));
    return *this;
  }
  template <class T>
  ObjectReader& defaulted(const char* name, T& out) {
    if (const Json* found = present(name)) ok_ = Codec<T>::decode(*found, out, path_.field(name));
    return *this;
  }
  ObjectReader& literal(const char* name, const std::string& value, std::string_view expected) {
    if (ok_ && value != expected) ok_ = path_.field(name).fail("expected \"" + std::string(expected) + "\"");
    return *this;
  }
  template <class T>
  ObjectReader& limit(const char* name, const T& value, const Limits& limits) {
    if (ok_) ok_ = within(value, limits, path_.field(name));
    return *this;
  }
  template <class T>
  ObjectReader& limit(const char* name, const std::optional<T>& value, const Limits& limits) {
    return value ? limit(name, *value, limits) : *this;
  }

 private:
  const Json* present(const char* name) const {
    if (!ok_) return nullptr;
    const auto found = value_.find(name);
    return found == value_.end() || found->is_null() ? nullptr : &*found;
  }

  const Json& value_;
  const Path& path_;
  bool ok_;
};

// One field of an object.
template <class T>
void put(JsonText& out, std::string_view name, const T& value) {
  out.name(name);
  Codec<T>::write(out, value);
}
template <class T>
void put_optional(JsonText& out, std::string_view name, const std::optional<T>& value) {
  if (value) put(out, name, *value);
}

template <class T>
std::string text_of(const T& value) {
  JsonText out;
  Codec<T>::write(out, value);
  return std::move(out).take();
}

}  // namespace profd::protocol
