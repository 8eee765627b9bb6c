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

TEST_CASE("by address a module is one, wherever it was loaded") {
  ProfileBuilder builder;
  const MetricId metric = builder.add_metric("cpu", "nanoseconds");
  const FunctionId function = builder.function("f");
  for (const std::uint64_t start : {std::uint64_t{0x1000}, std::uint64_t{0x9000}}) {
    FrameSpec frame{.function = function};
    frame.module =
        builder.module({.name = "/bin/app", .build_id = "ab", .start = start, .limit = start + 0x1000});
    for (const std::uint64_t address : {std::uint64_t{0x10}, std::uint64_t{0x20}}) {
      frame.address = address;
      builder.add_self(builder.context(kRootContext, builder.frame(frame)), metric, std::int64_t{1});
    }
  }
  // Another file of that name.
  FrameSpec other{.function = function, .address = 0x10};
  other.module = builder.module({.name = "/bin/app", .build_id = "cd"});
  builder.add_self(builder.context(kRootContext, builder.frame(other)), metric, std::int64_t{1});
  const auto profile = std::move(builder).finish();
  REQUIRE(profile.has_value());
  const KeyTable keys = make_keys(**profile, Granularity::address);
  CHECK(keys.n_keys() == 3);
  CHECK(key_name(**profile, keys, keys.of_frame[0]) == "f app+0x10");
}

TEST_CASE("by address a return is at its call, and numbers of two kinds are two places") {
  ProfileBuilder builder;
  const MetricId metric = builder.add_metric("cpu", "nanoseconds");
  FrameSpec frame{.function = builder.function("f"), .address = 0x10};
  const auto add = [&] {
    builder.add_self(builder.context(kRootContext, builder.frame(frame)), metric, std::int64_t{1});
  };
  frame.module = builder.module({.name = "/bin/app", .addresses = AddressKind::vaddr});
  add();
  frame.is_return = true;
  add();
  frame.is_return = false;
  frame.module = builder.module({.name = "/bin/app", .addresses = AddressKind::file_offset});
  add();
  const auto profile = std::move(builder).finish();
  REQUIRE(profile.has_value());
  const KeyTable keys = make_keys(**profile, Granularity::address);
  REQUIRE(keys.n_keys() == 3);
  CHECK(key_name(**profile, keys, keys.of_frame[0]) == "f app+0x10");
  CHECK(key_name(**profile, keys, keys.of_frame[1]) == "f app+0xf");
  CHECK(make_keys(**profile, Granularity::function).n_keys() == 1);
}

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
