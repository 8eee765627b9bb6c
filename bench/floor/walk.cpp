#include "bench/floor/walk.h"

#include <vector>

#include <protozero/pbf_reader.hpp>

namespace profd::bench {
namespace {

constexpr protozero::pbf_tag_type kSampleType = 1, kSample = 2, kLocationId = 1, kValue = 2;

// Calls visit(value) for a repeated integer field, packed or not.
template <class Visit>
void each(protozero::pbf_reader& message, Visit visit) {
  if (message.wire_type() == protozero::pbf_wire_type::varint) return visit(message.get_uint64());
  for (const std::uint64_t value : message.get_packed_uint64()) visit(value);
}

}  // namespace

WalkResult walk_varints(std::string_view pprof) {
  WalkResult result{};
  std::uint64_t id_sum = 0;
  protozero::pbf_reader profile(pprof.data(), pprof.size());
  while (profile.next()) {
    if (profile.tag() != kSample) {
      profile.skip();
      continue;
    }
    ++result.samples;
    protozero::pbf_reader sample = profile.get_message();
    while (sample.next()) {
      if (sample.tag() == kLocationId)
        each(sample, [&](std::uint64_t id) { id_sum += id, ++result.references; });
      else if (sample.tag() == kValue)
        each(sample, [&](std::uint64_t value) { result.value_sum += value; });
      else
        sample.skip();
    }
  }
  // The ids must be read for the walk to be a walk.
  if (id_sum == 1) ++result.value_sum;
  return result;
}

WalkResult fill_columns(std::string_view pprof) {
  std::size_t n_metrics = 0;
  std::vector<std::uint32_t> locations;
  std::vector<std::uint64_t> stack_ends;
  std::vector<std::vector<std::int64_t>> metrics;
  // An id takes at least a byte, mostly two; a sample with a stack some twenty.
  locations.reserve(pprof.size() / 2);
  stack_ends.reserve(pprof.size() / 20);

  WalkResult result{};
  protozero::pbf_reader profile(pprof.data(), pprof.size());
  while (profile.next()) {
    if (profile.tag() == kSampleType) {
      ++n_metrics;
      metrics.emplace_back().reserve(pprof.size() / 20);
    }
    if (profile.tag() != kSample) {
      profile.skip();
      continue;
    }
    protozero::pbf_reader sample = profile.get_message();
    std::size_t metric = 0;
    while (sample.next()) {
      if (sample.tag() == kLocationId) {
        each(sample, [&](std::uint64_t id) { locations.push_back(static_cast<std::uint32_t>(id)); });
      } else if (sample.tag() == kValue) {
        each(sample, [&](std::uint64_t value) {
          if (metric < n_metrics) metrics[metric++].push_back(static_cast<std::int64_t>(value));
        });
      } else {
        sample.skip();
      }
    }
    stack_ends.push_back(locations.size());
  }
  result.samples = stack_ends.size();
  result.references = locations.size();
  for (const auto& column : metrics)
    for (const std::int64_t value : column) result.value_sum += static_cast<std::uint64_t>(value);
  return result;
}

}  // namespace profd::bench
