#include "formats/support/parents_first.h"

#include "core/support/id.h"
#include "formats/support/id_index.h"
#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("rows already in order keep it") {
  const std::vector<std::uint32_t> parent{kNone, 0, 1, 0, kNone};
  CHECK(parents_first(parent).order == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
}

TEST_CASE("children that stand before their parents are moved behind them") {
  const std::vector<std::uint32_t> parent{2, 2, 3, kNone};
  const ParentsFirst sorted = parents_first(parent);
  CHECK(sorted.order == std::vector<std::uint32_t>{3, 2, 0, 1});
  CHECK(sorted.on_cycle == kNone);
}

TEST_CASE("a row on a cycle is named") {
  const std::vector<std::uint32_t> parent{kNone, 2, 1, 0};
  CHECK(parents_first(parent).on_cycle == 1);
  const std::vector<std::uint32_t> self{0};
  CHECK(parents_first(self).on_cycle == 0);
}

TEST_CASE("ids are found whether dense or not, of equal ones the first") {
  const IdIndex dense(std::vector<std::uint64_t>{5, 6, 7});
  CHECK(dense.find(7) == 2);
  CHECK(dense.find(4) == kNone);
  CHECK(dense.find(8) == kNone);
  const IdIndex sparse(std::vector<std::uint64_t>{~0ull, 0, 9, 0});
  CHECK(sparse.find(0) == 1);
  CHECK(sparse.find(~0ull) == 0);
  CHECK(sparse.find(1) == kNone);
  CHECK(sparse.n_repeated() == 1);
  CHECK(IdIndex().find(0) == kNone);
}
