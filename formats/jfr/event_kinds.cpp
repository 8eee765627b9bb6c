#include "formats/jfr/event_kinds.h"

namespace profd::jfr {
namespace {

constexpr MetricPlan kSamples{"samples", "count", Measure::events};
constexpr MetricPlan kEvents{"events", "count", Measure::events};
constexpr MetricPlan kDuration{"duration", "nanoseconds", Measure::duration};
constexpr MetricPlan kBytes{"bytes", "bytes", Measure::size};
constexpr MetricPlan period_metric(std::string_view name) {
  return {name, "nanoseconds", Measure::period};
}

constexpr std::array<FamilyPlan, kNFamilies> kPlans{{
    {"cpu", {kSamples, period_metric("cpu")}, 0},
    {"cpu time", {kSamples, period_metric("cpu")}, 1},
    {"wall", {kSamples, period_metric("wall")}, 0},
    {"native", {kSamples, period_metric("time")}, 0},
    {"alloc",
     {kSamples, MetricPlan{"alloc_space", "bytes", Measure::represented},
      MetricPlan{"object_size", "bytes", Measure::size}},
     1},
    {"alloc sample", {kSamples, MetricPlan{"alloc_space", "bytes", Measure::represented}}, 1},
    {"live",
     {MetricPlan{"inuse_objects", "count", Measure::events},
      MetricPlan{"inuse_space", "bytes", Measure::size}},
     1},
    {"old objects", {kSamples, MetricPlan{"object_size", "bytes", Measure::size}}, 0},
    {"malloc",
     {MetricPlan{"malloc_objects", "count", Measure::events},
      MetricPlan{"malloc_space", "bytes", Measure::size},
      MetricPlan{"inuse_objects", "count", Measure::held_events},
      MetricPlan{"inuse_space", "bytes", Measure::held_size}},
     1},
    {"lock",
     {MetricPlan{"contentions", "count", Measure::events},
      MetricPlan{"delay", "nanoseconds", Measure::duration}},
     1},
    {"park", {kEvents, kDuration}, 1},
    {"wait", {kEvents, kDuration}, 1},
    {"sleep", {kEvents, kDuration}, 1},
    {"native lock",
     {MetricPlan{"contentions", "count", Measure::events},
      MetricPlan{"delay", "nanoseconds", Measure::duration}},
     1},
    {"socket read", {kEvents, kDuration, kBytes}, 1},
    {"socket write", {kEvents, kDuration, kBytes}, 1},
    {"file read", {kEvents, kDuration, kBytes}, 1},
    {"file write", {kEvents, kDuration, kBytes}, 1},
    {"exceptions", {kEvents}, 0},
    {"errors", {kEvents}, 0},
    {"method trace", {kEvents, kDuration}, 1},
}};

constexpr std::array<EventKind, 27> kKinds{{
    {"jdk.ExecutionSample", Family::cpu},
    {"datadog.ExecutionSample", Family::cpu},
    {"jdk.CPUTimeSample", Family::cpu_time},
    {"profiler.WallClockSample", Family::wall},
    {"datadog.MethodSample", Family::wall},
    {"jdk.NativeMethodSample", Family::native},
    {"jdk.ObjectAllocationInNewTLAB", Family::alloc},
    {"jdk.ObjectAllocationOutsideTLAB", Family::alloc},
    {"jdk.ObjectAllocationSample", Family::alloc_sample},
    {"datadog.ObjectSample", Family::alloc_sample},
    {"profiler.LiveObject", Family::live},
    {"datadog.HeapLiveObject", Family::live},
    {"jdk.OldObjectSample", Family::old_objects},
    {"profiler.Malloc", Family::malloc},
    {"jdk.JavaMonitorEnter", Family::lock},
    {"jdk.ThreadPark", Family::park},
    {"jdk.JavaMonitorWait", Family::wait},
    {"jdk.ThreadSleep", Family::sleep},
    {"profiler.NativeLock", Family::native_lock},
    {"jdk.SocketRead", Family::socket_read},
    {"jdk.SocketWrite", Family::socket_write},
    {"jdk.FileRead", Family::file_read},
    {"jdk.FileWrite", Family::file_write},
    {"jdk.JavaExceptionThrow", Family::exceptions},
    {"datadog.ExceptionSample", Family::exceptions},
    {"jdk.JavaErrorThrow", Family::errors},
    {"jdk.MethodTrace", Family::method_trace},
}};

}  // namespace

const FamilyPlan& plan_of(Family family) {
  return kPlans[static_cast<std::size_t>(family)];
}

std::span<const EventKind> event_kinds() {
  return kKinds;
}

}  // namespace profd::jfr
