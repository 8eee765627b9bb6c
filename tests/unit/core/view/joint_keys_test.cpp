#include "core/view/joint_keys.h"

#include "core/view/selection.h"
#include "core/view/table.h"
#include "core/view/values.h"
#include "tests/support/catch.h"
#include "tests/support/composed.h"
#include "tests/support/format_tree.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

struct Joined {
  std::vector<ProfilePtr> profiles;
  JointKeys keys;
};

Joined join(std::initializer_list<std::string_view> texts, Granularity granularity = Granularity::function) {
  Joined out;
  std::vector<KeyedProfile> inputs;
  for (const std::string_view text : texts) {
    out.profiles.push_back(profile_from_text(text));
    const Profile& profile = *out.profiles.back();
    inputs.push_back({&profile, std::make_shared<const KeyTable>(make_keys(profile, granularity))});
  }
  auto joined = join_keys(inputs);
  REQUIRE(joined);
  out.keys = std::move(*joined);
  return out;
}

// Every joint key, in order of name: its name, then which inputs have it.
std::string text_of(const Joined& joined) {
  std::vector<Key> order(joined.keys.n_keys());
  for (Key key = 0; key < order.size(); ++key) order[joined.keys.name_rank[key]] = key;
  std::string out;
  for (const Key key : order) {
    const std::uint32_t input = joined.keys.first_input[key];
    out += key_name(*joined.profiles[input], *joined.keys.keys[input], joined.keys.key_in[input][key]) + " ";
    for (std::size_t i = 0; i < joined.keys.n_inputs(); ++i)
      if (joined.keys.key_in[i][key] != kNone) out += static_cast<char>('A' + i);
    out += "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("functions of several profiles are the same by name and file, wherever their ids stand") {
  const auto joined =
      join({"main[m.cc:1];parse[p.cc:3];read[r.cc:1] 1", "parse[q.cc:3] 1\nread[r.cc:9] 1\nmain[m.cc:2] 1"});
  CHECK(text_of(joined) == "main AB\nparse A\nparse B\nread AB\n");
  // What the first input has comes first, in its order.
  CHECK(joined.keys.joint_of[0] == std::vector<Key>{0, 1, 2});
  CHECK(translate(joined.keys, 0, 1, std::vector<Key>{0, 1, 2, kNone}) ==
        std::vector<Key>{2, kNone, 1, kNone});
  CHECK(translate_path(joined.keys, 0, 1, std::vector<Key>{0, 2}) == std::vector<Key>{2, 1});
  CHECK(translate_path(joined.keys, 0, 1, std::vector<Key>{0, 1}) == std::nullopt);
}

TEST_CASE("without a file the module tells functions apart") {
  CHECK(text_of(join({"work[module=a.so] 1\nwork[module=b.so] 1", "work[module=b.so] 1"})) ==
        "work A\nwork AB\n");
}

TEST_CASE("files and modules and lines are joined by what they are called") {
  const auto a = "f[a.cc:1 module=x.so] 1\ng[a.cc:2 module=x.so] 1",
             b = "h[a.cc:2 module=y.so] 1\ng[a.cc:2] 1";
  CHECK(text_of(join({a, b}, Granularity::file)) == "a.cc AB\n");
  CHECK(text_of(join({a, b}, Granularity::module)) == "(unknown) B\nx.so A\ny.so B\n");
  CHECK(text_of(join({a, b}, Granularity::line)) == "f a.cc:1 A\ng a.cc:2 AB\nh a.cc:2 B\n");
}

TEST_CASE("a function that moved is the same function") {
  CHECK(text_of(join({"f[a.cc:10 start=10] 1", "f[a.cc:90 start=90] 1"})) == "f AB\n");
}

TEST_CASE("lines of a function that moved are as far from its first line, where that is known") {
  CHECK(text_of(join({"f[a.cc:12 start=10] 1", "f[a.cc:92 start=90] 1\nf[a.cc:93 start=90] 1"},
                     Granularity::line)) == "f a.cc:12 AB\nf a.cc:93 B\n");
  CHECK(text_of(join({"f[a.cc:12] 1", "f[a.cc:12 start=10] 1"}, Granularity::line)) == "f a.cc:12 AB\n");
  CHECK(text_of(join({"f[a.cc:12] 1", "f[a.cc:92 start=90] 1"}, Granularity::line)) ==
        "f a.cc:12 A\nf a.cc:92 B\n");
  // Two of one name in a profile are told apart as the functions are.
  CHECK(text_of(join({"f[a.cc:12 start=10] 1\nf[a.cc:22 start=20] 1", "f[a.cc:12 start=10] 1"},
                     Granularity::line)) == "f a.cc:12 AB\nf a.cc:22 A\n");
}

TEST_CASE("two builds in two folders have the same functions") {
  const auto a = "main[/b/one/src/m.cc:1];parse.isra.0[/b/one/src/p.cc:3];read[/b/one/src/r.cc:1] 1\n"
                 "memcpy[module=/b/one/bin/libx.so] 1",
             b = "main[/b/two/src/m.cc:2];parse[/b/two/src/p.cc:9];parse.cold[/b/two/src/p.cc:12] 1\n"
                 "added[/b/two/src/r.cc:4];memcpy[module=/b/two/bin/libx.so] 1";
  const auto joined = join({a, b});
  CHECK(text_of(joined) == "added B\nmain AB\nmemcpy AB\nparse.isra.0 AB\nread A\n");
  CHECK(joined.keys.n_renamed == 1);
  CHECK(joined.keys.folders == std::vector<MovedFolder>{{"/b/two", "/b/one", 4}});
  CHECK(text_of(join({a, b}, Granularity::file)) ==
        "/b/one/bin/libx.so AB\n/b/one/src/m.cc AB\n/b/one/src/p.cc AB\n/b/one/src/r.cc AB\n");
  // Both parts of `parse` are one box.
  CHECK(joined.keys.keys[1]->n_keys() == 4);
}

TEST_CASE("a closure that is alone in its function needs no number") {
  CHECK(text_of(join({"main.work.func1[w.go:3] 1", "main.work.func2[w.go:3] 1"})) == "main.work.func1 AB\n");
  CHECK(text_of(join({"main.work.func1[w.go:3] 1\nmain.work.func2[w.go:9] 1",
                      "main.work.func2[w.go:9] 1"})) == "main.work.func1 A\nmain.work.func2 AB\n");
}

TEST_CASE("linker names tell closures apart while two profiles have one of them") {
  const auto text = [](std::string_view x, std::string_view y) {
    return "f::{{closure}}[f.rs:3 start=3 system=_ZN1f28closure17h" + std::string(x) +
           "E] 1\nf::{{closure}}[f.rs:9 start=9 system=_ZN1f28closure17h" + std::string(y) + "E] 1";
  };
  const std::string a = text("0000000000000001", "0000000000000002"),
                    b = text("0000000000000003", "0000000000000002");
  CHECK(text_of(join({a, b})) == "f::{{closure}} A\nf::{{closure}} B\nf::{{closure}} AB\n");
  // Of another build: their lines tell them apart.
  CHECK(text_of(join({a, text("0000000000000005", "0000000000000006")})) ==
        "f::{{closure}} AB\nf::{{closure}} AB\n");
}

TEST_CASE("first lines tell functions of one name apart while some of them stand where they stood") {
  const auto joined = join({"(anonymous)[a.js:10 start=10] 1\n(anonymous)[a.js:50 start=50] 1",
                            "(anonymous)[a.js:50 start=50] 1\n(anonymous)[a.js:70 start=70] 1"});
  CHECK(text_of(joined) == "(anonymous) A\n(anonymous) AB\n(anonymous) B\n");
}

TEST_CASE("functions of one name that have all moved are one: nobody knows which is which") {
  const auto joined = join({"x;(anonymous)[a.js:10 start=10] 1\nx;(anonymous)[a.js:50 start=50] 2",
                            "x;(anonymous)[a.js:11 start=11] 4\nx;(anonymous)[a.js:51 start=51] 8", "x 1"});
  CHECK(text_of(joined) == "(anonymous) AB\nx ABC\n");
  // The inputs' own tables have one key for both, so that a view has one box.
  for (std::size_t input = 0; input < 2; ++input) {
    CHECK(joined.keys.keys[input]->n_keys() == 2);
    const auto own = select(joined.profiles[input], {}, {}).value();
    const auto selection = with_keys(own, joined.keys.keys[input], {}).value();
    CHECK(format_tree(*selection) == (input == 0 ? dedent(R"(
      all 3 0
        x 3 0
          (anonymous) 3 3
    )")
                                                 : dedent(R"(
      all 12 0
        x 12 0
          (anonymous) 12 12
    )")));
  }
}

TEST_CASE("functions of one name in one profile alone stay what they are") {
  CHECK(text_of(join({"(anonymous)[a.js:10 start=10] 1\n(anonymous)[a.js:50 start=50] 1", "other 1"})) ==
        "(anonymous) A\n(anonymous) A\nother B\n");
}

TEST_CASE("linker names tell functions of one name apart") {
  const auto overloads = [](std::uint32_t first_line) {
    ProfileBuilder builder;
    builder.add_metric("samples", "count");
    for (const char* linker_name : {"_Z1fi", "_Z1fd"}) {
      FunctionSpec spec;
      spec.name = builder.string("f");
      spec.file = builder.string("f.cc");
      spec.system_name = builder.string(linker_name);
      spec.start_line = first_line++;
      builder.add_self(builder.context(kRootContext, builder.frame({.function = builder.function(spec)})),
                       MetricId{0u}, std::int64_t{1});
    }
    return std::move(builder).finish().value();
  };
  const ProfilePtr a = overloads(1), b = overloads(100);
  std::vector<KeyedProfile> inputs;
  for (const ProfilePtr& profile : {a, b})
    inputs.push_back(
        {profile.get(), std::make_shared<const KeyTable>(make_keys(*profile, Granularity::function))});
  const JointKeys joint = join_keys(inputs).value();
  CHECK(joint.n_keys() == 2);
  CHECK(translate(joint, 0, 1, std::vector<Key>{0, 1}) == std::vector<Key>{0, 1});
}

TEST_CASE("collapsed groups are joined by what they are called, and no functions are") {
  Joined joined;
  std::vector<KeyedProfile> inputs;
  ViewSpec spec;
  Filter collapse;
  collapse.op = FilterOp::collapse;
  collapse.by = FilterBy::module;
  collapse.pattern = "libc.so";
  spec.filters = {collapse};
  for (const char* text : {"main;malloc[module=libc.so] 1\nlibc.so 1", "main;free[module=libc.so] 1"}) {
    joined.profiles.push_back(profile_from_text(text));
    inputs.push_back(
        {joined.profiles.back().get(), select(joined.profiles.back(), spec, {}).value()->boxes->keys});
  }
  joined.keys = join_keys(inputs).value();
  // Keys whose frames are all in the group still have their names.
  CHECK(text_of(joined) == "free B\nlibc.so A\nlibc.so AB\nmain AB\nmalloc A\n");
}

TEST_CASE("profiles are joined at one granularity") {
  const auto profile = profile_from_text("a 1");
  const std::vector<KeyedProfile> inputs = {
      {profile.get(), std::make_shared<const KeyTable>(make_keys(*profile, Granularity::function))},
      {profile.get(), std::make_shared<const KeyTable>(make_keys(*profile, Granularity::line))}};
  CHECK(join_keys(inputs).error().code == ErrorCode::invalid);
  CHECK(join_keys({})->n_keys() == 0);
}

TEST_CASE("merged profiles have one key where the join of their inputs has one") {
  const auto keys_of = [](std::initializer_list<std::string_view> texts) {
    const ProfilePtr merged = composed(Composed::aggregate, texts).value();
    const auto keys = std::make_shared<const KeyTable>(make_keys(*merged, Granularity::function));
    const auto joined = joined_keys(*merged, keys, merged->composition()->frames_of);
    return std::pair(keys->n_keys(), joined->n_keys());
  };
  // The function moved from one build to the next.
  CHECK(keys_of({"main;f[a.c:11 start=10] 1", "main;f[a.c:21 start=20] 1"}) ==
        std::pair<std::size_t, std::size_t>(3, 2));
  // Two of one name in one build, one of which the other has at the same line.
  CHECK(keys_of({"f[a.c:11 start=10] 1\nf[a.c:31 start=30] 1", "f[a.c:11 start=10] 1"}).second == 2);
  // Nobody knows which became which.
  CHECK(keys_of({"f[a.c:11 start=10] 1\nf[a.c:31 start=30] 1", "f[a.c:12 start=11] 1"}).second == 1);
}
