// Filters hold in every answer: what a feature says of a random profile under random filters is what brute
// force says of its stacks.
#include <set>

#include <fmt/format.h>

#include "server/engine/workspace_files.h"
#include "server/feature/annotate.h"
#include "server/feature/callers_answer.h"
#include "server/feature/flame_answer.h"
#include "server/feature/functions_at.h"
#include "server/feature/hover.h"
#include "server/feature/line_functions.h"
#include "server/feature/line_neighbours.h"
#include "server/feature/match_answer.h"
#include "server/feature/places.h"
#include "server/feature/search_answer.h"
#include "server/feature/source_answer.h"
#include "server/feature/summary.h"
#include "server/feature/table_answer.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"
#include "tests/support/temp_folder.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr const char* kFiles[] = {"even.cc", "odd.cc"};

struct SelfAndTotal {
  std::int64_t self = 0, total = 0;
  bool operator==(const SelfAndTotal&) const = default;
};
using Rows = std::map<std::string, SelfAndTotal>;

std::string difference(const char* feature, Rows engine, Rows expected) {
  const auto is_nothing = [](const auto& row) { return row.second == SelfAndTotal{}; };
  std::erase_if(engine, is_nothing);
  std::erase_if(expected, is_nothing);
  if (engine == expected) return "";
  std::string text = fmt::format("{}:\n", feature);
  for (const auto& [what, rows] : {std::pair("said", engine), std::pair("should say", expected)})
    for (const auto& [name, sums] : rows)
      text += fmt::format("  {}: {} total {} self {}\n", what, name, sums.total, sums.self);
  return text;
}

// The files that random profiles name, as a workspace. Every function stands in them, so that they are
// believed.
struct Files {
  TempFolder folder;
  WorkspaceSnapshot workspace;
  Files() {
    for (const char* file : kFiles) folder.file(file, "a b c\nd e f\n");
    workspace.key = folder.path.string();
    workspace.files = index_workspace({folder.path.string()}, 1, StopToken{}, 1 << 20);
  }
  std::string path(const char* file) const { return (folder.path / file).string(); }
};

class Asked {
 public:
  Asked(const Case& c, const Files& files) : case_(c), files_(files), viewed_(build(c)) {
    auto open = std::make_shared<OpenProfile>(*viewed_.open);
    open->origin = file_origin(files.path("profile"), {});
    open->loaded = std::make_shared<LoadedProfiles>();
    viewed_.open = std::move(open);
  }

  std::string check() {
    for (const auto& feature : {&Asked::lines, &Asked::source, &Asked::hover, &Asked::functions_on_lines,
                                &Asked::line_callers, &Asked::places, &Asked::search, &Asked::callers,
                                &Asked::summary, &Asked::table, &Asked::flame, &Asked::matches}) {
      std::string wrong = (this->*feature)();
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  SelfAndTotal row(const Value& self, const Value& total) const {
    return {units(case_, self), units(case_, total)};
  }
  static void add(Rows& rows, const std::string& name, const SelfAndTotal& more) {
    rows[name].self += more.self;
    rows[name].total += more.total;
  }

  ViewSpec spec(Granularity granularity, Shape shape = Shape::flat) const {
    ViewSpec out = case_.spec;
    out.focus.clear();
    out.granularity = granularity;
    out.shape = shape;
    return out;
  }
  // A group is called like its filter, in answers.
  Rows flat(Granularity granularity) const {
    Rows rows;
    for (const auto& [name, sums] : oracle::flat_of(case_.stacks, spec(granularity)))
      add(rows, name.starts_with("group ") ? name.substr(6) : name, {sums.self, sums.total});
    return rows;
  }
  std::int64_t view_total() const {
    std::int64_t sum = 0;
    for (const PlainStack& stack : case_.stacks)
      if (oracle::passes(stack, case_.spec)) sum += stack.value;
    return sum;
  }
  Rows lines_of(const char* file) const {
    Rows rows;
    for (const auto& [line, sums] : oracle::lines_of(case_.stacks, case_.spec, file))
      rows[std::to_string(line)] = {sums.self, sums.total};
    // Nothing is told of a line whose values cancel out.
    std::erase_if(rows, [](const auto& line) { return line.second.total == 0; });
    return rows;
  }

  AnnotateRequest of_file(const char* file) const {
    AnnotateRequest request;
    request.open = viewed_.open;
    request.workspace = files_.workspace;
    request.path = files_.path(file);
    request.filters = case_.spec.filters;
    request.threshold = 0;
    return request;
  }
  template <class T>
  static T got(Result<T> result) {
    if (!result) FAIL(result.error().message);
    return std::move(*result);
  }

  std::string lines() {
    for (const char* file : kFiles) {
      const FileAnnotations found = got(annotate_file(viewed_.views, of_file(file), {}));
      Rows rows;
      for (const AnnotatedLine& line : found.lines) {
        rows[std::to_string(line.source_line)] =
            row(found.values->self[0][line.row], found.values->total[0][line.row]);
        const std::string text =
            cost_text(found.whole, found.values->self[0][line.row], found.values->total[0][line.row]);
        if (line.text != (line.stale ? "~" : "") + text) return "the hint says " + line.text;
      }
      if (auto wrong = difference("hints", rows, lines_of(file)); !wrong.empty()) return wrong;
      if (!found.files.empty() && units(case_, found.whole.total) != view_total())
        return "hints are shares of something else than the view";
    }
    return "";
  }

  std::string source() {
    for (const char* file : kFiles) {
      const SourceAnswer found = got(source_answer(viewed_.views, of_file(file), {MetricId{0u}}, {}));
      if (found.file.files.empty()) continue;
      std::int64_t passing_through = 0;
      for (const PlainStack& stack : case_.stacks) {
        std::vector<PlainStack> alone = {stack};
        alone.front().value = 1;
        if (!oracle::lines_of(alone, case_.spec, file).empty()) passing_through += stack.value;
      }
      if (units(case_, found.file_total.value) != passing_through) return "the total of a file";
      Rows rows, expected;
      for (const FunctionCost& function : found.functions)
        rows[function.name] = row(function.self, function.total);
      std::set<std::string> here;
      for (const PlainStack& stack : case_.stacks)
        for (const PlainFrame& f : stack.frames)
          if (f.file == file) here.insert(f.function);
      for (const auto& [name, sums] : oracle::flat_of(case_.stacks, spec(Granularity::function)))
        if (here.contains(name)) expected[name] = {sums.self, sums.total};
      if (auto wrong = difference("lenses", rows, expected); !wrong.empty()) return wrong;
    }
    return "";
  }

  std::string hover() {
    for (const char* file : kFiles) {
      Rows expected = lines_of(file);
      const std::int64_t whole = view_total();
      for (std::uint32_t line = 0; line < 2; ++line) {
        HoverRequest request;
        request.file = of_file(file);
        request.line = line;
        const auto hover = got(hover_at(viewed_.views, request, {}));
        const auto sums = expected.find(std::to_string(line + 1));
        if (sums == expected.end()) {
          // A function begins there, of which other lines have something.
          if (hover && hover->place != "the whole function")
            return "a hover where nothing is left: " + hover->place;
          continue;
        }
        const auto value = [&](std::int64_t units) {
          return case_.fractional ? Value(static_cast<double>(units) / 4) : Value(units);
        };
        const Whole of{value(whole), "count"};
        const Value total = value(sums->second.total);
        const std::vector<std::string> row = {of.text(value(sums->second.self)), of.text(total),
                                              of.share_text(total)};
        std::vector<std::string> shown;
        if (hover && !hover->rows.empty())
          shown = {hover->rows[0].self, hover->rows[0].total, hover->rows[0].share};
        if (shown != row)
          return fmt::format("the hover of {}:{} is not {} but {}", file, line + 1, fmt::join(row, ", "),
                             fmt::join(shown, ", "));
      }
    }
    return "";
  }

  std::string functions_on_lines() {
    const Rows expected = flat(Granularity::function);
    for (const char* file : kFiles) {
      for (std::uint32_t line = 0; line < 2; ++line) {
        const FunctionsAt found = got(functions_at(viewed_.views, of_file(file), line, {}));
        for (const Place& place : found.places) {
          const auto at = expected.find(place.name);
          const SelfAndTotal sums = at == expected.end() ? SelfAndTotal{} : at->second;
          if (row(place.self, place.total) != sums) return "the function " + place.name + " at a line";
        }
      }
    }
    return "";
  }

  // Of a line with one piece of code: who calls it, through that line.
  std::string line_callers() {
    const ViewSpec by_function = spec(Granularity::function);
    const SelectionPtr selection = got(viewed_.views.selection(*viewed_.open, by_function, {}));
    for (const char* file : kFiles) {
      const FileAnnotations found = got(annotate_file(viewed_.views, of_file(file), {}));
      for (const AnnotatedLine& line : found.lines) {
        const LineFunctions on_line =
            got(functions_on_line(*selection, found.files, measured_lines(found, line), {}));
        const LineNeighbours around =
            got(line_neighbours(viewed_.views, *viewed_.open, by_function, *selection, on_line.frames,
                                found.values->total[0][line.row], 100, {}));
        if (around.n_joined != 1 || on_line.functions.size() != 1) continue;
        ViewSpec callers = spec(Granularity::line, Shape::callers);
        callers.focus = {fmt::format("{} {}:{}", on_line.functions[0].name, file, line.source_line)};
        Rows expected, rows;
        for (const auto& [path, sums] : oracle::tree_of(case_.stacks, callers)) {
          if (path.size() != 1) continue;
          const bool group = path[0].starts_with("group ");
          add(expected, group ? path[0].substr(6) : path[0].substr(0, path[0].find(' ')), {0, sums.total});
        }
        for (const Neighbour& one : around.callers)
          add(rows, key_name(*selection->profile, *selection->boxes->keys, one.key),
              {0, units(case_, one.total)});
        if (auto wrong = difference("callers of a line", rows, expected); !wrong.empty()) return wrong;
      }
    }
    return "";
  }

  std::string places() {
    for (const Granularity granularity : {Granularity::function, Granularity::line}) {
      PlacesRequest request;
      request.open = viewed_.open;
      request.spec = spec(granularity);
      request.limit = 1000;
      request.sort = SortBy::total;
      const Places found = got(hot_places(viewed_.views, request, {}));
      Rows rows, expected = flat(granularity);
      std::erase_if(expected, [](const auto& place) { return place.second.total == 0; });
      for (const Place& place : found.places) add(rows, place.name, row(place.self, place.total));
      if (auto wrong = difference("hot spots", rows, expected); !wrong.empty()) return wrong;
    }
    return "";
  }

  std::string search() {
    SearchAnswerRequest request;
    request.open = viewed_.open;
    request.spec = spec(Granularity::function);
    request.pattern = "^[a-c]$";
    request.limit = 100;
    const SearchAnswer found = got(search_answer(viewed_.views, request, {}));
    std::int64_t matched = 0;
    for (const PlainStack& stack : case_.stacks) {
      bool any = false;
      for (std::string name : oracle::boxes_of(stack, request.spec)) {
        if (name.starts_with("group ")) name.erase(0, 6);
        any = any || (name >= "a" && name <= "c" && name.size() == 1);
      }
      if (any && oracle::passes(stack, request.spec)) matched += stack.value;
    }
    if (units(case_, found.matched.value) != matched) return "what a search matches";
    Rows rows, expected;
    for (const auto& [name, sums] : flat(Granularity::function))
      if (name.size() == 1 && name <= "c") expected[name] = sums;
    for (const Place& place : found.matches) add(rows, place.name, row(place.self, place.total));
    return difference("matches of a search", rows, expected);
  }

  std::string callers() {
    for (const auto& [name, sums] : oracle::flat_of(case_.stacks, spec(Granularity::function))) {
      if (name.starts_with("group ")) continue;
      const auto found = callers_answer(viewed_.views, *viewed_.open, name, case_.spec.filters, 100, {});
      // A name may be that of a group, too.
      if (!found && found.error().code == ErrorCode::invalid) continue;
      if (!found) return found.error().message;
      ViewSpec callers = spec(Granularity::function, Shape::callers);
      callers.focus = {name};
      Rows expected, rows;
      for (const auto& [path, of_path] : oracle::tree_of(case_.stacks, callers))
        if (path.size() == 1)
          add(expected, path[0].starts_with("group ") ? path[0].substr(6) : path[0], {0, of_path.total});
      for (const Caller& caller : found->callers) add(rows, caller.name, {0, units(case_, caller.total)});
      if (auto wrong = difference("callers", rows, expected); !wrong.empty()) return wrong;
    }
    return "";
  }

  std::string summary() {
    const SelectionPtr selection =
        got(viewed_.views.selection(*viewed_.open, spec(Granularity::function), {}));
    SummaryRequest request;
    request.n_hottest = 1000;
    const Summary found = got(summarize(*selection, {}, request));
    if (units(case_, found.total) != view_total()) return "the total of a summary";
    Rows rows, expected = flat(Granularity::function);
    std::erase_if(expected, [](const auto& place) { return place.second.self == 0; });
    for (const SummaryFunction& function : found.hottest)
      add(rows, function.name, row(function.self, function.total));
    return difference("a summary", rows, expected);
  }

  std::string table() {
    TableAnswerRequest request;
    request.open = viewed_.open;
    request.spec = case_.spec;
    request.spec.shape = Shape::flat;
    request.spec.focus.clear();
    request.limit = 1000;
    const TableAnswer found = got(table_answer(viewed_.views, request, {}));
    Rows rows;
    std::int64_t sum = found.own ? units(case_, found.own->value) : 0;
    for (std::size_t i = 0; i < found.rows.name.size(); ++i) {
      const Key key = static_cast<Key>(found.rows.key[i]);
      const SelectionPtr selection = got(viewed_.views.selection(*viewed_.open, request.spec, {}));
      add(rows, key_name(*selection->profile, *selection->boxes->keys, key),
          row(found.rows.self[i], found.rows.total[i]));
      sum += units(case_, found.rows.self[i]);
    }
    if (sum != view_total()) return "the rows of a table are not its whole";
    return difference("a table", rows, flat(case_.spec.granularity));
  }

  std::string flame() {
    FlameRequest request;
    request.open = viewed_.open;
    request.spec = spec(Granularity::function, Shape::top_down);
    request.layout.min_width_px = 0;
    const FlameAnswer found = got(flame_answer(viewed_.views, request, {}));
    if (units(case_, found.head.view_total.value) != view_total()) return "the total of a flame graph";
    Rows rows, expected;
    for (std::size_t i = 0; i < found.boxes.depth.size(); ++i)
      if (found.boxes.depth[i] == 1)
        add(rows, found.names[found.boxes.name[i]], row(found.boxes.self[i], found.boxes.total[i]));
    for (const auto& [path, sums] : oracle::tree_of(case_.stacks, request.spec))
      if (path.size() == 1)
        add(expected, path[0].starts_with("group ") ? path[0].substr(6) : path[0], {sums.self, sums.total});
    // Functions of one name are told apart by more than their names.
    const auto plain = [](const Rows& from) {
      Rows out;
      for (const auto& [name, sums] : from) add(out, name.substr(0, name.find(' ')), sums);
      return out;
    };
    return difference("the first row of a flame graph", plain(rows), plain(expected));
  }

  // The first box that matches has what the tree has there.
  std::string matches() {
    MatchRequest request;
    request.open = viewed_.open;
    request.spec = spec(Granularity::function, Shape::top_down);
    request.pattern = "^[a-f]$";
    const MatchAnswer found = got(match_answer(viewed_.views, request, {}));
    if (!found.match) return "";
    const SelectionPtr selection = got(viewed_.views.selection(*viewed_.open, request.spec, {}));
    oracle::Path path;
    for (const std::int64_t key : found.match->path)
      path.push_back(oracle_name(*selection, static_cast<Key>(key)));
    const oracle::Tree tree = oracle::tree_of(case_.stacks, request.spec);
    const auto at = tree.find(path);
    if (at == tree.end()) return "a match that is not in the tree";
    const SelfAndTotal expected{at->second.self, at->second.total};
    return row(found.match->self.value, found.match->total.value) == expected ? "" : "the value of a match";
  }

  const Case& case_;
  const Files& files_;
  Viewed viewed_;
};

}  // namespace

TEST_CASE("law: filters hold in every answer") {
  const Files files;
  check_law([&](const Case& c) -> std::string {
    if (c.seed % 4 != 1) return "";
    return Asked(c, files).check();
  });
}
