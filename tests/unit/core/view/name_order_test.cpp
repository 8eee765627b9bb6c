#include "core/view/name_order.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <tuple>

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("names are ordered as comparing them whole would order them") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> texts;
    const int n = static_cast<int>(random() % 300);
    for (int i = 0; i < n; ++i) {
      // Few letters, NUL and bytes above 127 among them, after beginnings that many share.
      std::string text(random() % 3 * 7, 'p');
      for (auto left = random() % 20; left > 0; --left)
        text += std::string("a\0b\xC3z", 5)[random() % (round % 2 == 0 ? 5 : 2)];
      texts.push_back(text);
    }
    std::vector<SortName> names;
    for (const std::string& text : texts)
      names.push_back({text, texts[random() % texts.size()], random() % 2});
    std::vector<std::uint32_t> expected(names.size());
    std::iota(expected.begin(), expected.end(), 0u);
    std::sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tie(names[a].first, names[a].second, names[a].third, a) <
             std::tie(names[b].first, names[b].second, names[b].third, b);
    });
    CHECK(order_of_names(names) == expected);
  }
}
