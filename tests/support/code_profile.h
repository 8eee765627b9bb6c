// Profiles with machine code, built frame by frame.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/branch_sums.h"
#include "core/model/profile_builder.h"

namespace profd::test {

// One module, whose addresses are those of its symbol table if nothing else is said, and one metric, cpu.
class CodeProfile {
 public:
  explicit CodeProfile(std::string_view module = "/b/app", AddressKind kind = AddressKind::vaddr) {
    metric_ = builder_.add_metric("cpu", "count");
    ModuleSpec app;
    app.name = module;
    app.build_id = "a1";
    app.addresses = kind;
    module_ = builder_.module(app);
  }

  PieceId piece(std::string_view name, std::uint64_t start, std::uint64_t n_bytes) {
    PieceSpec spec;
    spec.module = module_;
    spec.start = start;
    spec.n_bytes = n_bytes;
    spec.name = builder_.string(name);
    spec.function = builder_.function(name, "a.cc");
    return builder_.piece(spec);
  }

  struct Where {
    std::uint64_t address = 0;
    PieceId piece = {};
    std::uint32_t line = 0;
    bool is_return = false, inlined = false;
  };
  FrameId frame(std::string_view function, const Where& where) {
    FrameSpec spec;
    spec.function = builder_.function(function, "a.cc");
    spec.module = module_;
    spec.file = builder_.string("a.cc");
    spec.line = where.line;
    spec.address = where.address;
    spec.piece = where.piece;
    spec.is_return = where.is_return;
    spec.inlined = where.inlined;
    return builder_.frame(spec);
  }

  void stack(const std::vector<FrameId>& root_first, std::int64_t value) {
    builder_.add_sample(std::span<const FrameId>(root_first), std::span<const std::int64_t>(&value, 1));
  }

  ModuleId module() const { return module_; }
  void branches(BranchSums sums) { builder_.set_branches(std::move(sums).finish()); }

  ProfilePtr finish() {
    auto made = std::move(builder_).finish();
    return made ? *made : nullptr;
  }

 private:
  ProfileBuilder builder_;
  MetricId metric_;
  ModuleId module_;
};

}  // namespace profd::test
