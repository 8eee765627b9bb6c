#include "server/dialect/psp/convert_correlate.h"

#include <utility>

#include "server/dialect/psp/convert_views.h"
#include "server/dialect/psp/view_head.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

psp::CorrelateSide side(CorrelateSide from) {
  psp::CorrelateSide out;
  out.name = std::move(from.name);
  if (!from.file.empty()) out.file = std::move(from.file);
  if (from.line != 0) out.line = from.line;
  if (!from.path.empty()) out.uri = uri_of_path(from.path);
  return out;
}

}  // namespace

psp::CorrelateResult to_psp(CorrelateAnswer answer) {
  psp::CorrelateResult out;
  write_head(std::move(answer.head), out);
  out.table = std::move(answer.table);
  out.tables = std::move(answer.tables);
  for (CorrelateRole& role : answer.roles) {
    psp::CorrelateRole& to = out.roles.emplace_back();
    to.name = std::move(role.name);
    to.uri = std::move(role.uri);
    to.records = static_cast<std::int64_t>(role.records);
    to.contexts = static_cast<std::int64_t>(role.contexts);
  }
  out.left = std::move(answer.left);
  out.right = std::move(answer.right);
  for (CorrelatePair& pair : answer.pairs) {
    psp::CorrelatePair& to = out.pairs.emplace_back();
    to.left = side(std::move(pair.left));
    to.right = side(std::move(pair.right));
    to.amount = to_psp(pair.amount);
    to.records = static_cast<std::int64_t>(pair.records);
    if (!pair.meet.empty()) to.meet = std::move(pair.meet);
  }
  out.pair_count = static_cast<std::int64_t>(answer.n_pairs);
  for (CorrelateMeet& meet : answer.meets) {
    psp::CorrelateMeet& to = out.meets.emplace_back();
    to.name = std::move(meet.name);
    to.amount = to_psp(meet.amount);
    to.records = static_cast<std::int64_t>(meet.records);
    to.named = meet.named;
  }
  out.verdict = std::move(answer.verdict);
  return out;
}

}  // namespace profd
