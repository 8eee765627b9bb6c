#include "tests/support/text_profile.h"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace profd::test {
namespace {

[[noreturn]] void bad(std::string_view what, std::string_view text) {
  throw std::invalid_argument(std::string(what) + ": " + std::string(text));
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

// Splits at `separator` outside of brackets.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']') --depth;
    if (i == text.size() || (text[i] == separator && depth == 0)) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return parts;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::string_view word : split(text, ' ')) {
    if (!trim(word).empty()) out.push_back(trim(word));
  }
  return out;
}

std::int64_t integer(std::string_view text) {
  std::int64_t value = 0;
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) bad("not a number", text);
  return value;
}

std::string_view after(std::string_view word, std::string_view prefix) {
  return word.starts_with(prefix) ? word.substr(prefix.size()) : std::string_view{};
}

FrameKind kind_of(std::string_view name) {
  constexpr std::string_view kNames[] = {"native", "jit",   "interpreted", "kernel",
                                         "gc",     "waker", "data_object"};
  for (std::uint8_t k = 0; k < kNFrameKinds; ++k) {
    if (kNames[k] == name) return static_cast<FrameKind>(k);
  }
  bad("no such kind", name);
}

FrameId add_frame(ProfileBuilder& builder, std::string_view text) {
  std::string_view name = trim(text), attributes;
  if (name.ends_with(']')) {
    const std::size_t open = name.rfind('[');
    attributes = name.substr(open + 1, name.size() - open - 2);
    name = name.substr(0, open);
  }
  FunctionSpec function;
  function.name = builder.string(name);
  FrameSpec frame;
  for (std::string_view word : words(attributes)) {
    if (word == "inlined") {
      frame.inlined = true;
    } else if (word == "unresolved") {
      function.unresolved = true;
    } else if (word.starts_with("module=")) {
      frame.module = builder.module({after(word, "module=")});
    } else if (word.starts_with("kind=")) {
      frame.kind = kind_of(after(word, "kind="));
    } else if (word.starts_with("address=")) {
      frame.address = static_cast<std::uint64_t>(integer(after(word, "address=")));
    } else if (word.starts_with("start=")) {
      function.start_line = static_cast<std::uint32_t>(integer(after(word, "start=")));
    } else if (word.starts_with("system=")) {
      function.system_name = builder.string(after(word, "system="));
    } else if (const std::size_t colon = word.rfind(':'); colon != std::string_view::npos) {
      function.file = frame.file = builder.string(word.substr(0, colon));
      frame.line = static_cast<std::uint32_t>(integer(word.substr(colon + 1)));
    } else {
      bad("unknown attribute of a frame", word);
    }
  }
  frame.function = builder.function(function);
  return builder.frame(frame);
}

SampleContext add_where(ProfileBuilder& builder, std::string_view text) {
  SampleContext where;
  std::vector<Label> labels;
  for (std::string_view word : words(text)) {
    if (word.starts_with("thread=")) {
      ThreadSpec thread;
      thread.name = after(word, "thread=");
      where.thread = builder.thread(thread);
    } else if (word.starts_with("time=")) {
      where.time = integer(after(word, "time="));
    } else if (word.starts_with("label:")) {
      const std::string_view pair = after(word, "label:");
      const std::size_t equals = pair.find('=');
      if (equals == std::string_view::npos) bad("a label needs a value", word);
      const std::string_view value = pair.substr(equals + 1);
      Label label;
      label.key = builder.string(pair.substr(0, equals));
      label.is_number = !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
      if (label.is_number)
        label.number = integer(value);
      else
        label.text = builder.string(value);
      labels.push_back(label);
    } else {
      bad("unknown attribute of a sample", word);
    }
  }
  if (!labels.empty()) where.labels = builder.label_set(labels);
  return where;
}

void add_line(ProfileBuilder& builder, std::string_view line, bool fractional) {
  std::string_view where;
  if (line.ends_with('}')) {
    const std::size_t open = line.rfind('{');
    where = line.substr(open + 1, line.size() - open - 2);
    line = trim(line.substr(0, open));
  }
  std::vector<std::string_view> parts = words(line);
  const std::size_t n_values = builder.n_metrics();
  if (parts.size() <= n_values) bad("a line needs a stack and a value per metric", line);
  const std::string_view first_value = parts[parts.size() - n_values];
  const std::string_view stack =
      trim(line.substr(0, static_cast<std::size_t>(first_value.data() - line.data())));
  std::vector<FrameId> frames;
  if (stack != "(root)") {
    for (std::string_view frame : split(stack, ';')) frames.push_back(add_frame(builder, frame));
  }
  const SampleContext context = add_where(builder, where);
  if (fractional) {
    std::vector<double> values;
    for (std::size_t i = parts.size() - n_values; i < parts.size(); ++i)
      values.push_back(std::strtod(std::string(parts[i]).c_str(), nullptr));
    builder.add_sample(frames, values, context);
  } else {
    std::vector<std::int64_t> values;
    for (std::size_t i = parts.size() - n_values; i < parts.size(); ++i) values.push_back(integer(parts[i]));
    builder.add_sample(frames, values, context);
  }
}

}  // namespace

void add_text(ProfileBuilder& builder, std::string_view text) {
  bool fractional = false;
  std::vector<std::string_view> lines;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line == "# fractional") fractional = true;
    if (!line.empty()) lines.push_back(line);
  }
  for (std::string_view line : lines) {
    const std::string_view metrics = after(line, "# metrics:");
    for (std::string_view metric : words(metrics)) {
      const std::size_t slash = metric.find('/');
      if (slash == std::string_view::npos) bad("a metric is name/unit", metric);
      builder.add_metric(metric.substr(0, slash), metric.substr(slash + 1), fractional);
    }
  }
  if (builder.n_metrics() == 0) builder.add_metric("samples", "count", fractional);
  for (std::string_view line : lines) {
    if (!line.starts_with('#')) add_line(builder, line, fractional);
  }
}

ProfilePtr profile_from_text(std::string_view text) {
  ProfileBuilder builder;
  add_text(builder, text);
  auto profile = std::move(builder).finish();
  if (!profile) bad("the builder refused", profile.error().message);
  return *profile;
}

}  // namespace profd::test
