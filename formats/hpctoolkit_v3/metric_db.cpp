#include "formats/hpctoolkit_v3/metric_db.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formats/support/byte_cursor.h"
#include "formats/support/id_index.h"
#include "formats/support/text_number.h"

namespace profd::hpctoolkit_v3 {
namespace {

constexpr std::string_view kMagic = "HPCPROF-metricdb__";
constexpr std::size_t kHeader = 24;  // magic, version, byte order

Result<MetricDb> parse(const ByteSource& source, std::span<const std::byte> bytes, std::uint64_t base) {
  if (!is_metric_db(bytes)) return fail(ErrorCode::malformed, "no metric-db begins here", base);
  ByteCursor in(bytes, std::endian::big, base);
  in.skip(kMagic.size());
  const std::string_view version = in.text(5), order = in.text(1);
  MetricDb db;
  db.source = source;
  db.n_nodes = in.u32();
  db.n_metrics = in.u32();
  if (!in.ok()) return tl::unexpected<Error>(in.status("the header of a metric-db").error());
  if (version != "00.10" || order != "b")
    return fail(ErrorCode::unsupported, fmt::format("a metric-db of version {} is not read", version),
                base + kMagic.size());
  if (db.n_metrics == 0 || std::uint64_t{db.n_nodes} * db.n_metrics > in.left() / sizeof(double))
    return fail(
        ErrorCode::truncated,
        fmt::format("a metric-db says {} contexts with {} metrics and ends before", db.n_nodes, db.n_metrics),
        base + kHeader);
  db.values = in.bytes(std::uint64_t{db.n_nodes} * db.n_metrics * sizeof(double));
  return db;
}

// "1.cpi-000003-000-a8c00270-160447-0.metric-db": rank and thread.
void name_numbers(std::string_view file, MetricDb& db) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= file.size();) {
    const std::size_t dash = std::min(file.find('-', at), file.size());
    parts.push_back(file.substr(at, dash - at));
    at = dash + 1;
  }
  // "metric-db" has a dash of its own.
  if (parts.size() < 7) return;
  parse_int(parts[parts.size() - 6], db.rank);
  parse_int(parts[parts.size() - 5], db.thread);
}

// experiment-1.mdb: u32 kind, u32 count, then {u32 rank, u32 thread, u64 offset}, big-endian; a whole
// metric-db at each offset.
Result<void> open_merged(const ByteSource& source, std::vector<MetricDb>& out) {
  ByteCursor in(source.bytes(), std::endian::big);
  in.skip(4);
  const std::uint32_t n = in.u32();
  if (!in.ok() || n > in.left() / 16)
    return fail(ErrorCode::truncated, fmt::format("the merged metric-db says {} threads and ends before", n),
                4);
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::int64_t rank = in.u32(), thread = in.u32();
    const std::uint64_t offset = in.u64();
    if (offset > source.bytes().size())
      return fail(ErrorCode::malformed, "a thread's values lie outside the merged metric-db",
                  in.offset() - 8);
    PROFD_TRY(MetricDb db, parse(source, source.bytes().subspan(offset), offset));
    db.rank = rank;
    db.thread = thread;
    out.push_back(std::move(db));
  }
  return {};
}

// A metric as it is declared, with the columns that have it.
struct Column {
  MetricId metric;
  std::uint32_t inclusive = kNone, exclusive = kNone;
};

std::vector<Column> declare_db_metrics(const Experiment& experiment, ProfileBuilder& builder) {
  std::vector<Column> columns;
  std::vector<const DbMetric*> names;
  for (const DbMetric& metric : experiment.db_metrics) {
    std::size_t at = 0;
    while (at < names.size() && (names[at]->name != metric.name || names[at]->unit != metric.unit)) ++at;
    if (at == names.size()) {
      names.push_back(&metric);
      columns.push_back({builder.add_metric(metric.name, metric.unit, true)});
    }
    (metric.inclusive ? columns[at].inclusive : columns[at].exclusive) = metric.column;
  }
  return columns;
}

class Adding {
 public:
  Adding(Experiment& experiment, ReadContext& context, ProfileBuilder& builder)
      : in_(experiment), context_(context), builder_(builder) {}

  Result<void> from_files(const std::vector<MetricDb>& dbs) {
    const std::vector<Column> columns = declare_db_metrics(in_, builder_);
    if (columns.empty()) return fail(ErrorCode::malformed, "the database has no metric");
    for (const MetricDb& db : dbs) {
      SampleContext where;
      ThreadSpec thread;
      thread.pid = db.rank;
      thread.tid = db.thread;
      const std::string rank = db.rank < 0 ? "" : fmt::format("rank {}", db.rank);
      const std::string name = db.thread < 0 ? "" : fmt::format("thread {}", db.thread);
      thread.process_name = rank;
      thread.name = name;
      where.thread = builder_.thread(thread);
      PROFD_CHECK(add_thread(db, columns, where));
    }
    report();
    return {};
  }

  Result<void> from_xml() {
    context_.report.add(
        "rounded-values", Severity::info,
        "No metric-db lies beside experiment.xml: its sums over all threads are shown, which have "
        "six digits.");
    std::vector<MetricId> declared(in_.metrics.size());
    std::vector<std::uint64_t> ids;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < in_.metrics.size(); ++i) {
      const Metric& metric = in_.metrics[i];
      ids.push_back(metric.id);
      if (metric.inclusive) continue;
      declared[i] = builder_.add_metric(metric.name, metric.unit, true);
    }
    if (builder_.n_metrics() == 0) return fail(ErrorCode::malformed, "the database has no metric");
    const IdIndex index(ids);
    // Statements have the exclusive values; what encloses them repeats their sums.
    std::uint64_t n_unknown = 0;
    for (const InlineValue& value : in_.values) {
      const std::uint32_t metric = index.find(value.metric);
      if (metric == kNone) {
        ++n_unknown;
        continue;
      }
      if (!declared[metric].valid() || value.node == kNone || !in_.nodes[value.node].is_statement) continue;
      builder_.add_self(in_.context(value.node, builder_), declared[metric], value.value);
    }
    if (n_unknown > 0)
      context_.report.add("unknown-metric", Severity::loss, "Values name a metric that is not declared.",
                          std::nullopt, n_unknown);
    return {};
  }

 private:
  static double value_at(const MetricDb& db, std::uint64_t node, std::uint32_t column) {
    ByteCursor in(db.values, std::endian::big);
    in.seek((node * db.n_metrics + column) * sizeof(double));
    return in.f64();
  }

  // Row i of the file is the context with the id i + 1.
  double of(const MetricDb& db, const Node& node, std::uint32_t column) {
    if (node.id == 0 || node.id > db.n_nodes) return 0;
    const double value = value_at(db, node.id - 1, column);
    if (std::isfinite(value)) return value;
    ++n_odd_;
    return 0;
  }

  Result<void> add_thread(const MetricDb& db, const std::vector<Column>& columns,
                          const SampleContext& where) {
    const std::size_t n = in_.nodes.size();
    selfs_.assign(n * columns.size(), 0);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Column& column = columns[c];
      const std::uint32_t used = column.inclusive != kNone ? column.inclusive : column.exclusive;
      if (used >= db.n_metrics)
        return fail(ErrorCode::malformed,
                    fmt::format("a metric is column {} of a metric-db with {} columns", used, db.n_metrics));
      double total = 0, sum = 0;
      for (std::size_t i = 0; i < n; ++i) {
        if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
        const Node& node = in_.nodes[i];
        if (column.inclusive == kNone && !node.is_statement) continue;
        const double value = of(db, node, used);
        selfs_[i * columns.size() + c] += value;
        if (column.inclusive == kNone) continue;
        if (node.parent != kNone)
          selfs_[node.parent * columns.size() + c] -= value;
        else
          total += value;
      }
      for (std::size_t i = 0; i < n; ++i) {
        double& self = selfs_[i * columns.size() + c];
        if (column.inclusive != kNone && std::abs(self) <= 1e-12 * std::abs(of(db, in_.nodes[i], used)))
          self = 0;
        n_negative_ += self < 0;
        sum += self;
      }
      n_differs_ += column.inclusive != kNone && !(std::abs(sum - total) <= 1e-9 * std::abs(total));
    }
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::span<const double> row(selfs_.data() + i * columns.size(), columns.size());
      if (std::all_of(row.begin(), row.end(), [](double v) { return v == 0; })) continue;
      builder_.add_sample(in_.context(i, builder_), row, where);
    }
    return {};
  }

  void report() {
    const auto loss = [&](std::string_view kind, std::uint64_t n, std::string_view text) {
      if (n > 0) context_.report.add(kind, Severity::loss, text, std::nullopt, n);
    };
    loss("negative-self", n_negative_,
         "Contexts have less than the contexts below them; their own value is negative.");
    loss("value-not-finite", n_odd_, "Values that are no finite numbers count as 0.");
    loss("total-differs", n_differs_, "Contexts do not add up to the total of their thread.");
  }

  Experiment& in_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::vector<double> selfs_;
  std::uint64_t n_negative_ = 0, n_odd_ = 0, n_differs_ = 0;
};

}  // namespace

bool is_metric_db(std::span<const std::byte> prefix) {
  return std::string_view(reinterpret_cast<const char*>(prefix.data()), prefix.size()).starts_with(kMagic);
}

Result<std::vector<MetricDb>> open_metric_dbs(const Folder& folder, ReadContext& context) {
  std::vector<MetricDb> out;
  for (const std::string& file : folder.files()) {
    if (file.find('/') != std::string::npos) continue;
    const bool single = file.ends_with(".metric-db");
    if (!single && !file.ends_with(".mdb")) continue;
    PROFD_CHECK(context.stop.status());
    Result<void> done;
    auto source = folder.open(file);
    if (!source) {
      done = tl::unexpected<Error>(std::move(source).error());
    } else if (single) {
      auto db = parse(*source, source->bytes(), 0);
      if (db) {
        name_numbers(file, *db);
        out.push_back(std::move(*db));
      } else {
        done = tl::unexpected<Error>(std::move(db).error());
      }
    } else {
      done = open_merged(*source, out);
    }
    if (done) continue;
    Error error = std::move(done).error();
    error.where.push_back(error.offset ? fmt::format("{} at byte {}", file, *error.offset) : file);
    error.offset.reset();
    return tl::unexpected<Error>(std::move(error));
  }
  return out;
}

Result<void> add_values(Experiment& experiment, const std::vector<MetricDb>& dbs, ReadContext& context,
                        ProfileBuilder& builder) {
  Adding adding(experiment, context, builder);
  return dbs.empty() ? adding.from_xml() : adding.from_files(dbs);
}

}  // namespace profd::hpctoolkit_v3
