// Files that are cut, flipped, rewritten or made to harm: an Error with a place, or a valid profile.
#include <algorithm>
#include <random>

#include "core/model/context_tree.h"
#include "core/model/timeline_order.h"
#include "formats/profd/message_plan.h"
#include "formats/profd/schema.h"
#include "tests/support/catch.h"
#include "tests/support/profile_equal.h"
#include "tests/unit/formats/profd/random_profile.h"

using namespace profd;
using namespace profd::profd_format;
using namespace profd::test;

namespace {

// Without the flag that promises a checksum and without the checksum, so that damage reaches the decoder.
std::string without_checksum(const std::string& file) {
  std::string out = file.substr(0, file.size());
  const std::string flag("\x28\x01", 2);
  const std::size_t at = out.find(flag);
  REQUIRE(at < 40);
  out[at + 1] = 0;
  // Two bytes of tag and a padded length of five start the last field.
  const std::string tag("\x82\x01", 2);
  out.resize(out.rfind(tag));
  return out;
}

// What a Timeline promises: ids that are there, and its orders.
void check_timeline(const Profile& p) {
  const Timeline& t = *p.timeline();
  const auto below = [](const Column<std::uint32_t>& ids, std::size_t n) {
    return std::all_of(ids.begin(), ids.end(), [&](std::uint32_t id) { return id == kNone || id < n; });
  };
  const std::size_t n_contexts = p.tree().size(), n_threads = p.threads().size(), n_tasks = t.tasks.size();
  if (p.samples() != nullptr) {
    REQUIRE(below(t.samples.row, p.samples()->size()));
    REQUIRE(in_order(t.samples, *p.samples(), 0, p.samples()->size()));
  }
  REQUIRE(below(t.spans.context, n_contexts));
  REQUIRE(below(t.spans.thread, n_threads));
  REQUIRE(below(t.spans.task, n_tasks));
  REQUIRE(in_order(t.spans, 0, t.spans.size()));
  REQUIRE(below(t.markers.context, n_contexts));
  REQUIRE(below(t.markers.thread, n_threads));
  REQUIRE(below(t.markers.label_set, p.labels().n_sets()));
  REQUIRE(in_order(t.markers, 0, t.markers.size()));
  REQUIRE(below(t.tasks.context, n_contexts));
  REQUIRE(below(t.tasks.awaits, n_tasks));
  for (std::size_t i = 0; i < t.tasks.parent.size(); ++i)
    REQUIRE((t.tasks.parent[i] == kNone || t.tasks.parent[i] < i));
  for (std::size_t i = 0; i < t.counters.size(); ++i) REQUIRE(t.counters.first[i] <= t.counters.first[i + 1]);
  if (t.counters.size() > 0) REQUIRE(t.counters.first[t.counters.size()] == t.counters.value.size());
  std::size_t bytes = 0;
  for (const auto* names : {&t.spans.name, &t.markers.name, &t.markers.category, &t.counters.name,
                            &t.counters.unit, &t.counters.process, &t.tasks.name})
    for (const StringId name : *names) bytes += p.strings()[name].size();
  REQUIRE(bytes < (std::size_t{1} << 30));
}

// What a Profile promises, looked at through every accessor that would read out of bounds.
void check_sane(const Profile& p) {
  REQUIRE(is_well_formed(p.tree(), p.frames().size()));
  std::size_t bytes = 0;
  for (std::size_t f = 0; f < p.frames().size(); ++f) {
    const FunctionId function = p.frames().function[f];
    REQUIRE(function.v < p.functions().size());
    bytes += p.function_name(function).size();
    if (p.frames().module[f].valid()) REQUIRE(p.frames().module[f].v < p.modules().size());
  }
  for (std::uint32_t context : p.self().contexts) REQUIRE(context < p.tree().size());
  for (std::size_t m = 0; m < p.metrics().size(); ++m) {
    const auto rows = std::visit([](const auto& c) { return c.size(); }, p.self().values[m]);
    REQUIRE(rows == p.self().contexts.size());
  }
  if (const SampleTable* samples = p.samples()) {
    for (std::uint32_t context : samples->context) REQUIRE(context < p.tree().size());
    for (std::uint32_t set : samples->label_set) REQUIRE(set < p.labels().n_sets());
  }
  if (const StatedCosts* stated = p.stated()) {
    const auto frames_are_there = [&](const Column<std::uint32_t>& frames) {
      return std::all_of(frames.begin(), frames.end(),
                         [&](std::uint32_t f) { return f == kNone || f < p.frames().size(); });
    };
    REQUIRE(frames_are_there(stated->functions.frame));
    REQUIRE(frames_are_there(stated->calls.caller));
    REQUIRE(frames_are_there(stated->calls.callee));
    REQUIRE(stated->calls.callee.size() == stated->calls.size());
    REQUIRE(stated->calls.known.size() == stated->calls.size());
    REQUIRE(stated->functions.known.size() == stated->functions.size());
    REQUIRE(stated->functions.totals.size() == p.metrics().size());
    for (const ValueColumn& totals : stated->calls.totals) {
      const auto rows = std::visit([](const auto& c) { return c.size(); }, totals);
      REQUIRE((rows == 0 || rows == stated->calls.size()));
    }
  }
  if (p.timeline() != nullptr) check_timeline(p);
  REQUIRE(bytes <= p.strings().bytes().size() * std::max<std::size_t>(p.frames().size(), 1));
}

void check_outcome(std::string content) {
  const std::size_t size = content.size();
  const auto opened = open_native(std::move(content));
  if (opened) {
    for (const ProfilePtr& profile : opened->profiles) check_sane(*profile);
    return;
  }
  REQUIRE_FALSE(opened.error().message.empty());
  if (opened.error().offset) REQUIRE(*opened.error().offset <= size);
}

// A file around one Profile message that `fill` writes.
std::string file_of(const std::function<void(MessagePlan&)>& fill, std::uint32_t version = 1) {
  MessagePlan plan;
  plan.text(file::magic, kMagic);
  plan.fixed32(file::version, version);
  plan.begin(file::profiles);
  fill(plan);
  plan.end();
  std::string out;
  const auto written = plan.write([&](std::span<const std::byte> bytes) -> Result<void> {
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  });
  REQUIRE(written.has_value());
  return out;
}

std::string message_of(const std::string& content) {
  const auto opened = open_native(content);
  return opened ? "opened" : describe(opened.error());
}

using Ids32 = Column<std::uint32_t>;
Ids32 column(std::vector<std::uint32_t> values) {
  return Ids32(std::move(values));
}

// The smallest frozen profile; the parts to vary are parameters.
struct Small {
  Ids32 parent = column({kNone, 0, 1}), frame = column({kNone, 0, 0}), subtree_end = column({3, 3, 3});
  Ids32 function = column({0}), name = column({1}), self_context = column({1, 2});
  Column<std::int64_t> values = Column(std::vector<std::int64_t>{5, 7});
  Column<std::uint64_t> offsets = Column(std::vector<std::uint64_t>{0, 0, 4});
  std::string blob = "main";
  std::uint64_t total = 12;
  // Of what is stated; not there when there are no functions.
  Ids32 stated_function, caller, callee;
  std::vector<std::int64_t> totals{12};
  std::string known = "\x01";

  std::string file() const {
    // Columns are written when all is planned.
    const Column<std::int64_t> stated_totals{std::vector<std::int64_t>(totals)};
    return file_of([&](MessagePlan& plan) {
      plan.begin(profile::strings);
      plan.bytes(strings::blob, std::as_bytes(std::span(blob)));
      plan.column(strings::offsets, offsets);
      plan.end();
      plan.begin(profile::functions);
      plan.column(functions::name, name);
      plan.end();
      plan.begin(profile::frames);
      plan.column(frames::function, function);
      plan.end();
      plan.begin(profile::metrics);
      plan.text(metric::name, "cpu");
      plan.fixed64(metric::total, total);
      plan.end();
      plan.begin(profile::tree);
      plan.column(tree::parent, parent);
      plan.column(tree::frame, frame);
      plan.column(tree::subtree_end, subtree_end);
      plan.end();
      plan.begin(profile::self);
      plan.column(self::context, self_context);
      plan.begin(self::values);
      plan.column(values::ints, values);
      plan.end();
      plan.end();
      if (stated_function.empty()) return;
      plan.begin(profile::stated);
      plan.column(stated::function, stated_function);
      plan.begin(stated::totals);
      plan.column(values::ints, stated_totals);
      plan.end();
      plan.bytes(stated::known, std::as_bytes(std::span(known)));
      plan.column(stated::caller, caller);
      plan.column(stated::callee, callee);
      plan.end();
    });
  }
};

}  // namespace

TEST_CASE("a native file cut anywhere is refused") {
  const std::string file = write_to_string({random_profile({.seed = 5, .n_frames = 4, .n_samples = 6})});
  for (std::size_t n = 0; n < file.size(); ++n) {
    INFO("cut after " << n);
    REQUIRE_FALSE(open_native(file.substr(0, n)).has_value());
  }
}

TEST_CASE("a native file without checksum, cut anywhere, gives an error or a sound profile") {
  const std::string file =
      without_checksum(write_to_string({random_profile({.seed = 6, .n_frames = 4, .n_samples = 6})}));
  REQUIRE(open_native(file).has_value());
  for (std::size_t n = 0; n < file.size(); ++n) check_outcome(file.substr(0, n));
}

TEST_CASE("every flipped bit of a native file is found") {
  const std::string file = write_to_string({random_profile({.seed = 5, .n_frames = 3, .n_samples = 4})});
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = file;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      const auto opened = open_native(std::move(damaged));
      INFO("byte " << i << " bit " << bit);
      // The padding inside the checksum message and unknown fields there are the only bytes nobody reads.
      if (opened) REQUIRE(i > file.size() - 64);
    }
  }
}

TEST_CASE("flipped bits behind no checksum give an error or a sound profile") {
  const std::string file =
      without_checksum(write_to_string({random_profile({.seed = 10, .n_frames = 6, .n_samples = 9})}));
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = file;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      check_outcome(std::move(damaged));
    }
  }
}

TEST_CASE("random bytes in a native file give an error or a sound profile") {
  std::mt19937 random(42);
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const std::string file =
        without_checksum(write_to_string({random_profile({.seed = seed, .n_frames = 8, .n_samples = 20})}));
    for (int round = 0; round < 150; ++round) {
      std::string damaged = file;
      for (unsigned n = 1 + random() % 6; n > 0; --n)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      if (round % 3 == 0) damaged.erase(random() % damaged.size(), random() % 32);
      check_outcome(std::move(damaged));
    }
  }
}

TEST_CASE("a newer version is refused with a sentence") {
  const std::string file = file_of([](MessagePlan&) {}, 2);
  const auto opened = open_native(file);
  REQUIRE_FALSE(opened.has_value());
  REQUIRE(opened.error().code == ErrorCode::unsupported);
  REQUIRE_THAT(opened.error().message,
               Catch::Contains("version 2 of the profd format; this profd reads version 1"));
}

TEST_CASE("what contradicts itself is refused and named") {
  REQUIRE(message_of(Small{}.file()) == "opened");
  const auto refused = [](Small small) { return message_of(small.file()); };
  Small s;
  s.total = 13;
  CHECK_THAT(refused(s), Catch::Contains("total of metric 0 (cpu)"));
  s = {};
  s.function = column({1});
  CHECK_THAT(refused(s), Catch::Contains("frames.function[0]"));
  s = {};
  s.name = column({9});
  CHECK_THAT(refused(s), Catch::Contains("functions.name[0]"));
  s = {};
  s.self_context = column({2, 1});
  CHECK_THAT(refused(s), Catch::Contains("self.context[1] does not ascend"));
  s = {};
  s.self_context = column({1, 3});
  CHECK_THAT(refused(s), Catch::Contains("self.context[1]"));
  s = {};
  s.self_context = column({1});
  CHECK_THAT(refused(s), Catch::Contains("for 1 rows"));
  s = {};
  s.parent = column({kNone, 2, 1});
  CHECK_THAT(refused(s), Catch::Contains("tree[1] is not a tree"));
  s = {};
  s.subtree_end = column({3, 2, 3});
  CHECK_THAT(refused(s), Catch::Contains("tree[2] is not a tree"));
  s = {};
  s.parent = column({kNone, 0, 0});
  s.subtree_end = column({3, 2, 3});
  CHECK_THAT(refused(s), Catch::Contains("tree[2] is not a tree"));  // two children with one frame
  s = {};
  s.frame = column({kNone, 0, 1});
  CHECK_THAT(refused(s), Catch::Contains("tree[2] is not a tree"));
  s = {};
  s.frame = column({kNone, 0});
  CHECK_THAT(refused(s), Catch::Contains("different length"));
  s = {};
  s.blob = "ma\xFFn";
  CHECK_THAT(refused(s), Catch::Contains("not UTF-8"));
  s = {};
  s.blob = "a\xC3\xA4x";
  s.offsets = Column(std::vector<std::uint64_t>{0, 0, 2, 4});
  CHECK_THAT(refused(s), Catch::Contains("starts inside a character"));
  s = {};
  s.offsets = Column(std::vector<std::uint64_t>{0, 0, 5});
  CHECK_THAT(refused(s), Catch::Contains("offsets of the texts"));
  s = {};
  s.offsets = Column(std::vector<std::uint64_t>{0, 0, 1ull << 63, 4});
  CHECK_THAT(refused(s), Catch::Contains("offsets of the texts"));
}

TEST_CASE("what is stated of functions and calls is checked like every table") {
  const auto message = [](Small small) { return message_of(small.file()); };
  Small s;
  s.stated_function = column({0});
  s.caller = column({kNone, 0});
  s.callee = column({0, kNone});
  REQUIRE(message(s) == "opened");
  const auto opened = open_one(s.file());
  CHECK(opened.value()->stated()->calls.known[1] == 1);
  s.stated_function = column({1});
  CHECK_THAT(message(s), Catch::Contains("stated.function[0]"));
  s.stated_function = column({0});
  s.caller = column({kNone, 7});
  CHECK_THAT(message(s), Catch::Contains("stated.caller[1]"));
  s.caller = column({0});
  CHECK_THAT(message(s), Catch::Contains("callers and callees of different number"));
  s.callee = column({0});
  s.totals = {1, 2};
  CHECK_THAT(message(s), Catch::Contains("stated functions"));
  s.totals = {};
  CHECK(message(s) == "opened");
  s.known = "\x02";
  CHECK_THAT(message(s), Catch::Contains("stated.known[0]"));
  s.known = std::string("\x01\x01");
  CHECK_THAT(message(s), Catch::Contains("stated.known has 2 rows"));
}

TEST_CASE("lengths past the end and endless numbers are refused") {
  std::string file = Small{}.file();
  CHECK_THAT(message_of(file + "\x3A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"),
             Catch::Contains("bytes, 0 are left"));
  CHECK_THAT(message_of(file + "\x20\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"),
             Catch::Contains("does not fit 64 bits"));
  CHECK_THAT(message_of(file + "\x23"), Catch::Contains("wire type 3"));
  CHECK_THAT(message_of(file + std::string("\x00\x00", 2)), Catch::Contains("no field number 0"));
  CHECK_THAT(message_of(file + file), Catch::Contains("several were put together"));
  CHECK_THAT(message_of(file.substr(0, 20)), Catch::Contains("no profile"));
}

TEST_CASE("a total that saturated is checked in the order of the file") {
  const std::int64_t max = std::numeric_limits<std::int64_t>::max();
  ProfileBuilder builder;
  builder.info().format = "test";
  const MetricId metric = builder.add_metric("cpu", "ns");
  const ContextId a = builder.context(kRootContext, builder.frame({.function = builder.function("a")}));
  const ContextId b = builder.context(a, builder.frame({.function = builder.function("b")}));
  builder.add_self(kRootContext, metric, max);
  builder.add_self(a, metric, max);
  builder.add_self(b, metric, std::int64_t{-5});
  const ProfilePtr profile = std::move(builder).finish().value();
  REQUIRE(profile->metrics()[0].saturated);
  REQUIRE(difference(*open_one(write_to_string({profile})).value(), *profile) == "");
}
