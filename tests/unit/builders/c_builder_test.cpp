#include <string>
#include <vector>

#include "c/profd_builder.h"
#include "cpp/profd_builder.hpp"
#include "formats/open.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

ProfilePtr read_back(profd_builder* builder) {
  std::size_t size = 0;
  const unsigned char* bytes = profd_bytes(builder, &size);
  INFO((profd_error(builder) ? profd_error(builder) : "no error"));
  REQUIRE(bytes != nullptr);
  SerialExecutor executor;
  const auto opened = open_profiles(
      memory_source(std::string(reinterpret_cast<const char*>(bytes), size), ""), {}, executor, {});
  if (!opened) FAIL(describe(opened.error()));
  CHECK(opened->decision.format == "profd");
  CHECK(opened->report.rows().empty());
  return opened->profiles.at(0);
}

struct Free {
  void operator()(profd_builder* b) const { profd_free(b); }
};
using Owned = std::unique_ptr<profd_builder, Free>;

}  // namespace

TEST_CASE("sums built in C are read back") {
  const Owned b(profd_new("myprof"));
  const std::uint32_t cpu = profd_metric(b.get(), "cpu", "nanoseconds");
  const std::uint32_t load = profd_real_metric(b.get(), "load", "ratio");
  profd_default_metric(b.get(), load);
  const std::uint32_t work = profd_function(b.get(), "work", "main.c", 4);
  CHECK(profd_function(b.get(), "work", "main.c", 4) == work);
  profd_frame_spec spec{};
  spec.size = sizeof spec;
  spec.function = work;
  spec.line = 5;
  spec.column = 7;
  spec.address = 0x1234567890ull;
  spec.module = profd_module(b.get(), "/bin/x", "abcdef");
  spec.has_module = true;
  spec.kind = PROFD_JIT;
  spec.inlined = true;
  const std::uint32_t stack[] = {profd_frame(b.get(), profd_function(b.get(), "main", nullptr, 0), 0),
                                 profd_frame_of(b.get(), &spec)};
  profd_add(b.get(), profd_stack(b.get(), stack, 2), cpu, 1'500'000);
  profd_add(b.get(), profd_stack(b.get(), stack, 2), cpu, 500'000);
  profd_add_real(b.get(), profd_stack(b.get(), stack, 1), load, 0.25);
  profd_time(b.get(), 1'700'000'000'000'000'000, 5);
  const ProfilePtr profile = read_back(b.get());
  CHECK(std::get<std::int64_t>(profile->total(MetricId{0u})) == 2'000'000);
  CHECK(std::get<double>(profile->total(MetricId{1u})) == 0.25);
  CHECK(profile->default_metric().v == 1);
  CHECK(profile->info().producer == "myprof");
  CHECK(profile->info().time_ns == 1'700'000'000'000'000'000);
  CHECK(profile->tree().size() == 3);
  const FrameTable& frames = profile->frames();
  CHECK(frames.line[1] == 5);
  CHECK(frames.column[1] == 7);
  CHECK(frames.address[1] == 0x1234567890ull);
  CHECK(frames.kind[1] == FrameKind::jit);
  CHECK(frames.inlined[1] == 1);
  CHECK_FALSE(frames.module[0].valid());
  CHECK(profile->strings()[profile->modules().build_id[frames.module[1].v]] == "abcdef");
}

TEST_CASE("samples with threads, times, labels and associations are read back") {
  Builder b("cpp");
  b.metric("cpu", "nanoseconds");
  b.metric("samples", "count");
  const BuiltFrame f = b.frame(b.function("f", "f.cpp", 1), 2);
  const BuiltContext once = b.stack({f}), twice = b.stack({f, f});
  const BuiltThread thread = b.thread("worker", 7, "app", 3);
  std::vector<BuiltLabels> sets;
  for (int i = 0; i < 500; ++i)
    sets.push_back(b.labels({{"request", nullptr, i, "id"}, {"kind", "get", 0, nullptr}}));
  CHECK(b.labels({{"request", nullptr, 77, "id"}, {"kind", "get", 0, nullptr}}).v == sets[77].v);
  for (int i = 0; i < 500; ++i)
    b.sample(i % 2 == 0 ? once : twice, {10, 1}, thread, i, sets[static_cast<std::size_t>(i)]);
  b.sample(once, {5, 1});
  b.tie(b.association("race", {"first", "second"}), {once, twice}, 9);
  const ProfilePtr profile = read_back(b.get());
  CHECK(b.error().empty());
  CHECK(profile->n_samples() == 501);
  CHECK(std::get<std::int64_t>(profile->total(MetricId{0u})) == 5005);
  const SampleTable& samples = *profile->samples();
  REQUIRE(samples.size() == 501);
  CHECK(profile->labels().n_sets() == 501);
  CHECK(profile->threads().tid[0] == 7);
  REQUIRE(profile->associations().size() == 1);
  const AssociationTable& race = profile->associations()[0];
  CHECK(race.roles == std::vector<std::string>{"first", "second"});
  CHECK(race.contexts[0][0] == 1);
  CHECK(race.contexts[1][0] == 2);
  CHECK(std::get<Column<std::int64_t>>(race.values[0])[0] == 9);
}

TEST_CASE("misuse of the builder is told and gives no file") {
  struct Row {
    const char* what;
    void (*misuse)(profd_builder*);
  };
  for (const Row& row : {
           Row{"no metric", [](profd_builder*) {}},
           Row{"frame without function",
               [](profd_builder* b) { profd_metric(b, "m", ""), profd_frame(b, 3, 0); }},
           Row{"context without frame",
               [](profd_builder* b) { profd_metric(b, "m", ""), profd_context(b, 0, 0); }},
           Row{"context without parent",
               [](profd_builder* b) {
                 profd_metric(b, "m", "");
                 profd_context(b, 5, profd_frame(b, profd_function(b, "f", "", 0), 0));
               }},
           Row{"value without metric", [](profd_builder* b) { profd_add(b, 0, 0, 1); }},
           Row{"real for an integral metric",
               [](profd_builder* b) { profd_add_real(b, 0, profd_metric(b, "m", ""), 1); }},
           Row{"late metric",
               [](profd_builder* b) {
                 profd_add(b, 0, profd_metric(b, "m", ""), 1), profd_metric(b, "n", "");
               }},
           Row{"sums and samples",
               [](profd_builder* b) {
                 const std::int64_t one = 1;
                 profd_add(b, 0, profd_metric(b, "m", ""), 1);
                 profd_sample(b, 0, &one, PROFD_NONE, 0, 0);
               }},
           Row{"sample of no thread",
               [](profd_builder* b) {
                 const std::int64_t one = 1;
                 profd_metric(b, "m", "");
                 profd_sample(b, 0, &one, 4, 0, 0);
               }},
           Row{"newer frame",
               [](profd_builder* b) {
                 profd_metric(b, "m", "");
                 profd_frame_spec spec{};
                 spec.size = sizeof spec + 8;
                 profd_frame_of(b, &spec);
               }},
       }) {
    INFO(row.what);
    const Owned b(profd_new(nullptr));
    row.misuse(b.get());
    std::size_t size = 0;
    CHECK(profd_bytes(b.get(), &size) == nullptr);
    REQUIRE(profd_error(b.get()) != nullptr);
    CHECK(std::string(profd_error(b.get())).size() > 10);
    CHECK(profd_function(b.get(), "f", "", 0) == PROFD_NONE);
  }
  const Owned b(profd_new(""));
  profd_metric(b.get(), "m", "count");
  CHECK_FALSE(profd_write(b.get(), "/nonexistent/out.profd"));
  CHECK(std::string(profd_error(b.get())).find("/nonexistent/out.profd") != std::string::npos);
}
