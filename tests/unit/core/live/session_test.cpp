#include "core/live/session.h"

#include <fstream>
#include <map>

#include "core/live/live_profile.h"
#include "core/live/window.h"
#include "tests/support/catch.h"
#include "tests/support/live_stream.h"

using namespace profd;
using namespace profd::test;
using live::kBucket;
using live::Nanoseconds;

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// The whole stream, as one window of `buckets`, 0: all.
std::map<std::uint32_t, live::MethodSum> heights(const LiveStream& stream, live::WindowSum* whole = nullptr,
                                                 std::size_t buckets = 30) {
  live::Session session;
  REQUIRE(session.consume(as_bytes(stream.bytes)));
  live::WindowSums sums;
  const live::WindowSum window = sums.sum(session.meter().history().newest(buckets));
  if (whole != nullptr) *whole = window;
  std::map<std::uint32_t, live::MethodSum> out;
  for (const auto& sum : window.methods) out[sum.method] = sum;
  return out;
}

double share(const live::MethodSum& sum, std::uint64_t length) {
  return static_cast<double>(sum.most_ns) / static_cast<double>(length);
}

std::string from_hex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

}  // namespace

TEST_CASE("the examples of the declaration are read as what they say") {
  std::ifstream file(PROFD_SOURCE_DIR "/tests/fixtures/live/golden.txt");
  std::map<std::string, std::string> golden;
  for (std::string name, hex; file >> name >> hex;) golden[name] = from_hex(hex);
  REQUIRE(golden.size() == 19);
  auto payload = [&](const std::string& name) {
    live::FrameReader reader;
    reader.feed(as_bytes(golden.at(name)));
    const auto frame = reader.next();
    REQUIRE(frame);
    REQUIRE(*frame);
    CHECK(reader.rest().empty());
    return (*frame)->payload;
  };
  const auto hello = live::read_hello(payload("hello"));
  REQUIRE(hello);
  CHECK(hello->program == "demo.Tetris");
  CHECK(hello->abilities == 15);
  const auto dict = live::read_dict(payload("dict"));
  REQUIRE(dict);
  REQUIRE(dict->size() == 2);
  CHECK((*dict)[1].class_name == "Board");
  CHECK((*dict)[1].line == 40);
  CHECK(live::read_thread(payload("thread"))->name == "main");
  CHECK(live::read_thread_end(payload("threadEnd"))->ticks == 20000);
  CHECK(live::read_tick(payload("tick"))->sent == 5);
  CHECK(live::read_gap(payload("gap"))->count == 12);
  CHECK(live::read_stack(payload("stack"))->ids == std::vector<std::uint64_t>{1, 2});
  CHECK(live::read_state(payload("state"))->cpu_ns == 123456);
  CHECK(live::read_controlled(payload("controlled"))->ids == std::vector<std::uint64_t>{2});
  CHECK(live::read_bye(payload("bye"))->reason == "exit");
  CHECK(live::read_clock(payload("clock"))->ticks_per_second == kSecond);
  CHECK(*live::read_auth(payload("auth")) == "0123456789abcdef");
  CHECK(live::read_module(payload("module"))->path == "/usr/bin/demo");
  CHECK(live::read_sampling(payload("sampling"))->period_ns == 10'000'000);
  const auto sampled = live::read_sampled(payload("sampled"));
  REQUIRE(sampled);
  CHECK(sampled->count == 33);
  CHECK(sampled->ids == std::vector<std::uint64_t>{1, 2});
  live::Bytes events = payload("events");
  const auto head = live::read_events_head(events);
  REQUIRE(head);
  live::Records records;
  std::uint64_t ticks = head->ticks;
  REQUIRE(live::read_records(events, ticks, records));
  CHECK(records.n == 5);
  CHECK(ticks == 8510);
  CHECK(records.kinds[3] == live::RecordKind::exit_to);
  CHECK(records.others.at(0).bytes == "level 2");
  CHECK(live::write_welcome(1, 50, "live-1") == golden.at("welcome"));
  CHECK(live::write_refuse(live::RefuseReason::no_version,
                           "this profd speaks version 1 of the live stream, the agent 2 to 3") ==
        golden.at("refuse"));
  const std::uint32_t ids[] = {2};
  CHECK(live::write_control(live::ControlOperation::demote, "", ids) == golden.at("control"));
}

TEST_CASE("time is exclusive, and that of a thread adds up to the window") {
  // Vector 1: main, A, C, A, main, B, in a window of six units of half a second.
  const std::uint64_t u = kSecond / 2;
  LiveStream stream;
  stream.hello();
  RecordsOf records(1, 0);
  records.enter(0, 1).enter(u, 2).enter(2 * u, 3).exit(3 * u).exit(4 * u).enter(5 * u, 4);
  stream.events(records).tick(6 * u);
  live::WindowSum window;
  auto sums = heights(stream, &window);
  CHECK(share(sums[1], 6 * u) == Approx(2.0 / 6));
  CHECK(share(sums[2], 6 * u) == Approx(2.0 / 6));
  CHECK(share(sums[3], 6 * u) == Approx(1.0 / 6));
  CHECK(share(sums[4], 6 * u) == Approx(1.0 / 6));
  REQUIRE(window.threads.size() == 1);
  CHECK(window.threads[0].busy == 6 * u);
}

TEST_CASE("of several threads the one where it ran longest counts, and all are numbered") {
  const std::uint64_t l = 3 * kSecond;
  LiveStream stream;
  stream.hello();
  stream.events(RecordsOf(1, 0).enter(0, 7).exit(l * 4 / 10));
  stream.events(RecordsOf(2, 0).enter(0, 7).exit(l * 9 / 10));
  stream.tick(l);
  auto sums = heights(stream);
  CHECK(share(sums[7], l) == Approx(0.9));
  CHECK(sums[7].threads == 2);
}

TEST_CASE("a method that is never left stands at all of the window without an event in it") {
  LiveStream stream;
  stream.hello();
  stream.events(RecordsOf(1, 0).enter(0, 5)).tick(kSecond).tick(9 * kSecond);
  auto sums = heights(stream);
  CHECK(sums[5].most_ns == 3 * kSecond);
  CHECK(sums[5].calls == 0);
  CHECK(sums[5].threads == 1);
}

TEST_CASE("time of a recursion belongs to its method once") {
  LiveStream stream;
  stream.hello();
  stream.events(RecordsOf(1, 0).enter(0, 5).enter(kSecond, 5).exit(2 * kSecond).exit(3 * kSecond));
  stream.tick(3 * kSecond);
  auto sums = heights(stream);
  CHECK(sums[5].most_ns == 3 * kSecond);
  CHECK(sums[5].calls == 2);
}

TEST_CASE("an event at the window's begin counts from there, and one at its end has nothing in it") {
  LiveStream stream;
  stream.hello();
  stream.events(RecordsOf(1, 0).enter(kSecond, 5).exit(2 * kSecond).enter(4 * kSecond, 6));
  stream.tick(4 * kSecond);
  auto sums = heights(stream);
  CHECK(sums[5].most_ns == kSecond);
  CHECK(sums.count(6) == 0);
}

TEST_CASE("after the end of a thread nothing accrues") {
  LiveStream stream;
  stream.hello();
  stream.events(RecordsOf(1, 0).enter(0, 5)).thread_end(1, kSecond).tick(3 * kSecond);
  stream.events(RecordsOf(2, 3 * kSecond).enter(3 * kSecond, 6).exit(4 * kSecond)).tick(6 * kSecond);
  live::WindowSum window;
  auto sums = heights(stream, &window, 60);
  CHECK(sums[5].most_ns == kSecond);
  CHECK(sums[6].most_ns == kSecond);
  CHECK(window.threads.size() == 2);
}

TEST_CASE("time in which events were lost is nobody's, and begins and ends with the gap") {
  LiveStream stream;
  stream.hello();
  stream.events(RecordsOf(1, 0).enter(0, 5)).gap(1, kSecond, 2 * kSecond, 40);
  const std::uint64_t open[] = {5, 6};
  stream.stack(1, 2 * kSecond, open).tick(3 * kSecond, 1, 40);
  live::WindowSum window;
  auto sums = heights(stream, &window);
  CHECK(sums[5].most_ns == kSecond);
  CHECK(sums[6].most_ns == kSecond);
  REQUIRE(window.threads.size() == 1);
  CHECK(window.threads[0].unknown == kSecond);
  CHECK(window.lost == 40);
}

TEST_CASE("a profile of a session has its calls, its times and its threads") {
  LiveStream stream;
  stream.hello();
  stream.method(1, "demo", "Main", "main", "void main()", "demo/Main.java", 3)
      .method(2, "demo", "Board", "drop");
  stream.thread(1, "main", 4711);
  stream.events(RecordsOf(1, 0).enter(0, 1).enter(10, 2).exit(30).enter(40, 2).exit(45).exit(100)).bye(200);
  live::Session session;
  REQUIRE(session.consume(as_bytes(stream.bytes)));
  session.finish();
  auto builder = live::live_profile(live::sums_since_begin(session), *session.hello(), session.methods());
  REQUIRE(builder);
  auto profile = std::move(*builder).finish();
  REQUIRE(profile);
  const Profile& p = **profile;
  CHECK(p.metrics().size() == 2);
  CHECK(std::get<std::int64_t>(p.total(MetricId{0u})) == 100);
  CHECK(std::get<std::int64_t>(p.total(MetricId{1u})) == 3);
  CHECK(p.info().program == "demo");
}

TEST_CASE("what is no stream is refused in a sentence and takes no memory that it only claims") {
  auto refused = [](const std::string& bytes) {
    live::Session session;
    const auto taken = session.consume(as_bytes(bytes));
    return taken ? std::string() : taken.error().message;
  };
  LiveStream begun;
  begun.hello();
  CHECK(refused("GET") == "a live stream begins with `hello`");
  CHECK(refused(std::string("\x05\x01\x00", 3)) == "a live stream begins with `hello`");
  CHECK(refused(begun.bytes + std::string("\x07\xff\xff\xff\xff\x7f", 6)) ==
        "a message of the live stream is longer than 65536 bytes");
  CHECK(refused(begun.bytes + std::string("\x07\x81\x80\x04", 4)) ==
        "a message of type 7 of the live stream has 65537 bytes, more than 65536");
  // An endless varint, a text longer than the message, a record that is cut, a second hello.
  CHECK(refused(begun.bytes + std::string("\x08\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13)) != "");
  CHECK(refused(begun.bytes + std::string("\x05\x04\x01\x01\x7f\x41", 6)) != "");
  CHECK(refused(begun.bytes + std::string("\x07\x03\x01\x00\x80", 5)) != "");
  CHECK(refused(begun.bytes + begun.bytes) == "a second `hello` in a live stream");
  // A time a year ahead without a tick.
  LiveStream ahead = begun;
  ahead.events(RecordsOf(1, 0).enter(31'536'000 * kSecond, 1));
  CHECK(refused(ahead.bytes) == "an event of the live stream is 31536000 s ahead of its last tick");
  // An unknown message, and unknown operations, are passed over.
  LiveStream newer = begun;
  newer.message(static_cast<live::MessageType>(99), "whatever").events(RecordsOf(1, 0).other(0, 9, "x"));
  CHECK(refused(newer.bytes).empty());
}

TEST_CASE("threads, methods and contexts beyond the limits are counted, and the time stays whole") {
  live::MeterLimits limits;
  limits.threads = 2;
  limits.contexts = 8;
  live::Session session(limits, 100);
  LiveStream stream;
  stream.hello();
  stream.thread(1, "a").thread(2, "b").thread(3, "c").thread(4'000'000'000, "d");
  stream.events(RecordsOf(3, 0).enter(0, 1));
  RecordsOf deep(1, 0);
  for (std::uint64_t i = 1; i <= 40; ++i) deep.enter(i * 10'000'000, i);
  stream.events(deep).events(RecordsOf(2, 0).enter(0, 5'000'000));
  stream.method(1, std::string(90, 'p'), std::string(90, 'c'), "m").tick(3 * kSecond);
  REQUIRE(session.consume(as_bytes(stream.bytes)));
  live::WindowSums sums;
  const auto window = sums.sum(session.meter().history().newest(30));
  REQUIRE(window.threads.size() == 2);
  CHECK(window.threads[0].busy == 3 * kSecond - 10'000'000);
  CHECK(window.threads[1].busy == 3 * kSecond);
  // Two threads by name, one record of a thread that is not there, one method's id.
  CHECK(session.meter().counts().capped == 4);
  CHECK(session.meter().contexts().n_refused() > 0);
  CHECK(session.meter().contexts().size() < 20);
  CHECK(session.methods().n_capped() == 2);
}

TEST_CASE("methods that are open on all threads together are bounded, and room comes back") {
  live::MeterLimits limits;
  limits.open = 4;
  live::Session session(limits);
  LiveStream stream;
  stream.hello();
  stream.events(RecordsOf(1, 0).enter(0, 1).enter(0, 2).enter(0, 3).enter(0, 4));
  stream.events(RecordsOf(2, 0).enter(0, 1).enter(1, 2).exit(2).exit(3));
  stream.thread_end(1, 10)
      .events(RecordsOf(2, 20).exit_to(20, 0).enter(30, 1))
      .events(RecordsOf(2, 40).enter(40, 2));
  REQUIRE(session.consume(as_bytes(stream.bytes)));
  CHECK(session.meter().counts().capped == 3);
  REQUIRE(session.meter().lanes().size() == 2);
  CHECK(session.meter().lanes()[1].stack.size() == 1);
}

TEST_CASE("history is joined as it grows old, keeps its sums, and gives way to memory") {
  live::MeterLimits limits;
  limits.history_bytes = 1 << 20;
  live::Session session(limits);
  LiveStream stream;
  stream.hello();
  stream.events(RecordsOf(1, 0).enter(0, 1));
  for (std::uint64_t s = 1; s <= 700; ++s) {
    stream.events(RecordsOf(1, s * kSecond).enter(s * kSecond, 2).exit(s * kSecond + kSecond / 2));
    stream.tick((s + 1) * kSecond);
  }
  REQUIRE(session.consume(as_bytes(stream.bytes)));
  const auto& history = session.meter().history();
  CHECK(history.begin() >= 100 * static_cast<Nanoseconds>(kSecond));
  CHECK(history.begin() <= 102 * static_cast<Nanoseconds>(kSecond));
  live::WindowSums sums;
  const auto window = sums.sum(history.between(200 * kSecond, 300 * kSecond));
  CHECK(window.end - window.begin == static_cast<Nanoseconds>(100 * kSecond));
  REQUIRE(window.methods.size() == 2);
  CHECK(window.methods[0].ns + window.methods[1].ns == 100 * kSecond);
  CHECK_FALSE(history.thinned());
}

TEST_CASE("what waited in a window is told of its methods and threads, where it is certain") {
  LiveStream stream;
  stream.hello();
  stream.thread(1, "sleeps").thread(2, "idles");
  // All of a second open: 600 ms of it waiting. Half of each bucket open, and as long waiting: perhaps never
  // at once.
  stream.events(RecordsOf(1, 0).enter(0, 7));
  for (std::uint64_t i = 0; i < 10; ++i) {
    const std::uint64_t at = i * 100'000'000;
    stream.events(RecordsOf(2, at).enter(at, 8).exit(at + 50'000'000));
    stream.state(1, at, 1)
        .state(1, at + 60'000'000, 0)
        .state(2, at + 50'000'000, 1)
        .state(2, at + 100'000'000, 0);
  }
  stream.tick(kSecond);
  live::WindowSum whole;
  auto methods = heights(stream, &whole);
  CHECK(methods[7].most_ns == kSecond);
  CHECK(methods[7].waited == 500'000'000);
  CHECK(methods[8].waited == 0);
  REQUIRE(whole.threads.size() == 2);
  CHECK(whole.threads[0].waited == 600'000'000);
  CHECK(whole.threads[0].longest == 7);
  CHECK(whole.threads[1].waiting == 500'000'000);
  CHECK(whole.threads[1].waited == 0);
  CHECK(whole.threads[1].longest == 8);
}

TEST_CASE("a program that stood still for an hour goes on with the time it stood in what was open") {
  LiveStream stream;
  stream.hello();
  stream.events(RecordsOf(1, 0).enter(0, 1)).tick(kSecond).tick(3600 * kSecond);
  stream.events(RecordsOf(1, 3601 * kSecond).exit(3601 * kSecond)).bye(3601 * kSecond);
  live::Session session;
  REQUIRE(session.consume(as_bytes(stream.bytes)));
  session.finish();
  const auto tree = live::sums_since_begin(session);
  REQUIRE(tree.rows.size() == 1);
  CHECK(tree.rows[0].ns == 3601 * kSecond);
}
