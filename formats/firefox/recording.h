// What both kinds of Firefox profiles become before they are added to a builder: stacks as contexts, samples
// as columns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/firefox/columns.h"
#include "formats/firefox/counters.h"
#include "formats/firefox/markers.h"
#include "formats/reader.h"

namespace profd::firefox {

enum class WeightType : std::uint8_t { samples, tracing_ms, bytes };
enum class CpuUnit : std::uint8_t { none, nanoseconds, microseconds, cycles };

// Frames and stacks, by index in the file.
struct Stacks {
  std::vector<FrameId> frame;  // by frame
  // By frame, where callers' addresses are those that calls return to, so that a frame is one thing where it
  // ran and another where it called: those with an address, which have no `frame`. Empty: nothing differs.
  std::vector<FrameSpec> bare;
  Indices frame_category;       // by frame: into labels, kNone none
  Indices prefix, stack_frame;  // by stack
  Indices stack_category;       // by stack: into labels; kNone: the frame's, else the prefix's
  Indices context;              // by stack: a ContextId; made by link(), which empties all columns above
  Indices labels;               // by stack: a LabelSetId; made by link()
  // By stack that calls something and may be what ran as well: the context of its caller, and what to add
  // there, of `bare`; kNone elsewhere. Empty where that is.
  Indices above, leaf;
  std::uint64_t place = 0;
};

struct Allocations {
  Indices stack;
  Numbers time, weight, address;
};

struct Samples {
  Indices stack;
  Numbers time, weight, cpu;  // weight empty: 1 each
  WeightType weight_type = WeightType::samples;
};

struct Thread {
  std::string name, process_name, pid, tid;
  std::shared_ptr<Stacks> stacks;
  Samples samples;
  std::optional<Allocations> js_allocations, native_allocations;
  Markers markers;
  std::int64_t offset = 0;  // nanoseconds to add to every time
};

// Everything that is read from one file.
struct Recording {
  ProfileBuilder builder;
  std::vector<Thread> threads;
  std::int64_t interval_ns = 0;
  CpuUnit cpu_unit = CpuUnit::none;
  Roundings roundings;
  JsonFields fields;
  MarkerLosses markers;
  std::vector<Counter> counters;
  std::vector<LabelSetId> category_labels, idle_labels;
};

// Makes contexts of stacks. Parents stand before their children.
Result<void> link(Stacks& stacks, const std::vector<LabelSetId>& category_labels, std::uint32_t max_depth,
                  ProfileBuilder& builder);

// Declares metrics and adds all samples and allocations.
Result<void> add_samples(Recording& recording, ReadContext& context);

// "0x1f2b": a name that stands for an address.
bool is_address(std::string_view name);
// Names of categories tell kernel and collector frames apart.
FrameKind kind_of_category(std::string_view category, std::string_view subcategory, bool is_js);

}  // namespace profd::firefox
