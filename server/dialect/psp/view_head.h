// What answers about views have in common, as the protocol has it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "protocol/generated/psp_types.h"
#include "server/dialect/psp/convert.h"
#include "server/dialect/psp/convert_views.h"
#include "server/feature/view_answer.h"

namespace profd {

template <class Result>
void write_head(ViewHead head, Result& out) {
  out.profile = std::move(head.profile);
  out.revision = head.revision;
  out.metric = std::move(head.metric);
  if constexpr (requires { out.spec; }) out.spec = std::move(head.spec);
  if constexpr (requires { out.unit; }) out.unit = std::move(head.unit);
  if constexpr (requires { out.total; }) out.total = to_psp(head.total);
  if constexpr (requires { out.view_total; }) out.view_total = to_psp(head.view_total);
  if constexpr (requires { out.excluded; }) out.excluded = exclusion_to_psp(head.excluded);
  if constexpr (requires { out.estimated; }) out.estimated = said(std::move(head.estimated));
  if constexpr (requires { out.note; }) out.note = said(std::move(head.note));
  if constexpr (requires { out.warnings; }) out.warnings = std::move(head.warnings);
}

inline std::optional<psp::TableRemainder> remainder_to_psp(const std::optional<Remainder>& remainder) {
  if (!remainder) return std::nullopt;
  psp::TableRemainder out;
  out.count = static_cast<std::int64_t>(remainder->count);
  out.amount = to_psp(remainder->amount);
  out.offset = remainder->offset;
  out.text = remainder->text;
  return out;
}

}  // namespace profd
