#include "server/engine/node_table.h"

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("a node stands for its path, the same one every time") {
  std::atomic<std::int64_t> next{1};
  const NodeTable table(next);
  std::int64_t root = 0, a = 0, b = 0;
  {
    NodeTable::Writer writer(table);
    root = writer.node(NodeTable::kNoParent, 0);
    a = writer.node(root, 7);
    b = writer.node(a, 9);
    CHECK(writer.node(root, 7) == a);
    CHECK(writer.node(a, 7) != a);
  }
  CHECK(table.path_of(root) == std::vector<Key>{});
  CHECK(table.path_of(b) == std::vector<Key>{7, 9});
}

TEST_CASE("a number of another table, or of one that was dropped, is unknown and not another box") {
  std::atomic<std::int64_t> next{1};
  std::int64_t old = 0;
  {
    const NodeTable dropped(next);
    old = NodeTable::Writer(dropped).node(NodeTable::kNoParent, 0);
  }
  const NodeTable table(next);
  const std::int64_t fresh = NodeTable::Writer(table).node(NodeTable::kNoParent, 0);
  CHECK(fresh != old);
  CHECK(!table.path_of(old));
  CHECK(!table.path_of(-5));
}

TEST_CASE("a table is bounded: with too many nodes it begins anew") {
  std::atomic<std::int64_t> next{1};
  const NodeTable table(next);
  std::int64_t root = 0;
  {
    NodeTable::Writer writer(table);
    root = writer.node(NodeTable::kNoParent, 0);
    for (Key key = 0; key <= NodeTable::kMaxNodes; ++key) writer.node(root, key);
  }
  NodeTable::Writer(table).node(NodeTable::kNoParent, 0);
  CHECK(!table.path_of(root));
  CHECK(table.memory() < 1000);
}
