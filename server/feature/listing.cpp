#include "server/feature/listing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "core/view/pattern.h"
#include "core/view/resolve.h"
#include "server/feature/escape.h"
#include "server/feature/evidence.h"
#include "server/feature/line_changes.h"
#include "server/feature/line_places.h"
#include "server/feature/missing.h"
#include "server/feature/source_text_answer.h"

namespace profd {
namespace {

// Lines shown around those that have a value; what is further apart is left out.
constexpr std::uint32_t kAround = 2;

// By key of a function: whether it is meant. A name in a form that is shown goes before an expression, in
// which names of C++ mean something else.
Result<std::vector<std::uint8_t>> meant_keys(const Profile& profile, const KeyTable& keys,
                                             const std::string& pattern) {
  std::vector<std::uint8_t> meant(keys.n_keys(), 0);
  bool any = false;
  for (Key key = 0; key < keys.first_group(); ++key) {
    meant[key] = is_shown_as(key_name(profile, keys, key), pattern) ? 1 : 0;
    any = any || meant[key] != 0;
  }
  if (any) return meant;
  PROFD_TRY(const Pattern expression, Pattern::compile(pattern, true));
  for (Key key = 0; key < keys.first_group(); ++key)
    meant[key] = expression.matches(key_name(profile, keys, key)) ? 1 : 0;
  return meant;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The values of one function in one file, by line as the profile says.
using LineRows = std::map<std::uint32_t, std::size_t>;

class Lister {
 public:
  Lister(Views& views, const ListingRequest& request, const StopToken& stop)
      : views_(views), request_(request), stop_(stop) {}

  Result<ListingAnswer> run() {
    ViewSpec by_function = request_.spec, by_line = request_.spec;
    by_function.shape = by_line.shape = Shape::flat;
    by_function.focus.clear();
    by_line.focus.clear();
    by_function.granularity = Granularity::function;
    by_line.granularity = Granularity::line;
    PROFD_TRY(const PreparedView view, prepare_view(views_, *request_.open, by_function, stop_));
    PROFD_TRY(const PreparedView lines, prepare_view(views_, *request_.open, by_line, stop_));
    PROFD_TRY(const auto flat, views_.flat(*request_.open, by_function, stop_));
    PROFD_TRY(line_table_, views_.flat(*request_.open, by_line, stop_));
    by_line_ = lines.selection;
    metric_ = view.selection->metric();
    sides_ = sides_of(profile(), metric_);
    if (sides_) {
      PROFD_TRY(lines_of_sides_, tables_of_sides(by_line));
      PROFD_TRY(functions_of_sides_, tables_of_sides(by_function));
      PROFD_TRY(noise_, views_.noise(*request_.open, by_function, stop_));
    }
    ListingAnswer out;
    out.head = head_of(*request_.open, by_function, view);
    out.whole = view.whole;
    const KeyTable& keys = *view.selection->boxes->keys;
    PROFD_TRY(const auto meant, meant_keys(profile(), keys, request_.pattern));
    std::vector<std::size_t> rows;
    for (std::size_t row = 0; row < flat->key.size(); ++row)
      if (meant[flat->key[row]] != 0 && as_double(flat->total[row]) != 0) rows.push_back(row);
    if (rows.empty())
      return fail(ErrorCode::not_found,
                  fmt::format("no function with a value is called {} or matches it", request_.pattern));
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      return std::fabs(as_double(flat->total[a])) > std::fabs(as_double(flat->total[b]));
    });
    out.n_left_out = rows.size() - std::min(rows.size(), request_.limit);
    rows.resize(rows.size() - out.n_left_out);
    std::map<Key, std::map<std::string_view, LineRows>> lines_of = lines_by_function(keys, *flat, rows);
    for (const std::size_t row : rows) {
      Listing listing;
      listing.name = key_name(profile(), keys, flat->key[row]);
      const KeyPlace place = key_place(profile(), keys, flat->key[row]);
      listing.file = place.file;
      listing.module = place.module;
      listing.self = flat->self[row];
      listing.total = flat->total[row];
      listing.total_estimated = flat->estimate_of(row) != kExact;
      if (sides_) {
        listing.change = change_at(functions_of_sides_, flat->key[row]);
        listing.change->is_judged = noise_->cannot.empty();
        listing.change->self_standing = noise_->self_of(flat->key[row]);
        listing.change->total_standing = noise_->total_of(flat->key[row]);
        listing.self = listing.change->self_after;
        listing.total = listing.change->total_after;
      }
      std::map<std::string_view, LineRows>& files = lines_of[flat->key[row]];
      if (files.empty()) {
        listing.note = "The profile has no lines of it. " +
                       lines_advice(profile(), profile().frames().kind[keys.example[flat->key[row]]]);
        out.functions.push_back(std::move(listing));
      }
      // Most functions have their lines in one file; a macro brings lines of others.
      for (const auto& [file, numbers] : files) {
        Listing of_file = listing;
        of_file.file = file;
        if (sides_)
          PROFD_CHECK(add_changes(flat->key[row], numbers, of_file));
        else
          PROFD_CHECK(add_lines(numbers, of_file));
        out.functions.push_back(std::move(of_file));
      }
    }
    return out;
  }

 private:
  const Profile& profile() const { return *request_.open->profile; }

  std::map<Key, std::map<std::string_view, LineRows>> lines_by_function(
      const KeyTable& functions, const FlatView& flat, const std::vector<std::size_t>& rows) const {
    std::map<Key, std::map<std::string_view, LineRows>> out;
    for (const std::size_t row : rows) out[flat.key[row]];
    const KeyTable& keys = *by_line_->boxes->keys;
    for (std::size_t row = 0; row < line_table_->key.size(); ++row) {
      const Key key = line_table_->key[row];
      if (key >= keys.first_group()) continue;
      const auto found = out.find(functions.of_frame[keys.example[key]]);
      if (found == out.end()) continue;
      const KeyPlace place = key_place(profile(), keys, key);
      if (place.line != 0) found->second[place.file].emplace(place.line, row);
    }
    return out;
  }

  Result<void> add_lines(const LineRows& numbers, Listing& listing) {
    std::vector<std::string_view> text;
    std::optional<LinePlaces> places;
    SourceTextAnswer source;
    if (const auto path = workspace_file_of(views_, *request_.open, request_.workspace, listing.file, stop_))
      listing.path = *path;
    if (listing.path.empty()) {
      listing.note = listing.file.empty() ? "The profile does not name its file."
                                          : "Its file is not found in the folders that are looked in.";
    } else if (auto read = source_text(request_.folders, listing.path, stop_)) {
      source = std::move(*read);
      text = split_lines(source.text);
      PROFD_TRY(const auto file,
                views_.source_file(*request_.open, request_.workspace, listing.path, nullptr, stop_));
      places.emplace(*file, nullptr, request_.open->view_id);
      listing.note = evidence_text(profile(), *file, &sanitize_text);
    } else {
      listing.note = read.error().message;
    }
    std::uint64_t n_gone = 0;
    std::map<std::uint32_t, ListedLine> lines;
    for (const auto& [number, row] : numbers) {
      ListedLine line;
      line.line = number;
      line.has_value = true;
      line.self = line_table_->self[row];
      line.total = line_table_->total[row];
      if (places) {
        const auto placed = places->find(number);
        if (!placed) {
          ++n_gone;
          continue;
        }
        line.line = placed->line + 1;
        line.stale = placed->stale;
      }
      lines[line.line] = line;
    }
    if (n_gone > 0)
      listing.note +=
          fmt::format("{}{} {} of it {} not in the file any more.", listing.note.empty() ? "" : " ", n_gone,
                      n_gone == 1 ? "line" : "lines", n_gone == 1 ? "is" : "are");
    add_text(text, lines);
    for (auto& [number, line] : lines) listing.lines.push_back(std::move(line));
    return {};
  }

  struct TablesOfSides {
    std::shared_ptr<const FlatView> before, after;
  };
  Result<TablesOfSides> tables_of_sides(const ViewSpec& spec) {
    TablesOfSides out;
    ViewSpec side = spec;
    side.metric = profile().metrics()[sides_->before.v].name;
    PROFD_TRY(out.before, views_.flat(*request_.open, side, stop_));
    side.metric = profile().metrics()[sides_->after.v].name;
    PROFD_TRY(out.after, views_.flat(*request_.open, side, stop_));
    return out;
  }

  CostChange change_at(const TablesOfSides& tables, Key key) const {
    const auto at = [&](const FlatView& table, const std::vector<Value>& column) {
      const auto row = table.row_of(key);
      return row ? column[*row]
                 : std::visit([](auto v) -> Value { return decltype(v){}; }, profile().total(sides_->after));
    };
    CostChange change;
    change.self_before = at(*tables.before, tables.before->self);
    change.self_after = at(*tables.after, tables.after->self);
    change.total_before = at(*tables.before, tables.before->total);
    change.total_after = at(*tables.after, tables.after->total);
    change.change = change_of(as_double(change.total_before) != 0, change.total_before,
                              as_double(change.total_after) != 0, change.total_after);
    return change;
  }

  // Of a diff: the lines as hints have them, each side's where it stands now.
  Result<void> add_changes(Key function, const LineRows& numbers, Listing& listing) {
    const auto path = workspace_file_of(views_, *request_.open, request_.workspace, listing.file, stop_);
    if (!path) {
      listing.note = listing.file.empty() ? "The profile does not name its file."
                                          : "Its file is not found in the folders that are looked in.";
      for (const auto& [number, row] : numbers) {
        ListedLine line;
        line.line = number;
        line.has_value = true;
        line.change = change_at(lines_of_sides_, line_table_->key[row]);
        line.self = line.change->self_after;
        line.total = line.change->total_after;
        listing.lines.push_back(std::move(line));
      }
      return {};
    }
    listing.path = *path;
    AnnotateRequest request{request_.open, request_.workspace,    *path, nullptr,
                            metric_,       request_.spec.filters, 0};
    PROFD_TRY(const FileAnnotations file, annotate_file(views_, request, stop_));
    auto read = source_text(request_.folders, *path, stop_);
    if (!read) listing.note = read.error().message;
    std::map<std::uint32_t, ListedLine> lines;
    for (const AnnotatedLine& annotated : file.lines) {
      const auto is_of = [&](LinesOf side, std::uint32_t number) {
        const std::vector<Key>& keys = file.sides->functions_on(side, number);
        return number != 0 && std::find(keys.begin(), keys.end(), function) != keys.end();
      };
      if (!is_of(LinesOf::after, annotated.source_line) && !is_of(LinesOf::before, annotated.before_line))
        continue;
      ListedLine line;
      line.line = annotated.line + 1;
      line.has_value = true;
      line.stale = annotated.stale;
      line.change = annotated.change;
      line.self = annotated.change->self_after;
      line.total = annotated.change->total_after;
      lines[line.line] = std::move(line);
    }
    PROFD_CHECK(add_notes_of_sides(function, request, file, listing));
    if (read) add_text(split_lines(read->text), lines);
    for (auto& [number, line] : lines) listing.lines.push_back(std::move(line));
    return {};
  }

  Result<void> add_notes_of_sides(Key function, const AnnotateRequest& request, const FileAnnotations& file,
                                  Listing& listing) {
    const auto add = [&](const std::string& note) {
      if (!note.empty()) listing.note += (listing.note.empty() ? "" : " ") + note;
    };
    if (!file.sides) return {};
    const std::string after = evidence_text(profile(), *file.sides->source(LinesOf::after), &sanitize_text);
    const std::string before = evidence_text(profile(), *file.sides->source(LinesOf::before), &sanitize_text);
    add(after);
    if (before != after && !before.empty()) add("Before: " + before);
    PROFD_TRY(const UnplacedByKey unplaced,
              unplaced_selfs(views_, request, *file.sides, *file.selection->boxes->keys, stop_));
    const auto found = unplaced.find(function);
    const std::string& unit = profile().metrics()[metric_.v].unit;
    if (found != unplaced.end())
      add(fmt::format("On no line of this text: {} of its self before, {} after.",
                      format_value(found->second.before, unit), format_value(found->second.after, unit)));
    return {};
  }

  static void add_text(const std::vector<std::string_view>& text,
                       std::map<std::uint32_t, ListedLine>& lines) {
    if (text.empty()) return;
    std::vector<std::uint32_t> numbers;
    for (const auto& [number, line] : lines) numbers.push_back(number);
    for (const std::uint32_t number : numbers) {
      const std::uint32_t last =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{number} + kAround, text.size()));
      for (std::uint32_t near = number > kAround ? number - kAround : 1; near <= last; ++near)
        lines[near].line = near;
    }
    for (auto& [number, line] : lines)
      if (number <= text.size()) line.text = text[number - 1];
  }

  Views& views_;
  const ListingRequest& request_;
  const StopToken& stop_;
  MetricId metric_{0u};
  std::optional<SideMetrics> sides_;
  TablesOfSides lines_of_sides_, functions_of_sides_;
  std::shared_ptr<const Noise> noise_;
  SelectionPtr by_line_;
  std::shared_ptr<const FlatView> line_table_;
};

}  // namespace

Result<ListingAnswer> list_functions(Views& views, const ListingRequest& request, const StopToken& stop) {
  return Lister(views, request, stop).run();
}

}  // namespace profd
