#include "workers/symbols.h"

#include <algorithm>
#include <utility>

#include "workers/code_message.h"
#include "workers/message_fields.h"
#include "workers/stacks_message.h"
#include "workers/symbols.fields.h"

namespace profd::worker {
namespace {

// The numbers of a chunk's columns.
struct NumberColumn {
  std::uint32_t field;
  Numbers Chunk::*column;
};
struct AddressColumn {
  std::uint32_t field;
  Addresses64 Chunk::*column;
};
constexpr NumberColumn kNumbers[] = {
    {schema::chunk::asked, &Chunk::asked},
    {schema::chunk::link, &Chunk::link},
    {schema::chunk::asked_piece, &Chunk::asked_piece},
    {schema::chunk::function_name, &Chunk::function_name},
    {schema::chunk::function_linkage, &Chunk::function_linkage},
    {schema::chunk::function_file, &Chunk::function_file},
    {schema::chunk::function_line, &Chunk::function_line},
    {schema::chunk::link_parent, &Chunk::link_parent},
    {schema::chunk::link_function, &Chunk::link_function},
    {schema::chunk::link_file, &Chunk::link_file},
    {schema::chunk::link_line, &Chunk::link_line},
    {schema::chunk::link_column, &Chunk::link_column},
    {schema::chunk::piece_name, &Chunk::piece_name},
    {schema::chunk::piece_function, &Chunk::piece_function},
};
constexpr AddressColumn kAddresses[] = {
    {schema::chunk::piece_start, &Chunk::piece_start},
    {schema::chunk::piece_size, &Chunk::piece_size},
    {schema::chunk::segment_from, &Chunk::segment_from},
    {schema::chunk::segment_size, &Chunk::segment_size},
    {schema::chunk::segment_vaddr, &Chunk::segment_vaddr},
};

Message message_of(const ModuleOrder& order) {
  Message out;
  put(out, schema::module::name, order.name);
  put(out, schema::module::build_id, order.build_id);
  out.varint(schema::module::kind, static_cast<std::uint64_t>(order.kind));
  out.packed_fixed64(schema::module::address, order.addresses);
  put(out, schema::module::reference_symbol, order.reference_symbol);
  out.fixed64(schema::module::reference_address, order.reference_address);
  return out;
}

Message message_of(const Wish& wish) {
  Message out;
  out.varint(schema::wish::kind, static_cast<std::uint64_t>(wish.kind));
  put(out, schema::wish::name, wish.name);
  put(out, schema::wish::build_id, wish.build_id);
  out.varint(schema::wish::crc, wish.crc);
  put(out, schema::wish::folder, wish.folder);
  put(out, schema::wish::refused, wish.refused);
  out.varint(schema::wish::other_build, wish.other_build ? 1 : 0);
  return out;
}

Message message_of(const Chunk& chunk) {
  Message out;
  for (const auto& [field, column] : kNumbers) out.packed(field, chunk.*column);
  for (const auto& [field, column] : kAddresses) out.packed_fixed64(field, chunk.*column);
  for (const std::string& text : chunk.texts) out.text(schema::chunk::text, text);
  return out;
}

Message message_of(const Done& done) {
  Message out;
  put(out, schema::done::problem, done.problem);
  out.varint(schema::done::lines, done.lines ? 1 : 0);
  out.varint(schema::done::wants_llvm, done.wants_llvm ? 1 : 0);
  return out;
}

Result<ModuleOrder> module_of(Cursor at) {
  ModuleOrder order;
  const bool right = each_field(at, [&](const Field& field) {
    if (field.number == schema::module::name) order.name = text_of(field);
    if (field.number == schema::module::build_id) order.build_id = text_of(field);
    if (field.number == schema::module::kind) {
      if (field.value > static_cast<std::uint64_t>(Addresses::loaded)) return false;
      order.kind = static_cast<Addresses>(field.value);
    }
    if (field.number == schema::module::reference_symbol) order.reference_symbol = text_of(field);
    if (field.number == schema::module::reference_address) order.reference_address = field.value;
    return field.number != schema::module::address || take(field, order.addresses);
  });
  if (!right) return bad("no module");
  for (std::size_t i = 1; i < order.addresses.size(); ++i)
    if (order.addresses[i - 1] >= order.addresses[i]) return bad("addresses that do not ascend");
  return order;
}

Result<Wish> wish_of(Cursor at) {
  Wish wish;
  const bool right = each_field(at, [&](const Field& field) {
    if (field.number == schema::wish::kind) {
      if (field.value >= kNWishKinds) return false;
      wish.kind = static_cast<WishKind>(field.value);
    }
    if (field.number == schema::wish::name) wish.name = text_of(field);
    if (field.number == schema::wish::build_id) wish.build_id = text_of(field);
    if (field.number == schema::wish::crc) wish.crc = static_cast<std::uint32_t>(field.value);
    if (field.number == schema::wish::folder) wish.folder = text_of(field);
    if (field.number == schema::wish::refused) wish.refused = text_of(field);
    if (field.number == schema::wish::other_build) wish.other_build = field.value != 0;
    return true;
  });
  const bool short_enough = std::max({wish.name.size(), wish.folder.size(), wish.build_id.size(),
                                      wish.refused.size()}) <= kMaxTextBytes;
  if (!right || !short_enough) return bad("no wish");
  return wish;
}

Result<Hello> hello_of(Cursor at) {
  Hello hello;
  const bool right = each_field(at, [&](const Field& field) {
    if (field.number == schema::hello::version) hello.version = text_of(field);
    if (field.number == schema::hello::confined) hello.confined = field.value != 0;
    return true;
  });
  if (!right || hello.version.size() > kMaxTextBytes) return bad("no greeting");
  return hello;
}

// Segments, if there are some, are in order and end.
bool right_segments(const Chunk& chunk) {
  const std::size_t n = chunk.segment_from.size();
  if (chunk.segment_size.size() != n || chunk.segment_vaddr.size() != n || n > kMaxSegments) return false;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t from = chunk.segment_from[i], size = chunk.segment_size[i];
    if ((i > 0 && from < end) || size > ~std::uint64_t{0} - from ||
        size > ~std::uint64_t{0} - chunk.segment_vaddr[i])
      return false;
    end = from + size;
  }
  return true;
}

Result<Done> done_of(Cursor at) {
  Done done;
  const bool right = each_field(at, [&](const Field& field) {
    if (field.number == schema::done::problem) done.problem = text_of(field);
    if (field.number == schema::done::lines) done.lines = field.value != 0;
    if (field.number == schema::done::wants_llvm) done.wants_llvm = field.value != 0;
    return true;
  });
  if (!right || done.problem.size() > kMaxTextBytes) return bad("no end");
  return done;
}

// All of `column` below `end`.
bool below(const Numbers& column, std::size_t end) {
  return std::all_of(column.begin(), column.end(), [&](std::uint32_t value) { return value < end; });
}

bool right_rows(const Chunk& chunk) {
  const std::size_t n_texts = chunk.texts.size(), n_functions = chunk.n_functions(),
                    n_links = chunk.n_links(), n_pieces = chunk.n_pieces(), n_asked = chunk.asked.size();
  if (std::max({n_texts, n_functions, n_links, n_pieces, n_asked}) > kMaxChunkRows) return false;
  const auto of_length = [](std::size_t n, const auto&... columns) { return ((columns.size() == n) && ...); };
  if (!of_length(n_asked, chunk.link, chunk.asked_piece)) return false;
  if (!of_length(n_functions, chunk.function_linkage, chunk.function_file, chunk.function_line)) return false;
  if (!of_length(n_links, chunk.link_parent, chunk.link_file, chunk.link_line, chunk.link_column))
    return false;
  if (!of_length(n_pieces, chunk.piece_start, chunk.piece_size, chunk.piece_function)) return false;
  if (!below(chunk.link, n_links + 1) || !below(chunk.asked_piece, n_pieces + 1)) return false;
  if (!below(chunk.function_name, n_texts) || !below(chunk.function_linkage, n_texts + 1) ||
      !below(chunk.function_file, n_texts + 1))
    return false;
  if (!below(chunk.link_function, n_functions) || !below(chunk.link_file, n_texts + 1)) return false;
  if (!below(chunk.piece_name, n_texts) || !below(chunk.piece_function, n_functions + 1)) return false;
  for (std::size_t link = 0; link < n_links; ++link)
    if (chunk.link_parent[link] > link) return false;
  return std::all_of(chunk.texts.begin(), chunk.texts.end(),
                     [](const std::string& text) { return text.size() <= kMaxTextBytes; });
}

Result<Chunk> chunk_of(Cursor at) {
  Chunk chunk;
  const bool right = each_field(at, [&](const Field& field) {
    if (field.number == schema::chunk::text) {
      if (field.wire != Wire::length || chunk.texts.size() >= kMaxChunkRows) return false;
      chunk.texts.push_back(text_of(field));
      return true;
    }
    for (const auto& [number, column] : kNumbers)
      if (field.number == number) return take(field, chunk.*column);
    for (const auto& [number, column] : kAddresses)
      if (field.number == number) return take(field, chunk.*column);
    return true;
  });
  if (!right || !right_rows(chunk) || !right_segments(chunk)) return bad("no chunk");
  return chunk;
}

// The one field of `bytes` that says what the message is.
Result<Field> only_field(std::string_view bytes) {
  Cursor at = cursor_of(bytes);
  Field field;
  if (!protobuf::read_field(at, field) || field.wire != Wire::length || !at.done())
    return bad("not one message");
  return field;
}

}  // namespace

std::string encode(const Order& order) {
  Message out;
  if (const auto* module = std::get_if<ModuleOrder>(&order)) {
    out.message(schema::order::module, message_of(*module));
  } else if (const auto* code = std::get_if<CodeOrder>(&order)) {
    out.message(schema::order::code, message_of(*code));
  } else if (const auto* stacks = std::get_if<StackBatch>(&order)) {
    out.message(schema::order::stacks, message_of(*stacks));
  } else {
    Message file;
    file.varint(schema::file::there, std::get<FileAnswer>(order).there ? 1 : 0);
    out.message(schema::order::file, file);
  }
  return out.bytes();
}

std::string encode(const Report& report) {
  Message out;
  if (const auto* hello = std::get_if<Hello>(&report)) {
    Message message;
    put(message, schema::hello::version, hello->version);
    message.varint(schema::hello::confined, hello->confined ? 1 : 0);
    out.message(schema::report::hello, message);
  } else if (const auto* wish = std::get_if<Wish>(&report)) {
    out.message(schema::report::wish, message_of(*wish));
  } else if (const auto* chunk = std::get_if<Chunk>(&report)) {
    out.message(schema::report::chunk, message_of(*chunk));
  } else if (const auto* rows = std::get_if<CodeRows>(&report)) {
    out.message(schema::report::rows, message_of(*rows));
  } else if (const auto* unwound = std::get_if<UnwoundStacks>(&report)) {
    out.message(schema::report::unwound, message_of(*unwound));
  } else {
    out.message(schema::report::done, message_of(std::get<Done>(report)));
  }
  return out.bytes();
}

Result<Order> decode_order(std::string_view bytes) {
  PROFD_TRY(const Field field, only_field(bytes));
  if (field.number == schema::order::module) return module_of(field.bytes);
  if (field.number == schema::order::code) return code_order_of(field.bytes);
  if (field.number == schema::order::stacks) return stack_batch_of(field.bytes);
  if (field.number != schema::order::file) return bad("an order that is not known");
  FileAnswer answer;
  if (!each_field(field.bytes, [&](const Field& one) {
        if (one.number == schema::file::there) answer.there = one.value != 0;
        return true;
      }))
    return bad("no file");
  return answer;
}

Result<Report> decode_report(std::string_view bytes) {
  PROFD_TRY(const Field field, only_field(bytes));
  if (field.number == schema::report::hello) return hello_of(field.bytes);
  if (field.number == schema::report::wish) return wish_of(field.bytes);
  if (field.number == schema::report::chunk) return chunk_of(field.bytes);
  if (field.number == schema::report::rows) return code_rows_of(field.bytes);
  if (field.number == schema::report::unwound) return unwound_of(field.bytes);
  if (field.number == schema::report::done) return done_of(field.bytes);
  return bad("a report that is not known");
}

}  // namespace profd::worker
