// meta.db: metrics and the calling contexts.
#pragma once

#include <string>
#include <vector>

#include "formats/hpctoolkit_v4/database.h"
#include "formats/support/id_index.h"

namespace profd::hpctoolkit_v4 {

struct Metric {
  std::string name, unit;           // "CPUTIME", "sec"
  std::uint32_t point = kNone;      // id of the self value in a thread's profile
  std::uint32_t execution = kNone;  // id of the inclusive value
  std::uint32_t execution_sum = kNone;  // id of the inclusive sum over threads, in the summary
};

// One context: where its own value stands. The frame is added to the builder when a value or a callee needs
// it.
struct Scope {
  ContextId above;
  FrameSpec frame;
  ContextId context;
};

struct Meta {
  std::string title;
  std::vector<std::string> id_names;  // "RANK", "THREAD" by kind
  std::vector<Metric> metrics;
};

Result<Meta> read_meta(DatabaseFile& file, ReadContext& context);

class Scopes {
 public:
  // Reads the tree; frames go to `builder`.
  static Result<Scopes> read(DatabaseFile& file, ReadContext& context, ProfileBuilder& builder);
  // The row of a context's id; kNone for 0, the root, and for instructions, which meta.db may leave out.
  std::uint32_t row(std::uint32_t ctx_id) const { return index_.find(ctx_id); }
  std::uint32_t parent(std::uint32_t row) const { return parent_[row]; }  // kNone for entry points
  std::size_t size() const { return rows_.size(); }
  ContextId context(std::uint32_t row, ProfileBuilder& builder);

 private:
  friend class ScopeReading;
  IdIndex index_;
  std::vector<Scope> rows_;
  std::vector<std::uint32_t> parent_;
};

}  // namespace profd::hpctoolkit_v4
