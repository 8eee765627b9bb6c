#include "server/dialect/psp/convert_states.h"

#include <utility>

#include "server/dialect/psp/convert_views.h"
#include "server/dialect/psp/view_head.h"

namespace profd {
namespace {

psp::ThreadStates states_to_psp(ThreadStatesRow row) {
  psp::ThreadStates out;
  out.name = std::move(row.name);
  if (!row.filter.empty()) out.filter = std::move(row.filter);
  out.wall = to_psp(row.wall);
  out.on_cpu = to_psp(row.on_cpu);
  out.blocked = to_psp(row.blocked);
  out.runnable = to_psp(row.runnable);
  out.unknown = to_psp(row.unknown);
  return out;
}

}  // namespace

psp::StatesResult to_psp(StatesAnswer answer) {
  psp::StatesResult out;
  write_head(std::move(answer.head), out);
  out.all = states_to_psp(std::move(answer.all));
  for (ThreadStatesRow& row : answer.threads) out.threads.push_back(states_to_psp(std::move(row)));
  out.thread_count = static_cast<std::int64_t>(answer.n_threads);
  for (ChainRow& chain : answer.chains) {
    psp::WaitChain& to = out.chains.emplace_back();
    for (ChainFrame& frame : chain.frames) to.frames.push_back(std::move(frame.name));
    to.amount = to_psp(chain.amount);
  }
  out.chain_count = static_cast<std::int64_t>(answer.n_chains);
  for (StatesAnswer::Look& look : answer.views) {
    psp::StatesView& to = out.views.emplace_back();
    to.title = std::move(look.title);
    to.spec = std::move(look.spec);
  }
  out.verdict = std::move(answer.verdict);
  return out;
}

}  // namespace profd
