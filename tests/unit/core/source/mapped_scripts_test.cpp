#include "core/source/mapped_scripts.h"

#include <map>
#include <string>

#include "core/model/profile_builder.h"
#include "core/view/keys.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

// Two lines of a bundle, as they were made of a.ts and b.ts.
constexpr std::string_view kText =
    "function r(t){return t};var s=(e)=>e;\n"
    "  helper(1); other(2);\n";

ScriptMap bundle_map() {
  ScriptMap map;
  map.sources = {"/src/a.ts", "/src/b.ts"};
  map.third_party = {0, 0};
  map.contents = {"", ""};
  map.names = {"readAll", "value", "square"};
  const auto add = [&](std::uint32_t line, std::uint32_t column, std::uint32_t source,
                       std::uint32_t source_line, std::uint32_t source_column, std::uint32_t name = kNone) {
    map.line.push_back(line);
    map.column.push_back(column);
    map.source.push_back(source);
    map.source_line.push_back(source_line);
    map.source_column.push_back(source_column);
    map.name.push_back(name);
  };
  add(0, 0, 0, 4, 0);
  add(0, 9, 0, 4, 9, 0);    // r
  add(0, 11, 0, 4, 17, 1);  // t
  add(0, 14, 0, 5, 2);
  add(0, 24, kNone, 0, 0);
  add(0, 28, 1, 2, 6, 2);  // s
  add(0, 30, 1, 2, 15);
  add(1, 2, 1, 7, 0);
  add(1, 13, 1, 7, 11);
  return map;
}

struct Demo {
  ProfileBuilder builder;
  MetricId metric = builder.add_metric("time", "ns");
  StringId file = builder.string("/dist/app.js");

  FunctionId function(const char* name, std::uint32_t line, std::uint32_t column) {
    FunctionSpec spec;
    spec.name = builder.string(name);
    spec.file = file;
    spec.start_line = line;
    spec.start_column = column;
    return builder.function(spec);
  }
  FrameId frame(FunctionId function, std::uint32_t line = 0, std::uint32_t column = 0) {
    FrameSpec spec;
    spec.function = function;
    spec.line = line;
    spec.column = column;
    return builder.frame(spec);
  }
  void add(const std::vector<FrameId>& stack, std::int64_t value) {
    builder.add_self(builder.context_of(stack), metric, value);
  }
  ProfilePtr profile() { return *std::move(builder).finish(); }
};

MappedScripts mapped(const ProfilePtr& profile, ScriptMap map = bundle_map()) {
  const Script script{std::move(map), ScriptText(kText)};
  std::unordered_map<std::uint32_t, const Script*> by_file;
  for (const ProfiledScript& each : scripts_of(*profile)) by_file.emplace(each.file.v, &script);
  auto out = map_scripts(*profile, by_file);
  REQUIRE(out);
  return std::move(*out);
}

// By "function (system name) definition's file:line:column at file:line:column": what it has itself.
std::map<std::string, std::int64_t> selfs(const Profile& profile) {
  std::map<std::string, std::int64_t> out;
  const auto& values = std::get<Column<std::int64_t>>(profile.self().values[0]);
  const auto place = [&](StringId file, std::uint32_t line, std::uint32_t column) {
    return std::string(profile.strings()[file]) + ":" + std::to_string(line) + ":" + std::to_string(column);
  };
  for (std::size_t row = 0; row < values.size(); ++row) {
    const std::uint32_t frame = profile.tree().frame[profile.self().contexts[row]];
    const FrameTable& frames = profile.frames();
    const std::uint32_t function = frames.function[frame].v;
    const FunctionTable& functions = profile.functions();
    out[std::string(profile.strings()[functions.name[function]]) + " (" +
        std::string(profile.strings()[functions.system_name[function]]) + ") " +
        place(functions.file[function], functions.start_line[function], functions.start_column[function]) +
        " at " + place(frames.file[frame], frames.line[frame], frames.column[frame])] += values[row];
  }
  return out;
}

}  // namespace

TEST_CASE("functions of a bundle become those of its sources, by line and column") {
  Demo demo;
  const FunctionId read = demo.function("r", 1, 11), square = demo.function("s", 1, 31);
  demo.add({demo.frame(read)}, 1);
  demo.add({demo.frame(read), demo.frame(square)}, 2);
  demo.add({demo.frame(read, 1, 15)}, 4);
  const ProfilePtr profile = demo.profile();
  const MappedScripts out = mapped(profile);
  CHECK(selfs(*out.profile) ==
        std::map<std::string, std::int64_t>{{"readAll (r) /src/a.ts:5:10 at /src/a.ts:0:0", 1},
                                            {"square (s) /src/b.ts:3:16 at /src/b.ts:0:0", 2},
                                            {"readAll (r) /src/a.ts:5:10 at /src/a.ts:6:3", 4}});
  CHECK(out.profile->total(MetricId{0u}) == profile->total(MetricId{0u}));
  const ScriptCounts& counts = out.counts.begin()->second;
  CHECK(counts.n_mapped == 3);
  CHECK(counts.n_without_source == 0);
  CHECK(counts.n_unclear_lines == 0);
}

TEST_CASE("a line without a column is that of its source where it is of one, and else not known") {
  Demo demo;
  const FunctionId read = demo.function("r", 1, 11), whole = demo.function("(anonymous)", 1, 1);
  demo.add({demo.frame(read, 1)}, 1);
  demo.add({demo.frame(read, 2)}, 2);
  demo.add({demo.frame(whole, 2)}, 4);
  demo.add({demo.frame(whole, 1)}, 8);
  const MappedScripts out = mapped(demo.profile());
  CHECK(selfs(*out.profile) ==
        std::map<std::string, std::int64_t>{{"readAll (r) /src/a.ts:5:10 at /src/a.ts:0:0", 1},
                                            {"readAll (r) /src/a.ts:5:10 at /src/b.ts:8:0", 2},
                                            // The script as a whole is of no one source.
                                            {"(anonymous) () /dist/app.js:1:1 at /src/b.ts:8:0", 4},
                                            {"(anonymous) () /dist/app.js:1:1 at /dist/app.js:1:0", 8}});
  CHECK(out.counts.begin()->second.n_unclear_lines == 2);
}

TEST_CASE("code that the map has no source of stays as it is") {
  Demo demo;
  demo.add({demo.frame(demo.function("v", 1, 26))}, 1);
  demo.add({demo.frame(demo.function("w", 7, 1))}, 2);
  demo.add({demo.frame(demo.function("w", 7, 1), 8)}, 4);
  const MappedScripts out = mapped(demo.profile());
  CHECK(selfs(*out.profile) ==
        std::map<std::string, std::int64_t>{{"v () /dist/app.js:1:26 at /dist/app.js:0:0", 1},
                                            {"w () /dist/app.js:7:1 at /dist/app.js:0:0", 2},
                                            {"w () /dist/app.js:7:1 at /dist/app.js:8:0", 4}});
  CHECK(out.counts.begin()->second.n_without_source == 3);
  CHECK(out.counts.begin()->second.n_unclear_lines == 0);
}

TEST_CASE("a name of another function than the one that is written there is kept") {
  Demo demo;
  demo.add({demo.frame(demo.function("q", 1, 11))}, 1);
  demo.add({demo.frame(demo.function("(anonymous)", 1, 31))}, 2);
  const MappedScripts out = mapped(demo.profile());
  CHECK(selfs(*out.profile) ==
        std::map<std::string, std::int64_t>{{"q () /src/a.ts:5:10 at /src/a.ts:0:0", 1},
                                            {"(anonymous) () /src/b.ts:3:16 at /src/b.ts:0:0", 2}});
}

TEST_CASE(
    "functions without a name, and those named by what they are put in, are called as the map's text of the "
    "source") {
  Demo demo;
  demo.add({demo.frame(demo.function("(anonymous)", 1, 31))}, 1);
  demo.add({demo.frame(demo.function("o.y", 1, 31))}, 2);
  demo.add({demo.frame(demo.function("r", 1, 11))}, 4);
  ScriptMap map = bundle_map();
  map.contents = {"\n\n\n\nfunction other(value) {\n", "\n\nconst square = (of) => of * of;\n"};
  map.source_column[6] = 15;
  const std::map<std::string, std::int64_t> expected = {{"square () /src/b.ts:3:16 at /src/b.ts:0:0", 1},
                                                        {"square (o.y) /src/b.ts:3:16 at /src/b.ts:0:0", 2},
                                                        {"readAll (r) /src/a.ts:5:10 at /src/a.ts:0:0", 4}};
  CHECK(selfs(*mapped(demo.profile(), std::move(map)).profile) == expected);
}

TEST_CASE("a script of one source is that source as a whole") {
  Demo demo;
  demo.add({demo.frame(demo.function("(anonymous)", 1, 1))}, 1);
  ScriptMap map = bundle_map();
  map.sources.pop_back();
  for (std::size_t i = 0; i < map.size(); ++i)
    if (map.source[i] == 1) map.source[i] = kNone;
  const MappedScripts out = mapped(demo.profile(), std::move(map));
  CHECK(selfs(*out.profile) ==
        std::map<std::string, std::int64_t>{{"(anonymous) () /src/a.ts:1:1 at /src/a.ts:0:0", 1}});
}

TEST_CASE("where only frames have places, that of a function is known by its name") {
  Demo demo;
  demo.add({demo.frame(demo.function("r", 0, 0), 1, 11)}, 1);
  demo.add({demo.frame(demo.function("r", 0, 0), 1, 15)}, 2);
  const MappedScripts out = mapped(demo.profile());
  CHECK(selfs(*out.profile) ==
        std::map<std::string, std::int64_t>{{"readAll (r) /src/a.ts:5:10 at /src/a.ts:5:10", 1},
                                            {"r () /dist/app.js:0:0 at /src/a.ts:6:3", 2}});
}

TEST_CASE("contexts that become equal are one") {
  Demo demo;
  const FunctionId read = demo.function("r", 1, 11), square = demo.function("s", 1, 31);
  demo.add({demo.frame(read, 1), demo.frame(square)}, 1);
  demo.add({demo.frame(read, 0), demo.frame(square)}, 2);
  const MappedScripts out = mapped(demo.profile());
  CHECK(out.profile->tree().size() == 3);
  CHECK(selfs(*out.profile).begin()->second == 3);
}

TEST_CASE("scripts are known by their names, costliest first") {
  Demo demo;
  demo.add({demo.frame(demo.function("r", 1, 11))}, 1);
  demo.file = demo.builder.string("http://host/b.mjs?v=1");
  demo.add({demo.frame(demo.function("r", 1, 11))}, 2);
  demo.file = demo.builder.string("/src/c.ts");
  demo.add({demo.frame(demo.function("r", 1, 11))}, 1);
  const ProfilePtr profile = demo.profile();
  const std::vector<ProfiledScript> scripts = scripts_of(*profile);
  REQUIRE(scripts.size() == 2);
  CHECK(profile->strings()[scripts[0].file] == "http://host/b.mjs?v=1");
  CHECK(scripts[0].share == 0.5);
  CHECK(scripts[1].share == 0.25);
}

TEST_CASE("a text is told from the one that was recorded by where functions begin") {
  Demo demo;
  demo.add({demo.frame(demo.function("r", 1, 11)), demo.frame(demo.function("s", 1, 31)),
            demo.frame(demo.function("(anonymous)", 1, 1))},
           1);
  const ProfilePtr profile = demo.profile();
  const ProfiledScript named = scripts_of(*profile)[0];
  CHECK(named.functions.size() == 3);
  const ScriptEvidence same = script_evidence(*profile, named, ScriptText(kText));
  CHECK(same.n_places == 2);
  CHECK(same.n_fitting == 2);
  CHECK(same.n_named_fitting == 2);
  CHECK(same.confirms());
  const std::string later = "\"use strict\";" + std::string(kText);
  CHECK(script_evidence(*profile, named, ScriptText(later)).other_text());
  CHECK(script_evidence(*profile, named, ScriptText("")).other_text());
  // Functions without columns say nothing.
  Demo silent;
  silent.add({silent.frame(silent.function("r", 1, 0))}, 1);
  const ProfilePtr other = silent.profile();
  const ScriptEvidence none = script_evidence(*other, scripts_of(*other)[0], ScriptText(later));
  CHECK_FALSE(none.other_text());
  CHECK_FALSE(none.confirms());
}

TEST_CASE("a map of another text has segments within words") {
  CHECK(is_map_of(bundle_map(), ScriptText(kText)));
  CHECK_FALSE(is_map_of(bundle_map(), ScriptText("x\n")));
  CHECK_FALSE(
      is_map_of(bundle_map(), ScriptText("someverylongwordthatisnotthescriptatall\nanotherlongwordisthere")));
}
