#include "core/view/filters.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/model/role_profile.h"
#include "core/view/beside_samples.h"
#include "core/view/code_place.h"
#include "core/view/fragment.h"
#include "core/view/packages.h"
#include "core/view/pattern.h"
#include "core/view/resolve.h"
#include "core/view/set_sums.h"

namespace profd {
namespace {

// "/src/a/b.c" ends in "b.c" and in "a/b.c".
bool ends_in_path(std::string_view path, std::string_view end) {
  if (end.empty() || path.size() <= end.size() || !path.ends_with(end)) return false;
  const char before = path[path.size() - end.size() - 1];
  return before == '/' || before == '\\';
}

// Texts repeat from frame to frame, so each is matched once. Nothing matches any more when stopped.
class TextMatches {
 public:
  TextMatches(const Profile& profile, const Pattern& pattern, std::string_view wanted, bool is_path,
              const StopToken& stop)
      : strings_(profile.strings()),
        pattern_(pattern),
        wanted_(wanted),
        is_path_(is_path),
        stop_(stop),
        known_(strings_.size(), kUnknown) {}

  bool operator()(StringId id) {
    if (id.v >= known_.size()) return false;
    std::uint8_t& known = known_[id.v];
    if (known == kUnknown) {
      const std::string_view text = strings_[id];
      if ((looked_at_ += text.size()) > Pattern::kLongText) {
        stopped_ = stopped_ || stop_.stop_requested();
        looked_at_ = 0;
      }
      const bool match = !stopped_ && (pattern_.matches(text, stop_) ||
                                       (is_path_ && pattern_.exact() && ends_in_path(text, wanted_)));
      known = match ? 1 : 0;
    }
    return known == 1;
  }

 private:
  static constexpr std::uint8_t kUnknown = 2;
  const StringTable& strings_;
  const Pattern& pattern_;
  std::string_view wanted_;
  bool is_path_;
  const StopToken& stop_;
  std::size_t looked_at_ = 0;  // bytes since it was last asked
  bool stopped_ = false;
  std::vector<std::uint8_t> known_;
};

Result<bool> filter_by_thread(const Profile& profile, const Filter& filter, std::vector<std::uint8_t>& passed,
                              std::vector<std::uint8_t>& undecided, const StopToken& stop) {
  const SampleTable& samples = *profile.samples();
  if (samples.thread.empty())
    return fail(ErrorCode::invalid, "the profile does not say which thread a sample was taken in");
  PROFD_TRY(const std::vector<std::uint8_t> match, match_threads(profile, filter, stop));
  const std::uint8_t wanted = filter.op == FilterOp::keep ? 1 : 0;
  for (std::size_t i = 0; i < passed.size(); ++i) {
    const std::uint32_t thread = samples.thread[i];
    if (thread >= match.size()) {
      undecided[i] |= wanted;
      continue;
    }
    if (match[thread] != wanted) passed[i] = 0;
  }
  return std::find(match.begin(), match.end(), 1) != match.end();
}

bool label_matches(const Profile& profile, std::size_t entry, const Pattern& pattern, const StopToken& stop) {
  const LabelTable& labels = profile.labels();
  if (labels.is_number[entry] == 0) return pattern.matches(profile.strings()[labels.text[entry]], stop);
  const std::string number = std::to_string(labels.number[entry]);
  const std::string_view unit = profile.strings()[labels.unit[entry]];
  return pattern.matches(number) || (!unit.empty() && pattern.matches(fmt::format("{} {}", number, unit)));
}

Result<bool> filter_by_label(const Profile& profile, const Filter& filter, std::vector<std::uint8_t>& passed,
                             const StopToken& stop) {
  const SampleTable& samples = *profile.samples();
  if (samples.label_set.empty()) return fail(ErrorCode::invalid, "no sample of the profile has labels");
  PROFD_TRY(const Pattern pattern, Pattern::compile(filter.pattern, filter.regex));
  const LabelTable& labels = profile.labels();
  std::vector<std::uint8_t> match(labels.n_sets(), 0);
  bool known_key = false;
  const std::vector<std::uint8_t> beside = label_sets_beside_samples(profile);
  for (std::size_t set = 0; set < match.size(); ++set) {
    if (!beside.empty() && beside[set] != 0) continue;
    PROFD_CHECK(stop.status());
    for (std::size_t entry = labels.first[set]; entry < labels.first[set + 1]; ++entry) {
      if (profile.strings()[labels.key[entry]] != filter.key) continue;
      known_key = true;
      if (label_matches(profile, entry, pattern, stop)) match[set] = 1;
    }
  }
  if (!known_key)
    return fail(ErrorCode::invalid, fmt::format("no sample of the profile has a label \"{}\"", filter.key));
  const std::uint8_t wanted = filter.op == FilterOp::keep ? 1 : 0;
  for (std::size_t i = 0; i < passed.size(); ++i) {
    const std::uint32_t set = samples.label_set[i];
    const std::uint8_t is = set < match.size() ? match[set] : 0;
    if (is != wanted) passed[i] = 0;
  }
  return std::find(match.begin(), match.end(), 1) != match.end();
}

// A record without the role is no match.
Result<bool> filter_by_role(const Profile& profile, const Filter& filter, std::vector<std::uint8_t>& passed,
                            StopToken stop) {
  const RoleRecords records = records_of_samples(profile);
  if (records.table == nullptr)
    return fail(
        ErrorCode::invalid,
        "`linked` is for a role of records of several contexts, opened as a profile of its own; `profd "
        "correlate` lists them");
  PROFD_TRY(const std::size_t role, find_role(*records.table, filter.linked));
  PROFD_TRY(const MeantContexts contexts, contexts_meant(profile, filter, stop));
  const ContextRanges& ranges = contexts.ranges;
  std::vector<std::uint8_t> meant(profile.tree().size(), 0);
  for (std::size_t r = 0; r < ranges.size(); ++r)
    std::fill(meant.begin() + ranges.begin[r], meant.begin() + ranges.end[r], 1);
  const std::uint8_t wanted = filter.op == FilterOp::keep ? 1 : 0;
  bool any = false;
  for (std::size_t i = 0; i < passed.size(); ++i) {
    const std::uint32_t context = records.table->contexts[role][i];
    const std::uint8_t is = context != kNone ? meant[context] : 0;
    if (is != wanted) passed[i] = 0;
    any = any || is != 0;
  }
  return any;
}

}  // namespace

namespace {

Result<std::vector<std::uint8_t>> match_packages(const Profile& profile, const Filter& filter,
                                                 const StopToken& stop) {
  PROFD_TRY(const Pattern pattern, Pattern::compile(filter.pattern, filter.regex));
  std::vector<std::uint8_t> match(profile.frames().size(), 0);
  for (std::uint32_t frame = 0; frame < match.size(); ++frame)
    match[frame] = pattern.matches(package_of(profile, frame), stop) ? 1 : 0;
  PROFD_CHECK(stop.status());
  return match;
}

Result<std::vector<std::uint8_t>> match_code(const Profile& profile, const Filter& filter) {
  if (!filter.regex) {
    if (const auto place = parse_code_place(filter.pattern)) return frames_of_code(profile, *place);
    if (const auto range = parse_code_range(filter.pattern)) return frames_of_code(profile, *range);
  }
  return fail(ErrorCode::invalid,
              "code is named by module and address, libx.so+0x1234, or up to another, libx.so+0x10..0x80");
}

// The frames that are not the user's own. Where none is, nobody could tell: then all stay as they are.
Result<std::vector<std::uint8_t>> match_others(const Profile& profile, const Filter& filter,
                                               const StopToken& stop) {
  if (!filter.rule)
    return fail(ErrorCode::invalid, "`mine` needs to know what is yours, which only a workspace tells");
  PROFD_TRY(std::vector<std::uint8_t> match, filter.rule->matches(profile, stop));
  match.resize(profile.frames().size(), 0);
  const bool any = std::find(match.begin(), match.end(), 1) != match.end();
  for (std::uint8_t& is : match) is = any && is == 0 ? 1 : 0;
  return match;
}

// Of work: a WorkCode.
Result<std::vector<std::uint8_t>> match_set(const Profile& profile, const Filter& filter,
                                            const StopToken& stop) {
  if (!filter.rule)
    return fail(ErrorCode::invalid,
                fmt::format("`{}` needs to know the sets, which only a workspace tells", to_text(filter)));
  PROFD_TRY(std::vector<std::uint8_t> match, filter.rule->matches(profile, stop));
  match.resize(profile.frames().size(), 0);
  return match;
}

}  // namespace

Result<std::vector<std::uint8_t>> match_frames(const Profile& profile, const Filter& filter,
                                               const StopToken& stop) {
  if (filter.by == FilterBy::package) return match_packages(profile, filter, stop);
  if (filter.by == FilterBy::code) return match_code(profile, filter);
  if (filter.by == FilterBy::mine) return match_others(profile, filter, stop);
  if (filter.by == FilterBy::kind || filter.by == FilterBy::work) return match_set(profile, filter, stop);
  if (filter.by == FilterBy::function && !filter.regex) return frames_called(profile, filter.pattern);
  PROFD_TRY(const Pattern pattern, Pattern::compile(filter.pattern, filter.regex));
  const FrameTable& frames = profile.frames();
  const FunctionTable& functions = profile.functions();
  TextMatches matches(profile, pattern, filter.pattern, filter.by != FilterBy::function, stop);
  std::vector<std::uint8_t> match(frames.size(), 0);
  for (std::size_t frame = 0; frame < match.size(); ++frame) {
    const std::uint32_t function = frames.function[frame].v;
    bool is = false;
    if (filter.by == FilterBy::function) {
      const StringId system_name = functions.system_name[function];
      is = matches(functions.name[function]) || (system_name.v != 0 && matches(system_name));
    } else if (filter.by == FilterBy::module) {
      const ModuleId module = frames.module[frame];
      is = module.valid() && matches(profile.modules().name[module.v]);
    } else {
      const StringId file = frames.file[frame];
      is = matches(file.v != 0 ? file : functions.file[function]);
    }
    match[frame] = is ? 1 : 0;
  }
  PROFD_CHECK(stop.status());
  return match;
}

Result<std::vector<std::uint8_t>> match_threads(const Profile& profile, const Filter& filter,
                                                const StopToken& stop) {
  PROFD_TRY(const Pattern pattern, Pattern::compile(filter.pattern, filter.regex));
  const ThreadTable& threads = profile.threads();
  std::vector<std::uint8_t> match(threads.size());
  for (std::size_t t = 0; t < threads.size(); ++t) {
    PROFD_CHECK(stop.status());
    const bool named = pattern.matches(profile.strings()[threads.name[t]], stop);
    const bool numbered = threads.tid[t] >= 0 && pattern.matches(std::to_string(threads.tid[t]));
    match[t] = named || numbered ? 1 : 0;
  }
  return match;
}

Result<bool> filter_samples(const Profile& profile, const Filter& filter, std::vector<std::uint8_t>& passed,
                            std::vector<std::uint8_t>& undecided, const StopToken& stop) {
  assert(profile.samples() != nullptr && passed.size() == profile.samples()->size() &&
         undecided.size() == passed.size());
  if (!filter.linked.empty()) return filter_by_role(profile, filter, passed, stop);
  switch (filter.by) {
    case FilterBy::thread:
      return filter_by_thread(profile, filter, passed, undecided, stop);
    case FilterBy::label:
      return filter_by_label(profile, filter, passed, stop);
    default:
      return fail(ErrorCode::internal, "not a filter by thread or label");
  }
}

Result<ContextRanges> subtrees_of(const ContextTree& tree, const std::vector<std::uint8_t>& match,
                                  StopToken& stop) {
  ContextRanges ranges;
  const auto n = static_cast<std::uint32_t>(tree.size());
  for (std::uint32_t c = 1; c < n;) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (match[tree.frame[c]] == 0) {
      ++c;
      continue;
    }
    ranges.begin.push_back(c);
    ranges.end.push_back(tree.subtree_end[c]);
    c = tree.subtree_end[c];
  }
  return ranges;
}

Result<ContextRanges> subtrees_of_fragment(const Profile& profile, const std::vector<std::string>& names,
                                           StopToken& stop) {
  if (names.empty()) return fail(ErrorCode::invalid, "a fragment needs at least one function");
  if (names.size() > kMaxFragmentLength)
    return fail(ErrorCode::limit, fmt::format("a fragment has at most {} functions", kMaxFragmentLength));
  // Symbols: equal names are one symbol, functions of no such name are symbol 0.
  std::vector<std::string> distinct(names);
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const auto symbol_of = [&](std::string_view name) -> std::uint32_t {
    const auto at = std::lower_bound(distinct.begin(), distinct.end(), name);
    return at != distinct.end() && *at == name ? static_cast<std::uint32_t>(at - distinct.begin()) + 1 : 0;
  };
  std::vector<std::uint32_t> pattern;
  pattern.reserve(names.size());
  for (const std::string& name : names) pattern.push_back(symbol_of(name));
  std::vector<std::uint32_t> symbol_of_frame(profile.frames().size(), 0);
  for (const std::string& name : distinct) {
    const std::vector<std::uint8_t> is = frames_called(profile, name);
    for (std::size_t f = 0; f < is.size(); ++f)
      if (is[f] != 0 && symbol_of_frame[f] == 0) symbol_of_frame[f] = symbol_of(name);
  }

  const FragmentAutomaton automaton(pattern, static_cast<std::uint32_t>(distinct.size()));
  const ContextTree& tree = profile.tree();
  const auto n = static_cast<std::uint32_t>(tree.size());
  std::vector<FragmentAutomaton::State> state(n, 0);
  ContextRanges ranges;
  for (std::uint32_t c = 1; c < n;) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t symbol = symbol_of_frame[tree.frame[c]];
    state[c] = automaton.next(state[tree.parent[c]], symbol);
    if (!automaton.accepts(state[c])) {
      ++c;
      continue;
    }
    ranges.begin.push_back(c);
    ranges.end.push_back(tree.subtree_end[c]);
    c = tree.subtree_end[c];
  }
  return ranges;
}

Result<ContextRanges> subtrees_of_path(const Profile& profile, const std::vector<std::string>& names,
                                       StopToken& stop) {
  if (names.empty()) return fail(ErrorCode::invalid, "a path needs at least one function");
  if (names.size() > kMaxFragmentLength)
    return fail(ErrorCode::limit, fmt::format("a path has at most {} functions", kMaxFragmentLength));
  const ContextTree& tree = profile.tree();
  std::vector<std::uint32_t> at{0}, next;
  for (const std::string& name : names) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::vector<std::uint8_t> is = frames_called(profile, name);
    next.clear();
    for (const std::uint32_t context : at)
      for_each_child(tree, context, [&](std::uint32_t child) {
        if (is[tree.frame[child]] != 0) next.push_back(child);
      });
    at.swap(next);
  }
  ContextRanges ranges;
  for (const std::uint32_t context : at) {
    ranges.begin.push_back(context);
    ranges.end.push_back(tree.subtree_end[context]);
  }
  return ranges;
}

Result<MeantContexts> contexts_meant(const Profile& profile, const Filter& filter, StopToken& stop) {
  MeantContexts out;
  if (filter.by == FilterBy::fragment || filter.by == FilterBy::path) {
    PROFD_TRY(out.ranges, filter.by == FilterBy::path ? subtrees_of_path(profile, filter.names, stop)
                                                      : subtrees_of_fragment(profile, filter.names, stop));
    out.any = out.ranges.size() > 0;
    return out;
  }
  PROFD_TRY(const std::vector<std::uint8_t> match, match_frames(profile, filter, stop));
  if (filter.by == FilterBy::work) {
    PROFD_TRY(out.ranges, contexts_at_work(profile.tree(), match, stop));
    out.any = out.ranges.size() > 0;
    return out;
  }
  out.any = any_set(match);
  PROFD_TRY(out.ranges, subtrees_of(profile.tree(), match, stop));
  return out;
}

std::vector<std::uint32_t> rows_in(const Column<std::uint32_t>& contexts, const ContextRanges& ranges,
                                   bool inside) {
  std::vector<std::uint32_t> rows;
  const auto* const first = contexts.begin();
  const auto* at = first;
  const auto take = [&](const std::uint32_t* from, const std::uint32_t* to) {
    for (; from != to; ++from) rows.push_back(static_cast<std::uint32_t>(from - first));
  };
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    const auto* const begin = std::lower_bound(at, contexts.end(), ranges.begin[r]);
    const auto* const end = std::lower_bound(begin, contexts.end(), ranges.end[r]);
    if (inside)
      take(begin, end);
    else
      take(at, begin);
    at = end;
  }
  if (!inside) take(at, contexts.end());
  return rows;
}

void warn_unless(bool matches, const Filter& filter, std::vector<std::string>& warnings) {
  if (!matches && filter.by == FilterBy::mine)
    warnings.emplace_back(
        "`mine` changes nothing: the profile names no file of the workspace (or no other); `mine = "
        "[\"folder\", "
        "\"package\"]` in .profd.toml says what is yours");
  else if (!matches)
    warnings.push_back(fmt::format("`{}` matches nothing", to_text(filter)));
}

bool any_set(const std::vector<std::uint8_t>& flags) {
  return std::any_of(flags.begin(), flags.end(), [](std::uint8_t flag) { return flag != 0; });
}

}  // namespace profd
