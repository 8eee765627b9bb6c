#include "server/feature/report_answer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "core/view/resolve.h"
#include "server/feature/escape.h"
#include "server/feature/names.h"
#include "server/feature/ranges_answer.h"
#include "server/feature/text_index.h"
#include "server/feature/workspace_paths.h"

namespace profd {
namespace {

constexpr std::string_view kOthers = "...others...";
constexpr std::size_t kMostModules = 8;
// A section of what is in no frame: of stacks that have none, or none that is shown.
constexpr std::uint32_t kNoFrame = kNone - 1;

double known_size(const Value& value) {
  const double number = std::abs(as_double(value));
  return std::isfinite(number) ? number : 0;
}

std::string_view words_for(FrameKind kind) {
  switch (kind) {
    case FrameKind::native:
      return "native code";
    case FrameKind::jit:
      return "JIT code";
    case FrameKind::interpreted:
      return "interpreted code";
    case FrameKind::kernel:
      return "the kernel";
    case FrameKind::gc:
      return "garbage collection";
    case FrameKind::waker:
      return "wakers";
    case FrameKind::data_object:
      return "data";
  }
  return "other code";
}

// What has the digits of a count; others are shown as everywhere.
std::string report_value(const Value& value, const std::string& unit) {
  const auto* const count = std::get_if<std::int64_t>(&value);
  return count != nullptr && unit == "count" ? std::to_string(*count) : format_value(value, unit);
}

// A function in a section.
struct ReportEntry {
  std::uint32_t section = 0;  // index of it
  Key key = 0;
  Value self;
  std::uint32_t frame = kNone;  // an example
};

class ReportWriter {
 public:
  ReportWriter(Views& views, const ReportRequest& request, const StopToken& stop)
      : views_(views), request_(request), stop_(stop), profile_(*request.open->profile), files_(out_.files) {}

  Result<ReportAnswer> run() {
    ViewSpec spec = request_.spec;
    spec.shape = Shape::flat;
    spec.granularity = Granularity::function;
    spec.focus.clear();
    PROFD_TRY(view_, prepare_view(views_, *request_.open, spec, stop_));
    PROFD_TRY(selfs_, views_.frame_selfs(*request_.open, spec, stop_));
    PROFD_TRY(const auto flat, views_.flat(*request_.open, spec, stop_));
    PROFD_TRY(sources_, sources_in(views_, *request_.open, request_.workspace, stop_));
    out_.head = head_of(*request_.open, spec, view_);
    out_.head.note.clear();
    // No total is shown.
    const bool estimated = std::any_of(flat->estimate.begin(), flat->estimate.end(),
                                       [](Estimate of) { return (of & kSelfEstimated) != 0; });
    if (!estimated) out_.head.estimated.clear();
    const KeyTable& keys = *view_.selection->boxes->keys;
    if (!request_.function.empty()) {
      PROFD_TRY(only_, resolve_key(profile_, keys, request_.function));
    }
    decide_sections();
    PROFD_CHECK(collect());
    if (as_double(flat->frameless) != 0 && !only_) add_frameless(flat->frameless);
    sort_sections();
    pick();
    if (request_.ranges || only_) PROFD_CHECK(find_ranges());
    write();
    out_.paths = workspace_paths(out_.files, sources_.get());
    return std::move(out_);
  }

 private:
  [[nodiscard]] Value zero() const {
    return std::holds_alternative<double>(view_.selection->sums->total) ? Value(0.0) : Value(std::int64_t{0});
  }

  [[nodiscard]] std::uint32_t module_text(std::uint32_t frame) const {
    const ModuleId module = profile_.frames().module[frame];
    return module.valid() ? profile_.modules().name[module.v].v : 0;
  }

  void decide_sections() {
    out_.by = request_.sections;
    if (out_.by != ReportSections::automatic) return;
    std::set<std::uint32_t> modules;
    for (std::uint32_t frame = 0; frame < selfs_->self.size() && modules.size() <= kMostModules; ++frame)
      if (as_double(selfs_->self[frame]) != 0) modules.insert(module_text(frame));
    out_.by =
        modules.size() >= 2 && modules.size() <= kMostModules ? ReportSections::module : ReportSections::kind;
  }

  [[nodiscard]] std::uint32_t section_id(std::uint32_t frame) const {
    switch (out_.by) {
      case ReportSections::module:
        return module_text(frame);
      case ReportSections::none:
        return 0;
      case ReportSections::automatic:
      case ReportSections::kind:
        break;
    }
    return static_cast<std::uint32_t>(profile_.frames().kind[frame]);
  }

  std::uint32_t section_of(std::uint32_t id) {
    const auto [found, fresh] =
        section_of_id_.try_emplace(id, static_cast<std::uint32_t>(section_ids_.size()));
    if (fresh) {
      section_ids_.push_back(id);
      sums_.push_back(zero());
    }
    return found->second;
  }

  // Functions by section, and what each frame is part of.
  Result<void> collect() {
    const KeyTable& keys = *view_.selection->boxes->keys;
    entry_of_frame_.assign(keys.of_frame.size(), kNone);
    std::unordered_map<std::uint64_t, std::uint32_t> found;  // section and key
    StopToken stop = stop_;
    for (std::uint32_t frame = 0; frame < keys.of_frame.size(); ++frame) {
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      const Value& self = selfs_->self[frame];
      if (as_double(self) == 0 || (only_ && keys.of_frame[frame] != *only_)) continue;
      const std::uint32_t section = section_of(section_id(frame));
      const std::uint64_t both = std::uint64_t{section} << 32 | keys.of_frame[frame];
      const auto [entry, fresh] = found.try_emplace(both, static_cast<std::uint32_t>(entries_.size()));
      if (fresh) entries_.push_back({section, keys.of_frame[frame], zero(), frame});
      entries_[entry->second].self = added(entries_[entry->second].self, self);
      sums_[section] = added(sums_[section], self);
      entry_of_frame_[frame] = entry->second;
    }
    if (!only_) return {};
    // Shares are of the whole section all the same.
    std::fill(sums_.begin(), sums_.end(), zero());
    for (std::uint32_t frame = 0; frame < keys.of_frame.size(); ++frame) {
      const auto section = section_of_id_.find(section_id(frame));
      if (section != section_of_id_.end())
        sums_[section->second] = added(sums_[section->second], selfs_->self[frame]);
    }
    return {};
  }

  void add_frameless(const Value& self) {
    const std::uint32_t section = section_of(out_.by == ReportSections::none ? 0 : kNoFrame);
    entries_.push_back({section, kNoFrame, self, kNone});
    sums_[section] = added(sums_[section], self);
  }

  [[nodiscard]] std::vector<std::string> section_names() const {
    std::map<std::string_view, std::size_t> of_base;
    const auto path = [&](std::uint32_t id) { return profile_.strings()[StringId{id}]; };
    if (out_.by == ReportSections::module) {
      for (const std::uint32_t id : section_ids_)
        if (id != kNoFrame && id != 0) ++of_base[base_name(path(id))];
    }
    std::vector<std::string> names;
    for (const std::uint32_t id : section_ids_) {
      if (out_.by == ReportSections::none) {
        names.emplace_back("the program");
      } else if (id == kNoFrame) {
        names.emplace_back("stacks without a frame");
      } else if (out_.by == ReportSections::kind) {
        names.emplace_back(words_for(static_cast<FrameKind>(id)));
      } else if (id == 0) {
        names.emplace_back("(no module)");
      } else {
        names.emplace_back(of_base[base_name(path(id))] > 1 ? path(id) : base_name(path(id)));
      }
    }
    return names;
  }

  void sort_sections() {
    const std::vector<std::string> names = section_names();
    std::vector<std::uint32_t> order(section_ids_.size()), now(section_ids_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const double of_a = known_size(sums_[a]), of_b = known_size(sums_[b]);
      return of_a != of_b ? of_a > of_b : names[a] < names[b];
    });
    std::vector<Value> sums;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      now[order[i]] = i;
      sums.push_back(sums_[order[i]]);
      out_.sections.push_back({names[order[i]], amount_of(view_.whole, sums_[order[i]]), 0});
    }
    sums_ = std::move(sums);
    for (ReportEntry& entry : entries_) {
      entry.section = now[entry.section];
      ++out_.sections[entry.section].n_functions;
    }
  }

  // A row of a report that was read which stands for others itself.
  [[nodiscard]] bool is_rest(const ReportEntry& entry) const {
    return entry.frame != kNone && entry.key < view_.selection->boxes->keys->first_group() &&
           profile_.function_name(profile_.frames().function[entry.frame]) == kOthers;
  }

  // Which entries are listed, by section, largest first; the others are summed up.
  void pick() {
    name_entries();
    std::vector<std::uint32_t> order(entries_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (entries_[a].section != entries_[b].section) return entries_[a].section < entries_[b].section;
      const double of_a = known_size(entries_[a].self), of_b = known_size(entries_[b].self);
      return of_a != of_b ? of_a > of_b : names_[a] < names_[b];
    });
    listed_.resize(out_.sections.size());
    rests_.resize(out_.sections.size());
    for (Rest& rest : rests_) rest.self = zero();
    for (const std::uint32_t at : order) {
      const ReportEntry& entry = entries_[at];
      const double least = request_.min_share * known_size(sums_[entry.section]);
      std::vector<std::uint32_t>& listed = listed_[entry.section];
      const bool below = known_size(entry.self) < least || listed.size() >= request_.limit;
      if (is_rest(entry) || (below && !only_)) {
        Rest& rest = rests_[entry.section];
        rest.self = added(rest.self, entry.self);
        rest.unknown |= is_rest(entry);
        ++rest.count;
      } else {
        listed.push_back(at);
      }
    }
  }

  // Whole, and different within a section.
  void name_entries() {
    const KeyTable& keys = *view_.selection->boxes->keys;
    names_.resize(entries_.size());
    std::vector<std::vector<std::uint32_t>> of_section(out_.sections.size());
    for (std::uint32_t at = 0; at < entries_.size(); ++at) of_section[entries_[at].section].push_back(at);
    for (const std::vector<std::uint32_t>& members : of_section) {
      std::vector<std::string> whole;
      std::vector<NameAndPlace> named;
      for (const std::uint32_t at : members)
        whole.push_back(entries_[at].frame == kNone ? "(no frame)"
                                                    : key_name(profile_, keys, entries_[at].key));
      for (std::size_t i = 0; i < members.size(); ++i) {
        const ReportEntry& entry = entries_[members[i]];
        const KeyPlace place = entry.frame == kNone ? KeyPlace{} : key_place(profile_, keys, entry.key);
        named.push_back({whole[i], place.file.empty() ? place.module : place.file});
      }
      // Equal entries get equal texts there: what only differs in where it begins has a number.
      const std::vector<std::string> distinct = distinct_names(named);
      std::map<std::string, std::uint32_t> times;
      for (std::size_t i = 0; i < members.size(); ++i) {
        const std::uint32_t n = ++times[distinct[i]];
        names_[members[i]] = n == 1 ? distinct[i] : fmt::format("{} #{}", distinct[i], n);
      }
    }
  }

  Result<void> find_ranges() {
    std::vector<std::uint32_t> number(entries_.size(), kNone);
    for (const std::vector<std::uint32_t>& listed : listed_)
      for (const std::uint32_t at : listed)
        if (entries_[at].frame != kNone && entries_[at].key < view_.selection->boxes->keys->first_group())
          number[at] = n_ranged_++;
    range_number_ = number;
    std::vector<std::uint32_t> of_frame(entry_of_frame_.size(), kNone);
    for (std::uint32_t frame = 0; frame < of_frame.size(); ++frame)
      if (entry_of_frame_[frame] != kNone) of_frame[frame] = number[entry_of_frame_[frame]];
    PROFD_TRY(ranges_, function_ranges(*view_.selection, std::move(of_frame), n_ranged_, request_.by, stop_,
                                       views_.executor()));
    return {};
  }

  void add_row(std::uint32_t section, ReportRowKind kind, std::string name, const Value& self,
               const Value& whole, const Value& running, std::size_t count) {
    ReportColumns& to = out_.rows;
    to.section.push_back(section);
    to.kind.push_back(kind);
    to.name.push_back(std::move(name));
    to.self.push_back(self);
    to.share.push_back(report_share(self, whole));
    to.total_share.emplace_back();
    to.running.push_back(report_share(running, whole));
    to.count.push_back(static_cast<std::uint32_t>(count));
    to.file.push_back(-1);
    to.line.push_back(0);
  }

  void add_place(std::string_view file, std::uint32_t line) {
    out_.rows.file.back() = files_.index_of(file);
    out_.rows.line.back() = line;
  }

  void add_line(std::string text, std::int32_t row = -1) {
    out_.lines.push_back(sanitize_text(text));
    out_.line_rows.push_back(row);
  }

  // The row that was added last, as the article has it.
  void show_row(std::string_view indent) {
    const ReportColumns& rows = out_.rows;
    const std::size_t row = rows.name.size() - 1;
    const std::string total =
        rows.total_share[row].empty() ? "" : fmt::format("({:>6}) ", rows.total_share[row]);
    add_line(fmt::format("{}{:>6} {}{} ({}) ({:>6})", indent, rows.share[row], total, rows.name[row],
                         report_value(rows.self[row], view_.whole.unit), rows.running[row]),
             static_cast<std::int32_t>(row));
  }

  void write() {
    const Value& program = view_.profile_whole.total;
    const auto amount = [&](const Value& value) {
      return fmt::format("{} {}", report_value(value, view_.whole.unit), out_.head.metric);
    };
    if (!request_.spec.filters.empty())
      add_line(fmt::format("{} pass the filters, {} of {}", amount(view_.selection->sums->total),
                           report_share(view_.selection->sums->total, program), amount(program)));
    for (std::size_t section = 0; section < out_.sections.size(); ++section)
      add_line(fmt::format("{} in {} ({} of total)", amount(sums_[section]), out_.sections[section].name,
                           report_share(sums_[section], program)));
    if (out_.sections.empty()) add_line(fmt::format("No function has {} of its own.", out_.head.metric));
    for (std::uint32_t section = 0; section < out_.sections.size(); ++section) {
      add_line("");
      add_line(fmt::format("% of {} (% of total) ({}) (cumulative)", out_.sections[section].name,
                           out_.head.metric));
      write_section(section, program);
    }
  }

  void write_section(std::uint32_t section, const Value& program) {
    const KeyTable& keys = *view_.selection->boxes->keys;
    Value running = zero();
    for (const std::uint32_t at : listed_[section]) {
      const ReportEntry& entry = entries_[at];
      running = added(running, entry.self);
      add_row(section, ReportRowKind::function, names_[at], entry.self, sums_[section], running, 1);
      out_.rows.total_share.back() = report_share(entry.self, program);
      if (entry.frame != kNone) {
        const KeyPlace place = key_place(profile_, keys, entry.key);
        // Where it begins, or else a line of it.
        const bool here = profile_.strings()[file_of_frame(profile_, entry.frame)] == place.file;
        add_place(place.file, place.line == 0 && here ? profile_.frames().line[entry.frame] : place.line);
      }
      show_row("");
      if (!range_number_.empty() && range_number_[at] != kNone)
        write_ranges(section, range_number_[at], entry.self);
    }
    const Rest& rest = rests_[section];
    if (rest.count == 0) return;
    running = added(running, rest.self);
    std::string name(kOthers);
    if (!rest.unknown) name += fmt::format(" {}", count_of(rest.count, "function", "functions"));
    add_row(section, ReportRowKind::others, std::move(name), rest.self, sums_[section], running,
            rest.unknown ? 0 : rest.count);
    out_.rows.total_share.back() = report_share(rest.self, program);
    show_row("");
  }

  void write_ranges(std::uint32_t section, std::uint32_t number, const Value& whole) {
    const std::vector<Value>& self = ranges_.sums.self[view_.selection->metric().v];
    std::vector<std::uint32_t> shown;
    for (std::uint32_t row = ranges_.first[number]; row < ranges_.first[number + 1]; ++row)
      if (as_double(self[row]) != 0) shown.push_back(row);
    // Of code of which nothing is known the row above says it all.
    if (!only_ && shown.size() == 1 && !ranges_.rows[shown.front()].known) return;
    Value rest = zero();
    std::size_t n_rest = 0;
    if (shown.size() > request_.range_limit) {
      std::vector<std::uint32_t> by_size = shown;
      std::stable_sort(by_size.begin(), by_size.end(), [&](std::uint32_t a, std::uint32_t b) {
        return known_size(self[a]) > known_size(self[b]);
      });
      for (std::size_t i = request_.range_limit; i < by_size.size(); ++i)
        rest = added(rest, self[by_size[i]]);
      n_rest = by_size.size() - request_.range_limit;
      by_size.resize(request_.range_limit);
      std::sort(by_size.begin(), by_size.end());
      shown = std::move(by_size);
    }
    const RangePlaces places(profile_, ranges_.rows.begin() + ranges_.first[number],
                             ranges_.rows.begin() + ranges_.first[number + 1]);
    Value running = zero();
    for (const std::uint32_t row : shown) {
      const FunctionRange& range = ranges_.rows[row];
      running = added(running, self[row]);
      add_row(section, ReportRowKind::range, places.text(range, ranges_.unit[number]), self[row], whole,
              running, 1);
      add_place(profile_.strings()[range.file], range.line);
      show_row("    ");
    }
    if (n_rest == 0) return;
    running = added(running, rest);
    add_row(section, ReportRowKind::others,
            fmt::format("{} {}", kOthers, count_of(n_rest, "range", "ranges")), rest, whole, running, n_rest);
    show_row("    ");
  }

  struct Rest {
    Value self;
    std::size_t count = 0;
    bool unknown = false;  // of one of them nobody knows how many it is
  };

  Views& views_;
  const ReportRequest& request_;
  const StopToken& stop_;
  const Profile& profile_;
  PreparedView view_;
  std::shared_ptr<const FrameSelfs> selfs_;
  std::shared_ptr<const SourceMap> sources_;
  std::optional<Key> only_;
  std::unordered_map<std::uint32_t, std::uint32_t> section_of_id_;
  std::vector<std::uint32_t> section_ids_;
  std::vector<Value> sums_;  // by section
  std::vector<ReportEntry> entries_;
  std::vector<std::string> names_;             // by entry
  std::vector<std::uint32_t> entry_of_frame_;  // kNone: none
  std::vector<std::vector<std::uint32_t>> listed_;
  std::vector<Rest> rests_;                  // by section
  std::vector<std::uint32_t> range_number_;  // by entry; empty: no ranges are asked for
  std::uint32_t n_ranged_ = 0;
  FunctionRanges ranges_;
  ReportAnswer out_;
  TextIndex files_;
};

}  // namespace

std::string report_share(const Value& part, const Value& whole) {
  const double of = as_double(whole), percent = 100 * as_double(part) / of;
  if (of == 0 || !std::isfinite(percent)) return std::string(kNotAvailable);
  const std::string text = fmt::format("{:.2f}%", percent);
  return text == "100.00%" ? "100.0%" : text;
}

Needs needs_of(const ReportRequest& request) {
  ViewSpec spec = request.spec;
  spec.shape = Shape::flat;
  spec.granularity = Granularity::function;
  spec.focus.clear();
  Needs needs = needs_of_table(spec);
  // The sweep by which lines are made is as long as that for ranges.
  if (request.ranges || !request.function.empty()) needs.push_back({Part::lines, spec});
  return needs;
}

Result<ReportAnswer> report_answer(Views& views, const ReportRequest& request, const StopToken& stop) {
  return ReportWriter(views, request, stop).run();
}

}  // namespace profd
