#include "server/engine/script_maps.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "formats/open.h"
#include "server/engine/engine.h"
#include "server/engine/origin.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
namespace fs = std::filesystem;

namespace {

const fs::path kBundles = PROFD_SOURCE_DIR "/tests/fixtures/source-maps";

std::string bundle_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A project with the minified bundle, and the profile of it as if it had been recorded there.
struct BundleProject {
  test::TempFolder folder;
  std::string script = copy("dist/minified/app.js"), map = copy("dist/minified/app.js.map");
  std::string profile_text = with_folder(bundle_text(kBundles / "minified.cpuprofile"));

  std::string copy(const std::string& name) { return folder.file(name, bundle_text(kBundles / name)); }
  std::string with_folder(std::string text) const {
    const std::string_view recorded = "/src/source-maps";
    for (std::size_t at = text.find(recorded); at != std::string::npos; at = text.find(recorded, at))
      text.replace(at, recorded.size(), folder.path.string());
    return text;
  }
  ProfilePtr profile() const {
    const std::string path = folder.file("a.cpuprofile", profile_text);
    SerialExecutor executor;
    const auto opened = open_profiles(*open_input(path, 1 << 30), {}, executor, {});
    REQUIRE(opened);
    return opened->profiles.front();
  }
  ScriptsMapped mapped(const ScriptRoots& roots) const {
    auto out = map_scripts_of(profile(), roots, {});
    REQUIRE(out);
    return std::move(*out);
  }
  ScriptsMapped mapped() const { return mapped({{folder.path.string()}, {}, false}); }
};

const ScriptAnswer& of_bundle(const ScriptsMapped& mapped) {
  const auto found =
      std::find_if(mapped.scripts.begin(), mapped.scripts.end(),
                   [](const ScriptAnswer& script) { return script.script.ends_with("app.js"); });
  REQUIRE(found != mapped.scripts.end());
  return *found;
}

struct QuietListener final : EngineListener {
  void on_profile_changed(ProfileChange, const std::string&, std::uint32_t, const std::string&,
                          const std::string&, std::size_t) override {}
  void on_selection_changed(const std::optional<SharedSelection>&, ClientId) override {}
  void on_activity_changed(const std::string&) override {}
};

bool has_function(const Profile& profile, std::string_view name, const std::string& file) {
  const FunctionTable& functions = profile.functions();
  for (std::size_t f = 0; f < functions.size(); ++f)
    if (profile.strings()[functions.name[f]] == name && profile.strings()[functions.file[f]] == file)
      return true;
  return false;
}

}  // namespace

TEST_CASE("a bundle below a root is shown by its sources") {
  const BundleProject project;
  const ScriptsMapped out = project.mapped();
  const ScriptAnswer& bundle = of_bundle(out);
  CHECK(bundle.state == ScriptState::mapped);
  CHECK(bundle.reason == "");
  CHECK(bundle.file == project.script);
  CHECK(bundle.map == project.map);
  CHECK(bundle.share > 0.5);
  CHECK(bundle.n_mapped > 10);
  const std::string source = (project.folder.path / "src/grid.ts").string();
  CHECK(has_function(*out.profile, "neighbourSum", source));
  CHECK(has_function(*out.profile, "Grid", source));
  ImportReport report;
  report_scripts(out.scripts, report);
  REQUIRE_FALSE(report.rows().empty());
  CHECK(report.rows().front().kind == "source-map");
  CHECK_FALSE(report.has_losses());
}

TEST_CASE("without roots no script is looked for") {
  const BundleProject project;
  const ScriptsMapped out = project.mapped({});
  CHECK(out.scripts.empty());
  CHECK(has_function(*out.profile, "(anonymous)", project.script));
}

TEST_CASE("scripts and maps outside of the roots are not read, nor through links") {
  const BundleProject project;
  test::TempFolder elsewhere;
  const ScriptRoots roots{{elsewhere.path.string()}, {}, false};
  CHECK(of_bundle(project.mapped(roots)).state == ScriptState::not_here);
  fs::create_directories(elsewhere.path / "dist/minified");
  fs::create_symlink(project.script, elsewhere.path / "dist/minified/app.js");
  CHECK(of_bundle(project.mapped(roots)).state == ScriptState::not_here);
  // The script is here, its map leads out.
  fs::remove(project.map);
  const std::string outside =
      elsewhere.file("app.js.map", bundle_text(kBundles / "dist/minified/app.js.map"));
  fs::create_symlink(outside, project.map);
  const ScriptsMapped out = project.mapped();
  CHECK(of_bundle(out).state == ScriptState::unusable);
  CHECK(of_bundle(out).reason.find("is not a file of the workspace") != std::string::npos);
  CHECK(of_bundle(out).remedy != "");
  ImportReport report;
  report_scripts(out.scripts, report);
  CHECK(report.has_losses());
}

TEST_CASE("a script is found by a mapping, or by the end of its path where its text says so") {
  BundleProject project;
  project.profile_text = bundle_text(kBundles / "minified.cpuprofile");
  const std::string root = project.folder.path.string();
  CHECK(of_bundle(project.mapped({{root}, {{"/src/source-maps", root}}, false})).state ==
        ScriptState::mapped);
  CHECK(of_bundle(project.mapped({{root}, {}, false})).state == ScriptState::mapped);
  CHECK(of_bundle(project.mapped({{root + "/dist/minified"}, {}, false})).state == ScriptState::mapped);
  // Of the same name, and another script.
  project.folder.file("dist/minified/app.js", bundle_text(kBundles / "dist/limited/app.js"));
  CHECK(of_bundle(project.mapped({{root}, {}, false})).state == ScriptState::not_here);
}

TEST_CASE("a bundle that was built again after the recording is not used") {
  const BundleProject project;
  project.folder.file("dist/minified/app.js",
                      "\"use strict\";" + bundle_text(kBundles / "dist/minified/app.js"));
  const ScriptsMapped out = project.mapped();
  CHECK(of_bundle(out).state == ScriptState::other_text);
  CHECK(of_bundle(out).remedy != "");
  CHECK_FALSE(has_function(*out.profile, "neighbourSum", (project.folder.path / "src/grid.ts").string()));
  // Nor is a map of another build.
  project.folder.file("dist/minified/app.js", bundle_text(kBundles / "dist/minified/app.js"));
  project.folder.file("dist/minified/app.js.map", bundle_text(kBundles / "dist/bundled/app.js.map"));
  CHECK(of_bundle(project.mapped()).state == ScriptState::unusable);
  project.folder.file("dist/minified/app.js.map", "{}");
  CHECK(of_bundle(project.mapped()).reason.find("cannot be read") != std::string::npos);
}

TEST_CASE("a script that names no map is shown as it is, and that is no loss") {
  const BundleProject project;
  std::string text = bundle_text(kBundles / "dist/minified/app.js");
  text.erase(text.find("//# sourceMappingURL"));
  project.folder.file("dist/minified/app.js", text);
  const ScriptsMapped out = project.mapped();
  CHECK(of_bundle(out).state == ScriptState::no_map);
  ImportReport report;
  report_scripts(out.scripts, report);
  CHECK(report.rows().empty());
}

TEST_CASE("no source map is fetched from a network") {
  const BundleProject project;
  std::string text = bundle_text(kBundles / "dist/minified/app.js");
  text.replace(text.find("app.js.map"), 10, "https://127.0.0.1:1/app.js.map");
  project.folder.file("dist/minified/app.js", text);
  const ScriptsMapped out = project.mapped();
  CHECK(of_bundle(out).state == ScriptState::unusable);
  CHECK(of_bundle(out).reason.find("was not fetched") != std::string::npos);
}

TEST_CASE("the place of a source map is told by the comment and the script") {
  const auto path = [](std::string_view url) { return map_place(url, "/w/dist/app.js").path; };
  CHECK(path("app.js.map") == "/w/dist/app.js.map");
  CHECK(path("./maps/a%20b.map?v=1#x") == "/w/dist/maps/a b.map");
  CHECK(path("../maps/app.js.map") == "/w/maps/app.js.map");
  CHECK(path("/abs/app.js.map") == "/abs/app.js.map");
  CHECK(path("file:///abs/app.js.map") == "/abs/app.js.map");
  for (const char* url : {"http://host/app.js.map", "//host/app.js.map", "webpack://x/app.js.map"}) {
    CAPTURE(url);
    CHECK(path(url) == "");
    CHECK(map_place(url, "/w/app.js").reason.find("not fetched") != std::string::npos);
  }
  CHECK(path("a%00b") == "");
  CHECK(map_place("data:application/json;charset=utf-8;base64,e30=", "/w/app.js").text == "{}");
  CHECK(map_place("data:application/json,%7B%7D", "/w/app.js").text == "{}");
  CHECK(map_place("data:application/json;base64,!", "/w/app.js").reason != "");
  CHECK(map_place("data:", "/w/app.js").reason != "");
}

TEST_CASE("sources are named by the folder of their map") {
  CHECK(source_path("../src/a.ts", "/w/dist") == "/w/src/a.ts");
  CHECK(source_path("/src/a.ts", "/w/dist") == "/src/a.ts");
  CHECK(source_path("file:///src/a%20b.ts", "/w/dist") == "/src/a b.ts");
  CHECK(source_path("webpack://demo/./src/../src/a.ts", "/w/dist") == "webpack://demo/src/a.ts");
  CHECK(source_path("webpack:///./src/a.ts", "/w/dist") == "webpack:///src/a.ts");
  CHECK(source_path("http://host", "/w/dist") == "http://host");
}

TEST_CASE("roots of several clients add up") {
  ScriptRoots roots{{"/a"}, {}, false};
  CHECK_FALSE(roots.add({{"/a"}, {}, false}));
  CHECK(roots.add({{"/a", "/b"}, {{"/x", "/b"}}, false}));
  CHECK_FALSE(roots.add({{"/b"}, {{"/x", "/b"}}, true}));
  CHECK(roots.folders == std::vector<std::string>{"/a", "/b"});
  CHECK(roots.beside_profile);
}

TEST_CASE("a file that is opened has the names of its sources, and is kept in the cache as it was read") {
  const BundleProject project;
  static_cast<void>(project.profile());
  SerialExecutor executor;
  CacheOptions options;
  options.directory = (project.folder.path / "cache").string();
  options.min_import = std::chrono::milliseconds(0);
  const ProfileCache cache(options);
  const OriginPtr origin = file_origin((project.folder.path / "a.cpuprofile").string(), {});
  const std::string source = (project.folder.path / "src/grid.ts").string();
  const ScriptRoots beside{{}, {}, true};
  auto first = origin->load({cache, executor, {}, {}, {}, {}, beside});
  REQUIRE(first);
  CHECK(has_function(*first->profiles->profiles.front(), "smooth", source));
  REQUIRE(first->keep);
  REQUIRE(first->keep({}));
  CHECK(of_bundle({nullptr, first->profiles->scripts.at(0)}).state == ScriptState::mapped);
  const auto plain = origin->load({cache, executor, {}, {}, {}, {}, {}});
  REQUIRE(plain);
  CHECK_FALSE(plain->keep);
  CHECK(has_function(*plain->profiles->profiles.front(), "smooth", project.script));
  const auto again = origin->load({cache, executor, {}, {}, {}, {}, beside});
  REQUIRE(again);
  CHECK(has_function(*again->profiles->profiles.front(), "smooth", source));
}

TEST_CASE("scripts and maps that are too large are not read, nor too many of them") {
  const BundleProject project;
  fs::resize_file(project.map, kMaxScriptBytes + 1);
  CHECK(of_bundle(project.mapped()).state == ScriptState::unusable);
  fs::resize_file(project.script, kMaxScriptBytes + 1);
  const ScriptsMapped out = project.mapped();
  CHECK(of_bundle(out).state == ScriptState::unusable);
  CHECK(of_bundle(out).reason.find("larger than the 64 MiB") != std::string::npos);

  ProfileBuilder builder;
  const MetricId metric = builder.add_metric("time", "ns");
  for (std::size_t i = 0; i <= kMaxScripts; ++i) {
    const FrameId frame = builder.frame({.function = builder.function("f", std::to_string(i) + ".js")});
    builder.add_self(builder.context(kRootContext, frame), metric, std::int64_t{1});
  }
  const auto many =
      map_scripts_of(*std::move(builder).finish(), {{project.folder.path.string()}, {}, false}, {});
  REQUIRE(many);
  CHECK(many->scripts.size() == kMaxScripts);
}

TEST_CASE("who opens a profile with further folders has it read again, where scripts were not found") {
  const BundleProject project;
  static_cast<void>(project.profile());
  Engine engine(EngineOptions(), [](UniqueFunction<void()> task) { task(); });
  QuietListener listener;
  const ClientId client = engine.add_client(&listener);
  const auto opened = [&](const ScriptRoots& roots) {
    OpenRequest request;
    request.uri = "file://" + (project.folder.path / "a.cpuprofile").string();
    request.scripts = roots;
    OpenProfilePtr out;
    engine.open(client, request, {}, [&](Result<OpenAnswer> answer) {
      REQUIRE(answer);
      out = answer->profile;
    });
    REQUIRE(out);
    return out;
  };
  const std::string source = (project.folder.path / "src/grid.ts").string();
  const test::TempFolder elsewhere;
  const ScriptRoots other{{elsewhere.path.string()}, {}, false};
  const OpenProfilePtr first = opened(other);
  CHECK_FALSE(has_function(*first->profile, "smooth", source));
  CHECK(opened(other)->revision == first->revision);
  const OpenProfilePtr second = opened({{project.folder.path.string()}, {}, false});
  CHECK(second->handle == first->handle);
  CHECK(second->revision > first->revision);
  CHECK(has_function(*second->profile, "smooth", source));
  CHECK(opened(other)->revision == second->revision);
}
