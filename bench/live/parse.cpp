// Parses JSON of ten megabytes by recursive descent, again and again: a line for each time, with
// when it began, in seconds, and the milliseconds of processor time that it took.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace json {

struct Value {
  std::vector<Value> items;
  std::vector<std::pair<std::string, Value>> members;
  std::string text;
  double number = 0;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}
  Value value() {
    skip_space();
    switch (peek()) {
      case '{':
        return object();
      case '[':
        return array();
      case '"': {
        Value value;
        value.text = string();
        return value;
      }
      default:
        return number();
    }
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  char next() { return at_ < text_.size() ? text_[at_++] : '\0'; }
  void skip_space() {
    while (peek() == ' ' || peek() == '\n') next();
  }
  bool take(char c) {
    skip_space();
    if (peek() != c) return false;
    next();
    return true;
  }
  Value object() {
    Value value;
    next();
    while (!take('}')) {
      skip_space();
      std::string name = string();
      take(':');
      value.members.emplace_back(std::move(name), this->value());
      take(',');
    }
    return value;
  }
  Value array() {
    Value value;
    next();
    while (!take(']')) {
      value.items.push_back(this->value());
      take(',');
    }
    return value;
  }
  std::string string() {
    std::string out;
    next();
    for (char c = next(); c != '"' && c != '\0'; c = next()) out += c == '\\' ? next() : c;
    return out;
  }
  Value number() {
    Value value;
    char* end = nullptr;
    value.number = std::strtod(text_.data() + at_, &end);
    at_ = end == text_.data() + at_ ? at_ + 1 : static_cast<std::size_t>(end - text_.data());
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace json

static std::string made(std::size_t n_bytes) {
  std::string out = "[";
  for (int i = 0; out.size() < n_bytes; ++i)
    out += "{\"name\": \"part " + std::to_string(i) + "\", \"number\": " + std::to_string(i * 7919) +
           ", \"tags\": [\"a\", \"b\", [1, 2.5, 3]], \"of\": {\"x\": " + std::to_string(i) + "}},\n";
  return out + "0]";
}

// Of this thread: other programs beside it change little.
static double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 10;
  const std::string text = made(10'000'000);
  using Clock = std::chrono::steady_clock;
  const auto begun = Clock::now();
  auto since = [&](Clock::time_point at) { return std::chrono::duration<double>(Clock::now() - at).count(); };
  std::size_t n = 0;
  while (since(begun) < seconds) {
    const double from = since(begun), before = processor_ms();
    n += json::Parser(text).value().items.size();
    std::printf("%.3f %.3f\n", from, processor_ms() - before);
  }
  std::printf("parsed %zu\n", n);
}
