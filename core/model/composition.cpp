#include "core/model/composition.h"

#include <algorithm>

#include "core/support/two_sides.h"

namespace profd {
namespace {

// What is beyond the size of a growing vector is no memory before it is written to.
template <class T>
std::size_t held(const GrowingVector<T>& column) {
  return column.size() * sizeof(T);
}
template <class T, class Allocator>
std::size_t held(const std::vector<T, Allocator>& column) {
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

std::vector<std::uint8_t> Composition::has_frame(bool before, std::size_t n) const {
  std::vector<std::uint8_t> has(n, 0);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].before == before)
      for (const std::uint32_t frame : frames_of[i]) has[frame] = 1;
  return has;
}

std::size_t Composition::memory() const {
  std::size_t bytes = contexts.bytes();
  for (const InputMetric& metric : of) bytes += metric.values.memory();
  for (const ComposedInput& input : inputs) bytes += held(input.context_of);
  for (const auto& frames : frames_of) bytes += held(frames);
  return bytes;
}

Value value_of_sides(MetricRole role, const Value& before, const Value& after) {
  return std::visit(
      [&]<class T>(T b) -> Value {
        const T a = std::get<T>(after);
        bool fits = true;
        switch (role) {
          case MetricRole::change:
            return change_between(b, a, fits);
          case MetricRole::larger:
            return larger_of(b, a);
          case MetricRole::difference:
            return difference_of(b, a, fits);
          case MetricRole::before:
            return b;
          case MetricRole::sum:
          case MetricRole::after:
            break;
        }
        return a;
      },
      before);
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
