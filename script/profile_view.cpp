#include "script/profile_view.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/support/id.h"

namespace profd::script {
namespace {

void add(std::int64_t& to, std::int64_t value) {
  if (__builtin_add_overflow(to, value, &to))
    to = value < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}
void add(double& to, double value) {
  to += value;
}

}  // namespace

double as_double(const Values& values, std::uint32_t row) {
  return std::visit([row](const auto& v) { return static_cast<double>(v[row]); }, values);
}
double as_double(const ValueSpan& values, std::size_t row) {
  return std::visit([row](const auto& v) { return static_cast<double>(v[row]); }, values);
}

Result<ProfileView> ProfileView::make(worker::ScriptProfile about, worker::SharedColumns columns) {
  ProfileView view;
  view.about_ = std::move(about);
  view.columns_ = std::move(columns);
  PROFD_CHECK(view.take_columns());
  const std::size_t n_metrics = view.about_.metric_names.size();
  view.self_.resize(n_metrics);
  view.total_.resize(n_metrics);
  view.negative_.resize(n_metrics);
  return view;
}

Result<ValueSpan> ProfileView::values(const std::string& table, const std::string& which,
                                      std::size_t n) const {
  if (const auto whole = columns_.column<std::int64_t>(table + ".i." + which); whole.size() == n && n > 0)
    return ValueSpan(whole);
  if (const auto fractional = columns_.column<double>(table + ".d." + which); fractional.size() == n)
    return ValueSpan(fractional);
  return fail(ErrorCode::malformed, "shared columns: values of another length: " + table + " " + which);
}

Result<void> ProfileView::take_columns() {
  const auto ids = [&](const char* name) { return columns_.column<std::uint32_t>(name); };
  text_at_ = columns_.column<std::uint64_t>("strings.at");
  text_bytes_ = columns_.column<char>("strings.bytes");
  module_name = ids("module.name");
  function_name = ids("function.name");
  function_file = ids("function.file");
  function_line = ids("function.line");
  frame_function = ids("frame.function");
  frame_module = ids("frame.module");
  frame_file = ids("frame.file");
  frame_line = ids("frame.line");
  frame_kind = columns_.column<std::uint8_t>("frame.kind");
  parent = ids("context.parent");
  frame = ids("context.frame");
  end = ids("context.end");
  sample_context = ids("sample.context");
  sample_thread = ids("sample.thread");
  sample_labels = ids("sample.labels");
  sample_time = columns_.column<std::int64_t>("sample.time");
  thread_name = ids("thread.name");
  thread_process = ids("thread.process");
  thread_tid = columns_.column<std::int64_t>("thread.tid");
  thread_pid = columns_.column<std::int64_t>("thread.pid");
  label_first = ids("label.first");
  label_key = ids("label.key");
  label_text = ids("label.text");
  label_number = columns_.column<std::int64_t>("label.number");
  label_is_number = columns_.column<std::uint8_t>("label.is_number");
  self_at_ = ids("self.at");
  if (parent.empty() || frame.size() != parent.size() || end.size() != parent.size())
    return fail(ErrorCode::malformed, "shared columns: no contexts");
  for (std::size_t m = 0; m < about_.metric_names.size(); ++m) {
    PROFD_TRY(const ValueSpan self, values("self", std::to_string(m), self_at_.size()));
    self_rows_.push_back(self);
    if (sample_context.empty()) continue;
    PROFD_TRY(const ValueSpan sampled, values("sample", std::to_string(m), sample_context.size()));
    sample_values.push_back(sampled);
  }
  for (std::size_t t = 0; t < about_.records.size(); ++t) {
    RecordColumns& table = records.emplace_back();
    const std::string prefix = "records." + std::to_string(t);
    for (std::size_t r = 0; r < about_.records[t].roles.size(); ++r)
      table.contexts.push_back(columns_.column<std::uint32_t>(prefix + "." + std::to_string(r)));
    table.n = table.contexts.empty() ? 0 : table.contexts.front().size();
    for (std::size_t m = 0; m < about_.records[t].metrics.size(); ++m) {
      PROFD_TRY(const ValueSpan of_records, values(prefix, std::to_string(m), table.n));
      table.values.push_back(of_records);
    }
  }
  return {};
}

std::optional<std::uint32_t> ProfileView::find_metric(std::string_view name) const {
  const auto found = std::find(about_.metric_names.begin(), about_.metric_names.end(), name);
  if (found == about_.metric_names.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - about_.metric_names.begin());
}

std::string_view ProfileView::text(std::uint32_t id) const {
  if (std::size_t{id} + 1 >= text_at_.size()) return {};
  return {text_bytes_.data() + text_at_[id], static_cast<std::size_t>(text_at_[id + 1] - text_at_[id])};
}

std::uint32_t ProfileView::depth(std::uint32_t context) const {
  std::uint32_t depth = 0;
  for (; context != 0; context = parent[context]) ++depth;
  return depth;
}

const Values& ProfileView::self(std::uint32_t metric) {
  if (!self_[metric])
    std::visit(
        [&](const auto& rows) {
          using Number = std::remove_cv_t<typename std::decay_t<decltype(rows)>::element_type>;
          BigVector<Number> out(n_contexts(), 0);
          for (std::size_t i = 0; i < self_at_.size(); ++i) add(out[self_at_[i]], rows[i]);
          self_[metric] = Values(std::move(out));
        },
        self_rows_[metric]);
  return *self_[metric];
}

const Values& ProfileView::total(std::uint32_t metric) {
  if (!total_[metric]) {
    Values sums = self(metric);
    std::visit(
        [&](auto& out) {
          for (std::uint32_t c = n_contexts(); c-- > 1;) add(out[parent[c]], out[c]);
        },
        sums);
    total_[metric] = std::move(sums);
  }
  return *total_[metric];
}

double ProfileView::grand_total(std::uint32_t metric) {
  return as_double(total(metric), 0);
}

bool ProfileView::has_negative(std::uint32_t metric) {
  if (!negative_[metric])
    negative_[metric] = std::visit(
        [](const auto& rows) { return std::any_of(rows.begin(), rows.end(), [](auto v) { return v < 0; }); },
        self_rows_[metric]);
  return *negative_[metric];
}

std::vector<FunctionSum> ProfileView::functions(std::uint32_t metric) {
  const Values& selfs = self(metric);
  const Values& totals = total(metric);
  std::vector<FunctionSum> sums(function_name.size());
  std::vector<std::uint32_t> on_path(sums.size(), 0);
  std::vector<std::uint32_t> path;
  std::vector<std::uint8_t> met(sums.size(), 0);
  for (std::uint32_t c = 1; c < n_contexts(); ++c) {
    while (!path.empty() && end[path.back()] <= c) {
      --on_path[function_of(path.back())];
      path.pop_back();
    }
    const std::uint32_t function = function_of(c);
    met[function] = 1;
    sums[function].self += as_double(selfs, c);
    if (on_path[function]++ == 0) sums[function].total += as_double(totals, c);
    path.push_back(c);
  }
  std::vector<FunctionSum> out;
  for (std::uint32_t f = 0; f < sums.size(); ++f)
    if (met[f] != 0) {
      sums[f].function = f;
      out.push_back(sums[f]);
    }
  return out;
}

}  // namespace profd::script
