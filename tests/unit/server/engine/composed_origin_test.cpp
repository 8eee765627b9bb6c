// Diffs, aggregates and joins as origins: their URIs, what they load, when they have changed.
#include "server/engine/composed_origin.h"

#include <filesystem>

#include "core/view/selection.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;

namespace {

Result<std::shared_ptr<LoadedProfiles>> loaded(const Origin& origin) {
  SerialExecutor serial;
  const ProfileCache none{CacheOptions{}};
  PROFD_TRY(Load load, origin.load({none, serial, {}, {}}));
  return load.profiles;
}

Value total_of(const Profile& profile, const std::string& metric) {
  return profile.total(*profile.find_metric(metric));
}

struct TwoFiles {
  TempFolder folder;
  std::string before = folder.file("a b.folded", "main;f 10\nmain;g 5\n"),
              after = folder.file("after.folded", "main;f 12\nmain;h 1\n");

  [[nodiscard]] std::string diff_uri() const {
    return "diff://?after=" + after + "&before=file://" + folder.path.string() + "/a%2520b.folded";
  }
};

}  // namespace

TEST_CASE("a URI of a diff is one of both its sides, and gives itself again") {
  const TwoFiles files;
  const Origins origins;
  const OriginPtr diff = origins.make(files.diff_uri(), {}).value();
  CHECK(diff->name() == "a b.folded → after.folded");
  const OriginPtr again = origins.make(diff->uri(), {}).value();
  CHECK(again->key() == diff->key());
  CHECK(again->uri() == diff->uri());
  const auto made = loaded(*diff).value();
  REQUIRE(made->profiles.size() == 1);
  CHECK(total_of(*made->profiles[0], "samples change") == Value{-2L});
  CHECK(made->watched.size() == 2);
  CHECK(made->decision.format == "diff");
}

TEST_CASE("a diff of files of one name is named by their folders, too") {
  const TempFolder folder;
  const std::string before = folder.file("first/cpu.folded", "f 1\n"),
                    after = folder.file("second/cpu.folded", "f 2\n");
  const OriginPtr diff = Origins().make("diff://?after=" + after + "&before=" + before, {}).value();
  CHECK(diff->name() == "first/cpu.folded → second/cpu.folded");
}

TEST_CASE("a diff has changed when one of its files has") {
  const TwoFiles files;
  const OriginPtr diff = Origins().make(files.diff_uri(), {}).value();
  const std::string fresh = loaded(*diff).value()->freshness;
  CHECK(diff->freshness() == fresh);
  files.folder.file("after.folded", "main;f 12\nmain;h 100\n");
  CHECK(diff->freshness() != fresh);
  std::filesystem::remove(files.before);
  CHECK_FALSE(diff->freshness());
}

TEST_CASE("what somebody has loaded of a part is taken as long as it is fresh") {
  const TwoFiles files;
  const OriginPtr after = file_origin(files.after, {}), before = file_origin(files.before, {});
  const auto known = loaded(*after).value();
  const auto diff_with = [&] {
    ComposeSpec spec;
    spec.kind = Composed::diff;
    spec.parts = {{after, "", false, known}, {before, "", true, nullptr}};
    return loaded(*composed_origin(std::move(spec)).value()).value();
  };
  CHECK(diff_with()->profiles[0]->composition()->inputs[0].profile == known->profiles[0]);
  files.folder.file("after.folded", "main;f 1\nmain;h 100\n");
  CHECK(diff_with()->profiles[0]->composition()->inputs[0].profile != known->profiles[0]);
}

TEST_CASE("one profile of several in a file is named behind its URI") {
  const std::string file =
      std::string(PROFD_SOURCE_DIR) + "/formats/speedscope/testdata/units.speedscope.json";
  const OriginPtr join = Origins().make("join://?of=" + file + "%232&of=" + file + "%233", {}).value();
  CHECK(join->name() == "units.speedscope.json#2 + units.speedscope.json#3");
  const auto made = loaded(*join).value();
  CHECK(made->profiles[0]->metrics().size() == 2);
}

TEST_CASE("sides that come to other totals are scaled as asked, and it is said how") {
  const TwoFiles files;
  const auto diff = loaded(*Origins().make(files.diff_uri() + "&scale=totals", {}).value()).value();
  const Profile& profile = *diff->profiles[0];
  CHECK(as_double(total_of(profile, "samples before")) == Approx(13));
  CHECK(profile.composition()->scale_text.find("come to as much") != std::string::npos);
  const auto longer = loaded(*Origins().make(files.diff_uri() + "&scale=duration", {}).value());
  REQUIRE_FALSE(longer);
  CHECK(longer.error().message == "scaling by per second needs how long each run took, which is not known");
}

TEST_CASE("a scale by bulk lets most functions stand still, whatever one of them does") {
  const TempFolder folder;
  std::string before = "main;hot 1000\n", after = "main;hot 9000\n";
  for (int i = 0; i < 20; ++i) {
    before += "main;f" + std::to_string(i) + " 100\n";
    after += "main;f" + std::to_string(i) + " 200\n";
  }
  const std::string a = folder.file("a.folded", before), b = folder.file("b.folded", after);
  const auto made =
      loaded(*Origins().make("diff://?scale=bulk&before=" + a + "&after=" + b, {}).value()).value();
  CHECK(as_double(total_of(*made->profiles[0], "samples before")) == Approx(2 * (1000 + 20 * 100)));
}

TEST_CASE("a metric that is called otherwise before is told in the URI") {
  const TempFolder folder;
  const std::string a = folder.file("a.folded", "f 1\n"), b = folder.file("b.folded", "f 3\n");
  const auto made = loaded(
      *Origins().make("diff://?before=" + a + "&after=" + b + "&metric=samples%3Asamples", {}).value());
  CHECK(total_of(*(*made)->profiles[0], "samples change") == Value{2L});
  const auto none =
      loaded(*Origins().make("diff://?before=" + a + "&after=" + b + "&metric=cpu%3Asamples", {}).value());
  CHECK(none.error().message == "a.folded has no metric cpu");
}

TEST_CASE("how functions are matched is told in the URI, and what came of it in the report") {
  const TempFolder folder;
  const std::string a = folder.file("a.folded", "main;old;read 6\nmain;x=y 1\n"),
                    b = folder.file("b.folded", "main;fresh;read 7\nmain;z 1\n");
  const std::string pair = "diff://?before=" + a + "&after=" + b;
  const Origins origins;
  const auto sentences = [&](const std::string& parameters) {
    const OriginPtr diff = origins.make(pair + parameters, {}).value();
    const OriginPtr again = origins.make(diff->uri(), {}).value();
    CHECK(again->key() == diff->key());
    CHECK(again->uri() == diff->uri());
    std::string out;
    const auto made = loaded(*diff).value();
    for (const ReportRow& row : made->report.rows()) out += row.message + "\n";
    return out;
  };
  CHECK(sentences("") == "");
  CHECK(sentences("&rename=old%3Dfresh&rename=%22x%3Dy%22%3Dz&rename=none%3Dany") ==
        "2 names renamed by 2 rules\n");
  CHECK(sentences("&match=suggested") == "1 function matched by callees or lines\n");
  CHECK(origins.make(pair + "&match=name", {}).value()->key() != origins.make(pair, {}).value()->key());
}

TEST_CASE("URIs that name nothing to compare are refused with a sentence") {
  const Origins origins;
  const auto refused = [&](const std::string& uri) {
    const auto made = origins.make(uri, {});
    return made ? std::string() : made.error().message;
  };
  CHECK(refused("diff://") == "a diff has a profile before and one after");
  CHECK(refused("diff://?before=/a") == "a diff has a profile before and one after");
  CHECK(refused("aggregate://") == "no profiles are named");
  CHECK(refused("diff://?before=/a&after") == "`after` in the URI has no value");
  CHECK(refused("diff://?before=/a&after=/b&scale=x") ==
        "`x` is no scale; there are raw, duration, totals and bulk");
  CHECK(refused("join://?before=/a") == "a join URI has no `before`");
  CHECK(refused("diff://?before=/a&after=relative") == refused("relative"));
  CHECK(refused("diff://?before=/a&after=/b&metric=x") == "`x` is no pair BEFORE:AFTER of metrics");
  CHECK(refused("diff://?before=/a&after=/b&match=x") ==
        "`x` is no way to match; there are exact, suggested and name");
  CHECK(refused("diff://?before=/a&after=/b&rename=x") ==
        "`x` is no pair of names: a rule to rename is written OLD=NEW or /EXPRESSION/=NEW");
  CHECK(refused("diff://?before=/a&after=/b&rename=/(/%3Dx") != "");
  CHECK(refused("aggregate://?of=/a&match=name") == "a aggregate URI has no `match`");
  CHECK(refused("diff://?before=%&after=/b") != "");
  std::string deep = "file:///a";
  for (int i = 0; i < 6; ++i) {
    std::string encoded;
    for (const char c : deep)
      encoded += c == '%' ? "%25" : c == ':' ? "%3A" : c == '&' ? "%26" : std::string(1, c);
    deep = "join://?of=" + encoded;
  }
  CHECK(refused(deep) == "profiles are put together of others too deeply");
}

TEST_CASE("more profiles than may be put together are refused before any is read") {
  ComposeSpec spec;
  spec.parts.assign(kMaxParts + 1, {file_origin("/nowhere/x.folded", {}), "", false, nullptr});
  CHECK(composed_origin(std::move(spec)).error().code == ErrorCode::limit);
}

TEST_CASE("a part that cannot be read is named") {
  const TwoFiles files;
  const auto none =
      loaded(*Origins().make("diff://?before=/nowhere/x.folded&after=" + files.after, {}).value());
  REQUIRE_FALSE(none);
  CHECK(none.error().message.find("x.folded: ") == 0);
}
