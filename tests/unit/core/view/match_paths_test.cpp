#include "core/view/match_paths.h"

#include <map>
#include <set>

#include "tests/support/catch.h"

using namespace profd;

namespace {

struct Matched {
  std::map<std::string, std::string> same;  // of paths that are another
  std::vector<MovedFolder> folders;
};

Matched matched(const std::vector<std::vector<std::string>>& inputs) {
  std::map<std::string, std::vector<std::uint32_t>> inputs_of;
  std::vector<std::string> paths;
  for (std::uint32_t input = 0; input < inputs.size(); ++input)
    for (const std::string& path : inputs[input]) {
      auto& of = inputs_of[path];
      if (of.empty()) paths.push_back(path);
      of.push_back(input);
    }
  const std::vector<std::string_view> views(paths.begin(), paths.end());
  std::vector<std::vector<std::uint32_t>> of;
  for (const std::string& path : paths) of.push_back(inputs_of[path]);
  const PathMatches matches = match_paths(views, of);
  Matched out{{}, matches.folders};
  REQUIRE(matches.same_as.size() == paths.size());
  // No file of one profile is another file of it.
  std::map<std::uint32_t, std::set<std::uint32_t>> has;
  for (std::uint32_t path = 0; path < paths.size(); ++path) {
    const std::uint32_t same = matches.same_as[path];
    CHECK(matches.same_as[same] == same);
    for (const std::uint32_t input : of[path]) CHECK(has[same].insert(input).second);
    if (same != path) out.same[paths[path]] = paths[same];
  }
  return out;
}

}  // namespace

TEST_CASE("two builds in two folders have the same files", "[match_paths]") {
  const auto one = matched({{"/home/a/one/src/parse.cc", "/home/a/one/src/read.cc", "/home/a/one/lib/util.cc",
                             "/usr/include/c++/12/vector"},
                            {"/home/a/two/src/parse.cc", "/home/a/two/src/read.cc", "/home/a/two/src/new.cc",
                             "/usr/include/c++/12/vector"}});
  CHECK(one.folders == std::vector<MovedFolder>{{"/home/a/two", "/home/a/one", 2}});
  CHECK(one.same ==
        std::map<std::string, std::string>{{"/home/a/two/src/parse.cc", "/home/a/one/src/parse.cc"},
                                           {"/home/a/two/src/read.cc", "/home/a/one/src/read.cc"}});
  CHECK(matched({{"/tmp/a/main.py"}, {"/tmp/b/main.py"}}).same.size() == 1);
}

TEST_CASE("a path is the same as its own end, and as one with other separators", "[match_paths]") {
  CHECK(matched({{"src/a.c", "src/b.c"}, {"/build/src/a.c", "/build/src/b.c"}}).folders ==
        std::vector<MovedFolder>{{"/build", "", 2}});
  CHECK(matched({{"C:\\work\\src\\a.c"}, {"/build/src/a.c"}}).folders ==
        std::vector<MovedFolder>{{"/build", "C:\\work", 1}});
}

TEST_CASE("what a profile has under its own name is that", "[match_paths]") {
  // The second has both, so that they are two.
  CHECK(matched({{"/w/cmd/a/main.go"}, {"/w/cmd/a/main.go", "/w/cmd/b/main.go"}}).same.empty());
  CHECK(matched({{"/w/cmd/a/main.go", "/w/cmd/b/main.go"}, {"/w/cmd/b/main.go"}}).same.empty());
  CHECK(matched({{"/w/a.c"}, {"/w/b.c"}}).same.empty());
  CHECK(matched({{"/w/ba.c"}, {"/v/a.c", "a.c"}}).same.empty());
}

TEST_CASE("folders that have little in common are two", "[match_paths]") {
  CHECK(matched({{"/x/one/a.c", "/x/one/b.c", "/x/one/c.c", "/x/one/util.c", "/x/one/d.c"},
                 {"/y/p.c", "/y/q.c", "/y/r.c", "/y/util.c", "/y/s.c"}})
            .same.empty());
}

TEST_CASE("each folder moves by itself", "[match_paths]") {
  const auto out = matched({{"/b1/src/a.c", "/b1/src/b.c", "/b1/src/c.c",
                             "/usr/lib/python3.11/json/decoder.py", "/usr/lib/python3.11/re.py"},
                            {"/b2/src/a.c", "/b2/src/b.c", "/b2/src/c.c",
                             "/usr/lib/python3.12/json/decoder.py", "/usr/lib/python3.12/re.py"}});
  CHECK(out.same.size() == 5);
  CHECK(out.folders ==
        std::vector<MovedFolder>{{"/b2", "/b1", 3}, {"/usr/lib/python3.12", "/usr/lib/python3.11", 2}});
}

TEST_CASE("files of many runs, each in a folder of its own, are the same files", "[match_paths]") {
  std::vector<std::vector<std::string>> inputs;
  for (int run = 0; run < 40; ++run) {
    inputs.emplace_back();
    for (int file = 0; file < 10; ++file)
      if ((file + run) % 7 != 0)
        inputs.back().push_back("/tmp/run-" + std::to_string(run) + "/src/f" + std::to_string(file) + ".c");
  }
  const auto out = matched(inputs);
  std::set<std::string> files;
  for (const auto& input : inputs)
    for (const auto& path : input) files.insert(out.same.contains(path) ? out.same.at(path) : path);
  CHECK(files.size() == 10);
}

TEST_CASE("which profile comes first does not matter to what is the same", "[match_paths]") {
  const std::vector<std::string> a{"/a/x/util.c", "/a/y/util.c", "/a/z/main.c", "/lib/v1/u/util.c"},
      b{"/b/x/util.c", "/b/y/util.c", "/b/z/main.c", "/lib/v2/u/util.c", "util.c"};
  const auto there = matched({a, b}), back = matched({b, a});
  std::map<std::string, std::string> turned;
  for (const auto& [from, to] : back.same) turned[to] = from;
  CHECK(there.same == turned);
  CHECK(there.same.size() == 4);
}

TEST_CASE("no path is too long or too strange", "[match_paths]") {
  const std::string deep = [] {
    std::string path;
    for (int i = 0; i < 30'000; ++i) path += "/a";
    return path;
  }();
  CHECK(matched({{"", "/", "//", "\\", "a/", deep}, {"b/", "///", deep + "/a", "/b" + deep}}).same.size() <=
        2);
}
