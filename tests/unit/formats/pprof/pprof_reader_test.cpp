#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <set>

#include "core/view/table.h"
#include "formats/open.h"
#include "tests/support/catch.h"
#include "tests/support/pprof_file.h"

using namespace profd;
using namespace profd::test;

namespace {

Result<OpenedFile> open_bytes(const std::string& bytes, bool partial = false) {
  SerialExecutor serial;
  OpenOptions options;
  options.partial = partial;
  options.format = "pprof";
  return open_profiles(memory_source(bytes, "test.pb"), options, serial, {});
}

ProfilePtr read(const PprofParts& parts) {
  auto opened = open_bytes(parts.file());
  if (!opened) INFO(describe(opened.error()));
  REQUIRE(opened.has_value());
  return opened->profiles.at(0);
}

// "main 0/30, work 10/30, leaf 20/20": self/total by function, in order of name.
std::string functions_of(const ProfilePtr& profile, const std::string& metric) {
  ViewSpec spec;
  spec.metric = metric;
  const auto selection = select(profile, spec, {});
  REQUIRE(selection.has_value());
  const auto view = flat_view(**selection, {});
  REQUIRE(view.has_value());
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < view->key.size(); ++i) {
    rows.push_back(key_name(*profile, *(*selection)->boxes->keys, view->key[i]) + ' ' +
                   std::to_string(std::get<std::int64_t>(view->self[i])) + '/' +
                   std::to_string(std::get<std::int64_t>(view->total[i])));
  }
  std::sort(rows.begin(), rows.end());
  std::string text;
  for (const std::string& row : rows) text += (text.empty() ? "" : ", ") + row;
  return text;
}

std::string label_text(const Profile& profile, std::uint32_t set) {
  const LabelTable& l = profile.labels();
  std::string text;
  for (std::uint32_t e = l.first[set]; e < l.first[set + 1]; ++e) {
    text += std::string(profile.strings()[l.key[e]]) + '=';
    if (l.is_number[e])
      text += std::to_string(l.number[e]) + std::string(profile.strings()[l.unit[e]]);
    else
      text += profile.strings()[l.text[e]];
    text += ';';
  }
  return text;
}

}  // namespace

TEST_CASE("pprof: functions, metrics and places of a small profile are read as written") {
  PprofParts parts;
  parts.tail.varint(9, 1'700'000'000'000'000'000).varint(10, 5'000'000'000);
  parts.tail.message(11, Message().varint(1, 3).varint(2, 4)).varint(12, 10'000'000).packed(13, {11});
  const auto profile = read(parts);
  CHECK(functions_of(profile, "cpu") == "leaf 20/20, main 0/30, work 10/30");
  CHECK(functions_of(profile, "samples") == "leaf 2/2, main 0/3, work 1/3");
  CHECK(profile->metrics()[profile->default_metric().v].name == "cpu");
  CHECK(profile->info().program == "/bin/app");
  CHECK(profile->info().time_ns == 1'700'000'000'000'000'000);
  CHECK(profile->info().duration_ns == 5'000'000'000);
  CHECK(profile->info().period == 10'000'000);
  CHECK(profile->info().comments == std::vector<std::string>{"value"});
  CHECK(profile->samples() == nullptr);
  const FrameTable& frames = profile->frames();
  REQUIRE(frames.size() == 3);
  CHECK(frames.line[2] == 30);
  CHECK(frames.address[2] == 3);  // in the file of its mapping
  CHECK(profile->strings()[frames.file[2]] == "a.go");
}

TEST_CASE("pprof: functions of one name are told apart by file, first line and system name") {
  PprofParts parts;
  parts.strings.insert(parts.strings.end(), {"b.go", "_Z4workd"});  // 13, 14
  const auto function = [](std::uint64_t id, std::uint64_t system_name, std::uint64_t file,
                           std::uint64_t line) {
    return Message().varint(1, id).varint(2, 6).varint(3, system_name).varint(4, file).varint(5, line);
  };
  parts.functions = {function(1, 6, 8, 1),  function(2, 6, 13, 1), function(3, 6, 8, 9),
                     function(4, 14, 8, 1), function(5, 6, 8, 1),  function(6, 0, 8, 1)};
  parts.locations.clear();
  parts.samples.clear();
  for (std::uint64_t id = 1; id <= 6; ++id) {
    parts.locations.push_back(PprofParts::location(id, 0x1000 + id, {{id, 10 + id}}));
    parts.samples.push_back(Message().packed(1, {id}).packed(2, {1, id}));
  }
  const auto profile = read(parts);
  const FunctionTable& functions = profile->functions();
  std::vector<std::string> texts;
  for (std::size_t f = 0; f < functions.size(); ++f) {
    if (functions.unresolved[f] != 0) continue;  // of the mapping
    texts.push_back(std::string(profile->strings()[functions.name[f]]) + ' ' +
                    std::string(profile->strings()[functions.file[f]]) + ':' +
                    std::to_string(functions.start_line[f]) + ' ' +
                    std::string(profile->strings()[functions.system_name[f]]));
  }
  // 5 and 6 say what 1 says.
  CHECK(texts ==
        std::vector<std::string>{"work a.go:1 ", "work b.go:1 ", "work a.go:9 ", "work a.go:1 _Z4workd"});
  // As everywhere, a view by function does not look at linker names.
  CHECK(functions_of(profile, "cpu") == "work 16/16, work 2/2, work 3/3");
}

TEST_CASE("pprof: a location with several lines is a chain of inlined frames") {
  PprofParts parts;
  parts.locations[1] = PprofParts::location(2, 0x1002, {{3, 31}, {2, 20}});
  parts.samples = {Message().packed(1, {2, 1}).packed(2, {1, 7})};
  const auto profile = read(parts);
  CHECK(functions_of(profile, "cpu") == "leaf 7/7, main 0/7, work 0/7");
  std::size_t n_inlined = 0;
  for (std::size_t f = 0; f < profile->frames().size(); ++f) n_inlined += profile->frames().inlined[f];
  CHECK(n_inlined == 1);
}

TEST_CASE("pprof: unpacked and scattered repeated fields mean the same as packed ones") {
  PprofParts parts;
  parts.samples[0] = Message().varint(2, 2).varint(1, 3).varint(1, 2).varint(2, 20).varint(1, 1);
  CHECK(functions_of(read(parts), "cpu") == "leaf 20/20, main 0/30, work 10/30");
}

TEST_CASE("pprof: rows of the tables may take turns") {
  const PprofParts parts;
  Message m;
  for (const auto& part : parts.sample_types) m.message(1, part);
  for (const auto& part : parts.mappings) m.message(3, part);
  for (std::size_t i = 0; i < parts.strings.size(); ++i) {
    if (i < parts.locations.size()) m.message(4, parts.locations[i]).message(5, parts.functions[i]);
    if (i < parts.samples.size()) m.message(2, parts.samples[i]);
    m.bytes(6, parts.strings[i]);
  }
  const auto opened = open_bytes(m.str());
  REQUIRE(opened.has_value());
  CHECK(functions_of(opened->profiles.at(0), "cpu") == "leaf 20/20, main 0/30, work 10/30");
}

TEST_CASE("pprof: negative values keep their sign") {
  PprofParts parts;
  parts.samples[0] = Message().packed(1, {3, 2, 1}).packed(2, {negative(-2), negative(-20)});
  const auto profile = read(parts);
  CHECK(functions_of(profile, "cpu") == "leaf -20/-20, main 0/-10, work 10/-10");
}

TEST_CASE("pprof: labels keep texts, numbers and units") {
  PprofParts parts;
  parts.samples[0].message(3, Message().varint(1, 10).varint(2, 11));
  parts.samples[0].message(3, Message().varint(1, 10).varint(3, 512).varint(4, 12));
  const auto profile = read(parts);
  REQUIRE(profile->samples() != nullptr);
  REQUIRE(profile->samples()->size() == 2);
  std::vector<std::string> texts;
  for (std::uint32_t set : profile->samples()->label_set) texts.push_back(label_text(*profile, set));
  std::sort(texts.begin(), texts.end());
  CHECK(texts == std::vector<std::string>{"", "key=value;key=512bytes;"});
}

TEST_CASE("pprof: default_sample_type chooses the metric, also by its name without inuse_") {
  PprofParts parts;
  parts.tail.varint(14, 1);
  CHECK(read(parts)->default_metric() == MetricId{0u});
  PprofParts heap;
  heap.strings.push_back("inuse_space");
  heap.strings.push_back("space");
  heap.sample_types[0] = Message().varint(1, 13).varint(2, 12);
  heap.tail.varint(14, 14);
  CHECK(read(heap)->default_metric() == MetricId{0u});
}

TEST_CASE("pprof: code without symbols stands under its module, and keeps its address") {
  PprofParts parts;
  parts.locations[2] = Message().varint(1, 3).varint(2, 1).varint(3, 0x1234);
  const auto profile = read(parts);
  CHECK(functions_of(profile, "cpu") == "[app] 20/20, main 0/30, work 10/30");
}

TEST_CASE("pprof: addresses are offsets in the module's file, those outside its mapping stay") {
  PprofParts parts;
  parts.mappings = {
      Message().varint(1, 1).varint(2, 0x1000).varint(3, 0x9000).varint(4, 0x40000).varint(5, 9)};
  parts.locations[0] = PprofParts::location(1, 0xf001, {{1, 10}});
  const auto profile = read(parts);
  const FrameTable& frames = profile->frames();
  REQUIRE(frames.size() == 3);
  CHECK(frames.address[0] == 0xf001);
  CHECK(profile->modules().limit[frames.module[0].v] == 0);
  CHECK(frames.address[1] == 0x40002);
  CHECK(profile->modules().start[frames.module[1].v] == 0x1000);
  CHECK(profile->strings()[profile->modules().name[frames.module[0].v]] == "/bin/app");
}

// What a view by address calls the frames of a file in testdata.
std::set<std::string> places_in(const std::string& name, std::uint64_t& start) {
  const auto input =
      open_input(std::string(PROFD_SOURCE_DIR) + "/formats/pprof/testdata/" + name, std::uint64_t{1} << 20);
  REQUIRE(input.has_value());
  SerialExecutor serial;
  const auto opened = open_profiles(*input, {}, serial, {});
  REQUIRE(opened.has_value());
  const Profile& profile = *opened->profiles.front();
  start = profile.modules().start[0];
  const KeyTable keys = make_keys(profile, Granularity::address);
  std::set<std::string> out;
  for (Key key = 0; key < keys.n_keys(); ++key) out.insert(key_name(profile, keys, key));
  return out;
}

TEST_CASE("pprof: two runs of one program have the same addresses, wherever it was loaded") {
  std::uint64_t start = 0, other_start = 0;
  const auto places = places_in("recorded-pie-1.pb.gz", start);
  const auto others = places_in("recorded-pie-2.pb.gz", other_start);
  CHECK(start != other_start);
  std::vector<std::string> common;
  std::set_intersection(places.begin(), places.end(), others.begin(), others.end(),
                        std::back_inserter(common));
  CHECK(common.size() >= 5);
  const auto is_main = [](const std::string& name) { return name.starts_with("main.main busy+0x"); };
  CHECK(std::count_if(common.begin(), common.end(), is_main) >= 1);
}

TEST_CASE("pprof: drop_frames hides a function and what it calls, unless keep_frames holds it") {
  PprofParts parts;
  parts.strings.push_back("work|main");
  parts.tail.varint(7, 13);
  // main is the root: nothing stands above it that could keep the value, so nothing goes before a frame that
  // stays.
  CHECK(functions_of(read(parts), "cpu") == "leaf 20/20, main 0/30, work 10/30");
  PprofParts only_work;
  only_work.strings.push_back("work");
  only_work.tail.varint(7, 13);
  CHECK(functions_of(read(only_work), "cpu") == "main 30/30");
  only_work.tail.varint(8, 6);
  CHECK(functions_of(read(only_work), "cpu") == "leaf 20/20, main 0/30, work 10/30");
}

TEST_CASE("pprof: ids need not be dense") {
  PprofParts parts;
  const std::uint64_t big = 0xFFFF'FFFF'FFFF'FFF0;
  parts.locations[2] = PprofParts::location(big, 0x1003, {{3, 30}});
  parts.samples[0] = Message().packed(1, {big, 2, 1}).packed(2, {2, 20});
  CHECK(functions_of(read(parts), "cpu") == "leaf 20/20, main 0/30, work 10/30");
}

TEST_CASE("pprof: a profile without samples opens and says so") {
  PprofParts parts;
  parts.samples.clear();
  const auto opened = open_bytes(parts.file());
  REQUIRE(opened.has_value());
  REQUIRE(opened->report.rows().size() == 1);
  CHECK(opened->report.rows()[0].kind == "no-samples");
}

TEST_CASE("pprof: sums past 2^63 are clamped and marked") {
  PprofParts parts;
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  parts.samples[0] = Message().packed(1, {3, 2, 1}).packed(2, {2, most});
  const auto profile = read(parts);
  CHECK(profile->metrics()[1].saturated);
  CHECK(std::get<std::int64_t>(profile->total(MetricId{1u})) == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("pprof: functions and locations counted from 0 are read, and said") {
  PprofParts parts;
  parts.locations = {PprofParts::location(0, 0x1001, {{0, 10}}), PprofParts::location(1, 0x1002, {{1, 20}}),
                     PprofParts::location(2, 0x1003, {{2, 30}})};
  parts.functions = {PprofParts::function(0, 5), PprofParts::function(1, 6), PprofParts::function(2, 7)};
  parts.samples = {Message().packed(1, {2, 1, 0}).packed(2, {2, 20}),
                   Message().varint(1, 0).packed(2, {1, 10})};
  const auto opened = open_bytes(parts.file());
  REQUIRE(opened.has_value());
  CHECK(functions_of(opened->profiles.at(0), "cpu") == "leaf 20/20, main 10/30, work 0/20");
  const auto& rows = opened->report.rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [](const auto& r) { return r.kind == "id-zero"; });
  REQUIRE(row != rows.end());
  CHECK(row->count == 2);
  CHECK(row->message.starts_with("function[0] has the id 0"));
}

TEST_CASE("pprof: functions without any ids are those of their order, and said") {
  PprofParts parts;
  parts.functions = {Message().varint(2, 5), Message().varint(2, 6), Message().varint(2, 7)};
  const auto opened = open_bytes(parts.file());
  REQUIRE(opened.has_value());
  CHECK(functions_of(opened->profiles.at(0), "cpu") == "leaf 20/20, main 0/30, work 10/30");
  REQUIRE(opened->report.rows().size() == 1);
  CHECK(opened->report.rows()[0].kind == "id-missing");
}

TEST_CASE("pprof: a line of no function is code without symbols when no function has the id 0") {
  PprofParts parts;
  parts.locations[0] = PprofParts::location(1, 0x1001, {{0, 10}});
  const auto opened = open_bytes(parts.file());
  REQUIRE(opened.has_value());
  CHECK(functions_of(opened->profiles.at(0), "cpu") == "[app] 0/30, leaf 20/20, work 10/30");
  CHECK(opened->report.rows().empty());
}

TEST_CASE("pprof: what is wrong is named, with its place") {
  struct Case {
    const char* name;
    std::function<void(PprofParts&)> spoil;
    const char* message;
  };
  const std::vector<Case> cases{
      {"unknown location",
       [](auto& p) {
         p.samples[1] = Message().packed(1, {2, 99}).packed(2, {1, 10});
       },
       "sample[1].location_id[1] is 99, which is not in the file"},
      {"too few values",
       [](auto& p) {
         p.samples[1] = Message().packed(1, {2, 1}).packed(2, {1});
       },
       "sample[1] has 1 values, but there are 2 sample types"},
      {"two locations of id 0",
       [](auto& p) {
         p.locations[0] = PprofParts::location(0, 1, {{1, 1}});
         p.locations[1] = PprofParts::location(0, 1, {{1, 1}});
       },
       "location[1] has the id 0 of another location"},
      {"duplicate location",
       [](auto& p) {
         p.locations[1] = PprofParts::location(1, 1, {{1, 1}});
       },
       "location[1] has the id 1 of another location"},
      {"duplicate function", [](auto& p) { p.functions[2] = PprofParts::function(1, 5); },
       "function[2] has the id 1 of another function"},
      {"duplicate mapping", [](auto& p) { p.mappings.push_back(p.mappings[0]); },
       "mapping[1] has the id 1 of another mapping"},
      {"unknown function",
       [](auto& p) {
         p.locations[0] = PprofParts::location(1, 1, {{77, 1}});
       },
       "location[0].line[0] names function 77"},
      {"string past the table", [](auto& p) { p.functions[0] = PprofParts::function(1, 500); },
       "function[0].name is string 500, but the string table has 13"},
      {"huge string index", [](auto& p) { p.sample_types[0] = Message().varint(1, ~0ull).varint(2, 2); },
       "sample_type[0].type is string 18446744073709551615"},
      {"string 0 not empty", [](auto& p) { p.strings[0] = "x"; }, "string_table[0] is not empty"},
      {"no sample types", [](auto& p) { p.sample_types.clear(); }, "no sample_type"},
      {"two profiles", [](auto& p) { p.tail.varint(9, 5).raw(p.file()); },
       "two profiles stand one after the other"},
      {"packed ids cut off",
       [](auto& p) {
         p.samples[0] = Message().bytes(1, "\x81").packed(2, {1, 1});
       },
       "broken varint in sample[0].location_id"},
      {"values cut off", [](auto& p) { p.samples[0] = Message().packed(1, {1}).bytes(2, "\x81\x80"); },
       "broken varint in sample[0].value"},
      {"overlong varint",
       [](auto& p) {
         p.samples[0] =
             Message().bytes(1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").packed(2, {1, 1});
       },
       "sample[0].location_id"},
      {"label of a wrong type", [](auto& p) { p.samples[0].varint(3, 7); },
       "sample[0].label has the wrong wire type"},
      {"sample of a wrong type", [](auto& p) { p.tail.varint(2, 7); }, "sample has the wrong wire type"},
      {"bad drop_frames",
       [](auto& p) {
         p.strings.push_back("(");
         p.tail.varint(7, 13);
       },
       "drop_frames is not a regular expression"},
      {"length past the end", [](auto& p) { p.tail.raw(std::string("\x12\xff\xff\xff\xff\x7f", 6)); },
       "ends early or is damaged"},
  };
  for (const Case& c : cases) {
    PprofParts parts;
    c.spoil(parts);
    const std::string file = parts.file();
    const auto opened = open_bytes(file);
    INFO(c.name);
    REQUIRE_FALSE(opened.has_value());
    INFO(describe(opened.error()));
    CHECK(opened.error().message.find(c.message) != std::string::npos);
    if (opened.error().offset) CHECK(*opened.error().offset <= file.size());
  }
}

TEST_CASE("pprof: every prefix of a file is refused or read, never misread in silence") {
  PprofParts parts;
  parts.samples[0].message(3, Message().varint(1, 10).varint(2, 11));
  const std::string file = parts.file();
  for (std::size_t n = 0; n < file.size(); ++n) {
    const auto opened = open_bytes(file.substr(0, n));
    INFO("prefix " << n);
    if (opened) {
      // Whole fields only: then the tables that samples need are all there, or there are no samples.
      for (const auto& profile : opened->profiles) CHECK(profile->n_samples() <= 2);
    } else if (opened.error().offset) {
      CHECK(*opened.error().offset <= n);
    }
    static_cast<void>(open_bytes(file.substr(0, n), true));
  }
}

TEST_CASE("pprof: a truncated file gives what can be resolved when asked to") {
  PprofParts parts;
  const std::string whole = parts.file();
  const std::string cut = whole + std::string("\x12\x7f", 2);
  REQUIRE_FALSE(open_bytes(cut).has_value());
  const auto partial = open_bytes(cut, true);
  REQUIRE(partial.has_value());
  CHECK(functions_of(partial->profiles[0], "cpu") == "leaf 20/20, main 0/30, work 10/30");
  CHECK(partial->report.has_losses());
}
