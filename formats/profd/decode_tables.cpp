#include "formats/profd/decode_tables.h"

#include "formats/profd/schema.h"
#include "formats/profd/table_columns.h"

namespace profd::profd_format {
#define PROFD_TAKE(table, member, T) \
  PROFD_TRY(out.member, columns[table::member].take<T>(sink, #table "." #member))

Result<StringTable> decode_strings(const Field& message, const ColumnBytes::Sink& sink) {
  ColumnBytes blob, offsets;
  std::vector<std::string_view> texts;
  const auto on_field = [&](const Field& field) -> Result<void> {
    switch (field.number) {
      case strings::blob:
        return blob.set(field);
      case strings::offsets:
        return offsets.add(field, WireType::fixed64);
      case strings::texts:
        PROFD_CHECK(expect(field, WireType::bytes));
        texts.push_back(field.text());
        return {};
      default:
        return {};
    }
  };
  PROFD_CHECK(walk(message, on_field));
  PROFD_TRY(auto bytes, blob.take<char>(sink, "strings.blob"));
  PROFD_TRY(auto starts, offsets.take<std::uint64_t>(sink, "strings.offsets"));
  if (texts.empty()) {
    if (starts.empty()) return StringTable();
    return StringTable(std::move(starts), std::move(bytes));
  }
  if (!starts.empty() || !bytes.empty())
    return fail(ErrorCode::malformed, "strings has both texts and offsets", message.offset);
  std::vector<std::uint64_t> ends{0};
  std::vector<char> joined;
  ends.reserve(texts.size() + 1);
  for (std::string_view text : texts) {
    joined.insert(joined.end(), text.begin(), text.end());
    ends.push_back(joined.size());
  }
  return StringTable(Column(std::move(ends)), Column(std::move(joined)));
}

Result<ModuleTable> decode_modules(const Field& message, const ColumnBytes::Sink& sink) {
  PROFD_TRY(auto columns, walk_columns<7>(message, {kI, kI, kW, kW, kW, kB, kW}));
  ModuleTable out;
  PROFD_TAKE(modules, name, StringId);
  PROFD_TAKE(modules, build_id, StringId);
  PROFD_TAKE(modules, start, std::uint64_t);
  PROFD_TAKE(modules, limit, std::uint64_t);
  PROFD_TAKE(modules, offset, std::uint64_t);
  PROFD_TAKE(modules, addresses, AddressKind);
  PROFD_TAKE(modules, first, std::uint64_t);
  return out;
}

Result<FunctionTable> decode_functions(const Field& message, const ColumnBytes::Sink& sink) {
  PROFD_TRY(auto columns, walk_columns<6>(message, {kI, kI, kI, kI, kB, kI}));
  FunctionTable out;
  PROFD_TAKE(functions, name, StringId);
  PROFD_TAKE(functions, system_name, StringId);
  PROFD_TAKE(functions, file, StringId);
  PROFD_TAKE(functions, start_line, std::uint32_t);
  PROFD_TAKE(functions, unresolved, std::uint8_t);
  PROFD_TAKE(functions, start_column, std::uint32_t);
  return out;
}

Result<FrameTable> decode_frames(const Field& message, const ColumnBytes::Sink& sink) {
  PROFD_TRY(auto columns, walk_columns<11>(message, {kI, kI, kI, kI, kI, kW, kB, kB, kNoColumn, kB, kI}));
  FrameTable out;
  PROFD_TAKE(frames, function, FunctionId);
  PROFD_TAKE(frames, module, ModuleId);
  PROFD_TAKE(frames, file, StringId);
  PROFD_TAKE(frames, line, std::uint32_t);
  PROFD_TAKE(frames, column, std::uint32_t);
  PROFD_TAKE(frames, address, std::uint64_t);
  PROFD_TAKE(frames, kind, FrameKind);
  PROFD_TAKE(frames, inlined, std::uint8_t);
  PROFD_TAKE(frames, is_return, std::uint8_t);
  PROFD_TAKE(frames, piece, PieceId);
  return out;
}

Result<PieceTable> decode_pieces(const Field& message, const ColumnBytes::Sink& sink) {
  PROFD_TRY(auto columns, walk_columns<5>(message, {kI, kW, kW, kI, kI}));
  PieceTable out;
  PROFD_TAKE(pieces, module, ModuleId);
  PROFD_TAKE(pieces, start, std::uint64_t);
  PROFD_TAKE(pieces, n_bytes, std::uint64_t);
  PROFD_TAKE(pieces, name, StringId);
  PROFD_TAKE(pieces, function, FunctionId);
  return out;
}

Result<ThreadTable> decode_threads(const Field& message, const ColumnBytes::Sink& sink) {
  PROFD_TRY(auto columns, walk_columns<4>(message, {kI, kI, kW, kW}));
  ThreadTable out;
  PROFD_TAKE(threads, name, StringId);
  PROFD_TAKE(threads, process_name, StringId);
  PROFD_TAKE(threads, tid, std::int64_t);
  PROFD_TAKE(threads, pid, std::int64_t);
  return out;
}

Result<LabelTable> decode_labels(const Field& message, const ColumnBytes::Sink& sink) {
  PROFD_TRY(auto columns, walk_columns<6>(message, {kI, kI, kI, kW, kI, kB}));
  LabelTable out;
  PROFD_TAKE(labels, first, std::uint32_t);
  PROFD_TAKE(labels, key, StringId);
  PROFD_TAKE(labels, text, StringId);
  PROFD_TAKE(labels, number, std::int64_t);
  PROFD_TAKE(labels, unit, StringId);
  PROFD_TAKE(labels, is_number, std::uint8_t);
  return out;
}

Result<Column<std::uint32_t>> decode_ids(const Field& message, const ColumnBytes::Sink& sink) {
  PROFD_TRY(auto columns, walk_columns<1>(message, {kI}));
  return columns[ids::id].take<std::uint32_t>(sink, "ids.id");
}

#undef PROFD_TAKE

// Files from before there were kinds.
static Column<AddressKind> kinds_by_range(const ModuleTable& modules) {
  std::vector<AddressKind> kinds(modules.size());
  for (std::size_t m = 0; m < kinds.size(); ++m)
    if (modules.limit[m] > modules.start[m]) kinds[m] = AddressKind::file_offset;
  return Column(std::move(kinds));
}

Result<void> complete_tables(ProfileData& d) {
  const StringId empty{0u};
  const std::size_t n_modules = d.modules.name.size();
  PROFD_CHECK(complete(d.modules.build_id, n_modules, empty, "modules.build_id"));
  PROFD_CHECK(complete(d.modules.start, n_modules, std::uint64_t{0}, "modules.start"));
  PROFD_CHECK(complete(d.modules.limit, n_modules, std::uint64_t{0}, "modules.limit"));
  PROFD_CHECK(complete(d.modules.offset, n_modules, std::uint64_t{0}, "modules.offset"));
  if (d.modules.addresses.empty()) d.modules.addresses = kinds_by_range(d.modules);
  PROFD_CHECK(complete(d.modules.addresses, n_modules, AddressKind::unknown, "modules.addresses"));
  if (d.modules.first.empty()) d.modules.first = d.modules.offset;
  PROFD_CHECK(complete(d.modules.first, n_modules, std::uint64_t{0}, "modules.first"));

  const std::size_t n_functions = d.functions.name.size();
  PROFD_CHECK(complete(d.functions.system_name, n_functions, empty, "functions.system_name"));
  PROFD_CHECK(complete(d.functions.file, n_functions, empty, "functions.file"));
  PROFD_CHECK(complete(d.functions.start_line, n_functions, 0u, "functions.start_line"));
  PROFD_CHECK(complete(d.functions.start_column, n_functions, 0u, "functions.start_column"));
  PROFD_CHECK(complete(d.functions.unresolved, n_functions, std::uint8_t{0}, "functions.unresolved"));

  FrameTable& frames = d.frames;
  const std::size_t n_frames = frames.function.size();
  PROFD_CHECK(complete(frames.module, n_frames, ModuleId{}, "frames.module"));
  if (frames.file.empty() && n_frames > 0) {
    std::vector<StringId> files(n_frames, empty);
    for (std::size_t f = 0; f < n_frames; ++f) {
      if (frames.function[f].v < n_functions) files[f] = d.functions.file[frames.function[f].v];
    }
    frames.file = Column(std::move(files));
  }
  PROFD_CHECK(complete(frames.file, n_frames, empty, "frames.file"));
  PROFD_CHECK(complete(frames.line, n_frames, 0u, "frames.line"));
  PROFD_CHECK(complete(frames.column, n_frames, 0u, "frames.column"));
  PROFD_CHECK(complete(frames.address, n_frames, std::uint64_t{0}, "frames.address"));
  PROFD_CHECK(complete(frames.kind, n_frames, FrameKind::native, "frames.kind"));
  PROFD_CHECK(complete(frames.inlined, n_frames, std::uint8_t{0}, "frames.inlined"));
  const auto fits = [&](std::size_t n) { return n == 0 || n == n_frames; };
  if (!fits(frames.is_return.size()) || !fits(frames.piece.size()))
    return fail(ErrorCode::malformed, "the columns of frames have different lengths");

  const std::size_t n_pieces = d.pieces.module.size();
  PROFD_CHECK(complete(d.pieces.start, n_pieces, std::uint64_t{0}, "pieces.start"));
  PROFD_CHECK(complete(d.pieces.n_bytes, n_pieces, std::uint64_t{0}, "pieces.n_bytes"));
  PROFD_CHECK(complete(d.pieces.name, n_pieces, empty, "pieces.name"));
  PROFD_CHECK(complete(d.pieces.function, n_pieces, FunctionId{}, "pieces.function"));

  const std::size_t n_threads = d.threads.name.size();
  PROFD_CHECK(complete(d.threads.process_name, n_threads, empty, "threads.process_name"));
  PROFD_CHECK(complete(d.threads.tid, n_threads, std::int64_t{-1}, "threads.tid"));
  PROFD_CHECK(complete(d.threads.pid, n_threads, std::int64_t{-1}, "threads.pid"));

  LabelTable& labels = d.labels;
  const std::size_t n_entries = labels.key.size();
  if (labels.first.empty()) labels.first = Column(std::vector<std::uint32_t>{0, 0});
  PROFD_CHECK(complete(labels.text, n_entries, empty, "labels.text"));
  PROFD_CHECK(complete(labels.number, n_entries, std::int64_t{0}, "labels.number"));
  PROFD_CHECK(complete(labels.unit, n_entries, empty, "labels.unit"));
  return complete(labels.is_number, n_entries, std::uint8_t{0}, "labels.is_number");
}

}  // namespace profd::profd_format
