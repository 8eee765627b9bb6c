#include "formats/callgrind/body.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "formats/callgrind/names.h"
#include "formats/callgrind/xdebug_calls.h"
#include "formats/support/cost_graph.h"
#include "formats/support/each_line.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"

namespace profd::callgrind {
namespace {

struct Position {
  std::uint64_t address = 0, line = 0;
};

// Where code is: an object, a file, a function.
struct Spot {
  StringId object{0u}, file{0u}, name{0u};
  StringId function_file{0u};
};

class Reading {
 public:
  Reading(std::string_view text, std::size_t base, const Survey& survey, ReadContext& context,
          ProfileBuilder& builder)
      : text_(text),
        base_(base),
        survey_(survey),
        context_(context),
        builder_(builder),
        costs_(survey.events.size()),
        part_total_(survey.events.size()),
        calls_(survey.events.size()) {
    unknown_ = builder_.string("???");
    if (!survey.xdebug)
      graph_.emplace(builder, metrics(survey),
                     CostGraph::Options{.entries_by_cost = true, .totals_by_calls = true});
  }

  Result<void> run() {
    LineReader lines(text_);
    PROFD_CHECK(each_line(lines, context_, {}, [&](std::string_view line) {
      offset_ = base_ + lines.offset();
      return read_line(line);
    }));
    if (pending_ != Pending::none) {
      if (!context_.partial)
        return fail(ErrorCode::truncated, "the file ends after a call, before its cost", offset_);
      context_.report.add("call-without-cost", Severity::loss, "the file ends after a call, before its cost",
                          offset_);
    }
    return finish();
  }

 private:
  enum class Pending : std::uint8_t { none, call, jump };

  static std::vector<CostGraph::Event> metrics(const Survey& survey) {
    std::vector<CostGraph::Event> out;
    for (const Event& event : survey.events) out.push_back({event.name, event.unit});
    return out;
  }

  Result<void> bad(std::string what) {
    if (!context_.partial) return fail(ErrorCode::malformed, std::move(what), offset_);
    context_.report.add("malformed-line", Severity::loss, "lines that could not be read were left out",
                        offset_);
    return {};
  }

  Result<void> read_line(std::string_view line) {
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#' || line.starts_with("====")) return {};
    const char c = line.front();
    if ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '*') return read_costs(line);
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos && equals < 8) {
      bool known = false;
      PROFD_TRY(known, read_assignment(line.substr(0, equals), line.substr(equals + 1)));
      if (known) return {};
    }
    std::string_view key, value;
    if (split_header(line, key, value)) return read_header(key, value);
    // A header of another writer.
    if (line.find(": ") != std::string_view::npos && events_.empty()) return {};
    context_.report.add("unknown-line", Severity::loss, "lines of an unknown kind were not read", offset_);
    return {};
  }

  // "fn", "cfn", "calls", …; false when it is none of them.
  Result<bool> read_assignment(std::string_view key, std::string_view value) {
    // yappi numbers functions that it never names; KCachegrind takes such files, too.
    const auto name = [&](NameSpace& names, StringId& out) -> Result<bool> {
      if (!names.read(value, builder_, out)) {
        out = builder_.string(value);
        context_.report.add("undefined-name", Severity::loss,
                            "Names that the file numbers and never gives stand as their numbers.", offset_);
      }
      return true;
    };
    if (key == "fn") {
      PROFD_CHECK(name(functions_, spot_.name));
      spot_.function_file = spot_.file;
      function_ = {};
      in_function_ = true;
      if (!graph_) calls_.begin(function_id(spot_, function_));
      return true;
    }
    if (key == "fl" || key == "fi" || key == "fe") return name(files_, spot_.file);
    if (key == "ob") {
      function_ = {};
      return name(objects_, spot_.object);
    }
    if (key == "cfn") return name(functions_, callee_name_);
    if (key == "cfi" || key == "cfl") {
      StringId file;
      PROFD_CHECK(name(files_, file));
      callee_file_ = file;
      return true;
    }
    if (key == "cob") {
      StringId object;
      PROFD_CHECK(name(objects_, object));
      callee_object_ = object;
      return true;
    }
    if (key == "calls") {
      PROFD_CHECK(begin_call(value));
      return true;
    }
    if (key == "jump" || key == "jcnd") {
      PROFD_CHECK(begin_jump(key == "jcnd", value));
      return true;
    }
    StringId ignored;
    if (key == "jfi") {
      StringId file;
      PROFD_CHECK(name(files_, file));
      jump_file_ = file;
      return true;
    }
    if (key == "jfn") {
      StringId function;
      PROFD_CHECK(name(functions_, function));
      jump_name_ = function;
      return true;
    }
    if (key == "frfn") {
      PROFD_CHECK(name(functions_, ignored));
      return true;
    }
    if (key == "rcalls") {
      context_.report.add("rcalls", Severity::info,
                          "rcalls lines repeat what calls lines say; they are not read", offset_);
      return true;
    }
    return false;
  }

  Result<void> read_header(std::string_view key, std::string_view value) {
    ProfileInfo& info = builder_.info();
    const auto property = [&](std::string name) {
      for (const auto& [known, text] : info.properties)
        if (known == name && text == value) return;
      if (info.properties.size() < 1000) info.properties.emplace_back(std::move(name), std::string(value));
    };
    if (key == "version") {
      std::uint64_t version = 0;
      if (parse_uint(value, version) && version > 1)
        return fail(ErrorCode::unsupported,
                    fmt::format("callgrind format version {} is newer than 1", version), offset_);
    } else if (key == "creator") {
      info.producer = value;
    } else if (key == "cmd") {
      info.program = value.substr(0, value.find(' '));
      property("cmd");
    } else if (key == "desc") {
      // Without --cache-sim the caches are named and nothing is said of them.
      if (!trim(value).ends_with(" cache:") && info.comments.size() < 1000) info.comments.emplace_back(value);
    } else if (key == "positions") {
      PROFD_CHECK(read_positions(value));
    } else if (key == "events") {
      PROFD_CHECK(begin_part(value));
    } else if (key == "event") {
      property(fmt::format("event {}", trim(value.substr(0, value.find_first_of("=:")))));
    } else if (key == "summary" || key == "totals") {
      property(std::string(key));
      if (key == "totals") PROFD_CHECK(check_totals(value));
    } else if (key == "thread") {
      if (!parse_int(value, thread_)) thread_ = -1;
      property("thread");
      place();
    } else {
      property(std::string(key));
    }
    return {};
  }

  Result<void> read_positions(std::string_view value) {
    columns_.clear();
    for (std::string_view word : split_words(value)) {
      const Column column = word == "instr" || word == "addr" ? Column::address
                            : word == "line"                  ? Column::line
                                                              : Column::other;
      if (column == Column::other)
        context_.report.add("position-kind", Severity::loss,
                            "positions other than instr and line were not kept", offset_);
      columns_.push_back(column);
    }
    if (columns_.empty() || columns_.size() > 8)
      return fail(ErrorCode::malformed, "there are no positions, or too many", offset_);
    return {};
  }

  Result<void> begin_part(std::string_view value) {
    events_.clear();
    for (std::string_view word : split_words(value)) {
      std::size_t index = 0;
      while (index < survey_.events.size() && survey_.events[index].text != word) ++index;
      if (index == survey_.events.size())
        return fail(ErrorCode::malformed, "a line that names events does not begin at the start of the line",
                    offset_);
      events_.push_back(index);
    }
    position_ = {};
    ++part_;
    part_total_.assign(survey_.events.size(), 0);
    place();
    return {};
  }

  // Threads and parts are told apart only where there are several.
  void place() {
    if (survey_.n_parts < 2 && !survey_.several_threads) return;
    SampleContext where;
    if (thread_ >= 0) where.thread = builder_.thread({.tid = thread_});
    const Label label{
        .key = builder_.string("part"), .is_number = true, .number = static_cast<std::int64_t>(part_)};
    where.labels = builder_.label_set(std::span(&label, 1));
    if (graph_)
      graph_->set_place(where);
    else
      calls_.begin_part(where);
  }

  // Only complete when all parts of a file say the same events.
  Result<void> check_totals(std::string_view value) {
    const auto words = split_words(value);
    for (std::size_t i = 0; i < words.size() && i < events_.size(); ++i) {
      std::int64_t total;
      if (!parse_int(words[i], total) || mul_overflows(total, survey_.events[events_[i]].factor, total))
        continue;
      if (part_total_[events_[i]] != total)
        context_.report.add("totals-differ", Severity::info,
                            "the costs do not sum to the totals the file states", offset_);
    }
    return {};
  }

  // "0x10", "+3", "-3", "*", and a range of one of them: "10-12", "+3+2", "*:20", of which the start counts.
  bool read_position(std::string_view word, std::uint64_t before, std::uint64_t& out) {
    if (word.empty()) return false;
    const std::size_t range = word.find_first_of("+-:", 1);
    if (range != std::string_view::npos) {
      std::uint64_t end = 0;
      if (!read_position_number(word.substr(range + 1), end)) return false;
      context_.report.add("position-range", Severity::info,
                          "costs of a range of positions stand at its first one", offset_);
      word = word.substr(0, range);
    }
    if (word == "*") {
      out = before;
      return true;
    }
    const char sign = word.front();
    if (sign == '+' || sign == '-') word.remove_prefix(1);
    std::uint64_t number = 0;
    if (!read_position_number(word, number)) return false;
    out = sign == '+' ? before + number : sign == '-' ? before - number : number;
    return true;
  }

  static bool read_position_number(std::string_view word, std::uint64_t& out) {
    return word.starts_with("0x") ? parse_hex(word, out) : parse_uint(word, out);
  }

  // The positions at the front of `text`, relative to those of the last line of costs.
  bool take_positions(std::string_view& text, Position& out) {
    out = position_;
    for (const Column column : columns_) {
      const std::string_view word = take_word(text);
      std::uint64_t not_kept = 0;
      std::uint64_t& at = column == Column::address ? out.address
                          : column == Column::line  ? out.line
                                                    : not_kept;
      if (!read_position(word, at, at)) return false;
    }
    return true;
  }

  static std::string_view take_word(std::string_view& text) {
    std::size_t n = 0;
    while (n < text.size() && text[n] != ' ' && text[n] != '\t') ++n;
    const std::string_view word = text.substr(0, n);
    while (n < text.size() && (text[n] == ' ' || text[n] == '\t')) ++n;
    text.remove_prefix(n);
    return word;
  }

  Result<void> read_costs(std::string_view line) {
    if (events_.empty())
      return fail(ErrorCode::malformed, "costs stand before the line that names the events", offset_);
    Position at;
    if (!take_positions(line, at)) return bad("a position is no number");
    position_ = at;
    if (pending_ == Pending::jump) return end_jump(at);
    std::fill(costs_.begin(), costs_.end(), 0);
    for (std::size_t e = 0; e < events_.size() && !line.empty(); ++e) {
      std::int64_t cost;
      if (!parse_int(take_word(line), cost)) return bad("a cost is no number");
      if (mul_overflows(cost, survey_.events[events_[e]].factor, cost)) return bad("a cost is too large");
      costs_[events_[e]] = cost;
    }
    if (!line.empty())
      context_.report.add("extra-cost", Severity::loss, "lines have more costs than there are events",
                          offset_);
    if (!in_function_)
      context_.report.add("cost-outside-function", Severity::info,
                          "costs before the first function have no name", offset_);
    if (pending_ == Pending::call) return end_call(at);
    for (std::size_t e = 0; e < costs_.size(); ++e) add_saturating(part_total_[e], costs_[e]);
    if (graph_)
      graph_->add_self(node(spot_, at, function_), costs_);
    else
      calls_.add_self(frame_of(spot_, at, function_), costs_);
    return {};
  }

  // The function is looked up once a block; `cached` is none when it is not known.
  FunctionId function_id(const Spot& spot, FunctionId& cached) {
    if (!cached.valid()) {
      FunctionSpec spec;
      spec.name = spot.name.v == 0 ? unknown_ : spot.name;
      spec.file = builder_.text(spot.function_file) == "???" ? StringId{0u} : spot.function_file;
      spec.unresolved = spec.name == unknown_ || builder_.text(spec.name).starts_with("0x");
      cached = builder_.function(spec);
    }
    return cached;
  }

  FrameId frame_of(const Spot& spot, const Position& at, FunctionId& cached) {
    FrameSpec spec;
    spec.function = function_id(spot, cached);
    spec.module = module_of(spot.object);
    // Code that was inlined stands in another file than its function.
    if (spot.file != spot.function_file && builder_.text(spot.file) != "???") spec.file = spot.file;
    spec.line = at.line < kNone ? static_cast<std::uint32_t>(at.line) : 0;
    spec.address = at.address;
    return builder_.frame(spec);
  }

  CostGraph::Node node(const Spot& spot, const Position& at, FunctionId& cached) {
    const FrameId frame = frame_of(spot, at, cached);
    return {cached, module_of(spot.object), frame};
  }

  ModuleId module_of(StringId object) {
    if (object.v == 0) return {};
    if (object == last_object_) return last_module_;
    last_object_ = object;
    const std::string name(builder_.text(object));
    last_module_ =
        name == "???" ? ModuleId{} : builder_.module({.name = name, .addresses = AddressKind::vaddr});
    return last_module_;
  }

  Result<void> begin_call(std::string_view value) {
    if (pending_ != Pending::none) PROFD_CHECK(bad("a call has no cost"));
    const std::string_view count = take_word(value);
    if (!parse_int(count, call_count_) || call_count_ < 0) return bad("the number of calls is no number");
    if (!callee_name_.valid()) return bad("a call does not say of what");
    // The target's position says where the callee begins.
    Position target = position_;
    target_ = take_positions(value, target) ? target : Position{};
    pending_ = Pending::call;
    return {};
  }

  Result<void> end_call(const Position& at) {
    pending_ = Pending::none;
    Spot callee;
    callee.object = callee_object_.value_or(spot_.object);
    callee.file = callee.function_file = callee_file_.value_or(spot_.file);
    callee.name = callee_name_;
    FunctionId cached;
    const CostGraph::Node to = node(callee, target_, cached);
    if (graph_)
      graph_->add_call(node(spot_, at, function_), to, call_count_, costs_);
    else
      calls_.add_call(frame_of(spot_, at, function_), to, call_count_, costs_);
    // They do not hold for the next call.
    callee_object_ = std::nullopt;
    callee_file_ = std::nullopt;
    callee_name_ = {};
    return {};
  }

  Result<void> begin_jump(bool conditional, std::string_view value) {
    if (pending_ != Pending::none) PROFD_CHECK(bad("a call has no cost"));
    const std::string_view counts = take_word(value);
    const std::size_t slash = counts.find('/');
    jump_taken_ = jump_total_ = 0;
    const bool good = conditional ? slash != std::string_view::npos &&
                                        parse_int(counts.substr(0, slash), jump_taken_) &&
                                        parse_int(counts.substr(slash + 1), jump_total_)
                                  : parse_int(counts, jump_taken_);
    if (!conditional) jump_total_ = jump_taken_;
    Position target = position_;
    if (!good || !take_positions(value, target)) return bad("a jump cannot be read");
    target_ = target;
    pending_ = Pending::jump;
    return {};
  }

  Result<void> end_jump(const Position& at) {
    pending_ = Pending::none;
    Spot target = spot_;
    if (jump_file_) target.file = *jump_file_;
    FunctionId cached = function_;
    if (jump_name_) {
      target.name = *jump_name_;
      target.function_file = target.file;
      cached = {};
    }
    if (graph_) {
      jumps_.emplace_back(node(spot_, at, function_), node(target, target_, cached));
      graph_->add_function(jumps_.back().first);
      graph_->add_function(jumps_.back().second);
      taken_.push_back(jump_taken_);
      executed_.push_back(jump_total_);
    }
    jump_file_ = std::nullopt;
    jump_name_ = std::nullopt;
    return {};
  }

  Result<void> finish() {
    if (graph_)
      PROFD_CHECK(graph_->finish(context_.report));
    else
      PROFD_CHECK(calls_.finish(metrics(survey_), context_, builder_));
    if (!jumps_.empty()) {
      std::vector<std::uint32_t> from, to;
      for (const auto& [a, b] : jumps_) {
        from.push_back(graph_->context_of(a).v);
        to.push_back(graph_->context_of(b).v);
      }
      AssociationTable jumps;
      jumps.name = "jump";
      jumps.roles = {"from", "to"};
      jumps.contexts = {profd::Column<std::uint32_t>(std::move(from)),
                        profd::Column<std::uint32_t>(std::move(to))};
      jumps.metrics = {{"taken", "count"}, {"executed", "count"}};
      jumps.values = {profd::Column<std::int64_t>(std::move(taken_)),
                      profd::Column<std::int64_t>(std::move(executed_))};
      builder_.add_association(std::move(jumps));
    }
    return {};
  }

  enum class Column : std::uint8_t { address, line, other };

  std::string_view text_;
  std::size_t base_;
  const Survey& survey_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::optional<CostGraph> graph_;  // not for Xdebug
  NameSpace objects_, files_, functions_;
  StringId unknown_;
  std::vector<Column> columns_{Column::line};
  std::vector<std::size_t> events_;  // of this part, as rows of survey_.events
  std::vector<std::int64_t> costs_, part_total_;
  Position position_;
  Spot spot_;
  FunctionId function_;
  bool in_function_ = false;
  std::size_t part_ = 0;
  std::int64_t thread_ = -1;
  std::uint64_t offset_ = 0;

  Pending pending_ = Pending::none;
  std::optional<StringId> callee_object_, callee_file_, jump_file_, jump_name_;
  StringId callee_name_;
  std::int64_t call_count_ = 0, jump_taken_ = 0, jump_total_ = 0;
  Position target_;
  StringId last_object_;
  ModuleId last_module_;
  std::vector<std::pair<CostGraph::Node, CostGraph::Node>> jumps_;
  std::vector<std::int64_t> taken_, executed_;
  XdebugCalls calls_;
};

}  // namespace

Result<void> read_body(std::string_view text, std::size_t base, const Survey& survey, ReadContext& context,
                       ProfileBuilder& builder) {
  return Reading(text, base, survey, context, builder).run();
}

}  // namespace profd::callgrind
