// Cube 4 reports of Score-P and Scalasca: a tar archive with anchor.xml and the data of each metric.
// docs/formats/cubex.md says what is read and what is lost.
#include "formats/reader.h"

#include <array>
#include <cmath>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "formats/cubex/anchor.h"
#include "formats/cubex/data.h"
#include "formats/support/xml.h"

namespace profd {
namespace {

using namespace cubex;

constexpr std::array<std::string_view, 1> kExtensions{".cubex"};
constexpr ReaderNotes kNotes{
    .versions = "Cube 4 archives and folders, either byte order, compressed rows or not",
    .keeps =
        "sums by call node, rank and thread, regions with file and first line; no minima, maxima or derived "
        "metrics",
    .recording = "scorep mpicc app.c -o app && mpirun -n 4 ./app",
    .verified = "what the Cube library exported of two reports: totals, times of all call nodes",
};
constexpr std::string_view kAnchor = "anchor.xml";

bool is_anchor(std::span<const std::byte> prefix) {
  return xml_root({reinterpret_cast<const char*>(prefix.data()),
                   std::min<std::size_t>(prefix.size(), 64 << 10)}) == "cube";
}

class Building {
 public:
  Building(const Folder& folder, ReadContext& context) : folder_(folder), context_(context) {}

  Result<void> run(std::vector<ProfileBuilder>& profiles) {
    PROFD_TRY(const ByteSource xml, folder_.open(kAnchor));
    auto anchor = read_anchor(xml.bytes(), context_, builder_);
    if (!anchor) {
      Error error = std::move(anchor).error();
      error.where.push_back(error.offset ? fmt::format("{} at byte {}", kAnchor, *error.offset)
                                         : std::string(kAnchor));
      error.offset.reset();
      return tl::unexpected<Error>(std::move(error));
    }
    anchor_ = std::move(*anchor);
    if (anchor_.locations.empty())
      return fail(ErrorCode::malformed, "the report has no location (process or thread)");
    PROFD_CHECK(open_metrics());
    for (std::size_t location = 0; location < anchor_.locations.size(); ++location)
      PROFD_CHECK(add_location(location));
    report();
    builder_.info().format = "cubex";
    builder_.info().producer = anchor_.creator;
    profiles.push_back(std::move(builder_));
    return {};
  }

 private:
  struct Column {
    const Metric* metric;
    MetricData data;
  };

  Result<void> open_metrics() {
    const std::vector<std::uint32_t> wide = anchor_.wide_order();
    std::uint64_t n_derived = 0, n_unreadable = 0, n_empty = 0;
    std::optional<MetricId> time;
    std::set<std::string_view> ids;
    for (const Metric& metric : anchor_.metrics) {
      // Each would have the data of the same files.
      if (!ids.insert(metric.id).second)
        return fail(ErrorCode::malformed, fmt::format("two metrics have the id {}", metric.id));
      if (metric.derived) {
        ++n_derived;
      } else if (metric.kind == ValueKind::unreadable) {
        ++n_unreadable;
      } else if (!folder_.has(metric.id + ".index") && !folder_.has(metric.id + ".data")) {
        ++n_empty;  // all values are 0
      } else {
        PROFD_TRY(MetricData data, MetricData::open(folder_, "", metric, anchor_, wide, context_));
        const MetricId id = builder_.add_metric(metric.name, metric.unit, metric.kind == ValueKind::real);
        if (metric.name == "time") time = id;
        columns_.push_back({&metric, std::move(data)});
      }
    }
    if (columns_.empty()) return fail(ErrorCode::malformed, "no metric of the report has values");
    if (time) builder_.set_default_metric(*time);
    // A report may leave out rows of zeros, but one of almost nothing else is made to keep us busy.
    double n_values = 1e5;
    for (const Column& column : columns_) n_values += static_cast<double>(column.data.n_values());
    const double n_cells = static_cast<double>(columns_.size()) * static_cast<double>(anchor_.nodes.size()) *
                           static_cast<double>(anchor_.locations.size());
    if (n_cells > 1000 * n_values)
      return fail(ErrorCode::limit,
                  "the report has more than 1000 times as many places for values as values");
    const auto info = [&](std::string_view kind, std::uint64_t n, Severity severity, std::string_view text) {
      if (n > 0) context_.report.add(kind, severity, text, std::nullopt, n);
    };
    info("derived-metric", n_derived, Severity::loss,
         "Metrics that are derived by an expression are not shown.");
    info("metric-not-additive", n_unreadable, Severity::loss,
         "Metrics that are no sums (minima, maxima, rates, histograms) are not shown.");
    info("metric-without-values", n_empty, Severity::info,
         "Metrics have no value anywhere; they are not shown.");
    return {};
  }

  Result<void> add_location(std::size_t location) {
    const Location& place = anchor_.locations[location];
    ThreadSpec thread;
    thread.name = place.name;
    thread.process_name = place.process;
    thread.pid = place.rank;
    thread.tid = place.thread;
    SampleContext where;
    where.thread = builder_.thread(thread);
    const std::size_t n = anchor_.nodes.size(), n_columns = columns_.size();
    selfs_.assign(n * n_columns, Value{std::int64_t{0}});
    for (std::size_t c = 0; c < n_columns; ++c) {
      const Column& column = columns_[c];
      for (std::size_t node = 0; node < n; ++node) {
        if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
        const std::uint32_t parent = column.metric->inclusive ? anchor_.nodes[node].parent : kNone;
        Value& self = selfs_[node * n_columns + c];
        Value* above = parent == kNone ? nullptr : &selfs_[parent * n_columns + c];
        if (column.metric->kind == ValueKind::real) {
          double value = column.data.real(node, location);
          if (!std::isfinite(value)) {
            ++n_odd_;
            value = 0;
          }
          self = value;
          if (above != nullptr) *above = std::get<double>(*above) - value;
        } else {
          const std::int64_t value = column.data.integer(node, location);
          self = value;
          if (above != nullptr && value != INT64_MIN) {
            std::int64_t less = std::get<std::int64_t>(*above);
            add_saturating(less, -value);
            *above = less;
          }
        }
      }
      if (!column.metric->inclusive) continue;
      for (std::size_t node = 0; node < n; ++node) {
        if (column.metric->kind != ValueKind::real) continue;
        double& self = std::get<double>(selfs_[node * n_columns + c]);
        if (std::abs(self) <= 1e-12 * std::abs(column.data.real(node, location))) self = 0;
      }
    }
    for (std::size_t node = 0; node < n; ++node) {
      const std::span<const Value> row(selfs_.data() + node * n_columns, n_columns);
      bool any = false;
      for (const Value& value : row) {
        const double v = as_double(value);
        any |= v != 0;
        n_negative_ += v < 0;
      }
      if (any) builder_.add_sample(anchor_.nodes[node].context, row, where);
    }
    return {};
  }

  void report() {
    std::uint64_t n_clamped = 0;
    for (const Column& column : columns_) n_clamped += column.data.n_clamped();
    const auto loss = [&](std::string_view kind, std::uint64_t n, std::string_view text) {
      if (n > 0) context_.report.add(kind, Severity::loss, text, std::nullopt, n);
    };
    loss("negative-self", n_negative_,
         "Call nodes have less than the nodes below them (edges of the measurement); their own value is "
         "negative.");
    loss("value-not-finite", n_odd_, "Values that are no finite numbers count as 0.");
    loss("value-too-large", n_clamped,
         "Values above the largest 64-bit integer count as 0: they mark undefined values.");
  }

  const Folder& folder_;
  ReadContext& context_;
  ProfileBuilder builder_;
  Anchor anchor_;
  std::vector<Column> columns_;
  std::vector<Value> selfs_;
  std::uint64_t n_negative_ = 0, n_odd_ = 0;
};

class CubexReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"cubex", "Cube 4 report", kExtensions, 824, "Score-P, Scalasca", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    return is_anchor(prefix) ? Confidence::certain : Confidence::no;
  }
  Confidence sniff_folder(const Folder& folder) const override {
    if (!folder.has(kAnchor)) return Confidence::no;
    const auto anchor = folder.open(kAnchor);
    return anchor && is_anchor(anchor->bytes()) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    if (!is_anchor(source.bytes())) return fail(ErrorCode::malformed, "this is no Cube report", 0);
    if (context.beside != nullptr && context.beside->has(kAnchor))
      return read_folder(*context.beside, context, profiles);
    return fail(
        ErrorCode::not_found,
        "anchor.xml alone has no values: open the .cubex archive it was taken from, or its whole folder");
  }

  Result<void> read_folder(const Folder& folder, ReadContext& context,
                           std::vector<ProfileBuilder>& profiles) const override {
    return Building(folder, context).run(profiles);
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_cubex_reader() {
  return std::make_unique<CubexReader>();
}

}  // namespace profd
