// One city of two versions: every method has one place, whichever of them has it.
#include "server/engine/live_union.h"

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/support/catch.h"

using namespace profd;

namespace {

LiveNamed named(live::MethodId id, std::string package, std::string type, std::string method) {
  return {id, 0, std::move(package), std::move(type), std::move(method), ""};
}

// Numbers of layouts are those of a session: methods, and arrangements.
LiveNews news_of(std::vector<LiveNamed> methods, std::uint32_t n_all, std::uint32_t n_arranged = 0) {
  return {std::move(methods), ".", n_all + n_arranged, n_arranged};
}

std::vector<LiveNamed> a_package(const std::string& package, int n, live::MethodId first) {
  std::vector<LiveNamed> out;
  for (int i = 0; i < n; ++i)
    out.push_back(named(first + static_cast<live::MethodId>(i), package, fmt::format("C{}", i / 4),
                        fmt::format("m{}", i)));
  return out;
}

struct Place {
  std::uint32_t x, y;
  bool operator==(const Place&) const = default;
};

std::map<std::string, Place> places_by_name(const LiveCity& city) {
  std::map<std::string, Place> places;
  for (std::size_t i = 0; i < city.methods().size(); ++i) {
    const LiveNamed& at = city.methods()[i];
    places[at.package + "." + at.class_name + "." + at.name] = {city.city().plots.x[i],
                                                                city.city().plots.y[i]};
  }
  return places;
}

}  // namespace

TEST_CASE("methods of two versions share a place by package, class, name and signature", "[live][city]") {
  LiveUnion both;
  std::vector<LiveNamed> after = a_package("p.a", 10, 1), before = a_package("p.a", 10, 101);
  after.push_back(named(50, "p.b", "New", "fresh"));
  before.push_back(named(150, "p.b", "Old", "was"));
  both.take(news_of(after, 11), news_of(before, 11));
  const LiveCity& city = both.city();
  REQUIRE(city.methods().size() == 12);
  CHECK(city.layout() == 22);
  for (const LiveNamed& row : city.methods()) {
    if (row.name == "fresh") {
      CHECK(row.method == 50);
      CHECK(row.before == 0);
    } else if (row.name == "was") {
      CHECK(row.method == 0);
      CHECK(row.before == 150);
    } else {
      CHECK(row.before == row.method + 100);
    }
  }
}

TEST_CASE("of several methods of one name the first goes with the first", "[live][city]") {
  LiveUnion both;
  both.take(news_of({named(1, "p", "C", "m"), named(2, "p", "C", "m")}, 2),
            news_of({named(11, "p", "C", "m")}, 1));
  REQUIRE(both.city().methods().size() == 2);
  CHECK(both.city().methods()[0].before == 11);
  CHECK(both.city().methods()[1].before == 0);
}

TEST_CASE("what the other version has later keeps the place that is there", "[live][city]") {
  LiveUnion both;
  both.take(news_of(a_package("p", 5, 1), 5), news_of({}, 0));
  const auto places = places_by_name(both.city());
  const std::uint32_t seen = both.city().layout();
  both.take(news_of({}, 5), news_of(a_package("p", 5, 101), 5));
  CHECK(places_by_name(both.city()) == places);
  // Who has the layout before is told of all of them: they are in both now.
  CHECK(both.city().since(seen).plots.size() == 5);
  for (const LiveNamed& row : both.city().methods()) CHECK(row.before == row.method + 100);
}

TEST_CASE("a class that is new in one version moves nothing outside of its package", "[live][city]") {
  LiveUnion both;
  std::vector<LiveNamed> after, before;
  for (int p = 0; p < 6; ++p) {
    const std::string package = fmt::format("top.p{}", p);
    for (const LiveNamed& one : a_package(package, 12 + p, static_cast<live::MethodId>(1 + 100 * p))) {
      after.push_back(one);
      before.push_back(one);
    }
  }
  const auto n = static_cast<std::uint32_t>(after.size());
  both.take(news_of(after, n), news_of(before, n));
  const auto places = places_by_name(both.city());
  both.take(news_of({named(5000, "top.p3", "Fresh", "a"), named(5001, "top.p3", "Fresh", "b")}, n + 2),
            news_of({}, n));
  const auto now = places_by_name(both.city());
  CHECK(now.size() == places.size() + 2);
  for (const auto& [name, place] : places) {
    INFO(name);
    if (!name.starts_with("top.p3.")) CHECK(now.at(name) == place);
  }
}

TEST_CASE("code that is known by its address alone is another in another build", "[live][city]") {
  LiveUnion both;
  both.take(news_of({named(1, "", "", "[game+0x10]")}, 1), news_of({named(1, "", "", "[game+0x10]")}, 1));
  CHECK(both.city().methods().size() == 2);
}

TEST_CASE("both are arranged anew when one of them is", "[live][city]") {
  LiveUnion both;
  both.take(news_of(a_package("small", 2, 1), 2), news_of({}, 0));
  both.take(news_of(a_package("large", 30, 10), 32), news_of({}, 0));
  const auto places = places_by_name(both.city());
  both.take(news_of({}, 32, 1), news_of({}, 0));
  CHECK(both.city().layout() == 33);
  CHECK(places_by_name(both.city()) != places);
  CHECK(both.city().since(32).plots.size() == 32);
}
