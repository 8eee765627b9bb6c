#include "tests/support/gen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "core/model/profile_builder.h"
#include "tests/support/catch.h"

namespace profd::test {
namespace {

constexpr std::array<const char*, 6> kNames = {"a", "b", "c", "d", "e", "f"};

PlainFrame random_frame(Rng& rng, std::size_t n_names) {
  const std::size_t f = below(rng, n_names);
  PlainFrame frame;
  frame.function = kNames[f];
  frame.file = f % 2 == 0 ? "even.cc" : "odd.cc";
  frame.module = f < 3 ? "app" : "lib";
  frame.line = static_cast<std::uint32_t>(1 + below(rng, 2));
  frame.inlined = chance(rng, 0.2);
  return frame;
}

std::string random_name(Rng& rng) {
  return kNames[below(rng, kNames.size())];
}

Filter random_filter(Rng& rng, bool with_samples) {
  Filter filter;
  filter.op = static_cast<FilterOp>(below(rng, 4));
  const bool rows = filter.op == FilterOp::keep || filter.op == FilterOp::drop;
  const std::size_t kind = below(rng, rows ? (with_samples ? 6 : 4) : 4);
  if (kind <= 1) {
    filter.by = FilterBy::function;
    filter.pattern = random_name(rng);
  } else if (kind == 2) {
    filter.by = chance(rng, 0.5) ? FilterBy::module : FilterBy::file;
    filter.pattern = filter.by == FilterBy::module ? (chance(rng, 0.5) ? "app" : "lib")
                                                   : (chance(rng, 0.5) ? "even.cc" : "odd.cc");
  } else if (kind == 3 && rows) {
    filter.by = chance(rng, 0.5) ? FilterBy::fragment : FilterBy::path;
    for (std::size_t n = 1 + below(rng, 3); n > 0; --n) filter.names.push_back(random_name(rng));
  } else if (kind == 3) {
    filter.op = FilterOp::collapse;
    filter.by = FilterBy::recursion;
  } else if (kind == 4) {
    filter.by = FilterBy::thread;
    filter.pattern = chance(rng, 0.5) ? "t0" : "t1";
  } else {
    filter.by = FilterBy::time;
    if (chance(rng, 0.7)) filter.from_ns = static_cast<std::int64_t>(below(rng, 50));
    if (chance(rng, 0.7))
      filter.to_ns = filter.from_ns.value_or(0) + static_cast<std::int64_t>(below(rng, 60));
  }
  return filter;
}

std::vector<FrameId> add_frames(ProfileBuilder& builder, const std::vector<PlainFrame>& frames) {
  std::vector<FrameId> ids;
  for (const PlainFrame& f : frames) {
    FrameSpec spec;
    spec.function = builder.function(f.function, f.file);
    spec.module = builder.module({f.module});
    spec.line = f.line;
    spec.inlined = f.inlined;
    ids.push_back(builder.frame(spec));
  }
  return ids;
}

std::uint64_t env_number(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Drops chunks of stacks, then filters, as long as the law stays broken.
Case shrunk(Case c, const Law& law) {
  for (std::size_t chunk = c.stacks.size() / 2; chunk > 0;) {
    bool smaller = false;
    for (std::size_t at = 0; at + chunk <= c.stacks.size(); at += chunk) {
      Case tried = c;
      const auto begin = tried.stacks.begin() + static_cast<std::ptrdiff_t>(at);
      tried.stacks.erase(begin, begin + static_cast<std::ptrdiff_t>(chunk));
      if (law(tried).empty()) continue;
      c = std::move(tried);
      smaller = true;
      break;
    }
    if (!smaller) chunk /= 2;
  }
  for (std::size_t f = 0; f < c.spec.filters.size();) {
    Case tried = c;
    tried.spec.filters.erase(tried.spec.filters.begin() + static_cast<std::ptrdiff_t>(f));
    if (law(tried).empty())
      ++f;
    else
      c = std::move(tried);
  }
  return c;
}

}  // namespace

std::size_t below(Rng& rng, std::size_t n) {
  return n == 0 ? 0 : static_cast<std::size_t>(rng() % n);
}
bool chance(Rng& rng, double probability) {
  return static_cast<double>(rng() >> 11) * 0x1.0p-53 < probability;
}

Case another_run(const Case& c) {
  Case other = random_case(c.seed + 1'000'003);
  other.spec = c.spec;
  other.with_samples = c.with_samples;
  other.as_contexts = other.as_contexts && !other.with_samples;
  Rng rng(c.seed);
  for (const PlainStack& stack : c.stacks)
    if (chance(rng, 0.5)) other.stacks.push_back(stack);
  return other;
}

ViewSpec random_spec(Rng& rng, bool with_samples) {
  ViewSpec spec;
  constexpr std::array<Granularity, 6> kGranularities = {Granularity::function, Granularity::function,
                                                         Granularity::function, Granularity::line,
                                                         Granularity::file,     Granularity::module};
  spec.granularity = kGranularities[below(rng, kGranularities.size())];
  spec.shape = static_cast<Shape>(below(rng, 5));
  if (chance(rng, 0.6)) {
    for (std::size_t n = 1 + below(rng, 3); n > 0; --n)
      spec.filters.push_back(random_filter(rng, with_samples));
  }
  return spec;
}

Case random_case(std::uint64_t seed) {
  Rng rng(seed * 0x9E3779B97F4A7C15ull + 1);
  Case c;
  c.seed = seed;
  c.fractional = chance(rng, 0.2);
  c.with_samples = chance(rng, 0.5);
  c.as_contexts = !c.with_samples && chance(rng, 0.3);
  const bool negative = chance(rng, 0.3);
  const std::size_t n_names = 1 + below(rng, kNames.size());
  const std::size_t n_stacks = below(rng, 25);
  const std::size_t max_depth = 1 + below(rng, 12);
  for (std::size_t i = 0; i < n_stacks; ++i) {
    PlainStack stack;
    if (i > 0 && chance(rng, 0.5)) {
      stack.frames = c.stacks[below(rng, i)].frames;
      stack.frames.resize(below(rng, stack.frames.size() + 1));
    }
    for (std::size_t n = below(rng, max_depth + 1); n > 0; --n)
      stack.frames.push_back(random_frame(rng, n_names));
    stack.value = chance(rng, 0.1) ? 0 : static_cast<std::int64_t>(1 + below(rng, 100));
    if (negative && chance(rng, 0.4)) stack.value = -stack.value;
    stack.thread = chance(rng, 0.5) ? "t0" : "t1";
    stack.time = static_cast<std::int64_t>(below(rng, 100));
    c.stacks.push_back(std::move(stack));
  }
  c.spec = random_spec(rng, c.with_samples);
  // A fragment that is likely there: a run of the boxes of some stack.
  if (!c.stacks.empty()) {
    const oracle::Path boxes = oracle::boxes_of(c.stacks[below(rng, c.stacks.size())], c.spec);
    const std::size_t begin = below(rng, boxes.size());
    for (std::size_t i = begin; i < boxes.size() && i < begin + 3; ++i) {
      c.spec.focus.push_back(boxes[i]);
      if (chance(rng, 0.5)) break;
    }
  }
  if (c.spec.focus.empty()) c.spec.focus.push_back("a");
  return c;
}

ProfilePtr build(const Case& c) {
  ProfileBuilder builder;
  builder.add_metric("value", "count", c.fractional);
  for (const PlainStack& stack : c.stacks) {
    const std::vector<FrameId> frames = add_frames(builder, stack.frames);
    SampleContext where;
    if (c.with_samples) {
      ThreadSpec thread;
      thread.name = stack.thread;
      where.thread = builder.thread(thread);
      where.time = stack.time;
    }
    const std::array<double, 1> quarter = {static_cast<double>(stack.value) / 4};
    const std::array<std::int64_t, 1> whole = {stack.value};
    if (c.as_contexts) {
      const ContextId context = builder.context_of(frames);
      if (c.fractional)
        builder.add_self(context, MetricId{0u}, quarter[0]);
      else
        builder.add_self(context, MetricId{0u}, whole[0]);
    } else if (c.fractional) {
      builder.add_sample(frames, std::span<const double>(quarter), where);
    } else {
      builder.add_sample(frames, std::span<const std::int64_t>(whole), where);
    }
  }
  // So that thread and time filters apply even when no stack is left.
  if (c.with_samples && c.stacks.empty()) {
    ThreadSpec thread;
    thread.name = "t0";
    SampleContext where;
    where.thread = builder.thread(thread);
    where.time = 0;
    const std::array<std::int64_t, 1> zero = {0};
    builder.add_sample(kRootContext, std::span<const std::int64_t>(zero), where);
  }
  auto profile = std::move(builder).finish();
  if (!profile) FAIL("the builder refused: " << profile.error().message);
  return *profile;
}

std::int64_t units(const Case& c, const Value& value) {
  if (!c.fractional) return std::get<std::int64_t>(value);
  const double quarters = std::get<double>(value) * 4;
  return quarters == std::floor(quarters) ? static_cast<std::int64_t>(quarters)
                                          : std::numeric_limits<std::int64_t>::min();
}

std::string describe(const Case& c) {
  std::string out =
      fmt::format("seed {}: {}{}{}{}\n", c.seed, to_text(c.spec), c.fractional ? ", quarters" : "",
                  c.with_samples ? ", samples" : "", c.as_contexts ? ", contexts" : "");
  for (const PlainStack& stack : c.stacks) {
    std::string line;
    for (const PlainFrame& f : stack.frames)
      line += fmt::format("{}{}[{}:{}{}]", line.empty() ? "" : ";", f.function, f.file, f.line,
                          f.inlined ? " inlined" : "");
    out += fmt::format("  {} {} ({} {})\n", line.empty() ? "(root)" : line, stack.value, stack.thread,
                       stack.time);
  }
  return out;
}

std::string oracle_name(const Selection& selection, Key key) {
  const std::string name = key_name(*selection.profile, *selection.boxes->keys, key);
  return key >= selection.boxes->keys->first_group() ? "group " + name : name;
}

std::vector<Key> focus_keys(const Selection& selection, const ViewSpec& spec) {
  std::vector<Key> keys;
  for (const std::string& name : spec.focus) {
    const auto before = keys.size();
    for (Key key = 0; key < selection.boxes->keys->n_keys() && keys.size() == before; ++key) {
      if (oracle_name(selection, key) == name) keys.push_back(key);
    }
    if (keys.size() == before) return {};
  }
  return keys;
}

std::size_t n_cases() {
  return static_cast<std::size_t>(env_number("PROFD_PROPERTY_CASES", 2000));
}

void check_law(const Law& law, const std::function<void(Case&)>& adjust) {
  const std::uint64_t only = env_number("PROFD_PROPERTY_SEED", 0);
  const std::uint64_t first = only != 0 ? only : 1;
  const std::uint64_t last = only != 0 ? only : n_cases();
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    Case c = random_case(seed);
    if (adjust) adjust(c);
    if (law(c).empty()) continue;
    const Case small = shrunk(c, law);
    FAIL(law(small) << "\n" << describe(small));
  }
  SUCCEED("seeds " << first << " to " << last);
}

}  // namespace profd::test
