// Parts of functions are all of them, whatever a part is.
#include <numeric>

#include <fmt/format.h>

#include "core/source/function_ranges.h"
#include "core/view/key_memo.h"
#include "core/view/table.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

std::int64_t units_of_rows(const Case& c, const FunctionRanges& ranges, std::size_t function,
                           std::size_t metric) {
  std::int64_t sum = 0;
  for (std::uint32_t row = ranges.first[function]; row < ranges.first[function + 1]; ++row)
    sum += units(c, ranges.sums.self[metric][row]);
  return sum;
}

void by_function(Case& c) {
  c.spec.shape = Shape::flat;
  c.spec.granularity = Granularity::function;
  c.spec.focus.clear();
}

}  // namespace

TEST_CASE("law: lines, instructions and bytecodes of a function add up to its self value") {
  check_law(
      [](const Case& c) -> std::string {
        const auto selection = select(build(c), c.spec, {});
        if (!selection) return "";
        const auto flat = flat_view(**selection, {});
        if (!flat) return flat.error().message;
        const std::size_t metric = (*selection)->metric().v;
        const KeyTable& keys = *(*selection)->boxes->keys;
        SerialExecutor serial;
        const RangeUnit unit = std::array{RangeUnit::automatic, RangeUnit::line, RangeUnit::address,
                                          RangeUnit::bytecode}[c.seed % 4];
        // All at once; groups have no parts.
        const auto all = function_ranges(**selection, keys.of_frame, keys.n_keys(), unit, {}, serial);
        if (!all) return all.error().message;
        for (Key key = 0; key < keys.first_group(); ++key) {
          const auto row = flat->row_of(key);
          const std::int64_t self = row ? units(c, flat->self[*row]) : 0;
          if (units_of_rows(c, *all, key, metric) != self)
            return fmt::format("parts of {} are not its self", oracle_name(**selection, key));
          const auto alone =
              function_ranges(**selection, frames_of_key(**selection, key), 1, unit, {}, serial);
          if (!alone) return alone.error().message;
          if (alone->rows.size() != all->first[key + 1] - all->first[key])
            return fmt::format("{} has other parts alone", oracle_name(**selection, key));
          if (ranges_are_in_index(**selection)) {
            StopToken stop;
            const auto index = (*selection)->boxes->memo->key_index(*(*selection)->boxes, true, stop);
            const auto looked_up = function_ranges(**selection, **index, key, unit, {});
            if (looked_up->sums.self[metric] != alone->sums.self[metric] ||
                looked_up->sums.total[metric] != alone->sums.total[metric])
              return fmt::format("{} has other values by its contexts", oracle_name(**selection, key));
          }
          for (std::uint32_t i = 0; i < alone->rows.size(); ++i)
            if (alone->sums.self[metric][i] != all->sums.self[metric][all->first[key] + i] ||
                alone->sums.total[metric][i] != all->sums.total[metric][all->first[key] + i])
              return fmt::format("part {} of {} has other values alone", i, oracle_name(**selection, key));
        }
        return "";
      },
      by_function);
}
