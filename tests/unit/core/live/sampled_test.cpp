#include <map>
#include <set>
#include <string>

#include "core/live/estimate.h"
#include "core/live/live_profile.h"
#include "core/live/preamble.h"
#include "core/live/session.h"
#include "core/live/window.h"
#include "tests/support/catch.h"
#include "tests/support/live_stream.h"

using namespace profd;
using namespace profd::test;
using live::kBucket;

namespace {

constexpr std::uint64_t kSampledSecond = 1'000'000'000;

live::WindowSum window_of(const live::Session& session, std::size_t buckets) {
  live::WindowSums sums;
  return sums.sum(session.meter().history().newest(buckets));
}

std::map<std::uint32_t, live::MethodSum> by_method(const live::WindowSum& window) {
  std::map<std::uint32_t, live::MethodSum> out;
  for (const live::MethodSum& sum : window.methods) out[sum.method] = sum;
  return out;
}

}  // namespace

TEST_CASE("time that samples tell is spread over its stretch, and what nobody tells of is unknown") {
  LiveStream stream;
  stream.hello().sampling().thread(1, "main");
  // A second in which 700 ms are told, then half a second of which nothing is.
  stream.sampled(1, 0, kSampledSecond, 600'000'000, 60, {1, 2});
  stream.sampled(1, 0, kSampledSecond, 100'000'000, 10, {1});
  stream.sampled(1, 0, kSampledSecond, 250'000'000, 0, {});
  stream.tick(kSampledSecond + kSampledSecond / 2);
  live::Session session;
  REQUIRE(session.consume(as_bytes(stream.bytes)));
  REQUIRE(session.sampling());
  CHECK(session.meter().counts().samples == 70);

  const live::WindowSum all = window_of(session, 15);
  auto sums = by_method(all);
  CHECK(sums[2].most_ns == 600'000'000);
  CHECK(sums[2].most_samples == 60);
  CHECK(sums[2].thread_samples == 70);
  CHECK(sums[1].most_ns == 100'000'000);
  REQUIRE(all.threads.size() == 1);
  CHECK(all.threads[0].busy == 700'000'000);
  CHECK(all.threads[0].unknown == 50'000'000 + 500'000'000);
  CHECK(all.threads[0].samples == 70);

  // Each tenth of a second has its part.
  const auto buckets = session.meter().history().newest(15);
  REQUIRE(buckets.size() == 15);
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(buckets[i]->events == 7);
    live::WindowSums one;
    CHECK(by_method(one.sum({&buckets[i], 1}))[2].most_ns == 60'000'000);
  }
  CHECK(buckets[12]->threads.at(0).unknown == kBucket);
}

TEST_CASE("of stretches that end within tenths of seconds nothing is lost to rounding") {
  LiveStream stream;
  stream.hello().sampling().thread(1, "main");
  std::uint64_t at = 0, told = 0, samples = 0;
  for (std::uint64_t i = 0; i < 37; ++i) {
    const std::uint64_t length = 17'000'003 + i * 7'919'113 % 91'000'000;
    stream.sampled(1, at, at + length, length / 3, i % 5, {1});
    stream.sampled(1, at, at + length, length - length / 3, 1, {1, 2});
    at += length;
    told += length;
    samples += i % 5 + 1;
    if (i % 4 == 0) stream.tick(at);
  }
  stream.bye(at);
  live::Session session;
  REQUIRE(session.consume(as_bytes(stream.bytes)));
  session.finish();
  const live::WindowSum all = window_of(session, 600);
  CHECK(all.threads.at(0).busy == told);
  CHECK(all.threads.at(0).unknown < 100);  // a nanosecond a stack
  CHECK(all.events == samples);
}

TEST_CASE("what samples claim beyond their stretch, too late or too far ahead is not believed") {
  live::Session session;
  LiveStream stream;
  stream.hello();
  SECTION("samples before it is said that there are any") {
    stream.sampled(1, 0, 1000, 10, 1, {1});
    CHECK(session.consume(as_bytes(stream.bytes)).error().code == ErrorCode::malformed);
  }
  SECTION("more time than the stretch has, in one and in many") {
    stream.sampling();
    for (int i = 0; i < 5; ++i)
      stream.sampled(1, 0, kSampledSecond, ~std::uint64_t{0}, ~std::uint64_t{0}, {7});
    stream.tick(kSampledSecond);
    REQUIRE(session.consume(as_bytes(stream.bytes)));
    auto sums = by_method(window_of(session, 10));
    // But for a nanosecond a stack and a bucket.
    CHECK(sums[7].most_ns >= kSampledSecond);
    CHECK(sums[7].most_ns <= kSampledSecond + 50);
  }
  SECTION("a stretch that ends before it begins") {
    stream.sampling().sampled(1, 500, 100, 10, 1, {1}).tick(kSampledSecond);
    REQUIRE(session.consume(as_bytes(stream.bytes)));
    CHECK(session.meter().counts().samples == 0);
  }
  SECTION("half of it is closed already") {
    stream.sampling().thread(1, "main").tick(kSampledSecond / 2);
    stream.sampled(1, 0, kSampledSecond, 400'000'000, 40, {1}).tick(kSampledSecond);
    REQUIRE(session.consume(as_bytes(stream.bytes)));
    CHECK(session.meter().counts().late == 1);
    CHECK(by_method(window_of(session, 10))[1].most_ns == 200'000'000);
    CHECK(session.meter().counts().samples == 20);
  }
  SECTION("an hour ahead of the last tick") {
    stream.sampling().sampled(1, 0, 3600 * kSampledSecond, 10, 1, {1});
    CHECK(session.consume(as_bytes(stream.bytes)).error().code == ErrorCode::malformed);
  }
}

TEST_CASE("stacks of samples that wait for their tick are bounded, and room comes back") {
  live::MeterLimits limits;
  limits.pending = 3;
  live::Session session(limits);
  LiveStream stream;
  stream.hello().sampling();
  for (std::uint64_t i = 0; i < 5; ++i) stream.sampled(1, 0, kBucket, 10, 1, {i + 1});
  stream.tick(kBucket);
  for (std::uint64_t i = 0; i < 2; ++i) stream.sampled(1, kBucket, 2 * kBucket, 10, 1, {i + 1});
  stream.thread_end(1, kBucket + 10);
  for (std::uint64_t i = 0; i < 3; ++i) stream.sampled(2, kBucket, 2 * kBucket, 10, 1, {i + 1});
  stream.tick(2 * kBucket);
  REQUIRE(session.consume(as_bytes(stream.bytes)));
  CHECK(session.meter().counts().capped == 2);
  CHECK(session.meter().counts().samples == 8);
}

TEST_CASE("a sampled session that is recorded from its middle on says that it is sampled") {
  LiveStream stream;
  stream.hello().sampling("pprof endpoint http://a/", 10'000'000, 3).method(1, "net/http", "conn", "serve");
  stream.thread(1, "all threads")
      .sampled(1, 0, kSampledSecond, kSampledSecond, 100, {1})
      .tick(kSampledSecond);
  live::Session session;
  REQUIRE(session.consume(as_bytes(stream.bytes)));
  live::Session again;
  REQUIRE(again.consume(as_bytes(live::write_preamble(session))));
  REQUIRE(again.sampling());
  CHECK(again.sampling()->source == "pprof endpoint http://a/");
  CHECK(again.sampling()->period_ns == 10'000'000);
  CHECK(again.sampling()->flags == 3);
}

TEST_CASE("a profile of a sampled session has samples and the names of its profiler") {
  LiveStream stream;
  stream.hello().sampling().thread(1, "main");
  stream.method(1, "net/http", "conn", "serve", "net/http.(*conn).serve", "server.go", 1990);
  stream.sampled(1, 0, kSampledSecond, 900'000'000, 90, {1}).bye(kSampledSecond);
  live::Session session;
  REQUIRE(session.consume(as_bytes(stream.bytes)));
  session.finish();
  auto builder = live::live_profile(live::sums_since_begin(session), *session.hello(), session.methods());
  REQUIRE(builder);
  SerialExecutor executor;
  const auto profile = std::move(*builder).finish(executor, {});
  REQUIRE(profile);
  const auto samples = (*profile)->find_metric("samples");
  REQUIRE(samples);
  CHECK(as_double((*profile)->total(*samples)) == 90);
  // What no sample tells of has a name, too.
  CHECK(as_double((*profile)->total((*profile)->default_metric())) == 1'000'000'000);
  std::set<std::string> names;
  for (std::uint32_t i = 0; i < (*profile)->functions().size(); ++i)
    names.emplace((*profile)->function_name(FunctionId(i)));
  CHECK(names == std::set<std::string>{"[not sampled]", "net/http.(*conn).serve"});
  CHECK_FALSE((*profile)->find_metric("calls"));
}

TEST_CASE("the interval around a share is that of its number of samples") {
  // Wilson's, of 30 in 100: 0.2189 to 0.3958.
  CHECK(live::half_interval(30, 100) == Approx((0.3958 - 0.2189) / 2).epsilon(0.01));
  CHECK(live::half_interval(3000, 10000) == Approx(0.00898).epsilon(0.01));
  // All of ten samples is not certain.
  CHECK(live::half_interval(10, 10) > 0.1);
  CHECK(live::half_interval(0, 0) == 1);
}
