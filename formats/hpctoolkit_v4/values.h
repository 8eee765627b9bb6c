// profile.db and trace.db: values and time lines of threads.
#pragma once

#include "formats/hpctoolkit_v4/meta.h"

namespace profd::hpctoolkit_v4 {

// One thread (or stream) and where its values lie in profile.db.
struct ThreadProfile {
  std::uint64_t n_values = 0, values = 0, n_contexts = 0, contexts = 0;
  bool is_summary = false;
  ThreadSpec thread;
  std::string name, process_name;
};

Result<std::vector<ThreadProfile>> read_profiles(DatabaseFile& file, const Meta& meta);

// Declares the metrics that have values and adds a sample for every context of every thread.
Result<void> add_values(DatabaseFile& file, const std::vector<ThreadProfile>& profiles, const Meta& meta,
                        Scopes& scopes, ReadContext& context, ProfileBuilder& builder);

// Samples with their time; false when nothing was traced.
Result<bool> add_traces(DatabaseFile& file, const std::vector<ThreadProfile>& profiles, Scopes& scopes,
                        ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::hpctoolkit_v4
