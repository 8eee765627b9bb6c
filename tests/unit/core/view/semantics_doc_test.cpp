// docs/semantics.md says what the numbers mean; its examples are read from the page and computed here.
// A fenced block ```profile is the profile of the blocks after it (tests/support/text_profile.h, and what a
// source without stacks states: `# states FUNCTION COST`, `# calls CALLER CALLEE COST`, `?` for no cost).
// A block without a kind is a drawing. The others are what a view of it comes to; their first word says
// which.
#include <fstream>
#include <map>
#include <sstream>

#include "core/layout/flame.h"
#include "core/model/module_address.h"
#include "core/source/annotations.h"
#include "core/source/line_diff.h"
#include "core/view/search.h"
#include "core/view/table.h"
#include "core/view/values.h"
#include "tests/support/catch.h"
#include "tests/support/format_tree.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

struct Block {
  std::string kind, argument, text;
  std::size_t line = 0;
};

std::vector<Block> blocks_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<Block> blocks;
  bool open = false;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (!line.starts_with("```")) {
      if (open) blocks.back().text += line + "\n";
    } else if (open) {
      open = false;
    } else {
      open = true;
      const std::size_t space = std::min(line.find(' '), line.size());
      blocks.push_back(
          {line.substr(3, space - 3), line.substr(std::min(space + 1, line.size())), "", number});
    }
  }
  return blocks;
}

void add_stated(ProfileBuilder& builder, const std::string& text) {
  bool any = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string mark, what, caller, callee, cost;
    words >> mark >> what >> caller;
    if (mark != "#" || (what != "states" && what != "calls")) continue;
    if (what == "calls") words >> callee;
    words >> cost;
    if (!std::exchange(any, true)) builder.state_costs({MetricId{0u}});
    std::vector<Value> totals;
    if (cost != "?") totals.emplace_back(std::int64_t{std::stoll(cost)});
    const auto frame = [&](const std::string& name) {
      return builder.frame({.function = builder.function(name)});
    };
    if (what == "calls")
      builder.state_call(frame(caller), frame(callee), totals);
    else
      builder.state_function(frame(caller), totals);
  }
}

ProfilePtr profile_of(const std::string& text) {
  ProfileBuilder builder;
  add_text(builder, text);
  add_stated(builder, text);
  return std::move(builder).finish().value();
}

SelectionPtr selected(const ProfilePtr& profile, const std::string& spec) {
  return select(profile, parse_view_spec(spec).value(), {}).value();
}

// With a mark where it is an estimate.
std::string number(const Value& value, Estimate estimate, Estimate bit) {
  return ((estimate & bit) != 0 ? "≈" : "") + format_value(value);
}

std::string row(const Selection& selection, Key key, const Value& total, const Value& self,
                Estimate estimate) {
  return key_name(*selection.profile, *selection.boxes->keys, key) + " " +
         number(total, estimate, kTotalEstimated) + " " + number(self, estimate, kSelfEstimated) + "\n";
}

// "flat": a row each function by name, total and self. Other shapes: the whole tree.
std::string view(const ProfilePtr& profile, const std::string& text) {
  const ViewSpec spec = parse_view_spec(text).value();
  const SelectionPtr selection = selected(profile, text);
  if (spec.shape != Shape::flat) return format_tree(*selection, spec.shape, spec.focus);
  const FlatView flat = flat_view(*selection, {}).value();
  TableRequest by_name;
  by_name.sort = SortBy::name;
  by_name.descending = false;
  by_name.limit = flat.key.size();
  std::string out;
  for (const std::uint32_t i : page_of(*selection, flat, by_name).rows)
    out += row(*selection, flat.key[i], flat.total[i], flat.self[i], flat.estimate_of(i));
  return out;
}

// One level of callers or callees, heaviest first.
std::string level(const ProfilePtr& profile, const std::string& text) {
  const ViewSpec spec = parse_view_spec(text).value();
  const SelectionPtr selection = selected(profile, text);
  const TreeLevel level =
      tree_level(*selection, {spec.shape, keys_called(*selection, spec.focus), {}, 0, 100}, {}).value();
  std::string out =
      row(*selection, keys_called(*selection, spec.focus)[0], level.total, level.self, level.estimate);
  for (std::size_t i = 0; i < level.key.size(); ++i) {
    const Estimate estimate = level.child_estimate.empty() ? kExact : level.child_estimate[i];
    out += "  " + key_name(*profile, *selection->boxes->keys, level.key[i]) + " " +
           number(level.child_total[i], estimate, kTotalEstimated) + "\n";
  }
  return out;
}

// "WIDTH SPEC": what fits so many pixels, of boxes of a pixel at least.
std::string layout(const ProfilePtr& profile, const std::string& text) {
  const std::size_t space = text.find(' ');
  const SelectionPtr selection = selected(profile, text.substr(space + 1));
  LayoutRequest request;
  request.viewport_px = std::stod(text.substr(0, space));
  request.min_width_px = 1;
  return format_layout(*selection, layout_flame(*selection, request, {}).value());
}

// Which sums make up the whole.
std::string sums(const ProfilePtr& profile, const std::string& text) {
  const SelectionPtr selection = selected(profile, text);
  const FlatView flat = flat_view(*selection, {}).value();
  std::int64_t rows = 0;
  for (const Value& self : flat.self) rows += std::get<std::int64_t>(self);
  std::string out = "profile " + format_value(selection->sums->profile_total) + "\nview " +
                    format_value(selection->sums->total) + "\nrows " + std::to_string(rows) + "\nown " +
                    format_value(flat.frameless) + "\n";
  if (!selection->rows->excluded.empty())
    out += "excluded " + format_value(selection->rows->excluded[0]) + "\n";
  for (const std::string& warning : selection->warnings()) out += "warning: " + warning + "\n";
  CHECK(Value{rows + std::get<std::int64_t>(flat.frameless)} == selection->sums->total);
  return out;
}

std::string search_share(const ProfilePtr& profile, const std::string& pattern) {
  const SelectionPtr selection = selected(profile, "top-down");
  return format_value(search(*selection, pattern, {}).value().matched) + " of " +
         format_value(selection->sums->total) + "\n";
}

// A line of the file, then total and self by metric.
std::string lines(const ProfilePtr& profile, const std::string& file) {
  std::vector<StringId> files;
  for (std::uint32_t id = 0; id < profile->strings().size(); ++id)
    if (profile->strings()[StringId{id}] == file) files.emplace_back(id);
  const LineValues values = annotate_lines(*selected(profile, "top-down"), files, {}).value();
  std::string out;
  for (std::size_t i = 0; i < values.line.size(); ++i) {
    out += std::to_string(values.line[i]);
    for (std::size_t metric = 0; metric < values.total.size(); ++metric)
      out += " " + format_value(values.total[metric][i]) + " " + format_value(values.self[metric][i]);
    out += "\n";
  }
  return out;
}

// "METRIC over SPEC": the boxes of a view, with their totals and those in another metric.
std::string values(const ProfilePtr& profile, const std::string& text) {
  const std::size_t over = text.find(" over ");
  const std::string spec_text = text.substr(over + 6);
  ViewSpec spec = parse_view_spec(spec_text).value();
  const SelectionPtr selection = selected(profile, spec_text);
  LayoutRequest request;
  request.shape = spec.shape;
  const FlameLayout boxes = layout_flame(*selection, request, {}).value();
  spec.metric = text.substr(0, over);
  const SelectionPtr other = select(profile, spec, {}).value();
  const BoxValues found =
      values_of_boxes(*other, spec.shape, {}, {boxes.parent, boxes.key}, BoxValuesWanted::totals, {}).value();
  std::istringstream drawn(format_layout(*selection, boxes));
  std::vector<std::string> out(boxes.size());
  // Boxes are drawn depth first and numbered row by row; the names of the examples are distinct.
  std::map<std::string, std::size_t> number_of;
  for (std::size_t i = 0; i < boxes.size(); ++i)
    number_of[boxes.key[i] == kNoKey ? "all" : key_name(*profile, *selection->boxes->keys, boxes.key[i])] = i;
  std::string all;
  for (std::string line; std::getline(drawn, line);) {
    std::istringstream words(line);
    std::string name, total;
    words >> name >> total;
    all += line.substr(0, line.find_first_not_of(' ')) + name + " " + total + " " +
           format_value(found.total[number_of.at(name)]) + "\n";
  }
  return all;
}

// "loaded ADDRESS is FILE-OFFSET" for "START..LIMIT from OFFSET".
std::string address(const std::string& range, const std::string& text) {
  ModuleRange module;
  char dots = 0;
  std::string from;
  std::istringstream words(range);
  words >> std::hex >> module.start >> dots >> dots >> module.limit >> from >> module.first;
  std::string out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::istringstream parts(line);
    std::string loaded;
    std::uint64_t at = 0;
    parts >> loaded >> std::hex >> at;
    REQUIRE(module.holds(at));
    CHECK(module.to_loaded(module.to_module(at)) == at);
    std::ostringstream number;
    number << std::hex << "loaded 0x" << at << " is 0x" << module.to_module(at) << "\n";
    out += number.str();
  }
  return out;
}

// "- " lines were measured, "+ " lines are the file now: a line now, and where its costs come from.
std::string followed(const std::string& text) {
  std::vector<std::uint64_t> before, after;
  std::string kept, out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::uint64_t hash = std::hash<std::string>{}(line.substr(std::min<std::size_t>(2, line.size())));
    if (line.starts_with("- ")) before.push_back(hash);
    if (line.starts_with("+ ")) after.push_back(hash);
    if (!line.starts_with("line ")) kept += line + "\n";
  }
  const std::vector<std::uint32_t> from = follow_lines(before, after);
  for (std::size_t i = 0; i < from.size(); ++i)
    out += "line " + std::to_string(i + 1) +
           (from[i] == 0xFFFFFFFFu
                ? std::string(" is new")
                : " was " + std::to_string(from[i] + 1) + (before[from[i]] == after[i] ? "" : ", changed")) +
           "\n";
  return kept + out;
}

}  // namespace

TEST_CASE("docs/semantics.md: every example is computed as it says") {
  const std::vector<Block> blocks = blocks_of(PROFD_SOURCE_DIR "/docs/semantics.md");
  ProfilePtr profile;
  std::map<std::string, std::size_t> n_of_kind;
  for (const Block& block : blocks) {
    INFO("docs/semantics.md:" << block.line << ": " << block.kind << " " << block.argument);
    ++n_of_kind[block.kind];
    if (block.kind.empty()) continue;
    if (block.kind == "profile") {
      profile = profile_of(block.text);
      continue;
    }
    std::string actual;
    if (block.kind == "view") actual = view(profile, block.argument);
    if (block.kind == "level") actual = level(profile, block.argument);
    if (block.kind == "layout") actual = layout(profile, block.argument);
    if (block.kind == "sums") actual = sums(profile, block.argument);
    if (block.kind == "search") actual = search_share(profile, block.argument);
    if (block.kind == "lines") actual = lines(profile, block.argument);
    if (block.kind == "values") actual = values(profile, block.argument);
    if (block.kind == "address") actual = address(block.argument, block.text);
    if (block.kind == "followed") actual = followed(block.text);
    // A block of no kind that is known compares with nothing, and fails.
    CHECK(block.text == actual);
  }
  for (const char* kind :
       {"profile", "view", "level", "layout", "sums", "search", "lines", "values", "address", "followed"}) {
    INFO(kind);
    CHECK(n_of_kind[kind] > 0);
  }
}
