#include "protocol/json_parse.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "protocol/json_memory.h"

namespace profd::protocol {

namespace {

using Json = nlohmann::json;

// Builds the value as it goes and stops the parser (by returning false) at the first breach of a limit.
class BoundedBuilder : public nlohmann::json_sax<Json> {
 public:
  BoundedBuilder(const JsonLimits& limits, Json& root) : limits_(limits), root_(root) {}

  [[nodiscard]] const std::string& breach() const { return breach_; }
  [[nodiscard]] const JsonError& error() const { return error_; }

  bool null() override { return scalar(nullptr); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(number_integer_t value) override { return scalar(value); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(value); }
  bool number_float(number_float_t value, const string_t&) override { return scalar(value); }
  bool string(string_t& value) override { return scalar(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool key(string_t& value) override {
    slot_ = &(*open_.back())[std::move(value)];
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&, const Json::exception& exception) override {
    error_.byte = position == 0 ? 0 : position - 1;
    error_.message = exception.what();
    return false;
  }

 private:
  template <class T>
  bool scalar(T&& value) {
    return place(Json(std::forward<T>(value))) != nullptr;
  }

  bool open(Json container) {
    if (open_.size() >= limits_.max_depth) {
      breach_ = "nested deeper than " + std::to_string(limits_.max_depth) + " levels";
      return false;
    }
    Json* placed = place(std::move(container));
    if (placed == nullptr) return false;
    open_.push_back(placed);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  // Puts a value where the next one belongs. Pointers into open containers stay valid: a container gets no
  // further element while one of its elements is open.
  Json* place(Json value) {
    if (++n_values_ > limits_.max_values) {
      breach_ = "more than " + std::to_string(limits_.max_values) + " values";
      return nullptr;
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) return &parent.get_ref<Json::array_t&>().emplace_back(std::move(value));
    *slot_ = std::move(value);
    return slot_;
  }

  const JsonLimits& limits_;
  Json& root_;
  std::vector<Json*> open_;
  Json* slot_ = nullptr;  // where the value of the last key goes
  std::size_t n_values_ = 0;
  std::string breach_;
  JsonError error_;
};

// Counts what the parser took, so that a breach of a limit has a place as well.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    auto old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

// "[json.exception.parse_error.101] parse error at line 1, column 3: syntax error while ..." without the
// brackets and with one way to name the place.
std::string readable(const JsonError& error) {
  std::string text = error.message;
  if (const auto end = text.find("] "); text.rfind('[', 0) == 0 && end != std::string::npos)
    text.erase(0, end + 2);
  if (const auto colon = text.find(": "); text.rfind("parse error", 0) == 0 && colon != std::string::npos)
    text.erase(0, colon + 2);
  return text + " (byte " + std::to_string(error.byte) + ")";
}

}  // namespace

tl::expected<Json, JsonError> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes)
    return tl::make_unexpected(
        JsonError{limits.max_bytes, "message of " + std::to_string(text.size()) + " bytes; at most " +
                                        std::to_string(limits.max_bytes) + " are taken"});
  Json root;
  const TakenApart what_was_built(root);
  BoundedBuilder builder(limits, root);
  const char* furthest = text.data();
  const CountingIterator begin(text.data(), &furthest);
  const CountingIterator end(text.data() + text.size(), &furthest);
  if (Json::sax_parse(begin, end, &builder)) return root;
  if (!builder.breach().empty()) {
    const auto byte = static_cast<std::size_t>(furthest - text.data());
    const std::size_t offset = byte == 0 ? 0 : byte - 1;
    return tl::make_unexpected(
        JsonError{offset, builder.breach() + " (byte " + std::to_string(offset) + ")"});
  }
  return tl::make_unexpected(JsonError{builder.error().byte, readable(builder.error())});
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace profd::protocol
