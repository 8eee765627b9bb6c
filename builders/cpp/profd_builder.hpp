// profd builder, C++17: the C builder with strong ids and ownership. Link c/profd_builder.c.
//
//   profd::Builder b("myprof");
//   const auto cpu = b.metric("cpu", "nanoseconds");
//   const auto work = b.frame(b.function("work", "main.cpp"), 5);
//   b.add(b.context(b.root(), work), cpu, 1'500'000);
//   if (!b.write("out.profd")) std::cerr << b.error() << '\n';
//
// Errors stick, as in C: nothing throws, error() tells the first one. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../c/profd_builder.h"

namespace profd {

template <class Tag>
struct BuilderId {
  std::uint32_t v = PROFD_NONE;
};
using BuiltMetric = BuilderId<struct BuiltMetricTag>;
using BuiltModule = BuilderId<struct BuiltModuleTag>;
using BuiltFunction = BuilderId<struct BuiltFunctionTag>;
using BuiltFrame = BuilderId<struct BuiltFrameTag>;
using BuiltContext = BuilderId<struct BuiltContextTag>;
using BuiltThread = BuilderId<struct BuiltThreadTag>;
using BuiltLabels = BuilderId<struct BuiltLabelsTag>;
using BuiltAssociation = BuilderId<struct BuiltAssociationTag>;

class Builder {
 public:
  explicit Builder(const std::string& profiler) : b_(profd_new(profiler.c_str()), profd_free) {}

  void program(const std::string& path) { profd_program(get(), path.c_str()); }
  void comment(const std::string& text) { profd_comment(get(), text.c_str()); }
  void time(std::int64_t start_unix_ns, std::int64_t duration_ns) {
    profd_time(get(), start_unix_ns, duration_ns);
  }
  void period(std::int64_t period, const std::string& type, const std::string& unit) {
    profd_period(get(), period, type.c_str(), unit.c_str());
  }

  BuiltMetric metric(const std::string& name, const std::string& unit) {
    return {profd_metric(get(), name.c_str(), unit.c_str())};
  }
  BuiltMetric real_metric(const std::string& name, const std::string& unit) {
    return {profd_real_metric(get(), name.c_str(), unit.c_str())};
  }
  void default_metric(BuiltMetric metric) { profd_default_metric(get(), metric.v); }

  BuiltModule module(const std::string& name, const std::string& build_id = {}) {
    return {profd_module(get(), name.c_str(), build_id.c_str())};
  }
  BuiltFunction function(const std::string& name, const std::string& file = {}, std::uint32_t line = 0) {
    return {profd_function(get(), name.c_str(), file.c_str(), line)};
  }
  BuiltFrame frame(BuiltFunction function, std::uint32_t line = 0) {
    return {profd_frame(get(), function.v, line)};
  }
  BuiltFrame frame(profd_frame_spec spec) {
    spec.size = sizeof spec;
    return {profd_frame_of(get(), &spec)};
  }
  BuiltThread thread(const std::string& name, std::int64_t tid = -1, const std::string& process = {},
                     std::int64_t pid = -1) {
    return {profd_thread(get(), name.c_str(), tid, process.c_str(), pid)};
  }
  BuiltLabels labels(const std::vector<profd_label>& labels) {
    return {profd_labels(get(), labels.data(), labels.size())};
  }

  static BuiltContext root() { return {PROFD_ROOT}; }
  BuiltContext context(BuiltContext parent, BuiltFrame frame) {
    return {profd_context(get(), parent.v, frame.v)};
  }
  // Root first.
  BuiltContext stack(const std::vector<BuiltFrame>& frames) {
    BuiltContext at = root();
    for (const BuiltFrame frame : frames) at = context(at, frame);
    return at;
  }

  void add(BuiltContext context, BuiltMetric metric, std::int64_t value) {
    profd_add(get(), context.v, metric.v, value);
  }
  void add_real(BuiltContext context, BuiltMetric metric, double value) {
    profd_add_real(get(), context.v, metric.v, value);
  }
  // One value per metric.
  void sample(BuiltContext context, const std::vector<std::int64_t>& values, BuiltThread thread = {},
              std::int64_t time = PROFD_NO_TIME, BuiltLabels labels = {0}) {
    profd_sample(get(), context.v, values.data(), thread.v, time, labels.v);
  }

  BuiltAssociation association(const std::string& name, const std::vector<std::string>& roles) {
    std::vector<const char*> texts;
    for (const std::string& role : roles) texts.push_back(role.c_str());
    return {profd_association(get(), name.c_str(), texts.data(), texts.size())};
  }
  void tie(BuiltAssociation association, const std::vector<BuiltContext>& contexts, std::int64_t value) {
    std::vector<std::uint32_t> ids;
    for (const BuiltContext context : contexts) ids.push_back(context.v);
    profd_tie(get(), association.v, ids.data(), value);
  }

  bool write(const std::string& path) { return profd_write(get(), path.c_str()); }
  std::string_view error() const {
    const char* text = profd_error(b_.get());
    return text ? text : std::string_view();
  }
  profd_builder* get() const { return b_.get(); }

 private:
  std::unique_ptr<profd_builder, void (*)(profd_builder*)> b_;
};

}  // namespace profd
