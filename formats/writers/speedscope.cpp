// speedscope's JSON, sampled: one profile a thread.
#include <array>
#include <memory>

#include "core/support/checked.h"
#include "formats/writers/measurements.h"
#include "formats/writers/output.h"

namespace profd {
namespace {

using namespace writers;

constexpr std::array<std::string_view, 2> kSpeedscopeExtensions{".speedscope.json", ".speedscope"};
constexpr std::int64_t kLargestExact = std::int64_t{1} << 53;

std::string_view unit_of(std::string_view unit) {
  for (const std::string_view known : {"nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}) {
    if (known == unit) return known;
  }
  return "none";
}

std::string thread_name(const Profile& profile, std::uint32_t thread) {
  if (thread == kNone) return profile.info().name.empty() ? "profile" : profile.info().name;
  std::string name(text_of(profile, profile.threads().name[thread]));
  if (const std::int64_t tid = profile.threads().tid[thread]; tid >= 0)
    name += (name.empty() ? "thread " : " ") + std::to_string(tid);
  return name.empty() ? "thread" : name;
}

class SpeedscopeWriter final : public FormatWriter {
 public:
  const WriterInfo& info() const override {
    static const WriterInfo info{"speedscope",
                                 "speedscope JSON",
                                 kSpeedscopeExtensions,
                                 "application/json",
                                 true,
                                 "one metric, threads, lines, columns, order of samples"};
    return info;
  }

  Result<void> write(std::span<const ProfilePtr> profiles, const WriteOptions& options, const ByteSink& sink,
                     LossReport& losses) const override {
    const Profile& profile = *profiles.front();
    PROFD_TRY(const MetricId metric, chosen_metric(profile, options, losses));
    report_losses(profiles, 1, {.lines = true, .threads = true}, losses);
    Output out(sink, options.stop);
    const ProfileInfo& about = profile.info();
    out.put(R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"profd","name":)");
    out.json(about.name.empty() ? about.program : about.name);
    out.put(R"(,"shared":{"frames":[)");
    for (std::uint32_t f = 0; f < profile.frames().size(); ++f) write_frame(profile, f, out);
    out.put("]},\"profiles\":[");

    // Rows by thread, in their order: with times that is the order in time.
    const Measurements rows(profile);
    std::vector<std::vector<std::uint32_t>> by_thread(profile.threads().size() + 1);
    std::uint64_t n_negative = 0, n_inexact = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double value = as_double(rows.value(i, metric));
      n_negative += value < 0;
      if (value <= 0) continue;
      const std::uint32_t thread = rows[i].thread;
      by_thread[thread < profile.threads().size() ? thread : profile.threads().size()].push_back(
          static_cast<std::uint32_t>(i));
    }
    bool first = true;
    std::vector<std::uint32_t> path;
    for (std::size_t t = 0; t < by_thread.size(); ++t) {
      const bool last_chance = first && t + 1 == by_thread.size();
      if (by_thread[t].empty() && !last_chance) continue;
      if (!first) out.put(',');
      first = false;
      const std::uint32_t thread = t < profile.threads().size() ? static_cast<std::uint32_t>(t) : kNone;
      out.put(R"({"type":"sampled","name":)");
      out.json(thread_name(profile, thread));
      out.key("unit");
      out.json(unit_of(profile.metrics()[metric.v].unit));
      out.put(R"(,"startValue":0,"endValue":)");
      Value total = std::int64_t{0};
      for (const std::uint32_t i : by_thread[t]) add(total, rows.value(i, metric));
      out.number(total);
      out.put(",\"samples\":[");
      for (std::size_t k = 0; k < by_thread[t].size() && !out.failed(); ++k) {
        writers::path_of(profile, rows[by_thread[t][k]].context, path);
        out.put(k == 0 ? "[" : ",[");
        for (std::size_t p = 0; p < path.size(); ++p) {
          if (p > 0) out.put(',');
          out.number(std::uint64_t{path[p]});
        }
        out.put(']');
      }
      out.put("],\"weights\":[");
      for (std::size_t k = 0; k < by_thread[t].size() && !out.failed(); ++k) {
        if (k > 0) out.put(',');
        const Value value = rows.value(by_thread[t][k], metric);
        if (const auto* whole = std::get_if<std::int64_t>(&value)) n_inexact += *whole > kLargestExact;
        out.number(value);
      }
      out.put("]}");
    }
    out.put("]}\n");
    count_loss(losses, "negative", "Negative values cannot be written.", n_negative);
    count_loss(losses, "large-values",
               "Values above 2^53 are not exact for programs that read numbers as doubles.", n_inexact);
    if (unit_of(profile.metrics()[metric.v].unit) == "none" && profile.metrics()[metric.v].unit != "count")
      count_loss(losses, "unit", "The format does not have the metric's unit.", 1);
    return out.finish();
  }

 private:
  static void add(Value& total, const Value& value) {
    const auto *a = std::get_if<std::int64_t>(&total), *b = std::get_if<std::int64_t>(&value);
    if (a != nullptr && b != nullptr) {
      std::int64_t sum = *a;
      add_saturating(sum, *b);
      total = sum;
    } else {
      total = as_double(total) + as_double(value);
    }
  }

  static void write_frame(const Profile& profile, std::uint32_t frame, Output& out) {
    out.put(frame == 0 ? "{\"name\":" : ",{\"name\":");
    out.json(name_of(profile, frame));
    if (const std::string_view file = file_of(profile, frame); !file.empty()) {
      out.key("file");
      out.json(file);
    }
    if (profile.frames().line[frame] != 0) {
      out.key("line");
      out.number(std::uint64_t{profile.frames().line[frame]});
    }
    if (profile.frames().column[frame] != 0) {
      out.key("col");
      out.number(std::uint64_t{profile.frames().column[frame]});
    }
    out.put('}');
  }
};

}  // namespace

std::unique_ptr<FormatWriter> make_speedscope_writer() {
  return std::make_unique<SpeedscopeWriter>();
}

}  // namespace profd
