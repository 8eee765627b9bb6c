#include "formats/gprofng/packets.h"

#include "formats/support/byte_cursor.h"

namespace profd::gprofng {
namespace {

constexpr std::size_t kBlock = 64 * 1024;
constexpr std::uint32_t kFrame = 11, kUid = 17, kClosed = 0xFFFF;
constexpr std::uint32_t kStack = 1, kCompressed = 0x80000000u;

}  // namespace

Result<void> for_packets(
    std::span<const std::byte> bytes, ReadContext& context,
    const std::function<void(std::uint32_t, std::span<const std::byte>, std::uint64_t)>& visit) {
  std::uint64_t n_bad = 0;
  std::size_t at = 0;
  while (at + 4 <= bytes.size()) {
    if (context.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    ByteCursor in(bytes.subspan(at));
    const std::uint32_t size = in.u16(), type = in.u16();
    if (size == 0 || type == kClosed) {
      at = (at / kBlock + 1) * kBlock;
      continue;
    }
    if (size < 4 || size > bytes.size() - at) {
      ++n_bad;
      at = (at / kBlock + 1) * kBlock;
      continue;
    }
    if (type != 0) visit(type & 0x1Fu, bytes.subspan(at, size), at);
    at += size;
  }
  if (n_bad > 0)
    context.report.add("broken-block", Severity::loss,
                       "Packets are longer than the file; the rest of their blocks was left out.",
                       std::nullopt, n_bad);
  return {};
}

Result<Stacks> Stacks::read(std::span<const std::byte> frameinfo, bool is_32_bit, ReadContext& context) {
  Stacks out;
  const auto add_piece = [&](std::uint64_t uid, ByteCursor payload, bool linked) {
    Piece piece;
    piece.linked = linked;
    if (linked && payload.left() >= 8) {
      ByteCursor tail = payload;
      tail.skip(payload.left() - 8);
      piece.next = tail.u64();
      payload = payload.slice(payload.left() - 8);
    } else {
      piece.linked = false;
    }
    piece.first = out.pcs_.size();
    while (payload.left() >= (is_32_bit ? 4u : 8u))
      out.pcs_.push_back(is_32_bit ? payload.u32() : payload.u64());
    piece.last = out.pcs_.size();
    if (piece.first != piece.last || piece.linked) out.pieces_.emplace(uid, piece);
  };
  std::uint64_t n_bad = 0;
  PROFD_CHECK(for_packets(frameinfo, context,
                          [&](std::uint32_t type, std::span<const std::byte> packet, std::uint64_t at) {
                            ByteCursor in(packet, std::endian::little, at);
                            in.skip(4);
                            if (type == kUid) {
                              const std::uint32_t flags = in.u32();
                              const std::uint64_t uid = in.u64();
                              if (!in.ok()) {
                                ++n_bad;
                                return;
                              }
                              add_piece(uid, in.slice(in.left()), (flags & kCompressed) != 0);
                              return;
                            }
                            if (type != kFrame) return;
                            const std::uint32_t head = in.u32();
                            const std::uint64_t frame = in.u64();
                            in.seek(head);
                            if (!in.ok() || head < 16) {
                              ++n_bad;
                              return;
                            }
                            // Infos of the stack, one after another: size, kind, id, payload.
                            while (in.left() >= 16) {
                              const std::uint32_t size = in.u32(), kind = in.u32();
                              const std::uint64_t uid = in.u64();
                              if (size < 16 || size - 16 > in.left()) {
                                ++n_bad;
                                return;
                              }
                              ByteCursor payload = in.slice(size - 16);
                              if ((kind & ~kCompressed) != kStack) continue;
                              out.stack_of_frame_.emplace(frame, uid);
                              add_piece(uid, payload, (kind & kCompressed) != 0);
                            }
                          }));
  n_bad += out.break_cycles();
  if (n_bad > 0)
    context.report.add("malformed-stack", Severity::loss,
                       "Call stacks that contradict themselves were left out.", std::nullopt, n_bad);
  return out;
}

// Without cycles the pieces are a forest, and stacks that differ share what they have in common towards the
// root.
std::uint64_t Stacks::break_cycles() {
  std::uint64_t n_cycles = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> walk_of;  // by piece: the first walk that came by
  std::uint64_t walk = 0;
  for (const auto& [uid, unused] : pieces_) {
    ++walk;
    std::uint64_t at = uid;
    for (auto found = pieces_.find(at); found != pieces_.end(); found = pieces_.find(at)) {
      if (!walk_of.emplace(at, walk).second) break;
      Piece& piece = found->second;
      if (!piece.linked) break;
      const auto met = walk_of.find(piece.next);
      if (met != walk_of.end() && met->second == walk) {
        piece.linked = false;
        ++n_cycles;
        break;
      }
      at = piece.next;
    }
  }
  return n_cycles;
}

void Stacks::find(std::uint64_t uid, std::vector<std::uint64_t>& leaf_first) const {
  leaf_first.clear();
  const auto frame = stack_of_frame_.find(uid);
  std::uint64_t piece = frame == stack_of_frame_.end() ? uid : frame->second;
  constexpr std::size_t kMaxDepth = 100'000;
  while (leaf_first.size() < kMaxDepth) {
    const auto found = pieces_.find(piece);
    if (found == pieces_.end()) return;
    leaf_first.insert(leaf_first.end(), pcs_.begin() + static_cast<std::ptrdiff_t>(found->second.first),
                      pcs_.begin() + static_cast<std::ptrdiff_t>(found->second.last));
    if (!found->second.linked) return;
    piece = found->second.next;
  }
}

}  // namespace profd::gprofng
