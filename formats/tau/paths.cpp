#include "formats/tau/paths.h"

#include <unordered_set>

#include "formats/support/text_number.h"

namespace profd::tau {
namespace {

constexpr std::string_view kArrow = " => ";

std::string_view last_of(std::string_view path) {
  const std::size_t arrow = path.rfind(kArrow);
  return trim(arrow == std::string_view::npos ? path : path.substr(arrow + kArrow.size()));
}
std::string_view first_of(std::string_view path) {
  return trim(path.substr(0, std::min(path.find(kArrow), path.size())));
}
bool is_path(std::string_view name) {
  return name.find(kArrow) != std::string_view::npos;
}

std::string_view last_but_one(std::string_view path) {
  return last_of(path.substr(0, path.rfind(kArrow)));
}

// Splits off the outermost component.
std::string_view take(std::string_view& path) {
  const std::string_view first = first_of(path);
  const std::size_t arrow = path.find(kArrow);
  path.remove_prefix(arrow == std::string_view::npos ? path.size() : arrow + kArrow.size());
  return first;
}

bool is_parameter(std::string_view name, std::string_view groups) {
  return groups.find("TAU_PARAM") != std::string_view::npos && name.find("[ <") != std::string_view::npos;
}

// Sums over samples below them, or other names of a timer.
bool is_sum_of_samples(std::string_view last) {
  return last.starts_with("[SUMMARY]") || last.starts_with("[INTERMEDIATE]") ||
         last.starts_with("[CONTEXT]") || last.starts_with("[UNWIND]");
}

// "{5,1}-{17,1}]" or "{12}]" -> 5, 12.
std::uint32_t first_number(std::string_view text) {
  const std::size_t begin = text.find('{');
  if (begin == std::string_view::npos) return 0;
  const std::size_t end = text.find_first_of(",}", begin);
  std::uint32_t line = 0;
  if (end == std::string_view::npos || !parse_uint(text.substr(begin + 1, end - begin - 1), line)) return 0;
  return line == kNone ? 0 : line;
}

}  // namespace

std::string plain_groups(std::string_view groups) {
  std::string out;
  while (!groups.empty()) {
    const std::size_t bar = std::min(groups.find('|'), groups.size());
    const std::string_view group = trim(groups.substr(0, bar));
    groups.remove_prefix(std::min(bar + 1, groups.size()));
    if (group.empty() || group.starts_with("TAU_CALLPATH") || group.starts_with("TAU_SAMPLE") ||
        group == "TAU_UNWIND")
      continue;
    out += (out.empty() ? "" : "|") + std::string(group);
  }
  return out;
}

FrameId Paths::frame(std::string_view text) {
  const auto known = frames_.find(text);
  if (known != frames_.end()) return known->second;
  std::string_view name = text;
  const bool sampled = name.starts_with("[SAMPLE] ");
  for (const std::string_view mark : {"[SAMPLE] ", "[UNWIND] "})
    if (name.starts_with(mark)) name.remove_prefix(mark.size());
  FunctionSpec function;
  FrameSpec frame;
  const std::size_t place = name.find(" [{");
  if (place != std::string_view::npos && name.ends_with(']')) {
    const std::size_t end = name.find('}', place);
    if (end != std::string_view::npos) {
      function.file = builder_.string(name.substr(place + 3, end - place - 3));
      const std::uint32_t line = first_number(name.substr(end + 1));
      (sampled ? frame.line : function.start_line) = line;
    }
    name = trim(name.substr(0, place));
    if (name.ends_with(" C")) name.remove_suffix(2);  // the mark of the language
  }
  function.unresolved = name.starts_with("UNRESOLVED") || name.empty();
  function.name = builder_.string(name.empty() ? std::string_view("(unknown)") : name);
  frame.function = builder_.function(function);
  const FrameId id = builder_.frame(frame);
  frames_.emplace(text, id);
  return id;
}

ContextId Paths::below(ContextId above, std::string_view path) {
  while (!path.empty()) {
    const std::string_view name = take(path);
    if (name.starts_with("[CONTEXT]") || name.starts_with("[SUMMARY]") || name.starts_with("[INTERMEDIATE]"))
      continue;
    above = builder_.context(above, frame(name));
  }
  return above;
}

std::vector<Placed> Paths::place(const std::vector<Timer>& timers, std::uint64_t& n_detached) {
  std::vector<Placed> out(timers.size());
  std::unordered_set<std::string_view> callees;
  bool any_sample_path = false;
  for (const Timer& timer : timers) {
    if (!is_path(timer.name)) continue;
    const std::string_view last = last_of(timer.name);
    callees.insert(last);
    any_sample_path |= last.starts_with("[SAMPLE]");
  }
  // Contexts by their last name; kNone when several have it.
  std::unordered_map<std::string_view, ContextId> by_name;
  const auto learn = [&](std::string_view name, ContextId context) {
    const auto [known, added] = by_name.emplace(name, context);
    if (!added && known->second != context) known->second = ContextId{};
  };
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < timers.size(); ++i) {
    const std::string_view name = timers[i].name, last = last_of(name);
    const bool sample = last.starts_with("[SAMPLE]");
    if (!is_parameter(name, timers[i].groups) && !name.starts_with('[') && !last.starts_with('[')) {
      out[i].function = frame(last);
      if (is_path(name)) out[i].caller = frame(last_but_one(name));
      any_ |= is_path(name);
    }
    if (is_parameter(name, timers[i].groups) || is_sum_of_samples(last) ||
        (!is_path(name) && (callees.contains(name) || (sample && any_sample_path)))) {
      out[i].kind = TimerKind::duplicate;
      continue;
    }
    out[i].kind = sample ? TimerKind::sampled : TimerKind::measured;
    if (is_path(name) && callees.contains(first_of(name))) {
      any_cut_ |= out[i].function.valid();
      waiting.push_back(i);
      continue;
    }
    out[i].context = below(kRootContext, name);
    learn(last, out[i].context);
  }
  // Where the depth of paths was limited, a path begins below the root. It belongs below the one context
  // that ends with its first name, when there is just one.
  constexpr int kMaxRounds = 1000;
  for (int round = 0; !waiting.empty() && round < kMaxRounds; ++round) {
    std::vector<std::size_t> left;
    for (const std::size_t i : waiting) {
      std::string_view rest = timers[i].name;
      const auto above = by_name.find(take(rest));
      if (above == by_name.end()) {
        left.push_back(i);
        continue;
      }
      if (above->second.valid()) {
        out[i].context = below(above->second, rest);
        learn(last_of(rest), out[i].context);
      } else {
        ++n_detached;
        out[i].context = below(kRootContext, timers[i].name);
      }
    }
    if (left.size() == waiting.size()) break;
    waiting = std::move(left);
  }
  for (const std::size_t i : waiting) {
    if (out[i].context.valid()) continue;
    ++n_detached;
    out[i].context = below(kRootContext, timers[i].name);
  }
  return out;
}

ContextId Paths::event(std::string_view path, std::string_view name) {
  FrameSpec spec;
  spec.function = builder_.function(name);
  spec.kind = FrameKind::data_object;
  return builder_.context(below(kRootContext, path), builder_.frame(spec));
}

}  // namespace profd::tau
