#include "server/engine/rule_settings.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/support/near_miss.h"
#include "core/support/text.h"
#include "core/view/pattern.h"

namespace profd {
namespace {

constexpr std::size_t kMaxPatterns = 64, kMaxRuleText = 500, kMaxRuleName = 60;

constexpr std::array<std::string_view, 7> kRuntimeWords = {"any", "go", "jvm", "js", "python", "rust", "c"};
constexpr std::array<std::string_view, kNFrameKinds> kFrameKindWords = {
    "native", "jit", "interpreted", "kernel", "gc", "waker", "data_object"};
constexpr std::array<std::string_view, 4> kMetricWords = {"time", "wall", "bytes", "any"};
constexpr std::array<std::string_view, 15> kEvidenceWords = {
    "work",         "self",      "few_samples", "nameless",  "cut_stacks",
    "lost_samples", "cpi",       "switches",    "imbalance", "one_thread",
    "lock_step",    "gc_pauses", "slow_reads",  "runnable",  "false_sharing"};

template <class Enum>
std::optional<Enum> meant(std::span<const std::string_view> words, std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

// The members of one table, taken one by one; what nobody took is said at the end.
class RuleMembers {
 public:
  RuleMembers(const std::string& of, const SettingValue& table, const SayProblem& say)
      : of_(of), table_(table), say_(say), taken_(table.members.size(), false) {}

  const SettingValue* take(std::string_view name) {
    for (std::size_t i = 0; i < table_.members.size(); ++i) {
      if (table_.members[i].name != name) continue;
      taken_[i] = true;
      return &table_.members[i].value;
    }
    return nullptr;
  }
  void text(std::string_view name, std::string& to) {
    const SettingValue* value = take(name);
    if (value == nullptr) return;
    if (value->kind != SettingValue::Kind::text || value->text.size() > kMaxRuleText)
      return wrong(*value, name, fmt::format("a text of at most {} bytes", kMaxRuleText));
    to = value->text;
  }
  void flag(std::string_view name, bool& to) {
    const SettingValue* value = take(name);
    if (value == nullptr) return;
    if (value->kind != SettingValue::Kind::flag) return wrong(*value, name, "true or false");
    to = value->flag;
  }
  void number(std::string_view name, double least, double most, double& to) {
    const SettingValue* value = take(name);
    if (value == nullptr) return;
    if (value->kind != SettingValue::Kind::number || !(value->number >= least && value->number <= most))
      return wrong(*value, name, fmt::format("a number from {} to {}", least, most));
    to = value->number;
  }
  template <class Enum>
  void word(std::string_view name, std::span<const std::string_view> words, Enum& to) {
    const SettingValue* value = take(name);
    if (value == nullptr) return;
    const auto known = meant<Enum>(words, value->text);
    if (value->kind != SettingValue::Kind::text || !known)
      return wrong(*value, name, fmt::format("one of {}", fmt::join(words, ", ")));
    to = *known;
  }
  template <class Enum>
  void words(std::string_view name, std::span<const std::string_view> words, std::vector<Enum>& to) {
    for_each_text(name, [&](const SettingValue& item) {
      if (const auto known = meant<Enum>(words, item.text))
        to.push_back(*known);
      else
        wrong(item, name, fmt::format("of {}", fmt::join(words, ", ")));
    });
  }
  void patterns(std::string_view name, std::vector<std::string>& to) {
    for_each_text(name, [&](const SettingValue& item) {
      if (const auto compiled = Pattern::compile(item.text, true); !compiled)
        say_(item, fmt::format("{}: {}", of_, compiled.error().message));
      else
        to.push_back(item.text);
    });
  }
  void names(std::string_view name, std::vector<std::string>& to) {
    for_each_text(name, [&](const SettingValue& item) { to.push_back(item.text); });
  }
  // Words that nobody took.
  void finish(std::span<const std::string_view> known) {
    for (std::size_t i = 0; i < taken_.size(); ++i)
      if (!taken_[i])
        say_(table_.members[i].value,
             fmt::format("{}: {} is not known{}", of_, cut_bytes(table_.members[i].name, kMaxRuleName),
                         did_you_mean(table_.members[i].name, known)));
  }

 private:
  void wrong(const SettingValue& value, std::string_view name, std::string_view expected) {
    say_(value, fmt::format("{}: {} must be {}", of_, name, expected));
  }
  // A single text stands for a list of one.
  template <class One>
  void for_each_text(std::string_view name, One one) {
    const SettingValue* value = take(name);
    if (value == nullptr) return;
    if (value->kind == SettingValue::Kind::text) return one(*value);
    if (value->kind != SettingValue::Kind::list || value->n_entries > kMaxPatterns)
      return wrong(*value, name, fmt::format("a list of at most {} texts", kMaxPatterns));
    for (const SettingValue& item : value->items) {
      if (item.kind == SettingValue::Kind::text)
        one(item);
      else
        wrong(item, name, "a list of texts");
    }
  }

  const std::string& of_;
  const SettingValue& table_;
  const SayProblem& say_;
  std::vector<bool> taken_;
};

// What filters and settings can write without quotes.
bool is_rule_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxRuleName && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}
constexpr std::string_view kPlainName = "a name has letters, digits, - and _, at most 60 of them";

}  // namespace

std::optional<FrameSet> frame_set_of(const std::string& name, const SettingValue& value,
                                     const SayProblem& say) {
  const std::string shown = cut_bytes(name, kMaxRuleName);
  if (!is_rule_name(name)) {
    say(value, fmt::format("{}: {}", shown, kPlainName));
    return std::nullopt;
  }
  if (value.kind != SettingValue::Kind::table) {
    say(value, fmt::format("{} must be a table: [sets.{}]", shown, shown));
    return std::nullopt;
  }
  FrameSet set;
  set.name = name;
  set.own = true;
  set.kind = true;
  FramePatterns patterns;
  RuleMembers members(shown, value, say);
  members.text("title", set.title);
  members.word("runtime", std::span<const std::string_view>(kRuntimeWords), patterns.runtime);
  members.patterns("functions", patterns.functions);
  members.patterns("modules", patterns.modules);
  members.patterns("files", patterns.files);
  members.words("frame_kinds", std::span<const std::string_view>(kFrameKindWords), patterns.kinds);
  members.names("includes", set.includes);
  double hue = -1;
  members.number("hue", 0, 359, hue);
  if (hue >= 0) set.hue = static_cast<std::uint16_t>(hue);
  members.flag("kind", set.kind);
  members.flag("background", set.background);
  members.flag("helper", set.helper);
  members.flag("idle", set.idle);
  members.flag("called", set.called);
  members.flag("not_inlined", set.not_inlined);
  constexpr std::array<std::string_view, 14> kKnown = {
      "title", "runtime", "functions",  "modules", "files", "frame_kinds", "includes",
      "hue",   "kind",    "background", "helper",  "idle",  "called",      "not_inlined"};
  members.finish(kKnown);
  set.patterns.push_back(std::move(patterns));
  return set;
}

std::optional<TipRule> tip_rule_of(const SettingValue& value, const SayProblem& say) {
  TipRule rule;
  rule.own = true;
  if (value.kind != SettingValue::Kind::table) {
    say(value, "must be tables: [[tips]]");
    return std::nullopt;
  }
  const SettingValue* id = value.member("id");
  const std::string shown = id != nullptr ? cut_bytes(id->text, kMaxRuleName) : "a tip";
  RuleMembers members(shown, value, say);
  members.text("id", rule.id);
  members.text("title", rule.title);
  members.text("set", rule.set);
  members.word("evidence", std::span<const std::string_view>(kEvidenceWords), rule.evidence);
  members.word("metric", std::span<const std::string_view>(kMetricWords), rule.metric);
  members.number("at_least", 0, 1e9, rule.at_least);
  members.text("subject", rule.subject);
  members.text("advice", rule.advice);
  members.text("link", rule.link);
  constexpr std::array<std::string_view, 9> kKnown = {"id",       "title",   "set",    "evidence", "metric",
                                                      "at_least", "subject", "advice", "link"};
  members.finish(kKnown);
  if (!is_rule_name(rule.id)) {
    say(value, fmt::format("a tip has an `id`: {}", kPlainName));
    return std::nullopt;
  }
  const bool of_set = rule.evidence == TipEvidence::work || rule.evidence == TipEvidence::self;
  if (of_set == rule.set.empty()) {
    say(value,
        fmt::format("{}: {}", rule.id, of_set ? "needs the `set` that it looks at" : "looks at no `set`"));
    return std::nullopt;
  }
  if (rule.subject.empty()) rule.subject = rule.title;
  return rule;
}

}  // namespace profd
