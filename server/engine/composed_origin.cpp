#include "server/engine/composed_origin.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/compose.h"
#include "core/support/run_both.h"
#include "core/view/filtered_profile.h"
#include "core/view/formula_columns.h"
#include "core/view/markers.h"
#include "core/view/match_functions.h"
#include "core/view/rename_rules.h"
#include "core/view/time_set.h"
#include "server/engine/input_profile.h"
#include "server/engine/match_text.h"
#include "server/engine/pick_profile.h"
#include "server/engine/recording_title.h"
#include "server/engine/uri.h"
#include "server/engine/uri_parameters.h"

namespace profd {
namespace {

Error named(Error error, const ComposedPart& part) {
  error.message = fmt::format("{}: {}", name_of(part), error.message);
  return error;
}

// What filters leave of a profile.
Result<ProfilePtr> left_of(const ProfilePtr& profile, const std::string& clauses, const StopToken& stop) {
  ViewSpec spec;
  PROFD_TRY(spec.filters, parse_filters(clauses));
  PROFD_TRY(const SelectionPtr selection, select(profile, spec, stop));
  PROFD_TRY(const ProfilePtr left, filtered_profile(*selection, spec, stop));
  const bool in_windows = std::any_of(spec.filters.begin(), spec.filters.end(),
                                      [](const Filter& filter) { return filter.by == FilterBy::time; });
  if (!in_windows) return left;
  PROFD_TRY(const TimeSet windows, TimeSet::of(spec.filters));
  PROFD_TRY(const RecordedTime time, recorded_time(*profile, stop));
  ProfileData data = left->data();
  data.info.duration_ns = windows.measure(time.begin, time.end);
  return std::make_shared<const Profile>(std::move(data));
}

std::string_view scheme_of(Composed kind) {
  switch (kind) {
    case Composed::aggregate:
      return "aggregate";
    case Composed::join:
      return "join";
    case Composed::diff:
      return "diff";
  }
  return "";
}

struct ScaleWord {
  std::string_view word;
  Scaling scale;
};
constexpr std::array kScaleWords{ScaleWord{"raw", Scaling::raw}, ScaleWord{"duration", Scaling::per_second},
                                 ScaleWord{"totals", Scaling::equal_totals},
                                 ScaleWord{"bulk", Scaling::bulk}};

std::string_view text_of(const std::optional<Scaling>& scale) {
  for (const ScaleWord& known : kScaleWords)
    if (scale == known.scale) return known.word;
  return "automatic";
}

std::string_view parameter_of(const ComposeSpec& spec, const ComposedPart& part) {
  if (spec.kind != Composed::diff) return "of";
  return part.before ? "before" : "after";
}

std::string uri_of(const ComposeSpec& spec) {
  std::string uri = fmt::format("{}://", scheme_of(spec.kind));
  char separator = '?';
  const auto add = [&](std::string_view key, const std::string& value) {
    uri += fmt::format("{}{}={}", separator, key, percent_encoded(value));
    separator = '&';
  };
  for (const ComposedPart& part : spec.parts) {
    add(parameter_of(spec, part), uri_of(part));
    if (!part.filter.empty()) add("filter", part.filter);
  }
  if (spec.scale) add("scale", std::string(text_of(spec.scale)));
  for (const auto& [before, after] : spec.metrics)
    add("metric", percent_encoded(before) + ":" + percent_encoded(after));
  for (const RenameRule& rule : spec.match.renames) add("rename", to_text(rule));
  if (spec.match.mode != MatchMode::exact)
    add("match", std::string(kMatchWords[static_cast<std::size_t>(spec.match.mode)]));
  for (const DerivedMetric& metric : spec.derive) add("derive", to_text(metric));
  return uri;
}

std::string side_name(const std::vector<const ComposedPart*>& parts) {
  if (parts.size() == 1) return name_of(*parts[0]);
  return fmt::format("{} and {} more", name_of(*parts[0]), parts.size() - 1);
}

// Files of one name are told apart by the folders that they lie in.
std::string diff_name(const std::vector<const ComposedPart*>& before,
                      const std::vector<const ComposedPart*>& after) {
  std::string from = side_name(before), to = side_name(after);
  const auto put_folder = [](std::string& name, const std::vector<const ComposedPart*>& parts) {
    if (const auto path = path_of_uri(parts.front()->origin->uri()))
      name = std::filesystem::path(*path).parent_path().filename().string() + "/" + name;
  };
  if (from == to) {
    put_folder(from, before);
    put_folder(to, after);
  }
  return sides_title(from, to);
}

std::string name_of(const ComposeSpec& spec) {
  if (!spec.name.empty()) return spec.name;
  std::vector<const ComposedPart*> before, after;
  for (const ComposedPart& part : spec.parts) (part.before ? before : after).push_back(&part);
  if (spec.kind == Composed::diff) return diff_name(before, after);
  if (spec.kind == Composed::aggregate && after.size() > 1)
    return fmt::format("{} profiles: {}", after.size(), side_name(after));
  std::string name;
  for (const ComposedPart* part : after) name += (name.empty() ? "" : " + ") + name_of(*part);
  return name;
}

std::optional<double> mean_seconds(const ComposeSpec& spec, const std::vector<LoadedPart>& parts,
                                   bool before) {
  double sum = 0;
  std::size_t n = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (spec.parts[i].before != before) continue;
    const std::optional<std::int64_t> duration = parts[i].profile->info().duration_ns;
    if (!duration || *duration <= 0) return std::nullopt;
    sum += static_cast<double>(*duration) * 1e-9;
    ++n;
  }
  return n == 0 ? std::nullopt : std::optional(sum / static_cast<double>(n));
}

std::set<std::string> metrics_after(const ComposeSpec& spec, const std::vector<LoadedPart>& parts) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!spec.parts[i].before)
      for (const MetricInfo& metric : parts[i].profile->metrics()) names.insert(metric.name);
  return names;
}

double mean_total(const ComposeSpec& spec, const std::vector<LoadedPart>& parts, bool before,
                  const std::string& metric) {
  double sum = 0;
  std::size_t n = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (spec.parts[i].before != before) continue;
    const Profile& profile = *parts[i].profile;
    if (const auto id = profile.find_metric(metric)) sum += as_double(profile.total(*id));
    ++n;
  }
  return n == 0 ? 0 : sum / static_cast<double>(n);
}

// Of a program that was recorded from its begin to its end the time that it took is what is compared.
bool are_whole_runs(const ComposeSpec& spec) {
  return std::all_of(spec.parts.begin(), spec.parts.end(),
                     [](const ComposedPart& part) { return is_whole_run(part.origin->place()); });
}

// Has the values before multiplied as asked, and says how.
Result<void> scale(Composing& composing, const ComposeSpec& spec, const std::vector<LoadedPart>& parts) {
  ScaleFacts facts;
  facts.seconds = {mean_seconds(spec, parts, true), mean_seconds(spec, parts, false)};
  if (spec.scale == Scaling::bulk) {
    composing.scale_before_by(
        [](const std::string&, std::span<const Composing::Sides> selfs) -> Result<double> {
          std::vector<SamplePair> samples;
          for (const Composing::Sides& self : selfs) samples.push_back({self.before, self.after});
          ScaleFacts of_functions;
          of_functions.samples = samples;
          PROFD_TRY(const Scaled by, scale_by(Scaling::bulk, of_functions));
          return 1 / by.factor;
        },
        "values before are multiplied so that half of the functions rose and half fell");
    return {};
  }
  if (spec.scale != Scaling::equal_totals) {
    Scaled by = default_scale(facts);
    if (spec.scale) {
      PROFD_TRY(by, scale_by(*spec.scale, facts));
    }
    const bool whole = !spec.scale && by.by == Scaling::per_second && are_whole_runs(spec);
    if (whole) {
      PROFD_TRY(by, scale_by(Scaling::raw, facts));
    }
    std::map<std::string, double> factors;
    if (by.by == Scaling::per_second)
      for (const std::string& metric : metrics_after(spec, parts)) factors[metric] = 1 / by.factor;
    composing.scale_before(
        std::move(factors),
        whole ? "values are as measured: both ran from their begin to their end"
        : by.by == Scaling::raw
            ? "values are as measured"
            : fmt::format("values before are multiplied by {:.4g}: both sides are as long", 1 / by.factor));
    return {};
  }
  std::map<std::string, double> factors;
  for (const std::string& metric : metrics_after(spec, parts)) {
    std::string own = metric;
    for (const auto& [from, to] : spec.metrics)
      if (to == metric) own = from;
    const double total = mean_total(spec, parts, true, own);
    if (total != 0) factors[metric] = mean_total(spec, parts, false, metric) / total;
  }
  composing.scale_before(
      std::move(factors),
      "values before are multiplied so that both sides come to as much: what grew on its own makes all else "
      "look faster");
  return {};
}

class ComposedOrigin final : public Origin {
 public:
  explicit ComposedOrigin(ComposeSpec spec)
      : spec_(std::move(spec)), uri_(uri_of(spec_)), name_(name_of(spec_)) {
    key_ = fmt::format("{} {}", scheme_of(spec_.kind), text_of(spec_.scale));
    for (const ComposedPart& part : spec_.parts)
      key_ += fmt::format("\n{} {}\n{}\n{}", part.before ? "before" : "after", part.member, part.filter,
                          part.origin->key());
    for (const auto& [before, after] : spec_.metrics) key_ += fmt::format("\n{}:{}", before, after);
    for (const RenameRule& rule : spec_.match.renames) key_ += "\nrename " + to_text(rule);
    for (const DerivedMetric& metric : spec_.derive) key_ += "\nderive " + to_text(metric);
    key_ += fmt::format("\n{}", kMatchWords[static_cast<std::size_t>(spec_.match.mode)]);
  }

  const std::string& key() const override { return key_; }
  const std::string& uri() const override { return uri_; }
  std::string name() const override { return name_; }
  const std::string& place() const override { return name_; }
  Result<Load> load(const LoadContext& context) const override;
  std::optional<std::string> freshness() const override;

 private:
  ComposeSpec spec_;
  std::string uri_, name_, key_;
};

// The inputs of a diff have the names of the side after, so that comes first.
std::vector<std::size_t> order_of_adding(const ComposeSpec& spec) {
  std::vector<std::size_t> order;
  for (const bool before : {false, true})
    for (std::size_t i = 0; i < spec.parts.size(); ++i)
      if (spec.parts[i].before == before) order.push_back(i);
  return order;
}

// Loads the parts in this order and has each added while the next one is loaded.
Result<void> each_loaded(const ComposeSpec& spec, const LoadContext& context,
                         const std::function<Result<void>(std::size_t, LoadedPart)>& add) {
  const std::vector<std::size_t> order = order_of_adding(spec);
  const auto load = [&](std::size_t nth) {
    LoadContext own{context.cache, context.executor, context.stop,   {},
                    context.named, context.unwinder, context.scripts};
    if (context.progress)
      own.progress = [&, nth](std::uint64_t done, std::uint64_t total) {
        const double share = total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total);
        context.progress(static_cast<std::uint64_t>((static_cast<double>(nth) + share) * 1000),
                         order.size() * 1000);
      };
    return load_part(spec.parts[order[nth]], spec.derive, own);
  };
  Result<LoadedPart> next = load(0);
  for (std::size_t nth = 0; nth < order.size(); ++nth) {
    PROFD_TRY(LoadedPart loaded, std::exchange(next, LoadedPart()));
    Result<void> added;
    run_both(
        context.executor, [&] { added = add(order[nth], std::move(loaded)); },
        [&] {
          if (nth + 1 < order.size()) next = load(nth + 1);
        });
    PROFD_CHECK(added);
  }
  return {};
}

Result<Load> ComposedOrigin::load(const LoadContext& context) const {
  Load out;
  out.profiles = std::make_shared<LoadedProfiles>();
  LoadedProfiles& made = *out.profiles;
  Composing composing(spec_.kind);
  // Of many runs two are held at a time; of a diff all are, as what they are multiplied with is told by both
  // sides. What stands for a part is told in the order in which the parts were named.
  std::vector<LoadedPart> parts(spec_.parts.size());
  std::vector<LoadedProfiles> told(spec_.parts.size());
  const bool keep = spec_.parts.size() <= kMaxKeptInputs;
  const auto add = [&](std::size_t i, LoadedPart loaded) -> Result<void> {
    const ComposedPart& part = spec_.parts[i];
    ComposeInput how{name_of(part), part.before, keep, {}, loaded.written_ns()};
    if (part.before) how.rename = spec_.metrics;
    PROFD_CHECK(composing.add(loaded.profile, std::move(how), context.stop));
    if (loaded.loaded != part.loaded && keep) made.memory += loaded.loaded->memory;
    told[i] = *loaded.loaded;
    told[i].profiles.clear();
    if (spec_.kind == Composed::diff) parts[i] = std::move(loaded);
    return {};
  };
  PROFD_CHECK(each_loaded(spec_, context, add));
  for (std::size_t i = 0; i < told.size(); ++i) {
    made.freshness += told[i].freshness + "\n";
    for (const WatchedPath& watched : told[i].watched) made.watched.push_back(watched);
    for (const ReportRow& row : told[i].report.rows())
      made.report.add(row.kind, row.severity, fmt::format("{}: {}", name_of(spec_.parts[i]), row.message),
                      std::nullopt, row.count);
  }
  if (spec_.kind == Composed::diff) PROFD_CHECK(scale(composing, spec_, parts));
  PROFD_TRY(ProfilePtr profile, std::move(composing).finish(context.executor, context.stop));
  if (spec_.kind == Composed::diff) {
    PROFD_TRY(profile, with_matching(profile, spec_.match, context.executor, context.stop));
    const std::vector<std::string> sentences = match_sentences(*profile->matching());
    if (!sentences.empty())
      made.report.add("matching", Severity::info, fmt::format("{}", fmt::join(sentences, "; ")));
  }
  made.decision.format = scheme_of(spec_.kind);
  made.decision.certain = true;
  made.profiles.push_back(std::move(profile));
  made.memory += memory_of(made.profiles);
  return out;
}

std::optional<std::string> ComposedOrigin::freshness() const {
  std::string fresh;
  for (const ComposedPart& part : spec_.parts) {
    const auto own = part.origin->freshness();
    if (!own) return std::nullopt;
    fresh += *own + "\n";
  }
  return fresh;
}

}  // namespace

std::int64_t LoadedPart::written_ns() const {
  return loaded->watched.empty() ? 0 : loaded->watched.front().seen.mtime_ns;
}

std::string uri_of(const ComposedPart& part) {
  return part.origin->uri() + (part.member.empty() ? "" : "#" + percent_encoded(part.member));
}

std::string name_of(const ComposedPart& part) {
  std::string name = part.member.empty() ? part.origin->name() : part.origin->name() + "#" + part.member;
  return part.filter.empty() ? name : fmt::format("{} ({})", name, part.filter);
}

Result<LoadedPart> load_part(const ComposedPart& part, const std::vector<DerivedMetric>& derive,
                             const LoadContext& context) {
  LoadedPart out;
  const std::optional<std::string> fresh = part.origin->freshness();
  if (part.loaded && (!fresh || *fresh == part.loaded->freshness)) {
    out.loaded = part.loaded;
  } else {
    auto load = part.origin->load(context);
    if (!load) return tl::unexpected<Error>(named(std::move(load).error(), part));
    out.loaded = std::move(load->profiles);
  }
  const auto picked = pick_profile(out.loaded->profiles, part.member);
  if (!picked) return tl::unexpected<Error>(named(picked.error(), part));
  out.profile = out.loaded->profiles[*picked];
  if (context.named) {
    PROFD_TRY(out.profile, context.named(std::move(out.profile), part.origin->place()));
  }
  out.profile = with_formula_columns(out.profile, derive_metrics(*out.profile, derive).known);
  if (!part.filter.empty()) {
    auto left = left_of(out.profile, part.filter, context.stop);
    if (!left) return tl::unexpected<Error>(named(std::move(left).error(), part));
    out.profile = std::move(*left);
  }
  return out;
}

Result<ComposedPart> part_of_uri(const std::string& text, const OpenOptions& options,
                                 const Origins& origins) {
  ComposedPart part;
  const std::size_t hash = text.rfind('#');
  if (hash != std::string::npos) {
    PROFD_TRY(part.member, fragment_decoded(text.substr(hash + 1)));
  }
  PROFD_TRY(part.origin, origins.make(text.substr(0, hash), options));
  return part;
}

std::optional<Scaling> parse_scale(std::string_view text) {
  for (const ScaleWord& known : kScaleWords)
    if (text == known.word) return known.scale;
  return std::nullopt;
}

std::optional<MatchMode> parse_match(std::string_view text) {
  const auto* const found = std::find(kMatchWords.begin(), kMatchWords.end(), text);
  if (found == kMatchWords.end()) return std::nullopt;
  return static_cast<MatchMode>(found - kMatchWords.begin());
}

Result<OriginPtr> composed_origin(ComposeSpec spec) {
  const auto n_before = static_cast<std::size_t>(std::count_if(
      spec.parts.begin(), spec.parts.end(), [](const ComposedPart& part) { return part.before; }));
  if (spec.kind == Composed::diff && (n_before == 0 || n_before == spec.parts.size()))
    return fail(ErrorCode::invalid, "a diff has a profile before and one after");
  if (spec.parts.empty()) return fail(ErrorCode::invalid, "no profiles are named");
  PROFD_CHECK(RenameRules::compile(spec.match.renames));
  for (const ComposedPart& part : spec.parts)
    if (!part.filter.empty()) {
      if (spec.kind != Composed::diff) return fail(ErrorCode::invalid, "only parts of a diff have filters");
      PROFD_CHECK(parse_filters(part.filter));
    }
  std::erase_if(spec.derive, [](const DerivedMetric& metric) { return !adds_up(metric.formula); });
  if (spec.derive.size() > kMaxDerivedMetrics)
    return fail(ErrorCode::limit,
                fmt::format("at most {} metrics by formula are put together at once", kMaxDerivedMetrics));
  if (spec.parts.size() > kMaxParts)
    return fail(ErrorCode::limit, fmt::format("{} profiles at once are more than the {} that there may be",
                                              spec.parts.size(), kMaxParts));
  return std::make_shared<const ComposedOrigin>(std::move(spec));
}

Result<OriginPtr> composed_origin(std::string_view uri, const OpenOptions& options, const Origins& origins) {
  ComposeSpec spec;
  const std::string scheme = scheme_of(uri);
  spec.kind = scheme == "diff" ? Composed::diff : scheme == "join" ? Composed::join : Composed::aggregate;
  // Each level of parts within parts is encoded once more; this many are more than anybody reads.
  constexpr std::size_t kMaxDepth = 4;
  std::size_t depth = 0;
  for (std::string text = "%3A"; uri.find(text) != std::string_view::npos; text.insert(1, "25")) ++depth;
  if (depth > kMaxDepth) return fail(ErrorCode::limit, "profiles are put together of others too deeply");
  PROFD_TRY(const std::vector<UriParameter> parameters, parameters_of_uri(uri));
  for (const auto& [key, value] : parameters) {
    const bool is_part = spec.kind == Composed::diff ? key == "before" || key == "after" : key == "of";
    if (is_part) {
      PROFD_TRY(ComposedPart part, part_of_uri(value, options, origins));
      part.before = key == "before";
      spec.parts.push_back(std::move(part));
    } else if (key == "filter" && spec.kind == Composed::diff && !spec.parts.empty()) {
      spec.parts.back().filter = value;
    } else if (key == "scale" && spec.kind == Composed::diff) {
      const auto scale = parse_scale(value);
      if (!scale)
        return fail(ErrorCode::invalid,
                    fmt::format("`{}` is no scale; there are raw, duration, totals and bulk", value));
      spec.scale = scale;
    } else if (key == "metric" && spec.kind == Composed::diff) {
      const std::size_t colon = value.find(':');
      if (colon == std::string::npos)
        return fail(ErrorCode::invalid, fmt::format("`{}` is no pair BEFORE:AFTER of metrics", value));
      PROFD_TRY(std::string before, fragment_decoded(value.substr(0, colon)));
      PROFD_TRY(spec.metrics[std::move(before)], fragment_decoded(value.substr(colon + 1)));
    } else if (key == "rename" && spec.kind == Composed::diff) {
      if (spec.match.renames.size() == kMaxRenames)
        return fail(ErrorCode::limit, fmt::format("at most {} rules rename at once", kMaxRenames));
      PROFD_TRY(RenameRule rule, parse_rename(value));
      spec.match.renames.push_back(std::move(rule));
    } else if (key == "derive") {
      PROFD_TRY(DerivedMetric metric, parse_derived_metric(value));
      spec.derive.push_back(std::move(metric));
    } else if (key == "match" && spec.kind == Composed::diff) {
      const auto mode = parse_match(value);
      if (!mode)
        return fail(ErrorCode::invalid,
                    fmt::format("`{}` is no way to match; there are exact, suggested and name", value));
      spec.match.mode = *mode;
    } else {
      return fail(ErrorCode::invalid, fmt::format("a {} URI has no `{}`", scheme, key));
    }
  }
  return composed_origin(std::move(spec));
}

}  // namespace profd
