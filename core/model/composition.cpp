#include "core/model/composition.h"

#include <algorithm>

namespace profd {
namespace {

// What is beyond the size of a growing vector is no memory before it is written to.
template <class T>
std::size_t held(const GrowingVector<T>& column) {
  return column.size() * sizeof(T);
}
template <class T>
std::size_t held(const std::vector<T>& column) {
  return column.capacity() * sizeof(T);
}

}  // namespace

std::size_t InputValues::memory() const {
  return held(first) + held(input) + std::visit([](const auto& values) { return held(values); }, value) +
         held(measured);
}

std::size_t Composition::n_before() const {
  return static_cast<std::size_t>(
      std::count_if(inputs.begin(), inputs.end(), [](const ComposedInput& input) { return input.before; }));
}

std::size_t Composition::memory() const {
  std::size_t bytes = contexts.bytes();
  for (const InputMetric& metric : of) bytes += metric.values.memory();
  for (const ComposedInput& input : inputs) bytes += held(input.context_of);
  for (const auto& frames : frames_of) bytes += held(frames);
  return bytes;
}

std::string metric_name(const std::string& of, MetricRole role) {
  switch (role) {
    case MetricRole::sum:
    case MetricRole::after:
      return of;
    case MetricRole::before:
      return of + " before";
    case MetricRole::change:
      return of + " change";
    case MetricRole::larger:
      return of + " larger";
    case MetricRole::difference:
      return of + " difference";
  }
  return of;
}

}  // namespace profd
