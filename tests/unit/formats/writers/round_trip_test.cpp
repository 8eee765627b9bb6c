// What a writer writes is read back by the reader of its format with equal numbers; what is lost is listed.
#include <algorithm>
#include <random>

#include "core/view/table.h"
#include "formats/writer.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"
#include "tests/support/text_profile.h"
#include "tests/unit/formats/writers/written.h"

using namespace profd;
using namespace profd::test;

namespace {

Written write_as(std::string_view format, const ProfilePtr& profile, const std::string& metric = "") {
  Written out;
  WriteOptions options;
  options.metric = metric;
  const std::vector<ProfilePtr> profiles{profile};
  out.result = find_writer(format)->write(profiles, options, out.sink(), out.losses);
  return out;
}

// Through the usual opening, so that compression is peeled.
ProfilePtr read_back(const Written& written, std::string_view format) {
  REQUIRE(written.result.has_value());
  SerialExecutor executor;
  OpenOptions options;
  const auto opened = open_profiles(memory_source(written.bytes, "hidden"), options, executor, StopToken{});
  INFO((opened ? std::string() : describe(opened.error())));
  REQUIRE(opened);
  CHECK(opened->decision.format == format);
  return opened->profiles.front();
}

const char* const kPlain = R"(# metrics: cpu/nanoseconds
main;work;read 3000
main;work 12000
main;work;work;read 500
main;"quote\back</script> 7000
idle 250
)";

}  // namespace

TEST_CASE("writers have ids and extensions of their own") {
  for (const FormatWriter* a : all_writers()) {
    CHECK(find_writer(a->info().id) == a);
    CHECK_FALSE(a->info().extensions.empty());
    for (const std::string_view extension : a->info().extensions)
      CHECK(writer_for_path("dir.x/file" + std::string(extension)) == a);
  }
  CHECK(writer_for_path("a.unheard") == nullptr);
  CHECK(writer_for_path("a.speedscope.json")->info().id == "speedscope");
  CHECK(find_writer("unheard") == nullptr);
}

TEST_CASE("written profiles read back with equal values by path") {
  const ProfilePtr profile = profile_from_text(kPlain);
  for (const std::string format : {"pprof", "otlp", "folded", "speedscope", "cpuprofile"}) {
    INFO(format);
    const ProfilePtr back = read_back(write_as(format, profile), format);
    const std::string metric = format == "folded"       ? "samples"
                               : format == "cpuprofile" ? "time"
                                                        : back->metrics()[0].name;
    CHECK(total_of(*back, metric) == 22750);
    CHECK(self_by_path(*back, metric) == self_by_path(*profile, "cpu"));
  }
}

TEST_CASE("pprof holds metrics, labels, places, modules, addresses and inlining") {
  const ProfilePtr profile = profile_from_text(
      "# metrics: cpu/nanoseconds alloc/bytes\n"
      "main[m.cc:3 start=1];outer[m.cc:9 start=5 module=lib.so address=0x40];inner[h.h:7 inlined "
      "address=0x40] 5 100 "
      "{label:env=prod label:size=64}\n"
      "main[m.cc:4 start=1] 1 -20\n");
  const ProfilePtr back = read_back(write_as("pprof", profile), "pprof");
  CHECK(self_by_path(*back, "cpu") == self_by_path(*profile, "cpu"));
  CHECK(self_by_path(*back, "alloc") == self_by_path(*profile, "alloc"));
  CHECK(back->metrics()[1].unit == "bytes");
  const FrameTable& frames = back->frames();
  CHECK(std::count(frames.inlined.begin(), frames.inlined.end(), 1) == 1);
  CHECK(std::count(frames.address.begin(), frames.address.end(), 0x40) >= 1);
  CHECK(back->modules().size() == 1);
  REQUIRE(back->samples() != nullptr);
  CHECK(back->labels().n_sets() == 2);
}

TEST_CASE("addresses are written as they were in memory") {
  ProfileBuilder builder;
  const MetricId metric = builder.add_metric("cpu", "nanoseconds");
  const ModuleId module =
      builder.module({.name = "/bin/app", .start = 0x55d000, .limit = 0x55f000, .offset = 0x1000});
  const FrameId frame =
      builder.frame({.function = builder.function("f"), .module = module, .address = 0x1123});
  builder.add_self(builder.context(kRootContext, frame), metric, std::int64_t{5});
  const auto built = std::move(builder).finish();
  REQUIRE(built.has_value());
  for (const std::string format : {"pprof", "otlp", "profd"}) {
    INFO(format);
    const ProfilePtr back = read_back(write_as(format, *built), format);
    REQUIRE(back->frames().size() == 1);
    CHECK(back->frames().address[0] == 0x1123);
    REQUIRE(back->modules().size() == 1);
    CHECK(back->modules().start[0] == 0x55d000);
  }
}

TEST_CASE("what a call returns to is written as within the call where a format has no mark for it") {
  ProfileBuilder builder;
  const MetricId metric = builder.add_metric("cpu", "nanoseconds");
  // vaddrs, which lead to memory as well.
  const ModuleId module = builder.module({.name = "/bin/app",
                                          .start = 0x55d000,
                                          .limit = 0x55f000,
                                          .offset = 0x1000,
                                          .addresses = AddressKind::vaddr,
                                          .first = 0x402000});
  const FrameId frame = builder.frame(
      {.function = builder.function("f"), .module = module, .address = 0x402124, .is_return = true});
  builder.add_self(builder.context(kRootContext, frame), metric, std::int64_t{5});
  const auto built = std::move(builder).finish();
  REQUIRE(built.has_value());
  for (const std::string format : {"pprof", "otlp"}) {
    INFO(format);
    const ProfilePtr back = read_back(write_as(format, *built), format);
    CHECK(back->frames().address[0] == 0x1123);
    CHECK(back->frames().is_return.empty());
    CHECK(back->modules().addresses[0] == AddressKind::file_offset);
  }
  const ProfilePtr back = read_back(write_as("profd", *built), "profd");
  CHECK(back->frames().address[0] == 0x402124);
  CHECK(back->frames().is_return[0] == 1);
  CHECK(back->modules().first[0] == 0x402000);
}

TEST_CASE("pprof keeps functions of one name apart") {
  // As in a profile of V8: nothing but place and line tells anonymous functions apart.
  const ProfilePtr profile = profile_from_text(
      "main[a.js:1 start=1];(anonymous)[a.js:4 start=3] 5\n"
      "main[a.js:1 start=1];(anonymous)[a.js:9 start=8] 7\n"
      "main[a.js:1 start=1];(anonymous)[b.js:4 start=3];(anonymous)[a.js:9 start=8] 11\n"
      "(anonymous)[module=native.so] 13\n");
  const ProfilePtr back = read_back(write_as("pprof", profile), "pprof");
  const auto functions_of = [](const ProfilePtr& of) {
    ViewSpec spec;
    const auto selection = select(of, spec, {});
    REQUIRE(selection.has_value());
    const auto view = flat_view(**selection, {});
    REQUIRE(view.has_value());
    std::vector<std::string> rows;
    for (std::size_t i = 0; i < view->key.size(); ++i) {
      const KeyTable& keys = *(*selection)->boxes->keys;
      const KeyPlace place = key_place(*of, keys, view->key[i]);
      rows.push_back(key_name(*of, keys, view->key[i]) + ' ' + std::string(place.file) + ':' +
                     std::to_string(place.line) + ' ' + std::string(place.module) + ' ' +
                     std::to_string(std::get<std::int64_t>(view->self[i])) + '/' +
                     std::to_string(std::get<std::int64_t>(view->total[i])));
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  };
  CHECK(functions_of(back) == functions_of(profile));
  CHECK(functions_of(back).size() == 5);
}

TEST_CASE("otlp holds a profile for each metric, with all that frames and samples have") {
  const ProfilePtr profile = profile_from_text(
      "# metrics: cpu/nanoseconds alloc/bytes\n"
      "main[m.cc:3 start=1];outer[m.cc:9 start=5 module=lib.so address=0x40 kind=jit];"
      "inner[h.h:7 inlined module=lib.so address=0x40 kind=jit] 5 100 "
      "{thread=t1 time=70 label:env=prod label:size=64}\n"
      "main[m.cc:4 start=1] 1 -20 {thread=t2 time=30}\n"
      "main[m.cc:4 start=1] 2 0 {thread=t2 time=90}\n"
      "[lib.so][module=lib.so address=0x80 unresolved kind=kernel] 4 0 {time=10}\n"
      "main[m.cc:4 start=1] 7 0\n");
  const Written written = write_as("otlp", profile);
  CHECK(written.losses.rows().empty());
  SerialExecutor executor;
  const auto opened =
      open_profiles(memory_source(written.bytes, "hidden"), OpenOptions{}, executor, StopToken{});
  INFO((opened ? std::string() : describe(opened.error())));
  REQUIRE(opened);
  REQUIRE(opened->profiles.size() == 2);
  CHECK_FALSE(opened->report.has_losses());
  const Profile &cpu = *opened->profiles[0], &alloc = *opened->profiles[1];
  CHECK(self_by_path(cpu, "cpu") == self_by_path(*profile, "cpu"));
  CHECK(self_by_path(alloc, "alloc") == self_by_path(*profile, "alloc"));
  CHECK(alloc.metrics()[0].unit == "bytes");
  REQUIRE(cpu.samples() != nullptr);
  std::vector<std::int64_t> times(cpu.samples()->time.begin(), cpu.samples()->time.end());
  std::sort(times.begin(), times.end());
  CHECK(times == std::vector<std::int64_t>{kNoTime, 10, 30, 70, 90});
  CHECK(cpu.threads().size() == 2);
  CHECK(cpu.labels().n_sets() == 2);
  const FrameTable& frames = cpu.frames();
  CHECK(std::count(frames.inlined.begin(), frames.inlined.end(), 1) == 1);
  CHECK(std::count(frames.kind.begin(), frames.kind.end(), FrameKind::jit) == 2);
  CHECK(std::count(frames.address.begin(), frames.address.end(), 0x80) == 1);
  for (std::size_t f = 0; f < cpu.functions().size(); ++f) {
    const std::string_view name = cpu.function_name(FunctionId{f});
    CHECK((cpu.functions().unresolved[f] != 0) == name.starts_with('['));
  }
  CHECK(cpu.modules().size() == 1);
}

TEST_CASE("formats of whole numbers write fractions of seconds as nanoseconds") {
  ProfileBuilder builder;
  const MetricId metric = builder.add_metric("wall", "seconds", true);
  const ContextId context = builder.context(kRootContext, builder.frame({.function = builder.function("a")}));
  builder.add_self(context, metric, 0.0125);
  const auto profile = std::move(builder).finish();
  REQUIRE(profile);
  for (const std::string format : {"pprof", "otlp"}) {
    const Written written = write_as(format, *profile);
    CHECK_FALSE(lost(written, "fractions"));
    const ProfilePtr back = read_back(written, format);
    CHECK(back->metrics()[0].unit == "nanoseconds");
    CHECK(total_of(*back, "wall") == 12500000);
  }
}

TEST_CASE("values that belong to no sample are written beside the samples") {
  ProfileBuilder builder;
  const MetricId metric = builder.add_metric("cpu", "nanoseconds");
  const ContextId top = builder.context(kRootContext, builder.frame({.function = builder.function("main")}));
  const ContextId a = builder.context(top, builder.frame({.function = builder.function("a")}));
  const std::int64_t value = 5;
  builder.add_sample(a, std::span(&value, 1), {.thread = builder.thread({.name = "t"}), .time = 3});
  builder.add_self(a, metric, std::int64_t{2});
  const auto profile = std::move(builder).finish();
  REQUIRE(profile);
  for (const std::string format : {"pprof", "otlp", "folded"})
    CHECK(self_by_path(*read_back(write_as(format, *profile), format),
                       format == "folded" ? "samples" : "cpu") == self_by_path(**profile, "cpu"));
  CHECK(lost(write_as("chrome-trace", *profile), "no-time"));
}

TEST_CASE("random profiles keep their values in every format that holds them") {
  std::mt19937 random(11);
  for (int round = 0; round < 40; ++round) {
    std::string text = "# metrics: cpu/nanoseconds\n";
    for (int line = 0; line < 30; ++line) {
      const int depth = 1 + static_cast<int>(random() % 6);
      for (int d = 0; d < depth; ++d) text += (d > 0 ? ";f" : "f") + std::to_string(random() % 5);
      text += " " + std::to_string(1 + random() % 1000000) + "\n";
    }
    const ProfilePtr profile = profile_from_text(text);
    for (const std::string format : {"pprof", "otlp", "folded", "speedscope", "cpuprofile"}) {
      INFO("round " << round << " " << format);
      const ProfilePtr back = read_back(write_as(format, profile), format);
      const std::string metric = format == "folded"       ? "samples"
                                 : format == "cpuprofile" ? "time"
                                                          : back->metrics()[0].name;
      CHECK(self_by_path(*back, metric) == self_by_path(*profile, "cpu"));
    }
  }
}

// The cost of calls to a function, or its own and its calls' when nobody calls it: callgrind_annotate
// --inclusive=yes.
TEST_CASE("callgrind: own and inclusive costs are those of the stacks, with recursion too") {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    std::string text;
    std::map<std::string, std::int64_t> self, total;
    for (int line = 0; line < 12; ++line) {
      std::vector<std::string> stack;
      for (int d = 0; d < 1 + static_cast<int>(random() % 7); ++d)
        stack.push_back("f" + std::to_string(random() % 4));
      const std::int64_t value = 1 + static_cast<std::int64_t>(random() % 100);
      for (std::size_t d = 0; d < stack.size(); ++d) {
        text += (d > 0 ? ";" : "") + stack[d];
        if (std::find(stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(d), stack[d]) ==
            stack.begin() + static_cast<std::ptrdiff_t>(d))
          total[stack[d]] += value;
      }
      self[stack.back()] += value;
      text += " " + std::to_string(value) + "\n";
    }
    const Written written = write_as("callgrind", profile_from_text(text));
    REQUIRE(written.result.has_value());
    std::map<std::string, std::int64_t> own, with_calls, incoming;
    std::string function, callee;
    bool after_calls = false;
    std::size_t at = 0;
    while (at < written.bytes.size()) {
      const std::string line = written.bytes.substr(at, written.bytes.find('\n', at) - at);
      at += line.size() + 1;
      if (line.starts_with("fn=")) {
        function = line.substr(3);
      } else if (line.starts_with("cfn=")) {
        callee = line.substr(4);
      } else if (line.starts_with("calls=")) {
        after_calls = true;
      } else if (!line.empty() && line[0] >= '0' && line[0] <= '9') {
        const std::int64_t value = std::stoll(line.substr(line.find(' ') + 1));
        CHECK(value >= 0);
        (after_calls ? incoming[callee] : own[function]) += value;
        with_calls[function] += value;
        after_calls = false;
      }
    }
    INFO(text << written.bytes);
    for (const auto& [name, value] : total) {
      CHECK(own[name] == self[name]);
      CHECK((incoming.contains(name) ? incoming[name] : with_calls[name]) == value);
    }
  }
}

TEST_CASE("writers list what they cannot hold and refuse what makes no sense") {
  const ProfilePtr profile = profile_from_text(
      "# metrics: cpu/nanoseconds alloc/bytes\n"
      "main[m.cc:3 module=a.out address=0x10 kind=jit] 5 100 {thread=t1 time=5 label:env=prod}\n");
  const Written folded = write_as("folded", profile, "alloc");
  CHECK(folded.bytes == "main_[j] 100\n");
  for (const char* kind : {"metrics", "lines", "addresses", "modules", "threads", "times", "labels"}) {
    INFO(kind);
    CHECK(lost(folded, kind));
  }
  CHECK_FALSE(lost(write_as("profd", profile), "metrics"));
  CHECK(lost(write_as("pprof", profile), "kinds"));
  CHECK(write_as("folded", profile, "unheard").result.error().code == ErrorCode::not_found);
  CHECK(write_as("cpuprofile", profile, "alloc").result.error().code == ErrorCode::unsupported);
  CHECK(write_as("chrome-trace", profile_from_text("a 1\n")).result.error().code == ErrorCode::unsupported);
}

TEST_CASE("folded: separators in names are changed and counted") {
  ProfileBuilder builder;
  const MetricId metric = builder.add_metric("samples", "count");
  const ContextId context =
      builder.context(kRootContext, builder.frame({.function = builder.function("a;b\nc")}));
  builder.add_self(context, metric, std::int64_t{2});
  builder.add_self(kRootContext, metric, std::int64_t{1});
  const auto profile = std::move(builder).finish();
  REQUIRE(profile);
  const Written written = write_as("folded", *profile);
  CHECK(written.bytes == "(root) 1\na:b c 2\n");
  CHECK(lost(written, "renamed"));
  CHECK(lost(written, "empty-stack"));
}

TEST_CASE("chrome-trace: samples that follow each other are one call") {
  const ProfilePtr profile = profile_from_text(
      "# metrics: cpu/nanoseconds\n"
      "main;a 1000 {thread=t time=0}\n"
      "main;b 500 {thread=t time=1000}\n"
      "main;b 250 {thread=t time=2000}\n");
  const Written written = write_as("chrome-trace", profile);
  REQUIRE(written.result.has_value());
  const auto n_of = [&](const std::string& piece) {
    int n = 0;
    for (std::size_t at = 0; (at = written.bytes.find(piece, at)) != std::string::npos; at += piece.size())
      ++n;
    return n;
  };
  // main lasts from 0 to 1.5 us and, after a gap, from 2 to 2.25 us.
  CHECK(n_of("\"ph\":\"B\"") == 5);
  CHECK(n_of("\"ph\":\"E\"") == 5);
  CHECK(n_of("\"ts\":1.500") == 2);
  CHECK(n_of("\"ts\":2.250") == 2);
}
