#include "core/view/keys.h"

#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kFrames =
    "f[a.cc:3 module=/lib/x.so address=0x10];f[a.cc:4 module=/lib/x.so address=0x20];f[b.cc:3];g;g[module=m] "
    "1";

std::vector<std::string> names(Granularity granularity) {
  const auto profile = profile_from_text(kFrames);
  const KeyTable keys = make_keys(*profile, granularity);
  std::vector<std::string> out(keys.n_keys());
  for (Key key = 0; key < keys.n_keys(); ++key) out[keys.name_rank[key]] = key_name(*profile, keys, key);
  return out;
}

}  // namespace

TEST_CASE("granularity decides which frames are one") {
  using Names = std::vector<std::string>;
  CHECK(names(Granularity::function) == Names{"f", "f", "g", "g"});
  CHECK(names(Granularity::line) == Names{"f a.cc:3", "f a.cc:4", "f b.cc:3", "g", "g"});
  CHECK(names(Granularity::file) == Names{"(unknown)", "a.cc", "b.cc", "m"});
  CHECK(names(Granularity::module) == Names{"(unknown)", "m", "x.so"});
  CHECK(names(Granularity::address) == Names{"f b.cc:3", "f x.so+0x10", "f x.so+0x20", "g", "g"});
}

TEST_CASE("a key is found by its name and knows its place") {
  const auto profile = profile_from_text("f[a.cc:3 start=2 module=/lib/x.so];f[b.cc:9] 1");
  const KeyTable keys = make_keys(*profile, Granularity::function);
  const auto found = find_keys(*profile, keys, "f");
  REQUIRE(found.size() == 2);
  const KeyPlace place = key_place(*profile, keys, found[0]);
  CHECK(place.file == "a.cc");
  CHECK(place.line == 2);
  CHECK(place.module == "/lib/x.so");
  CHECK(find_keys(*profile, keys, "nope").empty());
  const KeyTable modules = make_keys(*profile, Granularity::module);
  CHECK(find_keys(*profile, modules, "x.so") == find_keys(*profile, modules, "/lib/x.so"));
}
