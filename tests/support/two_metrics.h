// Random profiles of two metrics, "first" and "second", each with stacks of its own for the oracle.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "core/model/profile_builder.h"
#include "tests/support/gen.h"

namespace profd::test {

// A second value for every stack: often nothing where the first has something, and the other way round.
inline std::vector<PlainStack> second_metric(const Case& c) {
  Rng rng(c.seed + 77);
  std::vector<PlainStack> stacks = c.stacks;
  const bool negative = chance(rng, 0.3);
  for (PlainStack& stack : stacks) {
    stack.value = chance(rng, 0.4) ? 0 : static_cast<std::int64_t>(1 + below(rng, 50));
    if (negative && chance(rng, 0.3)) stack.value = -stack.value;
  }
  return stacks;
}

// Some stacks have nothing but the second value.
inline std::vector<PlainStack> first_metric(const Case& c) {
  Rng rng(c.seed + 78);
  std::vector<PlainStack> stacks = c.stacks;
  for (PlainStack& stack : stacks)
    if (chance(rng, 0.3)) stack.value = 0;
  return stacks;
}

inline ProfilePtr with_two_metrics(const Case& c) {
  ProfileBuilder builder;
  builder.add_metric("first", "count", c.fractional);
  builder.add_metric("second", "count", c.fractional);
  const std::vector<PlainStack> first = first_metric(c), second = second_metric(c);
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::vector<FrameId> frames;
    for (const PlainFrame& f : first[i].frames) {
      FrameSpec spec;
      spec.function = builder.function(f.function, f.file);
      spec.module = builder.module({f.module});
      spec.line = f.line;
      spec.inlined = f.inlined;
      frames.push_back(builder.frame(spec));
    }
    SampleContext where;
    if (c.with_samples) {
      where.thread = builder.thread({.name = first[i].thread});
      where.time = first[i].time;
    }
    const std::array<std::int64_t, 2> whole = {first[i].value, second[i].value};
    const std::array<double, 2> quarters = {static_cast<double>(whole[0]) / 4,
                                            static_cast<double>(whole[1]) / 4};
    if (c.fractional)
      builder.add_sample(frames, std::span<const double>(quarters), where);
    else
      builder.add_sample(frames, std::span<const std::int64_t>(whole), where);
  }
  return std::move(builder).finish().value();
}

}  // namespace profd::test
