#include "server/engine/rule_sets.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "core/support/hash.h"
#include "server/engine/project_file.h"
#include "server/engine/rules.h"

namespace profd {
namespace {

constexpr std::array<Setting, 2> kRulesOfData = {{
    {"", "sets", SettingKind::sets, &Settings::sets, kInProjectFile, "none", "", ""},
    {"", "tips", SettingKind::tips, &Settings::tips, kInProjectFile, "none", "", ""},
}};

Settings settings_of_data(std::string_view text) {
  auto read = parse_project_file(text, "/rules.toml", kRulesOfData);
  assert(read && read->problems.empty());  // a test reads each of them
  return read ? std::move(read->settings) : Settings();
}

bool has_set(const std::vector<FrameSet>& sets, const std::string& name) {
  return std::any_of(sets.begin(), sets.end(), [&](const FrameSet& set) { return set.name == name; });
}

// Hues of profd's own kinds are no other set's.
std::uint16_t hue_of(const std::string& name) {
  constexpr std::array<std::uint16_t, 6> kFree = {100, 145, 185, 245, 330, 350};
  return kFree[mix64(hash_bytes(name)) % kFree.size()];
}

}  // namespace

namespace {

std::vector<FrameSet> read_sets() {
  std::vector<FrameSet> out;
  for (const std::string_view text :
       {kSetsOfRules, kGoOfRules, kJvmOfRules, kJsOfRules, kPythonOfRules, kRustOfRules, kCOfRules}) {
    for (FrameSet& set : settings_of_data(text).sets) {
      set.own = false;
      set.kind = set.hue.has_value();
      out.push_back(std::move(set));
    }
  }
  return out;
}

std::vector<TipRule> read_tips() {
  std::vector<TipRule> out = settings_of_data(kTipsOfRules).tips;
  for (TipRule& rule : out) rule.own = false;
  return out;
}

}  // namespace

std::vector<FrameSet> built_in_sets() {
  static const std::vector<FrameSet> sets = read_sets();
  return sets;
}

std::vector<TipRule> built_in_tips() {
  static const std::vector<TipRule> tips = read_tips();
  return tips;
}

FrameSetsPtr frame_sets(std::vector<FrameSet> own, std::shared_ptr<const FrameRule> mine,
                        const std::function<void(const std::string&)>& said) {
  std::vector<FrameSet> built_in = built_in_sets();
  for (FrameSet& set : built_in)
    if (set.name == "mine" && !set.rule) set.rule = mine;
  std::vector<FrameSet> all, added;
  for (FrameSet& set : own) {
    if (has_set(built_in, set.name)) {
      added.push_back(std::move(set));
      continue;
    }
    if (!set.hue) set.hue = hue_of(set.name);
    all.push_back(std::move(set));
  }
  all.insert(all.end(), built_in.begin(), built_in.end());
  std::move(added.begin(), added.end(), std::back_inserter(all));
  auto compiled = FrameSets::compile(std::move(all));
  if (!compiled) {
    if (said) said(compiled.error().message);
    compiled = FrameSets::compile(std::move(built_in));
    assert(compiled);  // a test compiles them
  }
  return *compiled;
}

void decide_sets(std::vector<Filter>& filters, const std::function<FrameSetsPtr()>& sets) {
  FrameSetsPtr made;
  for (Filter& filter : filters) {
    if ((filter.by != FilterBy::kind && filter.by != FilterBy::work) || filter.rule) continue;
    if (!made) made = sets();
    filter.rule = set_rule(made, filter);
  }
}

}  // namespace profd
