#include "formats/hpctoolkit_v4/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

namespace profd::hpctoolkit_v4 {
namespace {

constexpr std::uint64_t kValueSize = 10, kIndexSize = 12;

struct Id {
  std::uint8_t kind = 0;
  std::uint32_t logical = 0;
  std::uint64_t physical = 0;
};

Result<std::vector<Id>> read_tuple(DatabaseFile& file, std::uint64_t offset) {
  std::vector<Id> ids;
  if (offset == 0) return ids;
  ByteCursor in = file.at(offset);
  const std::uint16_t n = in.u16();
  in.skip(6);
  if (!in.ok()) return tl::unexpected<Error>(file.early(in, "the ids of a thread"));
  PROFD_CHECK(file.check_array(offset + 8, n, 16, 16, "ids of a thread"));
  for (std::uint16_t i = 0; i < n; ++i) {
    Id id;
    id.kind = in.u8();
    in.skip(3);
    id.logical = in.u32();
    id.physical = in.u64();
    ids.push_back(id);
  }
  return ids;
}

void name_thread(const std::vector<Id>& ids, const Meta& meta, bool several_nodes, ThreadProfile& profile) {
  for (const Id& id : ids) {
    const std::string_view kind =
        id.kind < meta.id_names.size() ? std::string_view(meta.id_names[id.kind]) : std::string_view("ID");
    const auto add = [](std::string& text, std::string piece) {
      text += (text.empty() ? "" : " ") + std::move(piece);
    };
    if (kind == "NODE") {
      if (several_nodes) add(profile.process_name, fmt::format("node {:x}", id.physical));
    } else if (kind == "RANK") {
      profile.thread.pid = id.logical;
      add(profile.process_name, fmt::format("rank {}", id.logical));
    } else if (kind == "THREAD") {
      profile.thread.tid = id.logical;
      add(profile.name, fmt::format("thread {}", id.logical));
    } else if (kind == "CORE") {
      add(profile.name, fmt::format("core {}", id.logical));
    } else {
      std::string lower(kind);
      std::transform(lower.begin(), lower.end(), lower.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      add(profile.name, fmt::format("{} {}", lower, id.logical));
    }
  }
  profile.thread.name = profile.name;
  profile.thread.process_name = profile.process_name;
}

// (context, first value, past its last value) of a thread's value block, checked.
template <class Visit>
Result<void> for_contexts(DatabaseFile& file, const ThreadProfile& profile, const Visit& visit) {
  PROFD_CHECK(file.check_array(profile.values, profile.n_values, kValueSize, kValueSize, "values"));
  PROFD_CHECK(
      file.check_array(profile.contexts, profile.n_contexts, kIndexSize, kIndexSize, "contexts with values"));
  if (profile.n_contexts == 0) return {};
  ByteCursor in = file.at(profile.contexts);
  std::uint32_t id = in.u32();
  std::uint64_t first = in.u64();
  for (std::uint64_t i = 0; i < profile.n_contexts; ++i) {
    std::uint32_t next_id = 0;
    std::uint64_t last = profile.n_values;
    if (i + 1 < profile.n_contexts) {
      next_id = in.u32();
      last = in.u64();
    }
    if (first > last || last > profile.n_values)
      return fail(ErrorCode::malformed, fmt::format("the values of context {} lie outside their thread", id),
                  in.offset());
    PROFD_CHECK(visit(id, file.at(profile.values + first * kValueSize), last - first));
    id = next_id;
    first = last;
  }
  return {};
}

// Inclusive values of one thread by context, and the self values computed from them.
//
// Self values are stored too, but for instructions, and meta.db leaves out instructions below their lines. So
// a context's own value is its inclusive one minus those of the contexts below it that meta.db has.
class ThreadValues {
 public:
  void clear() {
    rows_.clear();
    first_.clear();
    column_.clear();
    inclusive_.clear();
  }
  void begin(std::uint32_t row) {
    rows_.push_back(row);
    first_.push_back(column_.size());
  }
  void add(std::uint32_t column, double value) {
    column_.push_back(column);
    inclusive_.push_back(value);
  }

  // Of the context begun last.
  std::size_t n_last() const { return column_.size() - first_.back(); }

  // Counts values below contexts that have none themselves.
  std::uint64_t subtract_children(const Scopes& scopes) {
    first_.push_back(column_.size());
    place_.resize(scopes.size(), kNone);
    for (std::size_t i = 0; i < rows_.size(); ++i) place_[rows_[i]] = static_cast<std::uint32_t>(i);
    self_ = inclusive_;
    std::uint64_t n_lost = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::uint32_t parent = scopes.parent(rows_[i]);
      if (parent == kNone) continue;
      const std::uint32_t above = place_[parent];
      for (std::size_t v = first_[i]; v < first_[i + 1]; ++v) {
        const std::size_t at = above == kNone ? column_.size() : find(above, column_[v]);
        if (at == column_.size())
          ++n_lost;
        else
          self_[at] -= inclusive_[v];
      }
    }
    for (const std::uint32_t row : rows_) place_[row] = kNone;
    for (std::size_t v = 0; v < self_.size(); ++v)
      if (std::abs(self_[v]) <= 1e-12 * std::abs(inclusive_[v])) self_[v] = 0;  // what rounding left over
    return n_lost;
  }

  std::size_t n_contexts() const { return rows_.size(); }
  std::uint32_t row(std::size_t i) const { return rows_[i]; }
  template <class Visit>
  void for_self(std::size_t i, const Visit& visit) const {
    for (std::size_t v = first_[i]; v < first_[i + 1]; ++v)
      if (self_[v] != 0) visit(column_[v], self_[v]);
  }

 private:
  std::size_t find(std::uint32_t place, std::uint32_t column) const {
    for (std::size_t v = first_[place]; v < first_[place + std::size_t{1}]; ++v)
      if (column_[v] == column) return v;
    return column_.size();
  }

  std::vector<std::uint32_t> rows_, column_, place_;
  std::vector<std::size_t> first_;
  std::vector<double> inclusive_, self_;
};

constexpr std::size_t kMaxMetrics = 4096;  // with values

class Values {
 public:
  Values(DatabaseFile& file, const std::vector<ThreadProfile>& profiles, const Meta& meta, Scopes& scopes,
         ReadContext& context, ProfileBuilder& builder)
      : file_(file),
        profiles_(profiles),
        meta_(meta),
        scopes_(scopes),
        context_(context),
        builder_(builder) {}

  Result<void> run() {
    use_summary_ = std::none_of(profiles_.begin(), profiles_.end(),
                                [](const ThreadProfile& p) { return !p.is_summary && p.n_values > 0; });
    if (use_summary_)
      context_.report.add("no-threads", Severity::info,
                          "The database has no values of single threads; the sums over all are shown.");
    PROFD_CHECK(find_used());
    PROFD_CHECK(declare());
    for (const ThreadProfile& profile : profiles_) {
      if (profile.is_summary != use_summary_) continue;
      SampleContext where;
      if (!use_summary_) where.thread = builder_.thread(profile.thread);
      PROFD_CHECK(add_thread(profile, where));
    }
    compare_totals();
    report();
    return {};
  }

 private:
  std::uint32_t id_of(const Metric& metric) const {
    return use_summary_ ? metric.execution_sum : metric.execution;
  }

  // Which metrics have a value at all, and what the whole took.
  Result<void> find_used() {
    used_.assign(std::size_t{1} << 16, false);
    expected_.assign(std::size_t{1} << 16, 0);
    for (const ThreadProfile& profile : profiles_) {
      if (profile.is_summary != use_summary_) continue;
      PROFD_CHECK(
          for_contexts(file_, profile, [&](std::uint32_t id, ByteCursor in, std::uint64_t n) -> Result<void> {
            if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
            for (std::uint64_t i = 0; i < n; ++i) {
              const std::uint16_t metric = in.u16();
              const double value = in.f64();
              if (value != 0) used_[metric] = true;
              if (id == 0) expected_[metric] += value;
            }
            return {};
          }));
    }
    return {};
  }

  Result<void> declare() {
    column_.assign(std::size_t{1} << 16, kNone);
    std::uint64_t n_empty = 0, n_without = 0;
    std::optional<MetricId> best;
    for (const Metric& metric : meta_.metrics) {
      const std::uint32_t id = id_of(metric);
      if (id == kNone) {
        ++n_without;
        continue;
      }
      if (!used_[id]) {
        ++n_empty;
        continue;
      }
      if (declared_.size() == kMaxMetrics)
        return fail(ErrorCode::limit, fmt::format("more than {} metrics have values", kMaxMetrics));
      const MetricId added = builder_.add_metric(metric.name, metric.unit, true);
      column_[id] = added.v;
      declared_.push_back(&metric);
      if (!best && (metric.name == "CPUTIME" || metric.name == "REALTIME" || metric.name == "cycles"))
        best = added;
    }
    if (best) builder_.set_default_metric(*best);
    if (n_empty > 0)
      context_.report.add("metric-without-values", Severity::info,
                          "Metrics have no value anywhere; they are not shown.", std::nullopt, n_empty);
    if (n_without > 0)
      context_.report.add("metric-without-inclusive", Severity::loss,
                          "Metrics have no inclusive values (scope \"execution\"); they are not shown.",
                          std::nullopt, n_without);
    if (declared_.empty()) {
      if (meta_.metrics.empty()) return fail(ErrorCode::malformed, "the database has no metric");
      const Metric& first = meta_.metrics.front();
      builder_.add_metric(first.name, first.unit, true);
      declared_.push_back(&first);
      context_.report.add("no-samples", Severity::info, "The database has no values.");
    }
    sums_.assign(declared_.size(), 0);
    row_.assign(declared_.size(), 0);
    seen_.assign(scopes_.size(), false);
    return {};
  }

  Result<void> add_thread(const ThreadProfile& profile, const SampleContext& where) {
    values_.clear();
    PROFD_CHECK(
        for_contexts(file_, profile, [&](std::uint32_t id, ByteCursor in, std::uint64_t n) -> Result<void> {
          const std::uint32_t row = scopes_.row(id);
          if (row == kNone) return {};
          if (seen_[row])
            return fail(ErrorCode::malformed, fmt::format("a thread has values of context {} twice", id),
                        in.offset());
          seen_[row] = true;
          values_.begin(row);
          for (std::uint64_t i = 0; i < n; ++i) {
            const std::uint32_t column = column_[in.u16()];
            const double value = in.f64();
            if (column == kNone || value == 0) continue;
            if (std::isfinite(value))
              values_.add(column, value);
            else
              ++n_odd_;
          }
          // Else looking for the value of the caller could take as long as there are values.
          if (values_.n_last() > declared_.size())
            return fail(ErrorCode::malformed,
                        fmt::format("context {} has more values than there are metrics", id), in.offset());
          return {};
        }));
    for (std::size_t i = 0; i < values_.n_contexts(); ++i) seen_[values_.row(i)] = false;
    n_lost_ += values_.subtract_children(scopes_);
    for (std::size_t i = 0; i < values_.n_contexts(); ++i) {
      if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      bool any = false;
      values_.for_self(i, [&](std::uint32_t column, double value) {
        row_[column] += value;
        sums_[column] += value;
        n_negative_ += value < 0;
        any = true;
      });
      if (!any) continue;
      builder_.add_sample(scopes_.context(values_.row(i), builder_), std::span<const double>(row_), where);
      std::fill(row_.begin(), row_.end(), 0.0);
    }
    return {};
  }

  void compare_totals() {
    for (std::size_t m = 0; m < declared_.size(); ++m) {
      const std::uint32_t id = id_of(*declared_[m]);
      if (id == kNone || expected_[id] == 0) continue;
      if (!(std::abs(expected_[id] - sums_[m]) <= 1e-9 * std::abs(expected_[id])))
        context_.report.add(
            "total-differs", Severity::loss,
            fmt::format("The database says that {} is {} in total, its contexts add up to {}.",
                        declared_[m]->name, expected_[id], sums_[m]));
    }
  }

  void report() {
    const auto loss = [&](std::string_view kind, std::uint64_t n, std::string_view text) {
      if (n > 0) context_.report.add(kind, Severity::loss, text, std::nullopt, n);
    };
    loss("value-below-nothing", n_lost_, "Values stand below contexts that have none themselves.");
    loss("negative-self", n_negative_,
         "Contexts have less than the contexts below them; their own value is negative.");
    loss("value-not-finite", n_odd_, "Values that are no finite numbers count as 0.");
  }

  DatabaseFile& file_;
  const std::vector<ThreadProfile>& profiles_;
  const Meta& meta_;
  Scopes& scopes_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  bool use_summary_ = false;
  std::vector<bool> used_, seen_;
  std::vector<double> expected_;       // by metric id, inclusive at the root
  std::vector<std::uint32_t> column_;  // by metric id
  std::vector<const Metric*> declared_;
  std::vector<double> sums_, row_;
  ThreadValues values_;
  std::uint64_t n_lost_ = 0, n_odd_ = 0, n_negative_ = 0;
};

}  // namespace

Result<std::vector<ThreadProfile>> read_profiles(DatabaseFile& file, const Meta& meta) {
  PROFD_TRY(const std::uint64_t section, file.section(0));
  ByteCursor in = file.at(section);
  const std::uint64_t offset = in.u64();
  const std::uint32_t n = in.u32();
  const std::uint8_t stride = in.u8();
  if (!in.ok()) return tl::unexpected<Error>(file.early(in, "the section of profiles"));
  PROFD_CHECK(file.check_array(offset, n, stride, 40, "profiles"));
  std::vector<ThreadProfile> profiles(n);
  std::vector<std::vector<Id>> tuples;
  std::set<std::uint64_t> nodes;
  for (std::uint32_t i = 0; i < n; ++i) {
    ByteCursor info = file.at(offset + std::uint64_t{i} * stride);
    ThreadProfile& profile = profiles[i];
    profile.n_values = info.u64();
    profile.values = info.u64();
    profile.n_contexts = info.u32();
    info.skip(4);
    profile.contexts = info.u64();
    const std::uint64_t tuple = info.u64();
    // The documented 40 bytes end with the flags; files have 48.
    profile.is_summary = (info.u32() & 1) != 0;
    PROFD_TRY(std::vector<Id> ids, read_tuple(file, tuple));
    for (const Id& id : ids)
      if (id.kind < meta.id_names.size() && meta.id_names[id.kind] == "NODE") nodes.insert(id.physical);
    tuples.push_back(std::move(ids));
  }
  for (std::uint32_t i = 0; i < n; ++i) name_thread(tuples[i], meta, nodes.size() > 1, profiles[i]);
  return profiles;
}

Result<void> add_values(DatabaseFile& file, const std::vector<ThreadProfile>& profiles, const Meta& meta,
                        Scopes& scopes, ReadContext& context, ProfileBuilder& builder) {
  return Values(file, profiles, meta, scopes, context, builder).run();
}

Result<bool> add_traces(DatabaseFile& file, const std::vector<ThreadProfile>& profiles, Scopes& scopes,
                        ReadContext& context, ProfileBuilder& builder) {
  constexpr std::uint64_t kElement = 12;
  PROFD_TRY(const std::uint64_t section, file.section(0));
  ByteCursor in = file.at(section);
  const std::uint64_t offset = in.u64();
  const std::uint32_t n = in.u32();
  const std::uint8_t stride = in.u8();
  in.skip(3);
  const std::uint64_t begin = in.u64();
  if (!in.ok()) return tl::unexpected<Error>(file.early(in, "the section of traces"));
  PROFD_CHECK(file.check_array(offset, n, stride, 24, "traces"));
  builder.add_metric("time", "nanoseconds");
  if (begin <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    builder.info().time_ns = static_cast<std::int64_t>(begin);
  std::uint64_t n_added = 0, n_lost = 0, n_backwards = 0;
  for (std::uint32_t t = 0; t < n; ++t) {
    ByteCursor header = file.at(offset + std::uint64_t{t} * stride);
    const std::uint32_t profile = header.u32();
    header.skip(4);
    const std::uint64_t first = header.u64(), last = header.u64();
    if (profile >= profiles.size())
      return fail(ErrorCode::malformed,
                  fmt::format("a trace is of profile {}, there are {}", profile, profiles.size()),
                  offset + std::uint64_t{t} * stride);
    if (first == last) continue;
    if (first > last || (last - first) % kElement != 0)
      return fail(ErrorCode::malformed, "a trace is no whole number of elements",
                  offset + std::uint64_t{t} * stride);
    const std::uint64_t n_elements = (last - first) / kElement;
    PROFD_CHECK(file.check_array(first, n_elements, kElement, kElement, "trace elements"));
    SampleContext where;
    where.thread = builder.thread(profiles[profile].thread);
    ByteCursor trace = file.at(first);
    std::uint64_t time = trace.u64();
    for (std::uint64_t i = 0; i < n_elements; ++i) {
      if (context.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      const std::uint32_t id = trace.u32();
      const std::uint64_t until = i + 1 < n_elements ? trace.u64() : time;
      const std::uint64_t now = time;
      time = until;
      if (until < now || now < begin) ++n_backwards;
      // 0: not running
      if (id == 0 || until <= now || now < begin) continue;
      const std::uint32_t row = scopes.row(id);
      if (row == kNone) {
        ++n_lost;
        continue;
      }
      const ContextId at = scopes.context(row, builder);
      const auto duration = static_cast<std::int64_t>(std::min<std::uint64_t>(until - now, INT64_MAX));
      where.time = static_cast<std::int64_t>(std::min<std::uint64_t>(now - begin, INT64_MAX));
      builder.add_sample(at, std::array<std::int64_t, 1>{duration}, where);
      ++n_added;
    }
  }
  if (n_lost > 0)
    context.report.add("unknown-context", Severity::loss,
                       "Trace elements belong to contexts that meta.db does not have; they were left out.",
                       std::nullopt, n_lost);
  if (n_backwards > 0)
    context.report.add("negative-time-delta", Severity::loss,
                       "Times of a trace ran backwards; these steps count as 0.", std::nullopt, n_backwards);
  return n_added > 0;
}

}  // namespace profd::hpctoolkit_v4
