// Packet files of a gprofng experiment and its call stacks.
#pragma once

#include <functional>
#include <unordered_map>

#include "formats/gprofng/log.h"

namespace profd::gprofng {

// Calls `visit(type, packet, offset)` for every packet, in order of the file. Packets include their head.
Result<void> for_packets(
    std::span<const std::byte> bytes, ReadContext& context,
    const std::function<void(std::uint32_t, std::span<const std::byte>, std::uint64_t)>& visit);

// Call stacks by the id that packets refer to.
class Stacks {
 public:
  static Result<Stacks> read(std::span<const std::byte> frameinfo, bool is_32_bit, ReadContext& context);
  // Addresses, leaf first; empty when there is no such stack.
  void find(std::uint64_t uid, std::vector<std::uint64_t>& leaf_first) const;

 private:
  struct Piece {
    std::size_t first = 0, last = 0;  // in pcs_
    std::uint64_t next = 0;           // the piece that goes on towards the root
    bool linked = false;
  };
  std::uint64_t break_cycles();  // how many there were

  std::unordered_map<std::uint64_t, std::uint64_t> stack_of_frame_;
  std::unordered_map<std::uint64_t, Piece> pieces_;
  std::vector<std::uint64_t> pcs_;
};

}  // namespace profd::gprofng
