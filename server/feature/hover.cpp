#include "server/feature/hover.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "core/support/checked.h"
#include "core/view/table.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/estimate.h"
#include "server/feature/evidence.h"
#include "server/feature/line_functions.h"
#include "server/feature/line_neighbours.h"
#include "server/feature/missing.h"
#include "server/feature/names.h"

namespace profd {
namespace {

constexpr std::size_t kMaxNeighbours = 3;
constexpr std::size_t kMaxMetrics = 12;

// Text that is no markup as it stands goes as it stands: some editors show the backslashes of the rest.
std::string plain_or_escaped(std::string_view text) {
  const auto harmless = [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string_view(" .,:/%+-").find(static_cast<char>(c)) != std::string_view::npos;
  };
  const bool plain = std::all_of(text.begin(), text.end(), harmless) && text.find("//") == text.npos &&
                     text.find("www.") == text.npos && sanitize_text(text) == text;
  return plain ? std::string(text) : escape_markdown(text);
}

class Page {
 public:
  explicit Page(bool markdown) : markdown_(markdown) {}

  void title(std::string_view name, std::string_view place, bool inlined, std::size_t n_others) {
    text_ += markdown_ ? fmt::format("**{}** {}", markdown_code(name), plain_or_escaped(place))
                       : fmt::format("{} {}", sanitize_text(name), sanitize_text(place));
    if (inlined) text_ += " (inlined)";
    if (n_others > 0) text_ += fmt::format(" and {} more here", n_others);
    text_ += "\n\n";
  }
  void note(std::string_view note) { text_ += fmt::format("{}\n\n", note); }

  void table_head() {
    if (markdown_) text_ += "| metric | self | total | share |\n|:--|--:|--:|--:|\n";
  }
  void table_row(std::string_view metric, std::string_view self, std::string_view total,
                 std::string_view share) {
    text_ += markdown_
                 ? fmt::format("| {} | {} | {} | {} |\n", escape_markdown(metric), plain_or_escaped(self),
                               plain_or_escaped(total), plain_or_escaped(share))
                 : fmt::format("{}: total {} ({}), self {}\n", sanitize_text(metric), total, share, self);
  }
  void table_end() { text_ += '\n'; }

  std::string code(std::string_view name) const {
    return markdown_ ? markdown_code(name) : sanitize_text(name);
  }
  void neighbours_head(std::string_view what) {
    text_ += markdown_ ? fmt::format("{}: ", what) : fmt::format("{}:\n", what);
  }
  void neighbour(bool first, std::string_view name, std::string_view share, const std::string& link) {
    if (!markdown_) {
      text_ += fmt::format("  {} {}\n", sanitize_text(name), share);
      return;
    }
    if (!first) text_ += " · ";
    text_ += link.empty() ? markdown_code(name) : fmt::format("[{}]({})", markdown_code(name), link);
    text_ += fmt::format(" {}", share);
  }
  void neighbours_rest(std::size_t n) {
    text_ += markdown_ ? fmt::format(" · {} more", n) : fmt::format("  {} more\n", n);
  }
  void neighbours_end() { text_ += markdown_ ? "\n\n" : "\n"; }

  void foot(std::string_view text) {
    text_ += markdown_ ? fmt::format("*{}*", plain_or_escaped(text)) : sanitize_text(text);
  }
  std::string take() { return std::move(text_); }

 private:
  bool markdown_;
  std::string text_;
};

std::string link_to(const SourceMap& sources, const Profile& profile, const KeyTable& keys, Key key) {
  const KeyPlace place = key_place(profile, keys, key);
  const std::string* path = sources.file_of(place.file);
  if (path == nullptr) return "";
  return place.line == 0 ? uri_of_path(*path) : fmt::format("{}#L{}", uri_of_path(*path), place.line);
}

// What is written of a line or of its function.
struct NeighbourLists {
  const std::vector<Neighbour>& callers;
  const std::vector<Neighbour>& callees;
  std::size_t n_callers, n_callees;
  const Value& total;
  std::string of, mark;  // after the words "callers" and "callees"
};

bool same_lists(const std::vector<Neighbour>& a, const std::vector<Neighbour>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Neighbour& x, const Neighbour& y) {
    return x.key == y.key && x.total == y.total;
  });
}

// Writes the callers and callees of one thing after the other.
class NeighbourWriter {
 public:
  NeighbourWriter(const Profile& profile, const Selection& selection, const SourceMap& sources, Page& page)
      : profile_(profile), selection_(selection), sources_(sources), page_(page) {}

  void add(const NeighbourLists& lists) {
    add("callers" + lists.of + lists.mark, lists.callers, lists.n_callers, lists.total);
    add("callees" + lists.of + lists.mark, lists.callees, lists.n_callees, lists.total);
  }

 private:
  void add(const std::string& title, const std::vector<Neighbour>& list, std::size_t n_in_all,
           const Value& total) {
    if (list.empty()) return;
    page_.neighbours_head(title);
    for (std::size_t i = 0; i < list.size(); ++i)
      page_.neighbour(i == 0, short_name(key_name(profile_, *selection_.boxes->keys, list[i].key)),
                      format_share(list[i].total, total),
                      link_to(sources_, profile_, *selection_.boxes->keys, list[i].key));
    if (n_in_all > list.size()) page_.neighbours_rest(n_in_all - list.size());
    page_.neighbours_end();
  }

  const Profile& profile_;
  const Selection& selection_;
  const SourceMap& sources_;
  Page& page_;
};

constexpr const char* kEstimate = " (estimate)";

NeighbourLists lists_of(const Neighbours& whole, std::string of) {
  return {whole.callers,
          whole.callees,
          whole.n_callers,
          whole.n_callees,
          whole.total,
          std::move(of),
          whole.calls_estimated ? kEstimate : ""};
}

// Those through the line; then those of the whole function, where they are others.
Result<void> add_neighbours(Views& views, const AnnotateRequest& request, const Selection& selection,
                            const LineFunctions& on_line, const Value& line_total, Page& page,
                            const StopToken& stop) {
  PROFD_TRY(const auto sources, views.sources(*request.open, request.workspace, stop));
  const Profile& profile = *request.open->profile;
  const ViewSpec spec = annotation_spec(request);
  PROFD_TRY(const LineNeighbours here, line_neighbours(views, *request.open, spec, selection, on_line.frames,
                                                       line_total, kMaxNeighbours, stop));
  PROFD_TRY(const Neighbours whole,
            views.neighbours(*request.open, spec, on_line.functions.front().key, kMaxNeighbours, stop));
  NeighbourWriter writer(profile, selection, *sources, page);
  const std::string joined =
      here.n_joined > 1 ? fmt::format(" (of {} pieces of code on this line together)", here.n_joined) : "";
  writer.add({here.callers, here.callees, here.n_callers, here.n_callees, here.total, joined,
              here.estimated ? kEstimate : ""});
  // A function of one line has said everything.
  if (here.total == whole.total && same_lists(here.callers, whole.callers) &&
      same_lists(here.callees, whole.callees))
    return {};
  writer.add(lists_of(whole, " of " + page.code(short_name(on_line.functions.front().name))));
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

EscapeText escape_for(const HoverRequest& request) {
  return request.markdown ? &plain_or_escaped : &sanitize_text;
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
    if (other != request.file.path && n_named < kMaxNamed)
      others += (n_named++ == 0 ? "" : ", ") + escape_for(request)(other);
  const std::size_t n_left = paths.size() - 1 - n_named;
  if (n_left > 0) others += fmt::format(" and {} more", n_left);
  return fmt::format(
      "The profile's {} fits {} files equally well, this one and {}. Nothing is guessed: a path "
      "mapping decides, in the settings or as map in .profd.toml.",
      escape_for(request)(path), paths.size(), others);
}

// A function that costs something and has no lines, where its name stands on the line: what would bring them.
Result<std::optional<std::string>> unlined_text(Views& views, const HoverRequest& request,
                                                const StopToken& stop) {
  constexpr double kShare = 0.005;
  const AnnotateRequest& file = request.file;
  const ViewSpec spec = annotation_spec(file);
  if (!file.document || !views.has(*file.open, needs_of_table(spec))) return std::optional<std::string>();
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
  if (best == flat->key.size()) return std::optional<std::string>();
  const std::uint32_t frame = selection->boxes->keys->example[flat->key[best]];
  Page page(request.markdown);
  page.title(key_name(profile, *selection->boxes->keys, flat->key[best]), "by its name alone", false, 0);
  page.note(fmt::format("{}: total {} ({}), self {} ({}). The profile has no line numbers for it. {}",
                        escape_for(request)(profile.metrics()[file.metric.v].name),
                        whole.text(flat->total[best]), whole.share_text(flat->total[best]),
                        whole.text(flat->self[best]), whole.share_text(flat->self[best]),
                        lines_advice(profile, frame < profile.frames().size() ? profile.frames().kind[frame]
                                                                              : FrameKind::native)));
  page.foot(foot_text(request));
  return std::optional<std::string>(page.take());
}

// Of a line that has no costs of its own: the function that begins on it.
Result<std::optional<std::string>> function_text(Views& views, const HoverRequest& request,
                                                 const FileAnnotations& file, const StopToken& stop) {
  const OpenProfile& open = *request.file.open;
  AnnotateRequest all = request.file;
  all.threshold = 0;
  const ViewSpec spec = annotation_spec(all);
  if (!views.has(open, needs_of_table(spec))) return std::optional<std::string>();
  PROFD_TRY(const std::vector<FunctionCost> functions, functions_of_file(views, all, stop));
  const auto begins_here = [&](const FunctionCost& function) { return function.line == request.line; };
  const auto found = std::find_if(functions.begin(), functions.end(), begins_here);
  if (found == functions.end()) return std::optional<std::string>();
  const Profile& profile = *open.profile;
  Page page(request.markdown);
  page.title(found->name, "the whole function", false,
             static_cast<std::size_t>(std::count_if(found + 1, functions.end(), begins_here)));
  if (found->stale) page.note("The file changed since the profile was recorded.");
  if (const std::string doubts = evidence_text(profile, *file.source, escape_for(request)); !doubts.empty())
    page.note(doubts);
  page.table_head();
  std::string recursion;
  for (std::size_t m = 0; m < std::min(profile.metrics().size(), kMaxMetrics); ++m) {
    ViewSpec of_metric = spec;
    of_metric.metric = profile.metrics()[m].name;
    if (!views.has(open, needs_of_table(of_metric))) continue;
    PROFD_TRY(const SelectionPtr selection, views.selection(open, of_metric, stop));
    PROFD_TRY(const auto flat, views.flat(open, of_metric, stop));
    const auto row = flat->row_of(found->key);
    if (!row) continue;
    const Whole whole{selection->sums->total, profile.metrics()[m].unit};
    const bool estimated = flat->estimate_of(*row) != kExact;
    page.table_row(profile.metrics()[m].name, whole.text(flat->self[*row]),
                   marked(whole.text(flat->total[*row]), estimated) +
                       (profile.metrics()[m].saturated ? " (at least)" : ""),
                   marked(whole.share_text(flat->total[*row]), estimated));
    if (const std::string why = recursion_text(flat->total[*row], whole.total);
        !why.empty() && profile.contexts_estimated())
      recursion = why;
  }
  page.table_end();
  if (!recursion.empty()) page.note(recursion);
  PROFD_TRY(const auto sources, views.sources(open, request.file.workspace, stop));
  PROFD_TRY(const Neighbours around, views.neighbours(open, spec, found->key, kMaxNeighbours, stop));
  NeighbourWriter(profile, *file.selection, *sources, page).add(lists_of(around, ""));
  page.foot(foot_text(request));
  return std::optional<std::string>(page.take());
}

// Why nothing is shown of a file that the profile seems to mean, where it has something on the line.
Result<std::optional<std::string>> nothing_shown_text(Views& views, const HoverRequest& request,
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
  if (!here) return std::optional<std::string>();
  const Profile& profile = *file.open->profile;
  Page page(request.markdown);
  page.note(tied != sources->tied.end() ? tie_text(profile, *sources, meant, request)
                                        : lookalike_text(profile, source, escape_for(request)));
  page.foot(foot_text(request));
  return std::optional<std::string>(page.take());
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

Result<std::optional<std::string>> hover_text(Views& views, const HoverRequest& request,
                                              const StopToken& stop) {
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
            functions_on_line(*file.selection, file.files, line->source_line, stop));
  const bool known = !on_line.functions.empty();

  Page page(request.markdown);
  page.title(known && !on_line.functions.front().name.empty() ? on_line.functions.front().name : "(unknown)",
             fmt::format("{}:{}", base_name(request.file.path), line->source_line),
             known && on_line.functions.front().inlined, known ? on_line.functions.size() - 1 : 0);
  if (line->changed)
    page.note("This line changed since the profile was recorded; the numbers are of what it was.");
  if (const std::string doubts = evidence_text(profile, *file.source, escape_for(request)); !doubts.empty())
    page.note(doubts);
  page.table_head();
  std::string recursion;
  for (std::size_t m = 0; m < std::min(profile.metrics().size(), kMaxMetrics); ++m) {
    const Value total_of_view = file.selection->rows->filters.empty()
                                    ? profile.total(MetricId(m))
                                    : sum_of(file.selection->rows->self.values[m]);
    const Whole whole{total_of_view, profile.metrics()[m].unit};
    const Value& self = file.values->self[m][line->row];
    const Value& total = file.values->total[m][line->row];
    const bool estimated = file.values->estimated[m] != 0;
    page.table_row(
        profile.metrics()[m].name, whole.text(self),
        marked(whole.text(total), estimated) + (profile.metrics()[m].saturated ? " (at least)" : ""),
        marked(whole.share_text(total), estimated));
    if (const std::string why = recursion_text(total, whole.total);
        !why.empty() && profile.contexts_estimated())
      recursion = why;
  }
  page.table_end();
  if (!recursion.empty()) page.note(recursion);
  if (known && on_line.functions.front().key != kNone)
    PROFD_CHECK(add_neighbours(views, all, *file.selection, on_line,
                               file.values->total[request.file.metric.v][line->row], page, stop));
  page.foot(foot_text(request));
  return std::optional<std::string>(page.take());
}

}  // namespace profd
