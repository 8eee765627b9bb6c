#include "formats/perfetto/stacks.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/model/module_address.h"
#include "formats/support/demangle.h"

namespace profd::perfetto {
namespace {

using protobuf::Field;
using protobuf::Wire;

// In every kind of entry.
constexpr std::uint32_t kEntryId = schema::frame::iid;
static_assert(kEntryId == schema::callstack::iid && kEntryId == schema::mapping::iid &&
              kEntryId == schema::interned_string::iid && kEntryId == schema::source_location::iid);

struct Entry {
  std::uint64_t id = 0;
  std::string_view text;
};

Entry parse_entry(Cursor in) {
  Entry out;
  Field field;
  while (!in.done() && read_field(in, field)) {
    if (field.number == schema::interned_string::iid && field.wire == Wire::varint) out.id = field.value;
    if (field.number == schema::interned_string::str && field.wire == Wire::length)
      out.text = text_of(field.bytes);
  }
  return out;
}

// Appends the numbers of a repeated field, packed or not.
void append_numbers(const Field& field, std::vector<std::uint64_t>& out) {
  if (field.wire == Wire::varint) return out.push_back(field.value);
  if (field.wire != Wire::length) return;
  Cursor in = field.bytes;
  std::uint64_t value;
  while (!in.done() && read_varint(in, value)) out.push_back(value);
}

std::string hex_of(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

FrameKind kind_of(std::string_view path) {
  if (path == "/kernel" || path.find("[kernel") != std::string_view::npos) return FrameKind::kernel;
  if (path.find("jit-cache") != std::string_view::npos || path.find("dalvik-jit") != std::string_view::npos)
    return FrameKind::jit;
  for (const std::string_view suffix : {".dex", ".vdex", ".jar", ".apk"})
    if (path.ends_with(suffix)) return FrameKind::interpreted;
  return FrameKind::native;
}

}  // namespace

void Interned::add_entry(std::unordered_map<std::uint64_t, Cursor>& table, Cursor entry) {
  Cursor in = entry;
  Field field;
  while (!in.done() && read_field(in, field))
    if (field.number == kEntryId && field.wire == Wire::varint) {
      table.insert_or_assign(field.value, entry);
      return;
    }
}

void Interned::add_string(Cursor interned_string) {
  const Entry entry = parse_entry(interned_string);
  functions.insert_or_assign(entry.id, entry.text);
  build_ids.insert_or_assign(entry.id, entry.text);
  paths.insert_or_assign(entry.id, entry.text);
}

void Interned::clear() {
  *this = {};
}

void Interned::add(Cursor in) {
  Field field;
  const auto text = [&](std::unordered_map<std::uint64_t, std::string_view>& table) {
    const Entry entry = parse_entry(field.bytes);
    table.insert_or_assign(entry.id, entry.text);
  };
  while (!in.done() && read_field(in, field)) {
    if (field.wire != Wire::length) continue;
    switch (field.number) {
      case schema::interned_data::event_categories:
        text(categories);
        break;
      case schema::interned_data::event_names:
        text(event_names);
        break;
      case schema::interned_data::source_locations: {
        std::uint64_t id = 0;
        SourcePlace place;
        Cursor at = field.bytes;
        Field part;
        while (!at.done() && read_field(at, part)) {
          if (part.number == schema::source_location::iid && part.wire == Wire::varint) id = part.value;
          if (part.number == schema::source_location::file_name && part.wire == Wire::length)
            place.file = text_of(part.bytes);
          if (part.number == schema::source_location::line_number && part.wire == Wire::varint)
            place.line = static_cast<std::uint32_t>(part.value);
        }
        places.insert_or_assign(id, place);
        break;
      }
      case schema::interned_data::function_names:
        text(functions);
        break;
      case schema::interned_data::frames:
        add_entry(frames, field.bytes);
        break;
      case schema::interned_data::callstacks:
        add_entry(callstacks, field.bytes);
        break;
      case schema::interned_data::build_ids:
        text(build_ids);
        break;
      case schema::interned_data::mapping_paths:
        text(paths);
        break;
      case schema::interned_data::source_paths:
        text(source_paths);
        break;
      case schema::interned_data::mappings:
        add_entry(mappings, field.bytes);
        break;
      default:
        break;
    }
  }
}

std::uint32_t StackTable::make_mapping(const Interned& interned, Cursor entry) {
  const auto [at, is_new] = mapping_rows_.try_emplace(entry.p, static_cast<std::uint32_t>(mappings_.size()));
  if (!is_new) return at->second;
  Mapping mapping;
  std::uint64_t start_offset = 0;
  bool exact = false;
  std::vector<std::uint64_t> path;
  Field field;
  while (!entry.done() && read_field(entry, field)) {
    namespace of_mapping = schema::mapping;
    if (field.number == of_mapping::path_string_ids) {
      append_numbers(field, path);
    } else if (field.wire == Wire::varint) {
      if (field.number == of_mapping::build_id) mapping.build_id = name_at(interned.build_ids, field.value);
      if (field.number == of_mapping::start_offset) start_offset = field.value;
      if (field.number == of_mapping::start) mapping.start = field.value;
      if (field.number == of_mapping::end) mapping.end = field.value;
      if (field.number == of_mapping::load_bias) mapping.load_bias = field.value;
      if (field.number == of_mapping::exact_offset) {
        mapping.offset = field.value;
        exact = true;
      }
    }
  }
  if (!exact) mapping.offset = start_offset;
  for (const std::uint64_t id : path) {
    const std::string_view part = name_at(interned.paths, id);
    if (!mapping.path.empty() || (!part.starts_with('/') && !part.starts_with('['))) mapping.path += '/';
    mapping.path += part;
  }
  mappings_.push_back(std::move(mapping));
  return at->second;
}

std::uint32_t StackTable::make_frame(const Interned& interned, Cursor entry, std::uint64_t& lost) {
  const auto [row, is_new] = frame_rows_.try_emplace(entry.p, static_cast<std::uint32_t>(frames_.size()));
  if (!is_new) return row->second;
  Frame frame;
  bool kind_given = false;
  Field field;
  while (!entry.done() && read_field(entry, field)) {
    if (field.wire != Wire::varint) continue;
    namespace of_frame = schema::frame;
    if (field.number == of_frame::function_name_id) frame.name = name_at(interned.functions, field.value);
    if (field.number == of_frame::mapping_id && field.value != 0) {
      const auto mapping = interned.mappings.find(field.value);
      if (mapping == interned.mappings.end())
        ++lost;
      else
        frame.mapping = make_mapping(interned, mapping->second);
    }
    if (field.number == of_frame::rel_pc) frame.rel_pc = field.value;
    if (field.number == of_frame::source_path_iid)
      frame.place.file = name_at(interned.source_paths, field.value);
    if (field.number == of_frame::line_number) frame.place.line = static_cast<std::uint32_t>(field.value);
    if (field.number == of_frame::kind && field.value >= 1 && field.value <= 6) {
      static constexpr FrameKind kKinds[] = {FrameKind::native, FrameKind::kernel, FrameKind::interpreted,
                                             FrameKind::jit,    FrameKind::gc,     FrameKind::native};
      frame.kind = kKinds[field.value - 1];
      kind_given = true;
    }
  }
  if (!kind_given && frame.mapping != kNone) frame.kind = kind_of(mappings_[frame.mapping].path);
  frames_.push_back(frame);
  return row->second;
}

std::uint32_t StackTable::stack(Interned& interned, std::uint64_t callstack_id, std::uint64_t& lost) {
  const auto known = interned.stacks.find(callstack_id);
  if (known != interned.stacks.end()) return known->second;
  const auto found = interned.callstacks.find(callstack_id);
  if (found == interned.callstacks.end()) return kNone;
  std::vector<std::uint64_t> ids;
  Cursor in = found->second;
  Field field;
  while (!in.done() && read_field(in, field))
    if (field.number == schema::callstack::frame_ids) append_numbers(field, ids);
  for (const std::uint64_t id : ids) {
    const auto entry = interned.frames.find(id);
    if (entry == interned.frames.end()) {
      ++lost;
      stack_frames_.push_back(static_cast<std::uint32_t>(frames_.size()));
      frames_.emplace_back();
    } else {
      stack_frames_.push_back(make_frame(interned, entry->second, lost));
    }
  }
  stack_begin_.push_back(stack_frames_.size());
  const auto row = static_cast<std::uint32_t>(stack_begin_.size() - 2);
  interned.stacks.emplace(callstack_id, row);
  return row;
}

void StackTable::add_symbols(Cursor module) {
  std::string_view path, build_id;
  std::vector<Cursor> addresses;
  Field field;
  while (!module.done() && read_field(module, field)) {
    if (field.wire != Wire::length) continue;
    if (field.number == schema::module_symbols::path) path = text_of(field.bytes);
    if (field.number == schema::module_symbols::build_id) build_id = text_of(field.bytes);
    if (field.number == schema::module_symbols::address_symbols) addresses.push_back(field.bytes);
  }
  std::string key(path);
  key += '\0';
  key += build_id;
  Symbols& symbols = symbols_[key];
  for (Cursor in : addresses) {
    std::uint64_t address = 0;
    const auto first = static_cast<std::uint32_t>(lines_.size());
    while (!in.done() && read_field(in, field)) {
      if (field.number == schema::address_symbols::address && field.wire == Wire::varint)
        address = field.value;
      if (field.number != schema::address_symbols::lines || field.wire != Wire::length) continue;
      Line line;
      Cursor at = field.bytes;
      Field part;
      while (!at.done() && read_field(at, part)) {
        if (part.number == schema::line::function_name && part.wire == Wire::length)
          line.function = text_of(part.bytes);
        if (part.number == schema::line::source_file_name && part.wire == Wire::length)
          line.place.file = text_of(part.bytes);
        if (part.number == schema::line::line_number && part.wire == Wire::varint)
          line.place.line = static_cast<std::uint32_t>(part.value);
      }
      lines_.push_back(line);
    }
    const auto n = static_cast<std::uint32_t>(lines_.size()) - first;
    if (n > 0) symbols.lines.insert_or_assign(address, std::pair(first, n));
  }
}

std::span<const StackTable::Line> StackTable::lines_of(const Frame& frame) const {
  if (symbols_.empty() || frame.mapping == kNone) return {};
  const Mapping& module = mappings_[frame.mapping];
  std::string key = module.path;
  key += '\0';
  key += module.build_id;
  const auto symbols = symbols_.find(key);
  if (symbols == symbols_.end()) return {};
  const auto found = symbols->second.lines.find(frame.rel_pc);
  if (found == symbols->second.lines.end()) return {};
  return std::span(lines_).subspan(found->second.first, found->second.second);
}

FrameMaker::Made FrameMaker::make(const StackTable::Frame& frame) {
  FrameSpec spec;
  spec.kind = frame.kind;
  spec.address = frame.rel_pc;
  std::string base;
  if (frame.mapping != kNone) {
    const StackTable::Mapping& module = table_.mapping(frame.mapping);
    base = module.path.substr(module.path.rfind('/') + 1);
    const std::string build_id = hex_of(module.build_id);
    ModuleSpec of{.name = module.path, .build_id = build_id};
    of.addresses = AddressKind::vaddr;
    // How far the file's segments lie from their place in it is the load bias. Unsigned arithmetic wraps by
    // intent: an address outside the mapping says that this is not where it was.
    const ModuleRange range{module.start, module.end, module.offset + module.load_bias};
    if (range.known() && range.holds(range.to_loaded(frame.rel_pc))) {
      of.start = module.start, of.limit = module.end, of.offset = module.offset;
      of.first = range.first;
    }
    spec.module = builder_.module(of);
  }
  Made made{static_cast<std::uint32_t>(ids_.size()), 0};
  const auto push = [&](std::string_view name, const SourcePlace& place, bool inlined) {
    const std::string readable = demangle(name);
    FunctionSpec function;
    function.file = builder_.string(place.file);
    if (name.empty()) {
      function.name = builder_.string(base.empty()          ? "[unknown]"
                                      : base.front() == '[' ? base
                                                            : "[" + base + "]");
      function.unresolved = true;
    } else {
      function.name = builder_.string(readable);
      if (readable != name) function.system_name = builder_.string(name);
    }
    spec.function = builder_.function(function);
    spec.line = place.line;
    spec.inlined = inlined;
    ids_.push_back(builder_.frame(spec));
    ++made.n;
  };
  const std::span<const StackTable::Line> lines = table_.lines_of(frame);
  for (std::size_t i = lines.size(); i-- > 0;) push(lines[i].function, lines[i].place, i + 1 < lines.size());
  if (lines.empty()) push(frame.name, frame.place, false);
  return made;
}

ContextId FrameMaker::context(std::uint32_t stack) {
  if (stack >= contexts_.size()) contexts_.resize(std::size_t{stack} + 1);
  if (contexts_[stack].valid()) return contexts_[stack];
  if (made_.size() < table_.n_frames()) made_.resize(table_.n_frames());
  ContextId context = kRootContext;
  for (const std::uint32_t frame : table_.frames_of(stack)) {
    Made& made = made_[frame];
    if (made.n == 0) made = make(table_.frame(frame));
    for (std::uint32_t i = 0; i < made.n; ++i) context = builder_.context(context, ids_[made.first + i]);
  }
  return contexts_[stack] = context;
}

}  // namespace profd::perfetto
