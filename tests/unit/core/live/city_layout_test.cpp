// The rules of the city that can be read off small ones.
#include "core/live/city_layout.h"

#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/support/catch.h"

using namespace profd;

namespace {

std::vector<CityMethod> methods_of(std::string_view package, std::string_view type,
                                   std::initializer_list<std::string_view> names) {
  std::vector<CityMethod> out;
  for (const auto name : names) out.push_back({package, type, name, ""});
  return out;
}

std::vector<CityMethod> together(std::initializer_list<std::vector<CityMethod>> lists) {
  std::vector<CityMethod> out;
  for (const auto& list : lists) out.insert(out.end(), list.begin(), list.end());
  return out;
}

std::uint32_t block_named(const City& city, std::string_view name) {
  for (std::uint32_t i = 0; i < city.blocks.name.size(); ++i)
    if (city.blocks.name[i] == name) return i;
  return kNoCityRow;
}

std::uint32_t district_named(const City& city, std::string_view name) {
  for (std::uint32_t i = 0; i < city.districts.name.size(); ++i)
    if (city.districts.name[i] == name) return i;
  return kNoCityRow;
}

}  // namespace

TEST_CASE("an empty city is its root district", "[city]") {
  const City city = arrange_city({});
  REQUIRE(city.districts.name.size() == 1);
  CHECK(city.districts.parent[0] == kNoCityRow);
  CHECK(city.width == city.districts.rect[0].width);
  CHECK(city.blocks.name.empty());
}

TEST_CASE("methods of a class fill rows from the bottom left, by name and then by signature", "[city]") {
  const std::vector<CityMethod> methods = {{"a", "C", "run", "()"},
                                           {"a", "C", "<init>", "(int)"},
                                           {"a", "C", "stop", "()"},
                                           {"a", "C", "<init>", "()"},
                                           {"a", "C", "add", "()"}};
  const City city = arrange_city(methods);
  // <init>() <init>(int) add / run stop
  CHECK(city.blocks.columns[0] == 3);
  CHECK(city.plots.place == std::vector<std::uint32_t>{3, 1, 4, 0, 2});
  const auto x0 = city.plots.x[3], y0 = city.plots.y[3];
  CHECK(city.plots.x[1] == x0 + kCityPitch);
  CHECK(city.plots.y[1] == y0);
  CHECK(city.plots.x[0] == x0);
  CHECK(city.plots.y[0] == y0 + kCityPitch);
}

TEST_CASE("the class with the most methods is at the bottom left of its package; ties go by name", "[city]") {
  const City city = arrange_city(
      together({methods_of("p", "Small", {"a"}), methods_of("p", "Twin2", {"a", "b"}),
                methods_of("p", "Large", {"a", "b", "c", "d", "e"}), methods_of("p", "Twin1", {"a", "b"})}));
  const auto at = [&](std::string_view name) { return city.blocks.rect[block_named(city, name)]; };
  for (const auto* other : {"Small", "Twin1", "Twin2"}) {
    CHECK(at("Large").x <= at(other).x);
    CHECK(at("Large").y <= at(other).y);
  }
  const auto first = at("Twin1"), second = at("Twin2");
  CHECK((first.y < second.y || (first.y == second.y && first.x < second.x)));
}

TEST_CASE("packages are nested, and count the methods of those within", "[city]") {
  const City city = arrange_city(
      together({methods_of("game.ui", "View", {"draw", "resize"}), methods_of("game", "Main", {"main"}),
                methods_of("game.ui.text", "Font", {"load"})}));
  const auto game = district_named(city, "game"), ui = district_named(city, "ui");
  CHECK(city.districts.parent[ui] == game);
  CHECK(city.districts.parent[district_named(city, "text")] == ui);
  CHECK(city.districts.level[ui] == 2);
  CHECK(city.districts.methods[game] == 4);
  CHECK(city.districts.methods[ui] == 3);
  CHECK(city.districts.methods[0] == 4);
  CHECK(city.blocks.district[block_named(city, "Main")] == game);
}

TEST_CASE("packages may be separated by more than a dot", "[city]") {
  const City city = arrange_city(methods_of("core::view", "Tree", {"walk"}), "::");
  CHECK(city.districts.name == std::vector<std::string>{"", "core", "view"});
}

TEST_CASE("a path without end becomes no deeper than districts go", "[city]") {
  std::string path = "p0";
  for (int i = 1; i < 1000; ++i) path += fmt::format(".p{}", i);
  const City city = arrange_city(methods_of(path, "C", {"m"}));
  CHECK(city.districts.name.size() == kCityDepth + 1);
  CHECK(city.districts.level.back() == kCityDepth);
  CHECK(city.districts.name.back().substr(0, 8) == "p47.p48.");
}

TEST_CASE("a new method goes behind those of its class, and no other plot moves", "[city]") {
  auto methods = together({methods_of("p", "Full", {"m1", "m2", "m3"}), methods_of("p", "Other", {"m"}),
                           methods_of("q", "C", {"m"})});
  City city = arrange_city(methods);
  const CityPlots before = city.plots;
  methods.push_back({"p", "Full", "a_first_by_name", ""});
  extend_city(city, methods);
  CHECK(city.plots.place.back() == 3);
  for (std::size_t i = 0; i < before.x.size(); ++i) {
    CHECK(city.plots.x[i] == before.x[i]);
    CHECK(city.plots.y[i] == before.y[i]);
  }
}

TEST_CASE("methods that become known one by one make a city about as wide as deep", "[city]") {
  std::vector<CityMethod> methods;
  std::vector<std::string> names;
  names.reserve(3000);
  City city = arrange_city({});
  for (int i = 0; i < 600; ++i) {
    const auto& package = names.emplace_back(fmt::format("p{}", i % 7));
    const auto& type = names.emplace_back(fmt::format("C{}", i % 41));
    const auto& name = names.emplace_back(fmt::format("m{}", i));
    methods.push_back({package, type, name, ""});
    extend_city(city, methods);
  }
  CHECK(city.width < 3 * city.depth);
  CHECK(city.depth < 3 * city.width);
  // Against the city arranged anew: room that is lost to what has moved is bounded.
  const City anew = arrange_city(methods);
  CHECK(std::uint64_t{city.width} * city.depth < 8 * std::uint64_t{anew.width} * anew.depth);
}

TEST_CASE("a city of 100,000 methods is laid out within its time", "[city]") {
  std::vector<std::string> packages, types, names;
  std::vector<CityMethod> methods;
  for (int i = 0; i < 400; ++i) packages.push_back(fmt::format("org.example.part{}.module{}", i % 20, i));
  for (int i = 0; i < 10'000; ++i) types.push_back(fmt::format("Class{}", i));
  for (int i = 0; i < 300; ++i) names.push_back(fmt::format("method{}", (i * 7919) % 300));
  for (std::size_t i = 0; i < 100'000; ++i)
    methods.push_back(
        {packages[(i / 10) % packages.size()], types[i / 10], names[(i * 31) % names.size()], "(int, long)"});
  const auto begin = std::chrono::steady_clock::now();
  const City city = arrange_city(methods);
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(city.plots.x.size() == 100'000);
  const auto ms = std::chrono::duration<double, std::milli>(took).count();
  INFO(ms << " ms");
  // Ten times what it takes: the machine may do something else, and checks slow it down.
  CHECK(took < std::chrono::seconds(1));
}
