#include "formats/firefox/processed.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/support/checked.h"

namespace profd::firefox {
namespace {

// Columns of a thread's tables, or of the shared ones, as they stand in the file.
struct Tables {
  std::vector<StringId> strings;
  Indices frame_func, frame_category, frame_subcategory, frame_line, frame_column, frame_depth, frame_symbol,
      frame_lib, frame_implementation;
  Numbers frame_address;
  Indices func_name, func_is_js, func_resource, func_source, func_file, func_line, func_column;
  Indices resource_lib;
  Indices stack_frame, stack_prefix, stack_category, stack_subcategory;
  Indices symbol_lib, symbol_name;
  Numbers symbol_address, symbol_size;
  Indices source_file;
  std::uint64_t place = 0;
};

constexpr std::size_t kBigTable = std::size_t{1} << 18;  // stacks

class Processed {
 public:
  Processed(const ByteSource& source, const JsonCursor& text, const Meta& meta, ReadContext& context,
            Recording& recording)
      : source_(source), text_(text), meta_(meta), context_(context), r_(recording) {}

  Result<void> read(const Outline& outline) {
    JsonCursor in = text_;
    if (outline.libs) {
      in.seek(*outline.libs, outline.depth);
      libs_ = read_libraries(in, r_.builder);
    }
    if (outline.shared) {
      in.seek(*outline.shared, outline.depth);
      shared_.place = *outline.shared;
      read_tables(in, shared_);
      PROFD_CHECK(in.status());
      if (!shared_.stack_frame.empty()) PROFD_CHECK(make_stacks(shared_, libs_, shared_stacks_));
    }
    if (!outline.threads) return fail(ErrorCode::malformed, "the profile has no threads");
    in.seek(*outline.threads, outline.depth);
    for (in.begin_array(); in.next_element();) {
      PROFD_CHECK(context_.stop.status());
      if (context_.progress) context_.progress(in.offset(), 0);
      if (in.kind() != JsonKind::object) {
        in.skip();
        continue;
      }
      PROFD_CHECK(thread(in));
    }
    PROFD_CHECK(in.status());
    if (!outline.counters) return {};
    in.seek(*outline.counters, outline.depth);
    read_counters(in, 0, r_.roundings, r_.counters);
    return in.status();
  }

 private:
  void read_tables(JsonCursor& in, Tables& t) {
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      if (!table(in, key, t)) in.skip();
    }
  }

  // A member of a thread or of `shared`; false when it is no table.
  bool table(JsonCursor& in, std::string_view key, Tables& t) {
    const JsonKind kind = in.kind();
    if ((key == "stringArray" || key == "stringTable") && kind == JsonKind::array) {
      t.strings.clear();
      for (in.begin_array(); in.next_element();) {
        if (in.kind() == JsonKind::string) {
          t.strings.push_back(r_.builder.string(in.string()));
        } else {
          in.skip();
          t.strings.push_back(StringId{0u});
        }
      }
      return true;
    }
    if (kind != JsonKind::object) return false;
    if (key == "frameTable") return frames(in, t), true;
    if (key == "stackTable") return stacks(in, t), true;
    if (key == "funcTable") return funcs(in, t), true;
    if (key == "resourceTable") return one_column(in, "lib", t.resource_lib), true;
    if (key == "nativeSymbols") return native_symbols(in, t), true;
    if (key == "sources") return one_column(in, "filename", t.source_file), true;
    return false;
  }

  static void native_symbols(JsonCursor& in, Tables& t) {
    std::uint64_t ignored = 0;
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      if (key == "libIndex")
        read_indices(in, t.symbol_lib);
      else if (key == "address")
        read_numbers(in, t.symbol_address, ignored);
      else if (key == "name")
        read_indices(in, t.symbol_name);
      else if (key == "functionSize")
        read_numbers(in, t.symbol_size, ignored);
      else
        in.skip();
    }
  }

  static void one_column(JsonCursor& in, std::string_view name, Indices& column) {
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      if (key == name)
        read_indices(in, column);
      else
        in.skip();
    }
  }

  static void frames(JsonCursor& in, Tables& t) {
    std::uint64_t ignored = 0;
    std::string_view key;
    t.place = in.offset();
    for (in.begin_object(); in.next_key(key);) {
      if (key == "func")
        read_indices(in, t.frame_func);
      else if (key == "address")
        read_numbers(in, t.frame_address, ignored);
      else if (key == "category")
        read_indices(in, t.frame_category);
      else if (key == "subcategory")
        read_indices(in, t.frame_subcategory);
      else if (key == "line")
        read_indices(in, t.frame_line);
      else if (key == "column")
        read_indices(in, t.frame_column);
      else if (key == "inlineDepth")
        read_indices(in, t.frame_depth);
      else if (key == "nativeSymbol")
        read_indices(in, t.frame_symbol);
      else if (key == "lib")
        read_indices(in, t.frame_lib);
      else if (key == "implementation")
        read_indices(in, t.frame_implementation);
      else
        in.skip();
    }
  }

  static void stacks(JsonCursor& in, Tables& t) {
    Indices offsets;
    bool relative = false;
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      if (key == "frame") {
        read_indices(in, t.stack_frame);
      } else if (key == "prefix") {
        read_indices(in, t.stack_prefix);
      } else if (key == "prefixOffset") {
        read_indices(in, offsets);
        relative = true;
      } else if (key == "category") {
        read_indices(in, t.stack_category);
      } else if (key == "subcategory") {
        read_indices(in, t.stack_subcategory);
      } else {
        in.skip();
      }
    }
    if (!relative) return;
    t.stack_prefix.clear();
    t.stack_prefix.resize(offsets.size(), kNone);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (offsets[i] == 0 || offsets[i] == kNone) continue;
      // What lies before the table is reported as a stack before its caller.
      t.stack_prefix[i] = static_cast<std::uint32_t>(offsets[i] <= i ? i - offsets[i] : i);
    }
  }

  static void funcs(JsonCursor& in, Tables& t) {
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      if (key == "name")
        read_indices(in, t.func_name);
      else if (key == "isJS")
        read_indices(in, t.func_is_js);
      else if (key == "resource")
        read_indices(in, t.func_resource);
      else if (key == "source")
        read_indices(in, t.func_source);
      else if (key == "fileName")
        read_indices(in, t.func_file);
      else if (key == "lineNumber")
        read_indices(in, t.func_line);
      else if (key == "columnNumber")
        read_indices(in, t.func_column);
      else
        in.skip();
    }
  }

  // What a thread lacks stands in `shared`.
  const std::vector<StringId>& strings(const Tables& t) const {
    return t.strings.empty() ? shared_.strings : t.strings;
  }
  StringId string(const Tables& t, std::uint32_t index) const {
    const auto& all = strings(t);
    return index < all.size() ? all[index] : StringId{0u};
  }

  Result<void> make_stacks(Tables& t, const std::vector<Library>& libs, std::shared_ptr<Stacks>& out) {
    out = std::make_shared<Stacks>();
    out->place = t.place;
    std::vector<FunctionId> functions(t.func_name.size());
    // Names of unresolved functions are addresses in the process or in the library; frames have the latter.
    std::vector<std::int64_t> address_of(functions.size(), -1);
    for (std::size_t i = 0; i < t.frame_func.size(); ++i) {
      const std::uint32_t func = t.frame_func[i];
      if (func < functions.size() && address_of[func] < 0) address_of[func] = at(t.frame_address, i);
    }
    for (std::size_t f = 0; f < functions.size(); ++f) {
      if (t.func_name[f] >= strings(t).size())
        return fail(ErrorCode::malformed, fmt::format("function {} has a name that is not in the file", f),
                    t.place);
      FunctionSpec spec;
      spec.name = string(t, t.func_name[f]);
      const std::uint32_t source = at(t.func_source, f);
      const Indices& files = t.source_file.empty() ? shared_.source_file : t.source_file;
      spec.file = string(t, source == kNone ? at(t.func_file, f) : at(files, source));
      const std::uint32_t line = at(t.func_line, f);
      spec.start_line = line == kNone ? 0 : line;
      const std::uint32_t column = at(t.func_column, f);
      spec.start_column = spec.start_line == 0 || column == kNone ? 0 : column;
      const std::string_view name = r_.builder.text(spec.name);
      spec.unresolved = at(t.func_is_js, f) != 1 && is_address(name);
      if (spec.unresolved) {
        // An address alone would be equal in all libraries.
        const std::uint32_t lib = library(t, static_cast<std::uint32_t>(f), kNone, libs);
        if (lib != kNone && !libs[lib].name.empty())
          spec.name = r_.builder.string(
              libs[lib].name + "+" +
              (address_of[f] > 0 ? fmt::format("0x{:x}", address_of[f]) : std::string(name)));
      } else if (name.empty()) {
        spec.name = r_.builder.string("(anonymous)");
      }
      functions[f] = r_.builder.function(spec);
    }
    out->frame.resize(t.frame_func.size());
    out->frame_category.resize(t.frame_func.size());
    for (std::size_t i = 0; i < t.frame_func.size(); ++i) {
      const std::uint32_t func = t.frame_func[i];
      if (func >= functions.size())
        return fail(ErrorCode::malformed, fmt::format("frame {} has a function that is not in the file", i),
                    t.place);
      const std::uint32_t category = at(t.frame_category, i), sub = at(t.frame_subcategory, i);
      out->frame_category[i] = label_of(meta_, category, sub);
      if (r_.builder.text(string(t, t.func_name[func])) == "(root)") continue;
      FrameSpec spec;
      spec.function = functions[func];
      if (const std::uint32_t line = at(t.frame_line, i); line != kNone) spec.line = line;
      if (const std::uint32_t column = at(t.frame_column, i); column != kNone) spec.column = column;
      if (const std::int64_t address = at(t.frame_address, i); address > 0)
        spec.address = static_cast<std::uint64_t>(address);
      const std::uint32_t depth = at(t.frame_depth, i);
      spec.inlined = depth != kNone && depth > 0;
      const std::uint32_t lib = library(t, func, static_cast<std::uint32_t>(i), libs);
      if (lib != kNone) spec.module = libs[lib].module;
      spec.kind = kind(t, i, func, lib, libs);
      spec.piece = piece(t, at(t.frame_symbol, i), libs);
      out->frame[i] = r_.builder.frame(spec);
    }
    out->stack_frame = std::move(t.stack_frame);
    out->prefix = std::move(t.stack_prefix);
    out->stack_category = std::move(t.stack_category);
    for (std::size_t i = 0; i < out->stack_category.size(); ++i)
      out->stack_category[i] = label_of(meta_, out->stack_category[i], at(t.stack_subcategory, i));
    t.stack_subcategory = {};
    // The tables are taken out of the file; with what they become the file would be the peak.
    if (out->stack_frame.size() >= kBigTable) source_.forget_pages();
    return link(*out, r_.category_labels, context_.limits.stack_depth, r_.builder);
  }

  PieceId piece(const Tables& t, std::uint32_t symbol, const std::vector<Library>& libs) {
    if (symbol >= t.symbol_lib.size()) return {};
    const std::uint32_t lib = at(t.symbol_lib, symbol);
    PieceSpec spec;
    if (lib < libs.size()) spec.module = libs[lib].module;
    spec.start = static_cast<std::uint64_t>(std::max<std::int64_t>(at(t.symbol_address, symbol), 0));
    spec.n_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(at(t.symbol_size, symbol), 0));
    spec.name = string(t, at(t.symbol_name, symbol));
    return r_.builder.piece(spec);
  }

  // The library of a frame: its own, its symbol's, or that of its function's resource.
  static std::uint32_t library(const Tables& t, std::uint32_t func, std::uint32_t frame,
                               const std::vector<Library>& libs) {
    std::uint32_t lib = frame == kNone ? kNone : at(t.frame_lib, frame);
    if (lib == kNone && frame != kNone) {
      const std::uint32_t symbol = at(t.frame_symbol, frame);
      if (symbol != kNone) lib = at(t.symbol_lib, symbol);
    }
    if (lib == kNone) {
      const std::uint32_t resource = at(t.func_resource, func);
      if (resource != kNone) lib = at(t.resource_lib, resource);
    }
    return lib < libs.size() ? lib : kNone;
  }

  FrameKind kind(const Tables& t, std::size_t frame, std::uint32_t func, std::uint32_t lib,
                 const std::vector<Library>& libs) const {
    const bool is_js = at(t.func_is_js, func) == 1;
    const std::uint32_t category = at(t.frame_category, frame), sub = at(t.frame_subcategory, frame);
    std::string_view name, sub_name;
    if (category < meta_.categories.size()) {
      const Category& c = meta_.categories[category];
      name = c.name;
      if (sub < c.subcategories.size()) sub_name = c.subcategories[sub];
    }
    if (lib != kNone && libs[lib].name.starts_with("[kernel")) return FrameKind::kernel;
    return kind_of_category(name, sub_name, is_js);
  }

  Result<void> thread(JsonCursor& in) {
    Thread thread;
    Tables own;
    own.place = in.offset();
    std::vector<Library> own_libs;
    RawMarkers raw_markers;
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      const JsonKind kind = in.kind();
      if (key == "name")
        thread.name = read_word(in);
      else if (key == "processName")
        thread.process_name = read_word(in);
      else if (key == "processType" && thread.process_name.empty())
        thread.process_name = read_word(in);
      else if (key == "pid")
        thread.pid = read_word(in);
      else if (key == "tid")
        thread.tid = read_word(in);
      else if (key == "libs" && kind == JsonKind::array)
        own_libs = read_libraries(in, r_.builder);
      else if (key == "samples" && kind == JsonKind::object)
        samples(in, thread.samples);
      else if (key == "jsAllocations" && kind == JsonKind::object)
        thread.js_allocations = allocations(in);
      else if (key == "nativeAllocations" && kind == JsonKind::object)
        thread.native_allocations = allocations(in);
      else if (key == "markers" && kind == JsonKind::object)
        markers(in, raw_markers);
      else if (!table(in, key, own))
        in.skip();
    }
    PROFD_CHECK(in.status());
    if (own.stack_frame.empty())
      thread.stacks = shared_stacks_;
    else
      PROFD_CHECK(make_stacks(own, own_libs.empty() ? libs_ : own_libs, thread.stacks));
    add_markers(raw_markers, own, thread.markers);
    r_.threads.push_back(std::move(thread));
    return {};
  }

  void samples(JsonCursor& in, Samples& s) {
    Numbers deltas;
    std::string type;
    std::string_view key;
    std::optional<std::uint64_t> weights;
    for (in.begin_object(); in.next_key(key);) {
      if (key == "stack") {
        read_indices(in, s.stack);
      } else if (key == "time") {
        read_scaled(in, 6, s.time, r_.roundings.n_times);
      } else if (key == "timeDeltas") {
        read_scaled(in, 6, deltas, r_.roundings.n_times);
      } else if (key == "weight" && in.kind() == JsonKind::array) {
        weights = in.offset();
        in.skip();
      } else if (key == "weightType") {
        type = read_word(in);
      } else if (key == "threadCPUDelta") {
        read_numbers(in, s.cpu, r_.roundings.n_weights);
      } else {
        in.skip();
      }
    }
    s.weight_type = type == "tracing-ms" ? WeightType::tracing_ms
                    : type == "bytes"    ? WeightType::bytes
                                         : WeightType::samples;
    if (weights) {
      JsonCursor column = in;
      column.seek(*weights, 0);
      if (s.weight_type == WeightType::tracing_ms)
        read_scaled(column, 6, s.weight, r_.roundings.n_times);
      else
        read_numbers(column, s.weight, r_.roundings.n_weights);
      if (!column.ok()) {
        const Error error = column.status().error();
        in.fail_at(error.offset.value_or(*weights), error.code, error.message);
      }
    }
    if (!deltas.empty() && s.time.empty()) {
      std::int64_t now = 0;
      for (const std::int64_t delta : deltas) {
        add_saturating(now, delta);
        s.time.push_back(now);
      }
    }
  }

  Allocations allocations(JsonCursor& in) {
    Allocations a;
    std::uint64_t ignored = 0;
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      if (key == "stack")
        read_indices(in, a.stack);
      else if (key == "time")
        read_scaled(in, 6, a.time, r_.roundings.n_times);
      else if (key == "weight" || key == "duration")
        read_numbers(in, a.weight, r_.roundings.n_weights);
      else if (key == "memoryAddress")
        read_numbers(in, a.address, ignored);
      else
        in.skip();
    }
    return a;
  }

  // Columns as they stand in the file.
  struct RawMarkers {
    Indices name, phase, category;
    Numbers start, end;
    std::vector<MarkerData> data;
  };

  void markers(JsonCursor& in, RawMarkers& raw) {
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      const JsonKind kind = in.kind();
      if (key == "name") {
        read_indices(in, raw.name);
      } else if (key == "phase") {
        read_indices(in, raw.phase);
      } else if (key == "category") {
        read_indices(in, raw.category);
      } else if (key == "startTime" || key == "time") {
        marker_times(in, raw.start);
      } else if (key == "endTime") {
        marker_times(in, raw.end);
      } else if (key == "data" && kind == JsonKind::array) {
        for (in.begin_array(); in.next_element();)
          raw.data.push_back(read_marker_data(in, r_.fields, r_.builder, r_.markers));
      } else {
        in.skip();
      }
    }
  }

  void marker_times(JsonCursor& in, Numbers& column) {
    column.clear();
    if (in.kind() != JsonKind::array) return in.skip();
    for (in.begin_array(); in.next_element();) {
      if (in.kind() == JsonKind::number) {
        column.push_back(read_scaled(in, 6, r_.roundings.n_times));
      } else {
        in.skip();
        column.push_back(kNoTime);
      }
    }
  }

  void add_markers(const RawMarkers& raw, const Tables& t, Markers& out) {
    const auto time = [](const Numbers& column, std::size_t i) {
      return i < column.size() ? column[i] : kNoTime;
    };
    for (std::size_t i = 0; i < raw.name.size(); ++i) {
      const std::uint32_t category = at(raw.category, i);
      const StringId category_name = category < meta_.categories.size()
                                         ? r_.builder.string(meta_.categories[category].name)
                                         : StringId{0u};
      out.add(string(t, raw.name[i]), category_name, time(raw.start, i), time(raw.end, i), at(raw.phase, i),
              i < raw.data.size() ? raw.data[i] : MarkerData());
    }
  }

  const ByteSource& source_;
  const JsonCursor& text_;
  const Meta& meta_;
  ReadContext& context_;
  Recording& r_;
  std::vector<Library> libs_;
  Tables shared_;
  std::shared_ptr<Stacks> shared_stacks_;
};

}  // namespace

Result<void> read_processed(const ByteSource& source, const JsonCursor& text, const Outline& outline,
                            const Meta& meta, ReadContext& context, Recording& recording) {
  return Processed(source, text, meta, context, recording).read(outline);
}

}  // namespace profd::firefox
