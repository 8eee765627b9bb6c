// The laws of core/model/rewrite.h against brute force on plain stacks.
#include <map>
#include <optional>

#include <fmt/format.h>

#include "core/model/rewrite.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"
#include "tests/support/profile_equal.h"

using namespace profd;
using namespace profd::test;

namespace {

using Path = std::vector<std::string>;
using Selves = std::map<Path, std::int64_t>;
using Roles = std::vector<std::optional<Path>>;  // of a record: the path of each, nothing where it has none

// What a map makes of a function: other functions, root first, and whether runs of it fold.
struct Change {
  std::vector<std::string> into;
  bool folds = false;
};
using Changes = std::map<std::string, Change>;

Changes random_changes(Rng& rng) {
  Changes changes;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    Change change;
    switch (below(rng, 5)) {
      case 0:
        break;
      case 1:
        change.into = {"merged"};
        break;
      case 2:
        change.into = {std::string("outer ") + name, "merged", std::string("inner ") + name};
        break;
      default:
        change.into = {name};
    }
    change.folds = chance(rng, 0.3);
    changes[name] = change;
  }
  return changes;
}

// A run is named by the function, or by one name for some functions together.
std::uint32_t run_of(const Changes& changes, const std::string& name) {
  if (!changes.at(name).folds) return kNone;
  return name < "d" ? 0 : static_cast<std::uint32_t>(name[0]);
}

Path mapped(const Path& functions, const Changes& changes) {
  Path path;
  std::uint32_t last = kNone;
  for (const std::string& function : functions) {
    const Change& change = changes.at(function);
    if (change.into.empty()) continue;
    const std::uint32_t run = run_of(changes, function);
    if (run != kNone && run == last) continue;
    last = run;
    path.insert(path.end(), change.into.begin(), change.into.end());
  }
  return path;
}

Path path_of(const Profile& profile, std::uint32_t context) {
  Path path;
  for (; context != 0; context = profile.tree().parent[context])
    path.emplace_back(profile.function_name(profile.frames().function[profile.tree().frame[context]]));
  std::reverse(path.begin(), path.end());
  return path;
}

Selves expected(const Case& c, const Changes& changes, const std::function<bool(const PlainStack&)>& passes) {
  Selves out;
  for (const PlainStack& stack : c.stacks) {
    if (!passes(stack)) continue;
    Path functions;
    for (const PlainFrame& frame : stack.frames) functions.push_back(frame.function);
    out[mapped(functions, changes)] += stack.value;
  }
  std::erase_if(out, [](const auto& entry) { return entry.second == 0; });
  return out;
}

Selves selves_of(const Case& c, const Profile& profile) {
  Selves out;
  for (std::size_t row = 0; row < profile.self().contexts.size(); ++row) {
    out[path_of(profile, profile.self().contexts[row])] += std::visit(
        [&](const auto& column) { return units(c, Value(column[row])); }, profile.self().values[0]);
  }
  std::erase_if(out, [](const auto& entry) { return entry.second == 0; });
  return out;
}

Rewrite rewrite_by(const Profile& profile, const Changes& changes) {
  Rewrite how;
  const auto name = [](const Profile& of, std::uint32_t frame) {
    return std::string(of.function_name(of.frames().function[frame]));
  };
  how.frames = [&changes, name](FrameId frame, RewriteTables& tables, StandIns& out) -> Result<void> {
    const std::string own = name(tables.source(), frame.v);
    for (const std::string& text : changes.at(own).into) {
      FrameSpec spec = tables.spec_of(frame);
      spec.function = text == own ? spec.function : tables.function(text);
      out.frames.push_back(tables.frame(spec));
    }
    return {};
  };
  for (std::uint32_t f = 0; f < profile.frames().size(); ++f)
    how.run_of.push_back(run_of(changes, name(profile, f)));
  return how;
}

std::string compare(const Selves& engine, const Selves& oracle) {
  if (engine == oracle) return "";
  const auto text = [](const Selves& selves) {
    std::string out;
    for (const auto& [path, value] : selves) {
      out += "\n ";
      for (const std::string& name : path) out += " / " + name;
      out += fmt::format(" {}", value);
    }
    return out;
  };
  return "engine:" + text(engine) + "\noracle:" + text(oracle);
}

}  // namespace

TEST_CASE("law: a rewrite of nothing is the same profile") {
  check_law([](const Case& c) -> std::string {
    const ProfilePtr profile = build(c);
    Rewrite how;
    how.everything = true;
    const auto same = rewrite(*profile, how);
    if (!same) return same.error().message;
    const std::string all = difference(*profile, **same);
    if (!all.empty()) return "with everything: " + all;
    // Without what nothing needs, once is enough.
    const auto less = rewrite(*profile, {});
    const auto again = rewrite(**less, {});
    if (!less || !again) return "failed";
    return difference(**less, **again);
  });
}

TEST_CASE("law: random maps make of every stack what they make of its frames, and conserve sums") {
  check_law([](const Case& c) -> std::string {
    const ProfilePtr profile = build(c);
    Rng rng(c.seed);
    const Changes changes = random_changes(rng);
    const auto out = rewrite(*profile, rewrite_by(*profile, changes));
    if (!out) return out.error().message;
    if ((*out)->total(MetricId{0u}) != profile->total(MetricId{0u})) return "the total differs";
    if ((*out)->n_samples() != profile->n_samples()) return "the number of samples differs";
    return compare(selves_of(c, **out), expected(c, changes, [](const PlainStack&) { return true; }));
  });
}

TEST_CASE("law: rewrites keep what is chosen by sample and by context") {
  check_law([](const Case& c) -> std::string {
    const ProfilePtr profile = build(c);
    Rng rng(c.seed);
    const Changes changes = random_changes(rng);
    Rewrite how = rewrite_by(*profile, changes);
    const bool by_thread = profile->samples() != nullptr && chance(rng, 0.7);
    const std::size_t deepest = 1 + below(rng, 8);
    std::vector<std::uint32_t> depths(profile->tree().size(), 0);
    for (std::size_t i = 1; i < depths.size(); ++i) depths[i] = depths[profile->tree().parent[i]] + 1;
    for (const std::uint32_t depth : depths) how.contexts.push_back(depth <= deepest ? 1 : 0);
    if (by_thread) {
      const SampleTable& samples = *profile->samples();
      const StringTable& strings = profile->strings();
      for (std::size_t row = 0; row < samples.size(); ++row)
        how.samples.push_back(strings[profile->threads().name[samples.thread[row]]] == "t0" ? 1 : 0);
    }
    const auto out = rewrite(*profile, how);
    if (!out) return out.error().message;
    return compare(selves_of(c, **out), expected(c, changes, [&](const PlainStack& stack) {
                     return stack.frames.size() <= deepest && (!by_thread || stack.thread == "t0");
                   }));
  });
}

TEST_CASE("law: records of contexts go where their contexts go") {
  check_law([](const Case& c) -> std::string {
    const ProfilePtr plain = build(c);
    Rng rng(c.seed);
    ProfileData data = plain->data();
    const std::size_t n_records = below(rng, 12);
    AssociationTable table;
    table.name = "records";
    table.roles = {"first", "second"};
    for (std::size_t role = 0; role < 2; ++role) {
      std::vector<std::uint32_t> contexts;
      for (std::size_t i = 0; i < n_records; ++i)
        contexts.push_back(chance(rng, 0.2) ? kNone
                                            : static_cast<std::uint32_t>(below(rng, data.tree.size())));
      table.contexts.emplace_back(std::move(contexts));
    }
    std::vector<std::int64_t> numbers(n_records);
    for (std::size_t i = 0; i < n_records; ++i) numbers[i] = static_cast<std::int64_t>(i);
    table.metrics = {{"number", "count"}};
    table.values = {Column<std::int64_t>(std::move(numbers))};
    data.associations = {table};
    const Profile profile(std::move(data));

    const Changes changes = random_changes(rng);
    Rewrite how = rewrite_by(profile, changes);
    if (chance(rng, 0.5))
      for (std::size_t context = 0; context < profile.tree().size(); ++context)
        how.contexts.push_back(chance(rng, 0.6) ? 1 : 0);
    std::map<std::int64_t, Roles> wanted, found;
    for (std::size_t i = 0; i < n_records; ++i) {
      Roles roles;
      bool any = false, named = false;
      for (const auto& column : table.contexts) {
        const std::uint32_t context = column[i];
        named = named || context != kNone;
        const bool passes = context != kNone && (how.contexts.empty() || how.contexts[context] != 0);
        any = any || passes;
        roles.push_back(passes ? std::optional(mapped(path_of(profile, context), changes)) : std::nullopt);
      }
      if (any || !named) wanted[static_cast<std::int64_t>(i)] = roles;
    }
    const auto out = rewrite(profile, how);
    if (!out) return out.error().message;
    for (const AssociationTable& records : (*out)->associations()) {
      for (std::size_t row = 0; row < records.size(); ++row) {
        Roles roles;
        for (const auto& column : records.contexts)
          roles.push_back(column[row] == kNone ? std::nullopt : std::optional(path_of(**out, column[row])));
        found[std::get<Column<std::int64_t>>(records.values[0])[row]] = roles;
      }
    }
    return found == wanted ? "" : "the records differ";
  });
}
