// The user part of stacks that were copied while recording.
#include "formats/perf_data/session.h"

namespace profd::perf_data {

Result<void> Session::unwind() {
  return copies_.unwind([this](const WaitingSample& sample, std::span<const std::uint64_t> addresses,
                               const std::vector<bool>& exact,
                               StackEnd end) { return add_unwound(sample, addresses, exact, end); });
}

Result<void> Session::add_unwound(const WaitingSample& sample, std::span<const std::uint64_t> addresses,
                                  const std::vector<bool>& exact, StackEnd end) {
  Process& process = images_.process(sample.pid);
  // Where nothing is mapped is no code, whatever led there.
  const bool leads_nowhere = end == StackEnd::no_module && addresses.size() > 1 &&
                             !images_.is_mapped(process, addresses.back() - (exact.back() ? 0 : 1));
  if (leads_nowhere) addresses = addresses.first(addresses.size() - 1);
  stack_ = sample.kernel;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::uint64_t address = i == 0 && sample.leaf != 0 ? sample.leaf : addresses[i];
    if (auto pushed = push(process, kModeUser, address, !exact[i]); !pushed) {
      pushed.error().offset = sample.offset;
      return pushed;
    }
  }
  const ContextId context = context_of(sample.root);
  for (std::size_t row = 0; row < sample.n_rows; ++row) rows_[sample.first_row + row].context = context;
  return {};
}

}  // namespace profd::perf_data
