// The table of all callers and callees says what a look at one function says.
#include "core/view/neighbour_table.h"

#include <cmath>

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

bool near(const Value& a, const Value& b) {
  if (a.index() != b.index()) return false;
  return std::fabs(as_double(a) - as_double(b)) <= 1e-9 * (1 + std::fabs(as_double(a)));
}

std::string difference(const std::vector<Neighbour>& a, const std::vector<Neighbour>& b) {
  if (a.size() != b.size()) return fmt::format("{} and {} of them", a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].key != b[i].key || !near(a[i].total, b[i].total))
      return fmt::format("number {} is key {} with {}, not key {} with {}", i, a[i].key,
                         as_double(a[i].total), b[i].key, as_double(b[i].total));
  return "";
}

}  // namespace

TEST_CASE("every function of every selection has the neighbours that a look at it alone finds") {
  check_law([](const Case& c) -> std::string {
    ViewSpec spec = c.spec;
    spec.shape = Shape::top_down;
    spec.focus.clear();
    const auto selection = select(build(c), spec, {});
    if (!selection) return "";
    const auto table = make_neighbour_table(**selection, {});
    if (!table) return table.error().message;
    if (table->usable == !(*selection)->boxes->owner.empty()) return "usable for the wrong selections";
    if (!table->usable) return "";
    for (Key key = 0; key < (*selection)->boxes->keys->n_keys(); ++key) {
      const auto alone = neighbours_of(**selection, key, 3, {});
      if (!alone) continue;  // the selection has nothing of it
      const Neighbours all = neighbours_in(*table, key, 3);
      const std::string name = oracle_name(**selection, key);
      if (!near(all.total, alone->total)) return fmt::format("total of {}", name);
      if (all.n_callers != alone->n_callers) return fmt::format("number of callers of {}", name);
      if (all.n_callees != alone->n_callees) return fmt::format("number of callees of {}", name);
      if (const auto d = difference(all.callers, alone->callers); !d.empty())
        return fmt::format("callers of {}: {}", name, d);
      if (const auto d = difference(all.callees, alone->callees); !d.empty())
        return fmt::format("callees of {}: {}", name, d);
      if (!near(all.no_caller, alone->no_caller)) return fmt::format("no caller of {}", name);
      if (!near(all.no_callee, alone->no_callee)) return fmt::format("no callee of {}", name);
    }
    return "";
  });
}
