// Callgrind's text: functions with their lines, and calls with what was spent below them. All integral
// metrics.
//
// Readers take for the inclusive cost of a function what was spent in calls to it (callgrind_annotate,
// KCachegrind), or its own and its calls' cost when nobody calls it. So that this counts each stack once, a
// call has a cost only where its function was not running already: recursion costs nothing. A function that
// begins some stacks and is called in others is called by (root) in the former.
//
// A profile of calls without stacks (StatedCosts) is written as it states them: what calls cost, how many
// there were, modules. Numbers of calls are no events then.
#include <array>
#include <cmath>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "core/view/stated.h"
#include "formats/writers/measurements.h"
#include "formats/writers/output.h"

namespace profd {
namespace {

using namespace writers;

constexpr std::array<std::string_view, 2> kCallgrindExtensions{".callgrind", ".callgrind.out"};

// Costs by metric.
using Costs = std::vector<std::int64_t>;

class CallgrindWriting {
 public:
  CallgrindWriting(const Profile& profile, const WriteOptions& options, const ByteSink& sink)
      : profile_(profile), out_(sink, options.stop) {
    for (std::size_t m = 0; m < profile.metrics().size(); ++m)
      if (!writes_stated(profile) || !counts_calls(profile, MetricId{m})) metrics_.emplace_back(m);
    n_ = metrics_.size();
    find_units();
  }

  // The calls that the source states, not those of the context tree.
  static bool writes_stated(const Profile& profile) {
    return profile.stated() != nullptr && profile.stated()->calls.size() > 0;
  }

  Result<void> run(LossReport& losses) {
    take_self();
    add_lines();
    if (writes_stated(profile_))
      add_stated_calls(losses);
    else
      add_calls();
    write();
    count_loss(losses, "fractions", "Values that are no whole numbers were rounded.", n_rounded_);
    count_loss(losses, "negative", "Negative values cannot be written and count as 0.", n_negative_);
    return out_.finish();
  }

 private:
  // A function in a module.
  struct Unit {
    std::uint32_t function, module;
    auto operator<=>(const Unit&) const = default;
  };
  struct Place {
    std::uint32_t file, line;  // StringId
    auto operator<=>(const Place&) const = default;
  };

  struct Call {
    Place at;
    std::uint32_t callee;  // unit
    auto operator<=>(const Call&) const = default;
  };
  struct Calls {
    std::int64_t count = 0;
    Costs costs;
  };
  void find_units() {
    const FrameTable& frames = profile_.frames();
    std::map<Unit, std::uint32_t> known;
    for (std::size_t f = 0; f < frames.size(); ++f) {
      const Unit unit{frames.function[f].v, frames.module[f].v};
      const auto [found, is_new] = known.try_emplace(unit, static_cast<std::uint32_t>(units_.size()));
      if (is_new) units_.push_back(unit);
      unit_of_frame_.push_back(found->second);
      any_module_ |= frames.module[f].valid();
    }
    root_ = static_cast<std::uint32_t>(units_.size());
  }
  std::uint32_t unit(std::uint32_t context) const { return unit_of_frame_[profile_.tree().frame[context]]; }
  std::uint32_t function_of(std::uint32_t unit) const { return units_[unit].function; }

  void take_self() {
    self_.assign(profile_.tree().size() * n_, 0);
    const SelfTable& table = profile_.self();
    for (std::size_t m = 0; m < n_; ++m) {
      std::visit(
          [&](const auto& column) {
            for (std::size_t row = 0; row < table.contexts.size(); ++row)
              add_saturating(self_[table.contexts[row] * n_ + m], whole(column[row]));
          },
          table.values[metrics_[m].v]);
    }
    for (std::int64_t& value : self_) {
      n_negative_ += value < 0;
      if (value < 0) value = 0;
    }
  }

  std::int64_t whole(std::int64_t value) { return value; }
  std::int64_t whole(double value) {
    const double rounded = std::round(value);
    n_rounded_ += rounded != value;
    return std::abs(rounded) < 9.2e18 ? static_cast<std::int64_t>(rounded) : 0;
  }

  Costs& cost(std::map<Place, Costs>& of, const Place& place) {
    Costs& costs = of[place];
    costs.resize(n_, 0);
    return costs;
  }

  void add_lines() {
    lines_.resize(units_.size() + 1);
    const FrameTable& frames = profile_.frames();
    for (std::uint32_t c = 0; c < profile_.tree().size(); ++c) {
      bool any = false;
      for (std::size_t m = 0; m < n_; ++m) any |= self_[c * n_ + m] != 0;
      if (!any) continue;
      // What has no stack is a function (root) of its own.
      const bool root = c == 0;
      const std::uint32_t f = root ? root_ : unit(c);
      const Place place{root ? 0 : frames.file[profile_.tree().frame[c]].v,
                        root ? 0 : frames.line[profile_.tree().frame[c]]};
      Costs& costs = cost(lines_[f], place);
      for (std::size_t m = 0; m < n_; ++m) add_saturating(costs[m], self_[c * n_ + m]);
    }
  }

  void add_calls() {
    const ContextTree& tree = profile_.tree();
    std::vector<std::int64_t> total = self_;
    for (std::size_t c = tree.size(); c-- > 1;) {
      for (std::size_t m = 0; m < n_; ++m) add_saturating(total[tree.parent[c] * n_ + m], total[c * n_ + m]);
    }
    calls_.resize(units_.size() + 1);
    // Which functions stand on the way to the context in hand, and how often.
    std::vector<std::uint32_t> n_open(units_.size(), 0), path;
    std::vector<std::uint8_t> called(units_.size(), 0);
    for (std::uint32_t c = 1; c < tree.size(); ++c) called[unit(c)] |= tree.parent[c] != 0;
    for (std::uint32_t c = 1; c < tree.size(); ++c) {
      for (; !path.empty() && tree.subtree_end[path.back()] <= c; path.pop_back())
        --n_open[unit(path.back())];
      const std::uint32_t f = unit(c);
      if (!path.empty() || called[f]) {
        const std::uint32_t caller = path.empty() ? kNone : tree.frame[path.back()];
        Costs& costs = call(caller, f).costs;
        if (n_open[f] == 0) {
          for (std::size_t m = 0; m < n_; ++m) add_saturating(costs[m], total[c * n_ + m]);
        }
      }
      path.push_back(c);
      ++n_open[f];
    }
  }

  // `caller`: a frame at the place of the call; kNone: from outside.
  Calls& call(std::uint32_t caller, std::uint32_t callee) {
    const Place at = caller == kNone
                         ? Place{0, 0}
                         : Place{profile_.frames().file[caller].v, profile_.frames().line[caller]};
    Calls& calls = calls_[caller == kNone ? root_ : unit_of_frame_[caller]][{at, callee}];
    calls.costs.resize(n_, 0);
    return calls;
  }

  std::int64_t stated(const std::vector<ValueColumn>& totals, std::size_t m, std::size_t row) {
    if (!is_stated(totals, metrics_[m])) return 0;
    const std::int64_t value =
        std::visit([&](const auto& column) { return whole(column[row]); }, totals[metrics_[m].v]);
    n_negative_ += value < 0;
    return std::max<std::int64_t>(value, 0);
  }

  void add_stated_calls(LossReport& losses) {
    calls_.resize(units_.size() + 1);
    const StatedCosts& stated_costs = *profile_.stated();
    const StatedCosts::Calls& calls = stated_costs.calls;
    // What readers make of it: own and outgoing calls' cost, incoming calls' cost.
    std::vector<Costs> own(units_.size(), Costs(n_, 0)), called = own;
    for (std::uint32_t unit = 0; unit < units_.size(); ++unit)
      for (const auto& [place, costs] : lines_[unit])
        for (std::size_t m = 0; m < n_; ++m) add_saturating(own[unit][m], costs[m]);
    std::uint64_t n_unknown = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (calls.caller[i] == kNone || calls.callee[i] == kNone) continue;
      const std::uint32_t from = unit_of_frame_[calls.caller[i]], to = unit_of_frame_[calls.callee[i]];
      Costs& costs = call(calls.caller[i], to).costs;
      n_unknown += calls.known[i] == 0;
      for (std::size_t m = 0; m < n_ && calls.known[i] != 0; ++m) {
        const std::int64_t cost = stated(calls.totals, m, i);
        add_saturating(costs[m], cost);
        add_saturating(own[from][m], cost);
        add_saturating(called[to][m], cost);
      }
    }
    count_loss(losses, "call-costs", "What these calls cost is not in the profile and written as 0.",
               n_unknown);
    count_calls(losses);
    const std::vector<Costs> totals = stated_totals();
    drop_recursion(totals, own, called, losses);
    add_entries(totals, own, called, losses);
  }

  // How often, from the association that readers of such formats make.
  void count_calls(LossReport& losses) {
    std::int64_t n_inside = 0;
    for (const AssociationTable& table : profile_.associations()) {
      if (table.name != "calls" || table.roles != std::vector<std::string>{"caller", "callee"}) continue;
      for (std::size_t m = 0; m < table.metrics.size(); ++m) {
        const auto* counts = std::get_if<Column<std::int64_t>>(&table.values[m]);
        if (table.metrics[m].name != "calls" || counts == nullptr) continue;
        for (std::size_t i = 0; i < table.size(); ++i) {
          const std::uint32_t caller = table.contexts[0][i], callee = table.contexts[1][i];
          if (caller == kNone || callee == kNone || caller == 0 || callee == 0) continue;
          add_saturating(call(profile_.tree().frame[caller], unit(callee)).count, (*counts)[i]);
          add_saturating(n_inside, (*counts)[i]);
        }
      }
    }
    for (std::size_t m = 0; m < profile_.metrics().size(); ++m) {
      if (!counts_calls(profile_, MetricId{m})) continue;
      const auto* total = std::get_if<std::int64_t>(&profile_.total(MetricId{m}));
      if (total == nullptr) continue;
      const std::string& name = profile_.metrics()[m].name;
      if (name == "calls" && *total > n_inside)
        count_loss(losses, "entries", "Calls from outside of what was measured are not counted in the file.",
                   static_cast<std::uint64_t>(*total - n_inside));
      if (name != "calls" && *total > 0)
        count_loss(losses, name, "The file counts calls; those that are no recursion it does not tell apart.",
                   static_cast<std::uint64_t>(*total));
    }
  }

  // Sums that differ by less are the same: times were rounded one by one.
  static constexpr std::int64_t kRounding = 64;

  [[nodiscard]] std::string in_words(const Costs& values) const {
    std::string sums;
    for (std::size_t m = 0; m < n_; ++m)
      if (values[m] != 0)
        sums += fmt::format("{}{} {} {}", sums.empty() ? "" : ", ", profile_.metrics()[metrics_[m].v].name,
                            values[m], profile_.metrics()[metrics_[m].v].unit);
    return sums;
  }

  // By unit; empty where the profile does not state it.
  std::vector<Costs> stated_totals() {
    const StatedCosts::Functions& functions = profile_.stated()->functions;
    std::vector<Costs> totals(units_.size());
    std::vector<std::uint8_t> known(units_.size(), 1);
    for (std::size_t i = 0; i < functions.size(); ++i) {
      const std::uint32_t unit = unit_of_frame_[functions.frame[i]];
      totals[unit].resize(n_, 0);
      known[unit] &= functions.known[i];
      for (std::size_t m = 0; m < n_; ++m) add_saturating(totals[unit][m], stated(functions.totals, m, i));
    }
    for (std::uint32_t unit = 0; unit < units_.size(); ++unit)
      if (known[unit] == 0) totals[unit].clear();
    return totals;
  }

  // Of a function that calls itself the profile states a total that counts it once; with the cost of these
  // calls it would come out larger.
  void drop_recursion(const std::vector<Costs>& totals, std::vector<Costs>& own, std::vector<Costs>& called,
                      LossReport& losses) {
    std::uint64_t n_dropped = 0;
    Costs dropped(n_, 0);
    for (std::uint32_t unit = 0; unit < units_.size(); ++unit) {
      if (totals[unit].empty()) continue;
      bool larger = false;
      for (std::size_t m = 0; m < n_; ++m)
        larger |= std::max(own[unit][m], called[unit][m]) > totals[unit][m] + kRounding;
      if (!larger) continue;
      for (auto& [to, calls] : calls_[unit]) {
        if (to.callee != unit) continue;
        for (std::size_t m = 0; m < n_; ++m) {
          add_saturating(own[unit][m], -calls.costs[m]);
          add_saturating(called[unit][m], -calls.costs[m]);
          add_saturating(dropped[m], calls.costs[m]);
          calls.costs[m] = 0;
        }
        ++n_dropped;
      }
    }
    count_loss(
        losses, "recursion",
        fmt::format("Calls of functions by themselves are written without what they cost ({} in all), which "
                    "their totals have once.",
                    in_words(dropped)),
        n_dropped);
  }

  // Readers of the format add up what a function costs. Where the profile states more, it was entered from
  // outside as well; where it states less, recursion is counted once there and at every level in the file.
  void add_entries(const std::vector<Costs>& totals, const std::vector<Costs>& own,
                   const std::vector<Costs>& called, LossReport& losses) {
    const StatedCosts::Functions& functions = profile_.stated()->functions;
    std::uint64_t n_more = 0;
    Costs more(n_, 0);
    for (std::uint32_t unit = 0; unit < units_.size(); ++unit) {
      if (totals[unit].empty()) continue;
      bool entered = false, counted = false;
      for (std::size_t m = 0; m < n_; ++m) {
        if (!is_stated(functions.totals, metrics_[m])) continue;
        const std::int64_t in_file = std::max(own[unit][m], called[unit][m]);
        entered |= totals[unit][m] - kRounding > in_file;
        counted |= totals[unit][m] + kRounding < in_file;
        if (totals[unit][m] + kRounding < in_file) add_saturating(more[m], in_file - totals[unit][m]);
      }
      n_more += counted ? 1 : 0;
      if (!entered) continue;
      Calls& calls = calls_[root_][{Place{0, 0}, unit}];
      calls.costs.resize(n_, 0);
      for (std::size_t m = 0; m < n_; ++m)
        calls.costs[m] = std::max<std::int64_t>(0, totals[unit][m] - called[unit][m]);
    }
    if (n_more == 0) return;
    const std::string sums = in_words(more);
    count_loss(
        losses, "recursion",
        fmt::format("Recursive functions cost more in the file than the profile states ({} in all): it "
                    "counts a call again at every level.",
                    sums),
        n_more);
  }

  void name(std::string_view text) {
    // One line each, and no compression mark at the front.
    std::string out(text.empty() ? "???" : text);
    for (char& c : out) {
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    if (out.front() == '(' && out.find(')') != std::string::npos &&
        out.find_first_not_of("0123456789", 1) == out.find(')'))
      out.insert(out.begin(), ' ');
    out_.put(out);
  }

  void costs(std::uint32_t line, const Costs& values) {
    out_.number(std::uint64_t{line});
    for (const std::int64_t value : values) {
      out_.put(' ');
      out_.number(value);
    }
    out_.put('\n');
  }

  std::string_view file(std::uint32_t f) const {
    return f < profile_.functions().size() ? text_of(profile_, profile_.functions().file[f]) : "";
  }
  std::string_view module(std::uint32_t unit) const {
    const ModuleId module{units_[unit].module};
    return module.valid() ? text_of(profile_, profile_.modules().name[module.v]) : "";
  }

  // A name as an events line allows it.
  static std::string event(const MetricInfo& metric) {
    std::string out = metric.name;
    if (!metric.unit.empty() && metric.unit != "count") out += "_" + metric.unit;
    for (char& c : out) {
      const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!good) c = '_';
    }
    return out.empty() ? "cost" : out;
  }

  void write() {
    out_.put("# callgrind format\nversion: 1\ncreator: profd\npositions: line\nevents:");
    std::map<std::string, int> used;
    for (const MetricId id : metrics_) {
      std::string text = event(profile_.metrics()[id.v]);
      if (const int n = used[text]++; n > 0) text += "_" + std::to_string(n + 1);
      out_.put(' ');
      out_.put(text);
    }
    Costs sum(n_, 0);
    for (std::size_t i = 0; i < self_.size(); ++i) add_saturating(sum[i % n_], self_[i]);
    out_.put("\nsummary:");
    for (const std::int64_t value : sum) {
      out_.put(' ');
      out_.number(value);
    }
    out_.put('\n');
    for (std::uint32_t u = 0; u < lines_.size() && !out_.failed(); ++u) {
      const bool root = u == root_;
      if (lines_[u].empty() && calls_[u].empty()) continue;
      const std::uint32_t f = root ? kNone : function_of(u);
      if (any_module_) {
        out_.put("\nob=");
        name(root ? "" : module(u));
      }
      out_.put("\nfl=");
      name(file(f));
      out_.put("\nfn=");
      name(root ? "(root)" : text_of(profile_, profile_.functions().name[f]));
      out_.put('\n');
      std::uint32_t here = root ? 0 : profile_.functions().file[f].v;
      const auto go_to = [&](const Place& place) {
        const std::uint32_t at = place.file == 0 && !root ? profile_.functions().file[f].v : place.file;
        if (at == here) return;
        out_.put("fi=");
        name(text_of(profile_, StringId{at}));
        out_.put('\n');
        here = at;
      };
      for (const auto& [place, values] : lines_[u]) {
        go_to(place);
        costs(place.line, values);
      }
      for (const auto& [to, calls] : calls_[u]) {
        const std::uint32_t callee = function_of(to.callee);
        go_to(to.at);
        if (any_module_) {
          out_.put("cob=");
          name(module(to.callee));
          out_.put('\n');
        }
        out_.put("cfi=");
        name(file(callee));
        out_.put("\ncfn=");
        name(text_of(profile_, profile_.functions().name[callee]));
        // At least once, where how often is not known.
        out_.put("\ncalls=");
        out_.number(std::max<std::int64_t>(calls.count, 1));
        out_.put(' ');
        out_.number(std::uint64_t{profile_.functions().start_line[callee]});
        out_.put('\n');
        costs(to.at.line, calls.costs);
      }
    }
  }

  const Profile& profile_;
  Output out_;
  std::size_t n_;                  // of the metrics that are events
  std::vector<MetricId> metrics_;  // those
  std::vector<Unit> units_;
  std::vector<std::uint32_t> unit_of_frame_;
  std::uint32_t root_ = 0;  // behind the last unit: what is outside
  bool any_module_ = false;
  std::vector<std::int64_t> self_;             // by context and event
  std::vector<std::map<Place, Costs>> lines_;  // by unit
  std::vector<std::map<Call, Calls>> calls_;   // by unit
  std::uint64_t n_rounded_ = 0, n_negative_ = 0;
};

class CallgrindWriter final : public FormatWriter {
 public:
  const WriterInfo& info() const override {
    static const WriterInfo info{"callgrind",
                                 "callgrind text",
                                 kCallgrindExtensions,
                                 "text/plain",
                                 true,
                                 "all metrics; functions, lines, modules, callers and callees, no stacks"};
    return info;
  }

  Result<void> write(std::span<const ProfilePtr> profiles, const WriteOptions& options, const ByteSink& sink,
                     LossReport& losses) const override {
    const Profile& profile = *profiles.front();
    if (profile.metrics().empty()) return fail(ErrorCode::unsupported, "the profile has no metrics");
    const bool stated = CallgrindWriting::writes_stated(profile);
    report_losses(profiles, 1, {.lines = true, .modules = true, .calls = stated}, losses);
    if (!stated)
      count_loss(
          losses, "stacks",
          "The format holds who called whom and no stacks; numbers of calls, which are not known, are 1.", 1);
    return CallgrindWriting(profile, options, sink).run(losses);
  }
};

}  // namespace

std::unique_ptr<FormatWriter> make_callgrind_writer() {
  return std::make_unique<CallgrindWriter>();
}

}  // namespace profd
