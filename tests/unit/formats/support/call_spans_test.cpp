#include "formats/support/call_spans.h"

#include <string>

#include "core/model/profile.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

// "a;b 3" for every row of the sample table, in order.
std::string samples_of(const Profile& profile) {
  std::string out;
  const SampleTable& samples = *profile.samples();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::string stack;
    for (std::uint32_t c = samples.context[i]; c != 0; c = profile.tree().parent[c]) {
      const std::uint32_t frame = profile.tree().frame[c];
      stack = std::string(profile.function_name(profile.frames().function[frame])) +
              (stack.empty() ? "" : ";" + stack);
    }
    out += stack + " " + std::to_string(std::get<Column<std::int64_t>>(samples.values[0])[i]) + "@" +
           std::to_string(samples.time[i]) + "\n";
  }
  return out;
}

struct Recording {
  Recording() {
    builder.add_metric("time", "nanoseconds");
    for (const char* name : {"a", "b"}) {
      FrameSpec spec;
      spec.function = builder.function(name);
      frames.push_back(builder.frame(spec));
    }
    where.thread = builder.thread({.name = "t"});
  }
  ProfileBuilder builder;
  std::vector<FrameId> frames;
  SampleContext where;
};

}  // namespace

TEST_CASE("time between events belongs to the stack that stood") {
  Recording r;
  CallSpans spans(r.builder, r.where);
  spans.enter(r.frames[0], 10);
  spans.enter(r.frames[1], 12);
  CHECK(spans.leave(15));
  spans.enter(r.frames[0], 15);
  CHECK(spans.leave(16));
  CHECK(spans.leave(20));
  CHECK_FALSE(spans.leave(25));
  CHECK(spans.n_calls() == 3);
  const auto profile = std::move(r.builder).finish();
  REQUIRE(profile);
  CHECK(samples_of(**profile) == "a 2@10\na;b 3@12\na;a 1@15\na 4@16\n");
}

TEST_CASE("calls left open are closed, and time does not run backwards") {
  Recording r;
  CallSpans spans(r.builder, r.where);
  spans.enter(r.frames[0], 10);
  spans.enter(r.frames[1], 5);
  CHECK(spans.n_backwards() == 1);
  CHECK(spans.finish(14) == 2);
  const auto profile = std::move(r.builder).finish();
  REQUIRE(profile);
  CHECK(samples_of(**profile) == "a;b 4@10\n");
}
