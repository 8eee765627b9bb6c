#include "server/feature/hover.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "core/support/checked.h"
#include "core/view/by_path.h"
#include "core/view/series.h"
#include "core/view/table.h"
#include "server/feature/estimate.h"
#include "server/feature/evidence.h"
#include "server/feature/line_functions.h"
#include "server/feature/line_neighbours.h"
#include "server/feature/metric_values.h"
#include "server/feature/missing.h"
#include "server/feature/names.h"
#include "server/feature/series_answer.h"
#include "server/feature/side_places.h"
#include "server/feature/sparkline.h"

namespace profd {
namespace {

constexpr std::size_t kMaxNeighbours = 3;
constexpr std::size_t kMaxMetrics = 12;

HoverNeighbour entry_of(const Neighbour& neighbour, const Value& total, const Profile& profile,
                        const KeyTable& keys, const SourceMap& sources) {
  HoverNeighbour entry;
  entry.name = short_name(key_name(profile, keys, neighbour.key));
  entry.share = format_share(neighbour.total, total);
  const KeyPlace place = key_place(profile, keys, neighbour.key);
  if (const std::string* path = sources.file_of(place.file)) {
    entry.path = *path;
    entry.line = place.line;
  }
  return entry;
}

// Of a line or of its function.
struct NeighbourLists {
  const std::vector<Neighbour>& callers;
  const std::vector<Neighbour>& callees;
  std::size_t n_callers, n_callees;
  const Value& total;
  HoverList like;  // what both lists say of themselves
};

bool same_lists(const std::vector<Neighbour>& a, const std::vector<Neighbour>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Neighbour& x, const Neighbour& y) {
    return x.key == y.key && x.total == y.total;
  });
}

void add_lists(const NeighbourLists& lists, const Profile& profile, const KeyTable& keys,
               const SourceMap& sources, Hover& hover) {
  for (const bool callers : {true, false}) {
    const std::vector<Neighbour>& neighbours = callers ? lists.callers : lists.callees;
    if (neighbours.empty()) continue;
    HoverList list = lists.like;
    list.callers = callers;
    for (const Neighbour& neighbour : neighbours)
      list.entries.push_back(entry_of(neighbour, lists.total, profile, keys, sources));
    list.n_more = (callers ? lists.n_callers : lists.n_callees) - neighbours.size();
    hover.lists.push_back(std::move(list));
  }
}

NeighbourLists lists_of(const Neighbours& whole, std::string of) {
  HoverList like;
  like.of = std::move(of);
  like.estimated = whole.calls_estimated;
  return {whole.callers, whole.callees, whole.n_callers, whole.n_callees, whole.total, std::move(like)};
}

// Those through the line; then those of the whole function, where they are others.
Result<void> add_neighbours(Views& views, const AnnotateRequest& request, const Selection& selection,
                            const LineFunctions& on_line, const Value& line_total, Hover& hover,
                            const StopToken& stop) {
  PROFD_TRY(const auto sources, views.sources(*request.open, request.workspace, stop));
  const Profile& profile = *request.open->profile;
  const ViewSpec spec = annotation_spec(request);
  PROFD_TRY(const LineNeighbours here, line_neighbours(views, *request.open, spec, selection, on_line.frames,
                                                       line_total, kMaxNeighbours, stop));
  PROFD_TRY(const Neighbours whole,
            views.neighbours(*request.open, spec, on_line.functions.front().key, kMaxNeighbours, stop));
  const KeyTable& keys = *selection.boxes->keys;
  HoverList like;
  like.n_joined = here.n_joined;
  like.estimated = here.estimated;
  add_lists({here.callers, here.callees, here.n_callers, here.n_callees, here.total, std::move(like)},
            profile, keys, *sources, hover);
  // A function of one line has said everything.
  if (here.total == whole.total && same_lists(here.callers, whole.callers) &&
      same_lists(here.callees, whole.callees))
    return {};
  add_lists(lists_of(whole, short_name(on_line.functions.front().name)), profile, keys, *sources, hover);
  return {};
}

Value sum_of(const ValueColumn& column) {
  return std::visit(
      [](const auto& values) {
        std::decay_t<decltype(values[0])> sum{};
        for (const auto value : values) add_saturating(sum, value);
        return Value(sum);
      },
      column);
}

// Of what the filters leave, which shares are of; "" where that is everything.
std::string of_whole_text(const Profile& profile, MetricId metric, const Value& view_total,
                          const Value& total) {
  const Value& whole = profile.total(metric);
  if (view_total == whole) return {};
  const std::string& unit = profile.metrics()[metric.v].unit;
  return fmt::format("Shares are of what passes the filters, {} of {}; of the whole profile it is {}.",
                     format_value(view_total, unit), format_value(whole, unit), format_share(total, whole));
}

std::string age(std::int64_t recorded_ns, std::int64_t now_ns) {
  const std::int64_t seconds = (now_ns - recorded_ns) / 1'000'000'000;
  if (seconds < 0) return "";
  if (seconds < 120) return ", just now";
  if (seconds < 7200) return fmt::format(", {} min ago", seconds / 60);
  if (seconds < 172'800) return fmt::format(", {} h ago", seconds / 3600);
  return fmt::format(", {} days ago", seconds / 86'400);
}

std::string foot_text(const HoverRequest& request) {
  const OpenProfile& open = *request.file.open;
  std::string text = open.name;
  if (const auto recorded = open.profile->info().time_ns) {
    text += " · " + format_time_utc(*recorded);
    if (request.now_ns) text += age(*recorded, *request.now_ns);
  }
  return text;
}

// Of an aggregate, which knows of no lines: what each of its inputs has of a function, small.
Result<void> add_series(Views& views, const AnnotateRequest& request, const ViewSpec& spec, Key key,
                        const StopToken& stop, Hover& hover) {
  const OpenProfile& open = *request.open;
  const Composition* const composition = open.profile->composition();
  if (composition == nullptr || composition->kind != Composed::aggregate) return {};
  PROFD_TRY(const SelectionPtr selection, views.selection(open, spec, stop));
  const std::uint32_t of = composition->metrics[selection->metric().v].of;
  PROFD_TRY(const KeySeries series, series_of_keys(*selection, of, {&key, 1}, stop));
  const auto spread = inputs_spread_of(known_values(series.total_of(0), composition->of[of].values.measured));
  if (!spread) return {};
  const MetricInfo& metric = open.profile->metrics()[selection->metric().v];
  constexpr std::size_t kBars = 24;
  hover.remarks.push_back(fmt::format("{} total {} of {} {}", sparkline(series.total_of(0), kBars),
                                      metric.name,
                                      short_name(key_name(*open.profile, *selection->boxes->keys, key)),
                                      spread_sentence(*spread, *composition, metric.unit)));
  return {};
}

// Nothing is escaped here: the whole sentence is, by who writes it.
std::string as_is(std::string_view text) {
  return std::string(text);
}

// A file that the profile may mean, as may others: their names.
std::string tie_text(const Profile& profile, const SourceMap& sources, const std::vector<StringId>& tied,
                     const HoverRequest& request) {
  constexpr std::size_t kMaxNamed = 5;
  const std::string_view path = profile.strings()[tied.front()];
  const std::vector<std::string>& paths = sources.targets.at(path).paths;
  std::string others;
  std::size_t n_named = 0;
  for (const std::string& other : paths)
    if (other != request.file.path && n_named < kMaxNamed) others += (n_named++ == 0 ? "" : ", ") + other;
  const std::size_t n_left = paths.size() - 1 - n_named;
  if (n_left > 0) others += fmt::format(" and {} more", n_left);
  return fmt::format(
      "The profile's {} fits {} files equally well, this one and {}. Nothing is guessed: a path "
      "mapping decides, in the settings or as map in .profd.toml.",
      path, paths.size(), others);
}

// A function that costs something and has no lines, where its name stands on the line: what would bring them.
Result<std::optional<Hover>> unlined_text(Views& views, const HoverRequest& request, const StopToken& stop) {
  constexpr double kShare = 0.005;
  const AnnotateRequest& file = request.file;
  const ViewSpec spec = annotation_spec(file);
  if (!file.document || !views.has(*file.open, needs_of_table(spec))) return std::optional<Hover>();
  PROFD_TRY(const SelectionPtr selection, views.selection(*file.open, spec, stop));
  PROFD_TRY(const auto flat, views.flat(*file.open, spec, stop));
  const Profile& profile = *file.open->profile;
  const Whole whole{selection->sums->total, profile.metrics()[file.metric.v].unit};
  constexpr std::size_t kMaxLine = std::size_t{64} << 10;  // a longer one was written by no person
  const std::string text = file.document->text().line(request.line, kMaxLine);
  std::size_t best = flat->key.size();
  for (std::size_t row = 0; row < flat->key.size(); ++row) {
    const double share = std::abs(whole.share(flat->total[row]));
    if (share < kShare || (best < flat->key.size() && share <= std::abs(whole.share(flat->total[best]))))
      continue;
    const std::string full = key_name(profile, *selection->boxes->keys, flat->key[row]);
    const std::string_view name = written_name(full);
    if (name.empty() || key_place(profile, *selection->boxes->keys, flat->key[row]).line != 0) continue;
    const NamedLine wanted{full, 1, true};
    if (look_for_names(text, {&wanted, 1}).n_near == 1) best = row;
  }
  if (best == flat->key.size()) return std::optional<Hover>();
  const std::uint32_t frame = selection->boxes->keys->example[flat->key[best]];
  Hover hover;
  hover.name = key_name(profile, *selection->boxes->keys, flat->key[best]);
  hover.place = "by its name alone";
  hover.notes.push_back(fmt::format(
      "{}: total {} ({}), self {} ({}). The profile has no line numbers for it. {}",
      profile.metrics()[file.metric.v].name, whole.text(flat->total[best]),
      whole.share_text(flat->total[best]), whole.text(flat->self[best]), whole.share_text(flat->self[best]),
      lines_advice(profile,
                   frame < profile.frames().size() ? profile.frames().kind[frame] : FrameKind::native)));
  hover.foot = foot_text(request);
  return std::optional<Hover>(std::move(hover));
}

struct SelfAndTotal {
  Value self, total, of_view;
  bool estimated = false;
};

// Both sides, for each metric that they have.
template <class Of>
void add_changes(const Profile& profile, Of of, Hover& hover) {
  for (std::size_t m = 0; m < profile.metrics().size() && hover.rows.size() < kMaxMetrics; ++m) {
    const MetricId metric{m};
    if (profile.composition()->metrics[m].role != MetricRole::after) continue;
    const SideMetrics sides = *sides_of(profile, metric);
    const SelfAndTotal before = of(sides.before), after = of(sides.after);
    const std::string& unit = profile.metrics()[m].unit;
    const Whole whole{after.of_view, unit};
    HoverRow row;
    row.metric = profile.metrics()[m].name;
    row.self = whole.text(after.self);
    row.total = marked(whole.text(after.total), after.estimated);
    row.share = marked(whole.share_text(after.total), after.estimated);
    row.change = HoverChange{format_value(before.self, unit), format_delta(before.self, after.self, unit),
                             marked(format_value(before.total, unit), before.estimated),
                             format_delta(before.total, after.total, unit)};
    hover.rows.push_back(std::move(row));
  }
}

std::string noise_text(const CostChange& change) {
  if (!change.is_judged || change.total_before == change.total_after) return "";
  switch (change.total_standing) {
    case Standing::stands_out:
      return "The change is beyond noise.";
    case Standing::candidate:
      return "The change may be noise; it is worth a look.";
    case Standing::none:
      return "The change is within noise.";
  }
  return "";
}

void add_notes_of_sides(const Profile& profile, const FileAnnotations& file, const AnnotatedLine& line,
                        Hover& hover) {
  const SourceFile& before = *file.sides->source(LinesOf::before);
  if (line.before_line != 0 && file.sides->by_function(line.before_line))
    hover.notes.push_back(fmt::format(
        "The side before was measured in another text, which is not known: its line {} is shown as far from "
        "where the function begins as it was.",
        line.before_line));
  else if (const std::string doubts = evidence_text(profile, before, &as_is);
           line.before_line != 0 && &before != file.source.get() && !doubts.empty())
    hover.notes.push_back("Before: " + doubts);
  if (std::string noise = noise_text(*line.change); !noise.empty()) hover.remarks.push_back(std::move(noise));
}

Result<void> add_function_changes(Views& views, const AnnotateRequest& request, const FunctionCost& function,
                                  Hover& hover, const StopToken& stop) {
  const Profile& profile = *request.open->profile;
  Result<void> failed;
  add_changes(
      profile,
      [&](MetricId side) {
        ViewSpec of_side = annotation_spec(request);
        of_side.metric = profile.metrics()[side.v].name;
        SelfAndTotal out;
        const auto selection = views.selection(*request.open, of_side, stop);
        const auto flat = views.flat(*request.open, of_side, stop);
        if (!selection || !flat) {
          failed = tl::unexpected<Error>(selection ? flat.error() : selection.error());
          return out;
        }
        out.of_view = (*selection)->sums->total;
        out.self = out.total = std::visit([](auto v) -> Value { return decltype(v){}; }, out.of_view);
        if (const auto row = (*flat)->row_of(function.key)) {
          out.self = (*flat)->self[*row];
          out.total = (*flat)->total[*row];
          out.estimated = (*flat)->estimate_of(*row) != kExact;
        }
        return out;
      },
      hover);
  PROFD_CHECK(failed);
  if (std::string noise = noise_text(*function.change); !noise.empty())
    hover.remarks.push_back(std::move(noise));
  const std::string& unit = profile.metrics()[request.metric.v].unit;
  if (as_double(function.unplaced_before) != 0 || as_double(function.unplaced_after) != 0)
    hover.remarks.push_back(fmt::format("On no line of this text: {} before, {} after.",
                                        format_value(function.unplaced_before, unit),
                                        format_value(function.unplaced_after, unit)));
  return {};
}

void add_derived(std::vector<MetricTexts> rows, Hover& hover) {
  constexpr std::size_t kMaxDerived = 8;
  rows.resize(std::min(rows.size(), kMaxDerived));
  for (MetricTexts& texts : rows) {
    HoverRow& row = hover.rows.emplace_back();
    row.metric = std::move(texts.metric);
    row.self = std::move(texts.self);
    row.total = std::move(texts.total);
    if (texts.before)
      row.change = HoverChange{std::move(texts.before->self), std::move(texts.before->self_change),
                               std::move(texts.before->total), std::move(texts.before->total_change)};
  }
}

// What is not at hand of one is not worked out for a hover.
Result<void> add_derived_of_function(Views& views, const OpenProfile& open, const ViewSpec& spec, Key key,
                                     Hover& hover, const StopToken& stop) {
  if (!open.derived) return {};
  const auto of_metric = [&](const std::string& name) {
    ViewSpec other = spec;
    other.metric = name;
    return other;
  };
  bool at_hand = true;
  for (const ProfileMeasure& derived : open.derived->known)
    for (const Measure* side : {&derived.measure, derived.before ? &*derived.before : nullptr})
      for (const std::string& name : side ? side->metrics : std::vector<std::string>())
        at_hand = at_hand && views.has(open, needs_of_table(of_metric(name)));
  if (!at_hand) return {};
  std::vector<std::optional<OneRow>> rows(open.profile->metrics().size());
  for (std::size_t m = 0; m < rows.size(); ++m) {
    const ViewSpec other = of_metric(open.profile->metrics()[m].name);
    if (!views.has(open, needs_of_table(other))) continue;
    PROFD_TRY(const auto flat, views.flat(open, other, stop));
    if (const auto row = flat->row_of(key)) rows[m] = OneRow{flat->self[*row], flat->total[*row]};
  }
  add_derived(derived_texts(open, [&](MetricId metric) { return rows[metric.v]; }), hover);
  return {};
}

// Of a line that has no costs of its own: the function that begins on it.
Result<std::optional<Hover>> function_text(Views& views, const HoverRequest& request,
                                           const FileAnnotations& file, const StopToken& stop) {
  const OpenProfile& open = *request.file.open;
  AnnotateRequest all = request.file;
  all.threshold = 0;
  const ViewSpec spec = annotation_spec(all);
  if (!views.has(open, needs_of_table(spec))) return std::optional<Hover>();
  PROFD_TRY(const std::vector<FunctionCost> functions, functions_of_file(views, all, stop));
  const auto begins_here = [&](const FunctionCost& function) { return function.line == request.line; };
  const auto found = std::find_if(functions.begin(), functions.end(), begins_here);
  if (found == functions.end()) return std::optional<Hover>();
  const Profile& profile = *open.profile;
  Hover hover;
  hover.name = found->name;
  hover.place = "the whole function";
  hover.n_others = static_cast<std::size_t>(std::count_if(found + 1, functions.end(), begins_here));
  if (found->stale) hover.notes.push_back("The file changed since the profile was recorded.");
  if (const std::string doubts = evidence_text(profile, *file.source, &as_is); !doubts.empty())
    hover.notes.push_back(doubts);
  std::string recursion, of_whole;
  if (found->change) PROFD_CHECK(add_function_changes(views, all, *found, hover, stop));
  const std::size_t n_plain = found->change ? 0 : std::min(profile.metrics().size(), kMaxMetrics);
  for (std::size_t m = 0; m < n_plain; ++m) {
    ViewSpec of_metric = spec;
    of_metric.metric = profile.metrics()[m].name;
    if (!views.has(open, needs_of_table(of_metric))) continue;
    PROFD_TRY(const SelectionPtr selection, views.selection(open, of_metric, stop));
    PROFD_TRY(const auto flat, views.flat(open, of_metric, stop));
    const auto row = flat->row_of(found->key);
    if (!row) continue;
    const Whole whole{selection->sums->total, profile.metrics()[m].unit};
    const bool estimated = flat->estimate_of(*row) != kExact;
    hover.rows.push_back({profile.metrics()[m].name, whole.text(flat->self[*row]),
                          marked(whole.text(flat->total[*row]), estimated) +
                              (profile.metrics()[m].saturated ? " (at least)" : ""),
                          marked(whole.share_text(flat->total[*row]), estimated)});
    if (const std::string why = excess_text(flat->total[*row], whole.total);
        !why.empty() && profile.contexts_estimated())
      recursion = why;
    if (m == request.file.metric.v && !selection->rows->filters.empty())
      of_whole = of_whole_text(profile, MetricId(m), whole.total, flat->total[*row]);
  }
  PROFD_CHECK(add_derived_of_function(views, open, spec, found->key, hover, stop));
  if (!of_whole.empty()) hover.remarks.push_back(std::move(of_whole));
  if (!recursion.empty()) hover.remarks.push_back(std::move(recursion));
  PROFD_CHECK(add_series(views, request.file, spec, found->key, stop, hover));
  PROFD_TRY(const auto sources, views.sources(open, request.file.workspace, stop));
  PROFD_TRY(const Neighbours around, views.neighbours(open, spec, found->key, kMaxNeighbours, stop));
  add_lists(lists_of(around, ""), profile, *file.selection->boxes->keys, *sources, hover);
  hover.foot = foot_text(request);
  return std::optional<Hover>(std::move(hover));
}

// Why nothing is shown of a file that the profile seems to mean, where it has something on the line.
Result<std::optional<Hover>> nothing_shown_text(Views& views, const HoverRequest& request,
                                                const SourceFile& source, const StopToken& stop) {
  const AnnotateRequest& file = request.file;
  PROFD_TRY(const auto sources, views.sources(*file.open, file.workspace, stop));
  const auto tied = sources->tied.find(file.path);
  const std::vector<StringId>& meant = tied != sources->tied.end() ? tied->second : source.lookalikes;
  if (meant.empty()) return unlined_text(views, request, stop);
  PROFD_TRY(const auto values, views.lines(*file.open, annotation_spec(file), meant, stop));
  const LinePlaces places(source, file.document.get(), file.open->view_id);
  const bool here = std::any_of(values->line.begin(), values->line.end(), [&](std::uint32_t source_line) {
    const auto placed = places.find(source_line);
    return placed && placed->line == request.line;
  });
  if (!here) return std::optional<Hover>();
  const Profile& profile = *file.open->profile;
  Hover hover;
  hover.notes.push_back(tied != sources->tied.end() ? tie_text(profile, *sources, meant, request)
                                                    : lookalike_text(profile, source, &as_is));
  hover.foot = foot_text(request);
  return std::optional<Hover>(std::move(hover));
}

}  // namespace

Needs needs_of(const HoverRequest& request) {
  Needs needs = needs_of_lines(request.file);
  needs.push_back({Part::neighbours, annotation_spec(request.file)});
  // Who is next to the line.
  const ViewSpec by_line = annotation_spec(request.file, Granularity::line);
  needs.push_back({Part::selection, by_line});
  needs.push_back({Part::neighbours, by_line});
  return needs;
}

Result<std::optional<Hover>> hover_at(Views& views, const HoverRequest& request, const StopToken& stop) {
  AnnotateRequest all = request.file;
  all.threshold = 0;  // silent lines speak when hovered
  PROFD_TRY(const FileAnnotations file, annotate_file(views, all, stop));
  if (file.files.empty()) return nothing_shown_text(views, request, *file.source, stop);
  const auto line = std::find_if(file.lines.begin(), file.lines.end(), [&](const AnnotatedLine& candidate) {
    return candidate.line == request.line;
  });
  if (line == file.lines.end() || line->is_function) return function_text(views, request, file, stop);
  const Profile& profile = *request.file.open->profile;
  PROFD_TRY(const LineFunctions on_line,
            functions_on_line(*file.selection, file.files, measured_lines(file, *line), stop));
  const bool known = !on_line.functions.empty();

  Hover hover;
  hover.name =
      known && !on_line.functions.front().name.empty() ? on_line.functions.front().name : "(unknown)";
  hover.place = fmt::format("{}:{}", base_name(request.file.path),
                            line->source_line != 0 ? line->source_line : line->before_line);
  hover.inlined = known && on_line.functions.front().inlined;
  hover.n_others = known ? on_line.functions.size() - 1 : 0;
  if (line->changed)
    hover.notes.push_back(
        "This line changed since the profile was recorded; the numbers are of what it was.");
  if (const std::string doubts = evidence_text(profile, *file.source, &as_is); !doubts.empty())
    hover.notes.push_back(doubts);
  if (file.sides) {
    add_notes_of_sides(profile, file, *line, hover);
    add_changes(
        profile,
        [&](MetricId side) {
          return SelfAndTotal{file.values->self[side.v][line->row], file.values->total[side.v][line->row],
                              sum_of(file.selection->rows->self.values[side.v]),
                              file.values->estimated[side.v] != 0};
        },
        hover);
  }
  std::string recursion, of_whole;
  const std::size_t n_plain = file.sides ? 0 : std::min(profile.metrics().size(), kMaxMetrics);
  for (std::size_t m = 0; m < n_plain; ++m) {
    const Value total_of_view = file.selection->rows->filters.empty()
                                    ? profile.total(MetricId(m))
                                    : sum_of(file.selection->rows->self.values[m]);
    const Whole whole{total_of_view, profile.metrics()[m].unit};
    const Value& self = file.values->self[m][line->row];
    const Value& total = file.values->total[m][line->row];
    const bool estimated = file.values->estimated[m] != 0;
    hover.rows.push_back(
        {profile.metrics()[m].name, whole.text(self),
         marked(whole.text(total), estimated) + (profile.metrics()[m].saturated ? " (at least)" : ""),
         marked(whole.share_text(total), estimated)});
    if (const std::string why = excess_text(total, whole.total); !why.empty() && profile.contexts_estimated())
      recursion = why;
    if (m == request.file.metric.v) of_whole = of_whole_text(profile, MetricId(m), total_of_view, total);
  }
  const auto of_line = [&](MetricId metric) {
    return std::optional<OneRow>(
        {file.values->self[metric.v][line->row], file.values->total[metric.v][line->row]});
  };
  add_derived(derived_texts(*request.file.open, of_line), hover);
  if (!of_whole.empty()) hover.remarks.push_back(std::move(of_whole));
  if (!recursion.empty()) hover.remarks.push_back(std::move(recursion));
  if (known && on_line.functions.front().key != kNone)
    PROFD_CHECK(add_neighbours(views, all, *file.selection, on_line,
                               file.values->total[request.file.metric.v][line->row], hover, stop));
  hover.foot = foot_text(request);
  return std::optional<Hover>(std::move(hover));
}

}  // namespace profd
