// The messages of symbols.proto as plain structs, written and read. What is read comes from another process,
// whose memory hostile files may have written: every row that names another is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/support/result.h"
#include "core/support/stack_copies.h"
#include "workers/code.h"

namespace profd::worker {

enum class Addresses : std::uint8_t { vaddr, file_offset, image_offset, loaded };

struct ModuleOrder {
  std::string name, build_id;
  Addresses kind = Addresses::vaddr;
  std::vector<std::uint64_t> addresses;  // ascending, distinct
  std::string reference_symbol = {};     // of `loaded`, and where that was
  std::uint64_t reference_address = 0;
};
struct FileAnswer {
  bool there = false;
};
using Order = std::variant<ModuleOrder, FileAnswer, CodeOrder, StackBatch>;

enum class WishKind : std::uint8_t { binary, debug_file, debug_link, split, alternate, package };
constexpr std::uint8_t kNWishKinds = 6;

struct Hello {
  std::string version;
  bool confined = false;
};
struct Wish {
  WishKind kind = WishKind::binary;
  std::string name, build_id;
  std::uint32_t crc = 0;
  std::string folder, refused;
  bool other_build = false;
};
// Columns as in the schema, of one length each in their table.
struct Chunk {
  std::vector<std::uint32_t> asked, link, asked_piece;
  std::vector<std::string> texts;
  std::vector<std::uint32_t> function_name, function_linkage, function_file, function_line;
  std::vector<std::uint32_t> link_parent, link_function, link_file, link_line, link_column;
  std::vector<std::uint64_t> piece_start, piece_size;
  std::vector<std::uint32_t> piece_name, piece_function;
  std::vector<std::uint64_t> segment_from, segment_size, segment_vaddr;

  [[nodiscard]] std::size_t n_functions() const { return function_name.size(); }
  [[nodiscard]] std::size_t n_links() const { return link_function.size(); }
  [[nodiscard]] std::size_t n_pieces() const { return piece_name.size(); }
};
struct Done {
  std::string problem;
  bool lines = false;
  bool wants_llvm = false;
};
using Report = std::variant<Hello, Wish, Chunk, Done, CodeRows, UnwoundStacks>;

std::string encode(const Order& order);
std::string encode(const Report& report);
Result<Order> decode_order(std::string_view bytes);
// Fields that are not known are skipped. In a chunk every row names rows that are there, and a link's parent
// comes before it, so that walking up ends.
Result<Report> decode_report(std::string_view bytes);

// Bounds of one chunk; more is malformed.
constexpr std::size_t kMaxChunkRows = std::size_t{1} << 22;
constexpr std::size_t kMaxTextBytes = 4096;
constexpr std::size_t kMaxSegments = 4096;

}  // namespace profd::worker
