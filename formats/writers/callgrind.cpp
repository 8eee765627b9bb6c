// Callgrind's text: functions with their lines, and calls with what was spent below them. All integral
// metrics.
//
// Readers take for the inclusive cost of a function what was spent in calls to it (callgrind_annotate,
// KCachegrind), or its own and its calls' cost when nobody calls it. So that this counts each stack once, a
// call has a cost only where its function was not running already: recursion costs nothing. A function that
// begins some stacks and is called in others is called by (root) in the former.
#include <array>
#include <cmath>
#include <map>
#include <memory>

#include "core/support/checked.h"
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
      : profile_(profile), out_(sink, options.stop), n_(profile.metrics().size()) {}

  Result<void> run(LossReport& losses) {
    take_self();
    add_lines();
    add_calls();
    write();
    count_loss(losses, "fractions", "Values that are no whole numbers were rounded.", n_rounded_);
    count_loss(losses, "negative", "Negative values cannot be written and count as 0.", n_negative_);
    return out_.finish();
  }

 private:
  struct Call {
    std::uint32_t callee, line;
    auto operator<=>(const Call&) const = default;
  };
  struct Place {
    std::uint32_t file, line;  // StringId
    auto operator<=>(const Place&) const = default;
  };

  std::uint32_t function(std::uint32_t context) const {
    return profile_.frames().function[profile_.tree().frame[context]].v;
  }

  void take_self() {
    self_.assign(profile_.tree().size() * n_, 0);
    const SelfTable& table = profile_.self();
    for (std::size_t m = 0; m < n_; ++m) {
      std::visit(
          [&](const auto& column) {
            for (std::size_t row = 0; row < table.contexts.size(); ++row)
              add_saturating(self_[table.contexts[row] * n_ + m], whole(column[row]));
          },
          table.values[m]);
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
    lines_.resize(profile_.functions().size() + 1);
    const FrameTable& frames = profile_.frames();
    for (std::uint32_t c = 0; c < profile_.tree().size(); ++c) {
      bool any = false;
      for (std::size_t m = 0; m < n_; ++m) any |= self_[c * n_ + m] != 0;
      if (!any) continue;
      // What has no stack is a function (root) of its own.
      const bool root = c == 0;
      const std::uint32_t f = root ? static_cast<std::uint32_t>(profile_.functions().size()) : function(c);
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
    calls_.resize(profile_.functions().size() + 1);
    // Which functions stand on the way to the context in hand, and how often.
    std::vector<std::uint32_t> n_open(profile_.functions().size(), 0), path;
    std::vector<std::uint8_t> called(profile_.functions().size(), 0);
    for (std::uint32_t c = 1; c < tree.size(); ++c) called[function(c)] |= tree.parent[c] != 0;
    for (std::uint32_t c = 1; c < tree.size(); ++c) {
      for (; !path.empty() && tree.subtree_end[path.back()] <= c; path.pop_back())
        --n_open[function(path.back())];
      const std::uint32_t f = function(c);
      if (!path.empty() || called[f]) {
        Costs& costs = call(path.empty() ? 0 : path.back(), c);
        if (n_open[f] == 0) {
          for (std::size_t m = 0; m < n_; ++m) add_saturating(costs[m], total[c * n_ + m]);
        }
      }
      path.push_back(c);
      ++n_open[f];
    }
  }

  Costs& call(std::uint32_t caller, std::uint32_t callee) {
    const std::uint32_t line = caller == 0 ? 0 : profile_.frames().line[profile_.tree().frame[caller]];
    const std::size_t f = caller == 0 ? profile_.functions().size() : function(caller);
    Costs& costs = calls_[f][{function(callee), line}];
    costs.resize(n_, 0);
    return costs;
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
    for (const MetricInfo& metric : profile_.metrics()) {
      std::string text = event(metric);
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
    for (std::uint32_t f = 0; f < lines_.size() && !out_.failed(); ++f) {
      const bool root = f == profile_.functions().size();
      if (lines_[f].empty() && calls_[f].empty()) continue;
      out_.put("\nfl=");
      name(file(f));
      out_.put("\nfn=");
      name(root ? "(root)" : text_of(profile_, profile_.functions().name[f]));
      out_.put('\n');
      std::uint32_t here = root ? 0 : profile_.functions().file[f].v;
      for (const auto& [place, values] : lines_[f]) {
        const std::uint32_t at = place.file == 0 && !root ? profile_.functions().file[f].v : place.file;
        if (at != here) {
          out_.put("fi=");
          name(text_of(profile_, StringId{at}));
          out_.put('\n');
          here = at;
        }
        costs(place.line, values);
      }
      for (const auto& [to, values] : calls_[f]) {
        out_.put("cfi=");
        name(file(to.callee));
        out_.put("\ncfn=");
        name(text_of(profile_, profile_.functions().name[to.callee]));
        // At least once; how often is not known.
        out_.put("\ncalls=1 ");
        out_.number(std::uint64_t{profile_.functions().start_line[to.callee]});
        out_.put('\n');
        costs(to.line, values);
      }
    }
  }

  const Profile& profile_;
  Output out_;
  std::size_t n_;
  std::vector<std::int64_t> self_;             // by context and metric
  std::vector<std::map<Place, Costs>> lines_;  // by function
  std::vector<std::map<Call, Costs>> calls_;   // by function
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
                                 "all metrics; functions, lines, callers and callees, no stacks"};
    return info;
  }

  Result<void> write(std::span<const ProfilePtr> profiles, const WriteOptions& options, const ByteSink& sink,
                     LossReport& losses) const override {
    const Profile& profile = *profiles.front();
    if (profile.metrics().empty()) return fail(ErrorCode::unsupported, "the profile has no metrics");
    report_losses(profiles, 1, {.lines = true}, losses);
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
