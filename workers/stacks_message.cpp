#include "workers/stacks_message.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/support/id.h"
#include "workers/symbols.fields.h"

namespace profd::worker {
namespace {

constexpr std::size_t kMaxModuleText = 4096;

template <class Column>
bool take_text(const Field& field, Column add) {
  if (field.wire != Wire::length || field.bytes.left() > kMaxModuleText) return false;
  add(text_of(field));
  return true;
}

bool are_in_order(const StackMap* begin, const StackMap* end) {
  std::uint64_t last = 0;
  return std::all_of(begin, end, [&](const StackMap& map) {
    const bool right = map.start >= last && map.start < map.end;
    last = map.end;
    return right;
  });
}

bool has_right_spaces(const StackBatch& batch) {
  std::uint32_t begin = 0;
  for (const std::uint32_t end : batch.space_end) {
    if (end < begin || end > batch.maps.size()) return false;
    if (!are_in_order(batch.maps.data() + begin, batch.maps.data() + end)) return false;
    begin = end;
  }
  return true;
}

bool is_right(const StackBatch& batch) {
  const std::size_t n = batch.size();
  if (batch.space.size() != n || batch.known.size() != n || batch.n_bytes.size() != n) return false;
  if (batch.registers.size() != n * registers_of(batch.machine) || !has_right_spaces(batch)) return false;
  const auto n_bytes = std::accumulate(batch.n_bytes.begin(), batch.n_bytes.end(), std::uint64_t{0});
  return n_bytes == batch.bytes.size() &&
         std::all_of(batch.space.begin(), batch.space.end(),
                     [&](std::uint32_t s) { return s < batch.space_end.size(); });
}

bool is_right(const UnwoundStacks& stacks) {
  const std::size_t n = stacks.n_addresses.size();
  if (stacks.end.size() != n || stacks.module.size() != n) return false;
  const auto sum = std::accumulate(stacks.n_addresses.begin(), stacks.n_addresses.end(), std::uint64_t{0});
  const bool has_each =
      std::find(stacks.n_addresses.begin(), stacks.n_addresses.end(), 0) == stacks.n_addresses.end();
  const bool ascends = std::adjacent_find(stacks.exact.begin(), stacks.exact.end(), std::greater_equal<>()) ==
                       stacks.exact.end();
  return sum == stacks.addresses.size() && has_each && ascends &&
         (stacks.exact.empty() || stacks.exact.back() < stacks.addresses.size());
}

}  // namespace

Message message_of(const StackBatch& batch) {
  Message out;
  out.varint(schema::stacks::machine, static_cast<std::uint64_t>(batch.machine));
  for (const StackModule& module : batch.modules) {
    out.text(schema::stacks::module_name, module.name);
    out.text(schema::stacks::module_build_id, module.build_id);
  }
  Addresses64 start, end, offset;
  Numbers module;
  for (const StackMap& map : batch.maps) {
    start.push_back(map.start);
    end.push_back(map.end);
    offset.push_back(map.file_offset);
    module.push_back(map.module);
  }
  out.packed_fixed64(schema::stacks::map_start, start);
  out.packed_fixed64(schema::stacks::map_end, end);
  out.packed_fixed64(schema::stacks::map_offset, offset);
  out.packed(schema::stacks::map_module, module);
  out.packed(schema::stacks::space_end, batch.space_end);
  out.packed(schema::stacks::space, batch.space);
  out.packed_fixed64(schema::stacks::pc, batch.pc);
  out.packed_fixed64(schema::stacks::known, batch.known);
  out.packed_fixed64(schema::stacks::register_value, batch.registers);
  out.packed(schema::stacks::n_bytes, batch.n_bytes);
  put(out, schema::stacks::copies, batch.bytes);
  return out;
}

Message message_of(const UnwoundStacks& stacks) {
  Message out;
  out.packed(schema::unwound::n_addresses, stacks.n_addresses);
  out.packed_fixed64(schema::unwound::address, stacks.addresses);
  out.packed(schema::unwound::exact, stacks.exact);
  out.packed(schema::unwound::end, stacks.end);
  Numbers module;
  for (const std::uint32_t row : stacks.module) module.push_back(row == kNone ? 0 : row + 1);
  out.packed(schema::unwound::module, module);
  return out;
}

Result<StackBatch> stack_batch_of(Cursor at) {
  StackBatch batch;
  Addresses64 start, end, offset;
  Numbers module;
  std::vector<std::string> names, ids;
  const bool right = each_field(at, [&](const Field& field) {
    switch (field.number) {
      case schema::stacks::machine:
        if (field.value > static_cast<std::uint64_t>(StackMachine::aarch64)) return false;
        batch.machine = static_cast<StackMachine>(field.value);
        return true;
      case schema::stacks::module_name:
        return take_text(field, [&](std::string text) { names.push_back(std::move(text)); });
      case schema::stacks::module_build_id:
        return take_text(field, [&](std::string text) { ids.push_back(std::move(text)); });
      case schema::stacks::map_start:
        return take(field, start);
      case schema::stacks::map_end:
        return take(field, end);
      case schema::stacks::map_offset:
        return take(field, offset);
      case schema::stacks::map_module:
        return take(field, module);
      case schema::stacks::space_end:
        return take(field, batch.space_end);
      case schema::stacks::space:
        return take(field, batch.space);
      case schema::stacks::pc:
        return take(field, batch.pc);
      case schema::stacks::known:
        return take(field, batch.known);
      case schema::stacks::register_value:
        return take(field, batch.registers);
      case schema::stacks::n_bytes:
        return take(field, batch.n_bytes);
      case schema::stacks::copies:
        batch.bytes = text_of(field);
        return true;
      default:
        return true;
    }
  });
  const std::size_t n_maps = start.size();
  if (!right || names.size() != ids.size() || end.size() != n_maps || offset.size() != n_maps ||
      module.size() != n_maps)
    return bad("no stacks");
  for (std::size_t i = 0; i < names.size(); ++i)
    batch.modules.push_back({std::move(names[i]), std::move(ids[i])});
  for (std::size_t i = 0; i < n_maps; ++i) batch.maps.push_back({start[i], end[i], offset[i], module[i]});
  if (!is_right(batch)) return bad("no stacks");
  return batch;
}

Result<UnwoundStacks> unwound_of(Cursor at) {
  UnwoundStacks stacks;
  Numbers ends;
  const bool right = each_field(at, [&](const Field& field) {
    switch (field.number) {
      case schema::unwound::n_addresses:
        return take(field, stacks.n_addresses);
      case schema::unwound::address:
        return take(field, stacks.addresses);
      case schema::unwound::exact:
        return take(field, stacks.exact);
      case schema::unwound::end:
        return take(field, ends);
      case schema::unwound::module:
        return take(field, stacks.module);
      default:
        return true;
    }
  });
  for (const std::uint32_t end : ends) {
    if (end >= kNStackEnds) return bad("no chains of calls");
    stacks.end.push_back(static_cast<StackEnd>(end));
  }
  for (std::uint32_t& row : stacks.module) --row;  // of 0 kNone
  if (!right || !is_right(stacks)) return bad("no chains of calls");
  return stacks;
}

}  // namespace profd::worker
