// V8's CPU profile. A sample lasts until the next one: with a metric of time the samples are written one
// after another with their lengths; a metric of counts becomes hit counts.
#include <array>
#include <memory>

#include "core/support/checked.h"
#include "formats/writers/measurements.h"
#include "formats/writers/output.h"

namespace profd {
namespace {

using namespace writers;

constexpr std::array<std::string_view, 1> kCpuprofileExtensions{".cpuprofile"};

class CpuprofileWriting {
 public:
  CpuprofileWriting(const Profile& profile, MetricId metric, const WriteOptions& options,
                    const ByteSink& sink)
      : profile_(profile), metric_(metric), out_(sink, options.stop), rows_(profile) {}

  Result<void> run(LossReport& losses) {
    const std::string& unit = profile_.metrics()[metric_.v].unit;
    scale_ = nanoseconds_per(unit);
    if (scale_ == 0 && unit != "count" && !unit.empty())
      return fail(ErrorCode::unsupported,
                  "a cpuprofile holds times or numbers of samples; choose such a metric (this one is in " +
                      unit + ")");
    hits_.assign(profile_.tree().size(), 0);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (scale_ != 0) {
        if (as_double(rows_.value(i, metric_)) > 0) ++hits_[rows_[i].context];
        continue;
      }
      const Value value = rows_.value(i, metric_);
      const auto* whole = std::get_if<std::int64_t>(&value);
      n_negative_ += as_double(value) < 0;
      if (whole == nullptr || *whole < 0)
        n_fractions_ += whole == nullptr;
      else
        add_saturating(hits_[rows_[i].context], *whole);
    }
    write_nodes();
    if (scale_ != 0) write_samples();
    out_.put("}\n");
    count_loss(losses, "negative", "Negative values cannot be written.", n_negative_);
    count_loss(losses, "fractions", "Counts that are no whole numbers cannot be written.", n_fractions_);
    count_loss(losses, "columns", "Columns of frames are not written.", n_columns_);
    return out_.finish();
  }

 private:
  void write_nodes() {
    out_.put("{\"nodes\":[");
    const ContextTree& tree = profile_.tree();
    for (std::uint32_t c = 0; c < tree.size() && !out_.failed(); ++c) {
      out_.put(c == 0 ? "{\"id\":" : ",{\"id\":");
      out_.number(std::uint64_t{c} + 1);
      out_.put(",\"callFrame\":{\"functionName\":");
      std::uint32_t line = 0;
      if (c == 0) {
        out_.put(R"--("(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1})--");
      } else {
        const std::uint32_t frame = tree.frame[c];
        const FunctionId function = profile_.frames().function[frame];
        out_.json(name_of(profile_, frame));
        out_.put(",\"scriptId\":\"0\",\"url\":");
        out_.json(file_of(profile_, frame));
        out_.put(",\"lineNumber\":");
        out_.number(std::int64_t{profile_.functions().start_line[function.v]} - 1);
        out_.put(",\"columnNumber\":");
        out_.number(std::int64_t{profile_.functions().start_column[function.v]} - 1);
        out_.put("}");
        line = profile_.frames().line[frame];
        n_columns_ += profile_.frames().column[frame] != 0;
      }
      out_.put(",\"hitCount\":");
      out_.number(hits_[c]);
      if (line != 0 && hits_[c] > 0 && hits_[c] <= 0xFFFFFFFF) {
        out_.put(",\"positionTicks\":[{\"line\":");
        out_.number(std::uint64_t{line});
        out_.put(",\"ticks\":");
        out_.number(hits_[c]);
        out_.put("}]");
      }
      bool first = true;
      for_each_child(tree, c, [&](std::uint32_t child) {
        out_.put(first ? ",\"children\":[" : ",");
        first = false;
        out_.number(std::uint64_t{child} + 1);
      });
      out_.put(first ? "}" : "]}");
    }
    out_.put(']');
  }

  std::int64_t nanoseconds(std::size_t row) { return multiplied(rows_.value(row, metric_), scale_); }

  // Microseconds, with the nanoseconds behind a point.
  void microseconds(std::int64_t ns) {
    out_.number(ns / 1000);
    const std::int64_t rest = ns % 1000;
    if (rest == 0) return;
    out_.put('.');
    out_.put(static_cast<char>('0' + rest / 100));
    out_.put(static_cast<char>('0' + rest / 10 % 10));
    out_.put(static_cast<char>('0' + rest % 10));
  }

  void write_samples() {
    std::int64_t total = 0;
    std::vector<std::uint32_t> used;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double value = as_double(rows_.value(i, metric_));
      n_negative_ += value < 0;
      if (value <= 0) continue;
      used.push_back(static_cast<std::uint32_t>(i));
      add_saturating(total, nanoseconds(i));
    }
    out_.put(",\"startTime\":0,\"endTime\":");
    microseconds(total);
    out_.put(",\"samples\":[");
    for (std::size_t k = 0; k < used.size(); ++k) {
      if (k > 0) out_.put(',');
      out_.number(std::uint64_t{rows_[used[k]].context} + 1);
    }
    out_.put("],\"timeDeltas\":[");
    for (std::size_t k = 0; k < used.size(); ++k) {
      if (k > 0) out_.put(',');
      microseconds(k == 0 ? 0 : nanoseconds(used[k - 1]));
    }
    out_.put(']');
  }

  const Profile& profile_;
  MetricId metric_;
  Output out_;
  Measurements rows_;
  std::int64_t scale_ = 0;
  std::vector<std::int64_t> hits_;
  std::uint64_t n_negative_ = 0, n_fractions_ = 0, n_columns_ = 0;
};

class CpuprofileWriter final : public FormatWriter {
 public:
  const WriterInfo& info() const override {
    static const WriterInfo info{
        "cpuprofile",
        "V8 CPU profile",
        kCpuprofileExtensions,
        "application/json",
        true,
        "one metric of time or counts; functions with their first line, lines of leaves"};
    return info;
  }

  Result<void> write(std::span<const ProfilePtr> profiles, const WriteOptions& options, const ByteSink& sink,
                     LossReport& losses) const override {
    const Profile& profile = *profiles.front();
    PROFD_TRY(const MetricId metric, chosen_metric(profile, options, losses));
    report_losses(profiles, 1, {.lines = true}, losses);
    return CpuprofileWriting(profile, metric, options, sink).run(losses);
  }
};

}  // namespace

std::unique_ptr<FormatWriter> make_cpuprofile_writer() {
  return std::make_unique<CpuprofileWriter>();
}

}  // namespace profd
