#include "server/engine/glob.h"

#include <random>
#include <string>

#include "tests/support/catch.h"

using namespace profd;

namespace {

// What the header says, tried one way after another.
bool glob_by_trying(std::string_view glob, std::string_view path, bool begins_component = true) {
  if (glob.empty()) return path.empty();
  if (glob[0] != '*') {
    if (path.empty() || (glob[0] == '?' ? path[0] == '/' : path[0] != glob[0])) return false;
    return glob_by_trying(glob.substr(1), path.substr(1), glob[0] == '/');
  }
  const std::size_t n_stars = std::min(glob.find_first_not_of('*'), glob.size());
  const std::string_view rest = glob.substr(n_stars);
  if (n_stars > 1 && begins_component && !rest.empty() && rest[0] == '/') {
    if (glob_by_trying(rest.substr(1), path)) return true;
    for (std::size_t i = 0; i < path.size(); ++i)
      if (path[i] == '/' && glob_by_trying(rest.substr(1), path.substr(i + 1))) return true;
    return false;
  }
  for (std::size_t i = 0; i <= path.size(); ++i) {
    if (glob_by_trying(rest, path.substr(i), false)) return true;
    if (i < path.size() && path[i] == '/' && n_stars == 1) return false;
  }
  return false;
}

}  // namespace

TEST_CASE("a glob matches what trying every way would match") {
  std::mt19937 random(7);
  const auto text = [&](std::string_view letters, std::size_t most) {
    std::string out;
    for (std::size_t n = random() % (most + 1); out.size() < n;) out += letters[random() % letters.size()];
    return out;
  };
  std::size_t n_matched = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string glob = text("aab?/**", 9), path = text("aab//", 8);
    INFO(glob << " and " << path);
    const bool matches = glob_matches(glob, path);
    n_matched += matches ? 1 : 0;
    REQUIRE(matches == glob_by_trying(glob, path));
  }
  CHECK(n_matched > 1000);
}

TEST_CASE("patterns of more than 64 places, and of every byte") {
  const std::string a(100, 'a'), path = "/w/" + a + "/" + a + "b";
  CHECK(glob_matches("/w/**/*" + a + "b", path));
  CHECK(glob_matches("/w/**/" + a + "?", path));
  CHECK_FALSE(glob_matches("/w/**/" + a + "?", path + "c"));
  CHECK(glob_matches("/w/" + a + "*" + a + "b", "/w/" + a + a + "b"));
  CHECK_FALSE(glob_matches("/w/" + a + "*" + a + "b", path));
  std::string all;
  for (int c = 1; c < 256; ++c)
    if (c != '*' && c != '?') all += static_cast<char>(c);
  CHECK(glob_matches(all + "*" + all, all + all));
  CHECK_FALSE(glob_matches(all + "*" + all, all + all + "x"));
}

TEST_CASE("a match that is not wanted any more ends") {
  StopSource stop;
  stop.request_stop();
  CHECK_FALSE(Glob("**").matches("anything", StopToken(stop)));
}
