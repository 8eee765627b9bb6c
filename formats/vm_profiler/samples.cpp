#include "formats/vm_profiler/samples.h"

#include <array>

#include <fmt/format.h>

#include "core/model/bytecode_index.h"
#include "core/support/checked.h"

namespace profd::vm_profiler {

Samples::Samples(ProfileBuilder& builder, bool collections)
    : builder_(builder),
      samples_(builder.add_metric("samples", "count")),
      collections_(collections),
      range_key_(builder.string(kBytecodeLabel)) {
  if (collections) {
    builder.add_metric("collections", "count");
    builder.add_metric("gc time", "milliseconds", true);
  }
  builder.set_default_metric(samples_);
}

void Samples::add(std::string_view module, std::string_view function, std::int64_t count,
                  const Range* range) {
  FunctionSpec spec;
  spec.name = builder_.string(function);
  spec.unresolved = function == "...others...";
  FrameSpec frame;
  frame.function = builder_.function(spec);
  if (!module.empty()) frame.module = builder_.module({module});
  frame.kind = module == kGenerated ? FrameKind::jit : FrameKind::native;
  SampleContext where;
  if (range != nullptr) {
    frame.address = range->from;
    if (!bytecodes_) builder_.info().properties.emplace_back(kBytecodeProperty, kBytecodeFromOne);
    bytecodes_ = true;
    const std::string text =
        range->to == 0 ? fmt::format("{}->", range->from) : fmt::format("{}->{}", range->from, range->to);
    const Label label{range_key_, false, builder_.string(text)};
    where.labels = builder_.label_set(std::span(&label, 1));
  }
  const std::array<Value, 3> values{count, std::int64_t{0}, 0.0};
  builder_.add_sample(builder_.context(kRootContext, builder_.frame(frame)),
                      std::span<const Value>(values).first(collections_ ? 3 : 1), where);
  add_saturating(total_, count);
}

void Samples::add_collections(std::string_view kind, std::int64_t count, double milliseconds) {
  FrameSpec frame;
  frame.function = builder_.function(kind);
  frame.module = builder_.module({"GC"});
  frame.kind = FrameKind::gc;
  const std::array<Value, 3> values{std::int64_t{0}, count, milliseconds};
  builder_.add_sample(builder_.context(kRootContext, builder_.frame(frame)), std::span<const Value>(values));
}

}  // namespace profd::vm_profiler
