#include "core/compare/moved_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/compare/cost_shift.h"

namespace profd {
namespace {

constexpr double kDeviationsThatMay = 2, kLeastOfWholeThatMay = 0.001;

// Rows of noise.key, ascending.
std::vector<std::uint32_t> rows_that_changed(const Noise& noise) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < noise.self_change.size(); ++row) {
    const SignedChange& c = noise.self_change[row];
    const double size = std::fabs(c.change);
    const bool may = size >= kDeviationsThatMay * c.deviation && size >= kLeastOfWholeThatMay * noise.whole;
    if (size > 0 && (may || noise.self[row] != Standing::none)) rows.push_back(row);
  }
  if (rows.size() > kMostMoving) {
    std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::fabs(noise.self_change[a].change) > std::fabs(noise.self_change[b].change);
    });
    rows.resize(kMostMoving);
    std::sort(rows.begin(), rows.end());
  }
  return rows;
}

// By key that is asked for, the other key that calls it at the greatest cost, of both sides.
Result<std::vector<Key>> main_callers(const Selection& selection, const std::vector<Key>& keys,
                                      StopToken& stop) {
  const Profile& profile = *selection.profile;
  const ContextTree& tree = profile.tree();
  const KeyTable& table = *selection.boxes->keys;
  const ComposedMetric& metric = profile.composition()->metrics[selection.metric().v];
  std::vector<double> total(tree.size(), 0);
  for (const MetricId side : {metric.before, metric.after})
    std::visit(
        [&](const auto& values) {
          for (std::size_t row = 0; row < values.size(); ++row)
            total[profile.self().contexts[row]] += std::fabs(static_cast<double>(values[row]));
        },
        profile.self().values[side.v]);
  for (std::size_t c = tree.size() - 1; c > 0; --c) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    total[tree.parent[c]] += total[c];
  }
  std::vector<std::uint32_t> row_of(table.n_keys(), kNone);
  for (std::uint32_t row = 0; row < keys.size(); ++row) row_of[keys[row]] = row;
  std::vector<std::map<Key, double>> by_caller(keys.size());
  for (std::uint32_t c = 1; c < tree.size(); ++c) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t owner = selection.boxes->owner_of(c);
    if (owner != c) continue;
    const Key key = table.of_frame[tree.frame[c]];
    if (row_of[key] == kNone) continue;
    const std::uint32_t above = selection.boxes->owner_of(tree.parent[c]);
    const Key caller = above == 0 ? kNone : table.of_frame[tree.frame[above]];
    if (caller != key) by_caller[row_of[key]][caller] += total[c];
  }
  std::vector<Key> out;
  for (const auto& callers : by_caller) {
    Key most = kNone;
    double of_most = 0;
    for (const auto& [caller, cost] : callers)
      if (cost > of_most) {
        most = caller;
        of_most = cost;
      }
    out.push_back(most);
  }
  return out;
}

// What a name says its function belongs to, "Table" of "Table::row(int)", "main" of "main.row"; "" nothing.
std::string_view class_of(std::string_view name) {
  const std::string_view plain = name.substr(0, std::min(name.find_first_of("(<["), name.size()));
  const std::size_t at = plain.find_last_of(".:");
  if (at == std::string_view::npos) return {};
  return plain.substr(0, at > 0 && plain[at] == ':' && plain[at - 1] == ':' ? at - 1 : at);
}

using Groups = std::vector<std::uint32_t>;

// By key, 1: the side before has it.
std::vector<std::uint8_t> keys_before(const Selection& selection) {
  const KeyTable& table = *selection.boxes->keys;
  const Composition& composition = *selection.profile->composition();
  std::vector<std::uint8_t> out(table.n_keys(), 0);
  for (std::size_t input = 0; input < composition.inputs.size(); ++input)
    if (composition.inputs[input].before)
      for (const std::uint32_t frame : composition.frames_of[input]) out[table.of_frame[frame]] = 1;
  return out;
}

// Numbers for what has one text; kNoGroup for "", and for what takes no part.
template <class TextOf>
Groups groups_by(const std::vector<Key>& keys, const std::vector<std::uint8_t>& takes_part, TextOf text_of) {
  std::map<std::string, std::uint32_t> known;
  Groups out;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string text(takes_part[i] != 0 ? std::string(text_of(keys[i])) : std::string());
    out.push_back(text.empty()
                      ? kNoGroup
                      : known.try_emplace(text, static_cast<std::uint32_t>(known.size())).first->second);
  }
  return out;
}

}  // namespace

std::size_t MovedCosts::memory() const {
  std::size_t bytes = sizeof(MovedCosts);
  for (const MovedCost& cost : costs)
    bytes += sizeof(cost) + (cost.from.capacity() + cost.to.capacity()) * sizeof(Key);
  return bytes;
}

Result<MovedCosts> moved_costs(const Selection& selection, const Noise& noise, StopToken stop) {
  MovedCosts out;
  if (!noise.cannot.empty()) return out;
  const std::vector<std::uint32_t> rows = rows_that_changed(noise);
  std::vector<SignedChange> changes;
  std::vector<Key> keys;
  bool rose = false, fell = false;
  for (const std::uint32_t row : rows) {
    changes.push_back(noise.self_change[row]);
    keys.push_back(noise.key[row]);
    rose = rose || changes.back().change > 0;
    fell = fell || changes.back().change < 0;
  }
  if (!rose || !fell) return out;

  PROFD_TRY(const std::vector<Key> caller, main_callers(selection, keys, stop));
  // A function with those of its callees that call nothing else that changed; then what one function calls.
  std::unordered_map<Key, std::uint32_t> row_of;
  for (std::uint32_t i = 0; i < keys.size(); ++i) row_of[keys[i]] = i;
  Groups with_callees(keys.size(), kNoGroup), of_caller(keys.size(), kNoGroup);
  std::vector<std::uint8_t> calls(keys.size(), 0);
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    if (caller[i] != kNone) of_caller[i] = caller[i];
    if (const auto above = row_of.find(caller[i]); above != row_of.end()) calls[above->second] = 1;
  }
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    const auto above = row_of.find(caller[i]);
    if (calls[i] != 0)
      with_callees[i] = i;
    else if (above != row_of.end())
      with_callees[i] = above->second;
  }
  const Profile& profile = *selection.profile;
  const KeyTable& table = *selection.boxes->keys;
  const bool by_function = table.granularity == Granularity::function;
  const std::vector<std::uint8_t> was_there = keys_before(selection);
  std::vector<std::uint8_t> takes_part;
  for (std::size_t i = 0; i < keys.size(); ++i)
    takes_part.push_back(changes[i].change < 0 || was_there[keys[i]] == 0 ? 1 : 0);
  const std::array levels{
      with_callees, of_caller,
      groups_by(keys, takes_part,
                [&](Key key) {
                  if (!by_function) return std::string();
                  const std::string name = key_name(profile, table, key);
                  return std::string(class_of(name));
                }),
      groups_by(keys, takes_part, [&](Key key) { return key_place(profile, table, key).file; }),
      groups_by(keys, takes_part, [&](Key key) { return key_place(profile, table, key).module; })};
  std::vector<std::span<const std::uint32_t>> spans(levels.begin(), levels.end());
  for (const CostShift& shift : cost_shifts(changes, spans)) {
    MovedCost moved;
    moved.net = shift.net;
    moved.gross = shift.gross;
    std::vector<std::uint32_t> members = shift.members;
    std::stable_sort(members.begin(), members.end(), [&](std::uint32_t a, std::uint32_t b) {
      const double x = std::fabs(changes[a].change), y = std::fabs(changes[b].change);
      return x != y ? x > y : table.name_rank[keys[a]] < table.name_rank[keys[b]];
    });
    for (const std::uint32_t i : members) (changes[i].change < 0 ? moved.from : moved.to).push_back(keys[i]);
    out.costs.push_back(std::move(moved));
  }
  return out;
}

}  // namespace profd
