// What holds of every city, however it came to be: random structures, and methods that become known in random
// order.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "core/live/city_layout.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

using Random = std::mt19937;

// Names that many methods share, so that classes and packages of all sizes come about.
struct Structure {
  std::vector<std::string> packages, types, names;
  std::vector<CityMethod> methods;
};

Structure random_structure(Random& random) {
  Structure out;
  const auto pick = [&](std::size_t most) { return static_cast<std::size_t>(random() % most); };
  out.packages = {"", "a", "a.b", "a.b.c", "a.c", "d", "d.d.d", "e", "e..f", "e.g"};
  const auto types = 1 + pick(40), names = 1 + pick(120), methods = pick(700);
  for (std::size_t i = 0; i < types; ++i) out.types.push_back(fmt::format("T{}", i));
  for (std::size_t i = 0; i < names; ++i) out.names.push_back(fmt::format("m{}", i));
  const auto often = 1 + pick(types);
  for (std::size_t i = 0; i < methods; ++i) {
    const auto type = pick(2) == 0 ? pick(types) : pick(often);
    out.methods.push_back({out.packages[(type * 7 + pick(2)) % out.packages.size()], out.types[type],
                           out.names[pick(names)], pick(3) == 0 ? "()" : "(int)"});
  }
  return out;
}

bool inside(const CityRect& part, const CityRect& around) {
  return part.x >= around.x && part.y >= around.y && part.x + part.width <= around.x + around.width &&
         part.y + part.depth <= around.y + around.depth;
}

bool apart(const CityRect& a, const CityRect& b) {
  return a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.depth <= b.y || b.y + b.depth <= a.y;
}

// "" or what is wrong.
std::string faults_of(const City& city, std::size_t methods) {
  const auto districts = city.districts.name.size(), blocks = city.blocks.name.size();
  if (city.plots.x.size() != methods || city.plots.y.size() != methods) return "a plot is missing";
  if (city.districts.rect[0] != CityRect{0, 0, city.width, city.depth}) return "the root is not the city";
  // What lies in a district, beside each other.
  std::vector<std::vector<CityRect>> parts(districts);
  for (std::size_t i = 1; i < districts; ++i) {
    if (city.districts.parent[i] >= i) return "a parent comes after its part";
    parts[city.districts.parent[i]].push_back(city.districts.rect[i]);
  }
  for (std::size_t i = 0; i < blocks; ++i) parts[city.blocks.district[i]].push_back(city.blocks.rect[i]);
  for (std::size_t i = 0; i < districts; ++i)
    for (std::size_t a = 0; a < parts[i].size(); ++a) {
      if (!inside(parts[i][a], city.districts.rect[i])) return fmt::format("a part leaves district {}", i);
      for (std::size_t b = 0; b < a; ++b)
        if (!apart(parts[i][a], parts[i][b])) return fmt::format("parts of district {} overlap", i);
    }
  std::set<std::pair<std::uint32_t, std::uint32_t>> places;
  for (std::size_t i = 0; i < methods; ++i) {
    const CityRect plot{city.plots.x[i], city.plots.y[i], kCityPlot, kCityPlot};
    if (!inside(plot, city.blocks.rect[city.plots.block[i]]))
      return fmt::format("plot {} leaves its block", i);
    // In a block plots are at steps of the pitch, which is larger than they are.
    if (!places.insert({plot.x, plot.y}).second) return fmt::format("plot {} is on another", i);
  }
  return "";
}

bool same(const City& a, const City& b) {
  return a.plots.x == b.plots.x && a.plots.y == b.plots.y && a.districts.rect == b.districts.rect &&
         a.blocks.rect == b.blocks.rect && a.blocks.name == b.blocks.name;
}

// Districts from that of a block up to below the root.
std::set<std::uint32_t> around(const City& city, std::uint32_t block) {
  std::set<std::uint32_t> out;
  for (auto at = city.blocks.district[block]; at != 0; at = city.districts.parent[at]) out.insert(at);
  return out;
}

constexpr int kRounds = 300;

}  // namespace

TEST_CASE("in every city all lies in what it belongs to, and nothing on anything else", "[city][property]") {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    Random random(seed);
    const Structure structure = random_structure(random);
    const City city = arrange_city(structure.methods);
    INFO("seed " << seed);
    REQUIRE(faults_of(city, structure.methods.size()) == "");
  }
}

TEST_CASE("a city follows from the structure alone, whatever order the methods come in", "[city][property]") {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    Random random(seed);
    Structure structure = random_structure(random);
    // Methods that are told apart by nothing have places that go by their order.
    const auto key = [](const CityMethod& m) { return std::tie(m.package, m.type, m.name, m.signature); };
    std::sort(structure.methods.begin(), structure.methods.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
    structure.methods.erase(std::unique(structure.methods.begin(), structure.methods.end(),
                                        [&](const auto& a, const auto& b) { return key(a) == key(b); }),
                            structure.methods.end());
    std::vector<std::size_t> order(structure.methods.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<CityMethod> shuffled;
    for (const auto i : order) shuffled.push_back(structure.methods[i]);
    const City city = arrange_city(structure.methods), other = arrange_city(shuffled);
    INFO("seed " << seed);
    REQUIRE(same(city, arrange_city(structure.methods)));
    for (std::size_t i = 0; i < order.size(); ++i) {
      REQUIRE(other.plots.x[i] == city.plots.x[order[i]]);
      REQUIRE(other.plots.y[i] == city.plots.y[order[i]]);
    }
  }
}

TEST_CASE("what becomes known later overlaps nothing, however it comes", "[city][property]") {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    Random random(seed);
    const Structure structure = random_structure(random);
    const auto all = std::span(structure.methods);
    auto known = all.empty() ? 0 : random() % all.size();
    City city = arrange_city(all.first(known));
    INFO("seed " << seed);
    while (known < all.size()) {
      known = std::min<std::size_t>(all.size(), known + 1 + random() % 40);
      extend_city(city, all.first(known));
      REQUIRE(faults_of(city, known) == "");
    }
    const City anew = arrange_city(all);
    REQUIRE(city.districts.methods[0] == anew.districts.methods[0]);
    REQUIRE(city.blocks.name.size() == anew.blocks.name.size());
  }
}

TEST_CASE("a new class moves nothing outside of its packages", "[city][property]") {
  for (unsigned seed = 0; seed < kRounds; ++seed) {
    Random random(seed);
    Structure structure = random_structure(random);
    City city = arrange_city(structure.methods);
    const City before = city;
    const auto package = structure.packages[random() % structure.packages.size()];
    const auto count = 1 + random() % 60;
    for (std::size_t i = 0; i < count; ++i) structure.methods.push_back({package, "A new class", "m", ""});
    extend_city(city, structure.methods);
    const auto its = around(city, city.plots.block.back());
    INFO("seed " << seed << ", package " << package);
    for (std::size_t plot = 0; plot < before.plots.x.size(); ++plot) {
      if (city.plots.x[plot] == before.plots.x[plot] && city.plots.y[plot] == before.plots.y[plot]) continue;
      const auto of_plot = around(city, city.plots.block[plot]);
      REQUIRE(
          std::any_of(of_plot.begin(), of_plot.end(), [&](auto district) { return its.contains(district); }));
    }
    // Classes that are new and gone again leave the places of those that stay: before it is as it was.
    REQUIRE(same(before, arrange_city(std::span(structure.methods).first(before.plots.x.size()))));
  }
}
