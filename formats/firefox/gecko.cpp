#include "formats/firefox/gecko.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "formats/support/text_number.h"

namespace profd::firefox {
namespace {

constexpr std::uint32_t kMaxProcessDepth = 8;

// Cuts ":123" off the end.
bool cut_number(std::string_view& text, std::uint32_t& number) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return false;
  std::uint32_t value = 0;
  if (!parse_uint(text.substr(colon + 1), value) || value == kNone) return false;
  number = value;
  text.remove_suffix(text.size() - colon);
  return true;
}

// "url:line:column", "url:line" or "url".
void cut_place(std::string_view& url, std::uint32_t& line, std::uint32_t& column) {
  std::uint32_t last = 0, before = 0;
  if (!cut_number(url, last)) return;
  if (cut_number(url, before)) {
    line = before;
    column = last;
  } else {
    line = last;
  }
}

// A table of rows: which place of a row is which column.
class Schema {
 public:
  void read(JsonCursor& in) {
    std::string_view key;
    std::uint32_t next = 0;
    if (in.kind() == JsonKind::array) {  // names in order
      for (in.begin_array(); in.next_element(); ++next) columns_.emplace_back(read_word(in), next);
      return;
    }
    for (in.begin_object(); in.next_key(key);) {
      std::string name(key);
      columns_.emplace_back(std::move(name), read_index(in));
    }
  }
  std::uint32_t place(std::string_view name) const {
    for (const auto& [column, place] : columns_) {
      if (column == name) return place;
    }
    return kNone;
  }

 private:
  std::vector<std::pair<std::string, std::uint32_t>> columns_;
};

// {schema, data}: gives each row to `row`, with the cursor on every value in turn.
template <class Column, class EndRow>
void read_table(JsonCursor& in, Schema& schema, Column column, EndRow end_row) {
  std::string_view key;
  std::optional<std::uint64_t> data;
  const std::uint32_t depth = in.depth() + 1;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "schema") {
      schema.read(in);
    } else if (key == "data" && in.kind() == JsonKind::array) {
      data = in.offset();
      in.skip();
    } else {
      in.skip();
    }
  }
  if (!in.ok() || !data) return;
  JsonCursor rows = in;
  rows.seek(*data, depth);
  for (rows.begin_array(); rows.next_element();) {
    std::uint32_t i = 0;
    if (rows.kind() != JsonKind::array) {
      rows.skip();
      continue;
    }
    for (rows.begin_array(); rows.next_element(); ++i) column(rows, i);
    end_row();
  }
  if (rows.ok()) return;
  const Error error = rows.status().error();
  in.fail_at(error.offset.value_or(*data), error.code, error.message);
}

class Gecko {
 public:
  Gecko(const JsonCursor& text, Meta& meta, std::int64_t offset, ReadContext& context, Recording& recording,
        std::uint32_t level)
      : text_(text), meta_(meta), offset_(offset), context_(context), r_(recording), level_(level) {}

  Result<void> read(const Outline& outline) {
    if (level_ > kMaxProcessDepth) return fail(ErrorCode::limit, "processes nest deeper than 8 levels");
    JsonCursor in = text_;
    const std::size_t first_thread = r_.threads.size();
    if (outline.libs) {
      in.seek(*outline.libs, outline.depth);
      libs_ = read_libraries(in, r_.builder);
      std::sort(libs_.begin(), libs_.end(),
                [](const Library& a, const Library& b) { return a.start < b.start; });
    }
    if (outline.threads) {
      in.seek(*outline.threads, outline.depth);
      for (in.begin_array(); in.next_element();) {
        PROFD_CHECK(context_.stop.status());
        if (in.kind() == JsonKind::object)
          PROFD_CHECK(thread(in));
        else if (in.kind() == JsonKind::string)
          PROFD_CHECK(process_in_text(in));
        else
          in.skip();
      }
    }
    PROFD_CHECK(in.status());
    if (outline.counters) {
      in.seek(*outline.counters, outline.depth);
      const std::size_t before = r_.counters.size();
      read_counters(in, offset_, r_.roundings, r_.counters);
      // Whose they are is said by where they stand.
      for (std::size_t i = before; i < r_.counters.size(); ++i)
        if (r_.counters[i].pid.empty() && first_thread < r_.threads.size())
          r_.counters[i].pid = r_.threads[first_thread].pid;
      PROFD_CHECK(in.status());
    }
    if (outline.processes) {
      in.seek(*outline.processes, outline.depth);
      for (in.begin_array(); in.next_element();) {
        if (in.kind() == JsonKind::object)
          PROFD_CHECK(process(in));
        else if (in.kind() == JsonKind::string)
          PROFD_CHECK(process_in_text(in));
        else
          in.skip();
      }
    }
    return in.status();
  }

 private:
  // Another process's whole profile, with a clock of its own.
  Result<void> process(JsonCursor& in) {
    Meta meta;
    const Outline outline = read_outline(in, meta, r_);
    PROFD_CHECK(in.status());
    if (meta.categories.empty()) {
      meta.categories = meta_.categories;
    } else {
      add_categories(meta, r_);
    }
    std::int64_t offset = 0;
    if (meta.start_ns && meta_.start_ns && __builtin_sub_overflow(*meta.start_ns, *meta_.start_ns, &offset))
      offset = 0;
    if (__builtin_add_overflow(offset, offset_, &offset)) offset = 0;
    return Gecko(in, meta, offset, context_, r_, level_ + 1).read(outline);
  }

  // Old profiles hold the profiles of other processes as text.
  Result<void> process_in_text(JsonCursor& in) {
    const std::uint64_t place = in.offset();
    const std::string inner(in.string());
    PROFD_CHECK(in.status());
    JsonCursor nested(inner, context_.limits.nesting);
    if (nested.kind() != JsonKind::object) return {};
    auto done = process(nested);
    if (!done) {
      Error error = std::move(done).error();
      error.offset = place;
      return tl::unexpected<Error>(std::move(error).in("a process's profile inside a text"));
    }
    return done;
  }

  Result<void> thread(JsonCursor& in) {
    Thread thread;
    thread.offset = offset_;
    std::vector<std::string> strings;
    std::optional<std::uint64_t> frames, stacks, samples, markers, natives;
    const std::uint64_t place = in.offset();
    const std::uint32_t depth = in.depth() + 1;
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      const JsonKind kind = in.kind();
      const std::uint64_t at = in.offset();
      if (key == "name") {
        thread.name = read_word(in);
      } else if (key == "processName") {
        thread.process_name = read_word(in);
      } else if (key == "processType" && thread.process_name.empty()) {
        thread.process_name = read_word(in);
      } else if (key == "pid") {
        thread.pid = read_word(in);
      } else if (key == "tid") {
        thread.tid = read_word(in);
      } else if (key == "stringTable" && kind == JsonKind::array) {
        for (in.begin_array(); in.next_element();) strings.push_back(read_word(in));
      } else {
        if (kind == JsonKind::object) {
          if (key == "frameTable") frames = at;
          if (key == "stackTable") stacks = at;
          if (key == "samples") samples = at;
          if (key == "markers") markers = at;
          if (key == "nativeAllocations") natives = at;
        }
        in.skip();
      }
    }
    PROFD_CHECK(in.status());
    JsonCursor table = in;
    const auto go = [&](std::uint64_t at) { table.seek(at, depth); };
    thread.stacks = std::make_shared<Stacks>();
    thread.stacks->place = place;
    if (frames) {
      go(*frames);
      PROFD_CHECK(read_frames(table, strings, *thread.stacks));
    }
    if (stacks) {
      go(*stacks);
      Schema schema;
      std::array<std::uint32_t, 2> row{kNone, kNone};
      read_table(
          table, schema,
          [&](JsonCursor& value, std::uint32_t i) {
            if (i == schema.place("prefix"))
              row[0] = read_index(value);
            else if (i == schema.place("frame"))
              row[1] = read_index(value);
            else
              value.skip();
          },
          [&] {
            thread.stacks->prefix.push_back(row[0]);
            thread.stacks->stack_frame.push_back(row[1]);
            row = {kNone, kNone};
          });
    }
    PROFD_CHECK(table.status());
    PROFD_CHECK(link(*thread.stacks, r_.category_labels, context_.limits.stack_depth, r_.builder));
    if (samples) {
      go(*samples);
      read_samples(table, thread.samples);
    }
    if (markers) {
      go(*markers);
      read_markers(table, strings, thread.markers);
    }
    if (natives) {
      go(*natives);
      thread.native_allocations = read_allocations(table);
    }
    PROFD_CHECK(table.status());
    r_.threads.push_back(std::move(thread));
    return {};
  }

  Result<void> read_frames(JsonCursor& in, const std::vector<std::string>& strings, Stacks& out) {
    struct Row {
      std::uint32_t location = kNone, implementation = kNone, line = kNone, column = kNone, category = kNone,
                    subcategory = kNone;
    } row;
    Schema schema;
    std::vector<Row> rows;
    read_table(
        in, schema,
        [&](JsonCursor& value, std::uint32_t i) {
          if (i == schema.place("location"))
            row.location = read_index(value);
          else if (i == schema.place("implementation"))
            row.implementation = read_index(value);
          else if (i == schema.place("line"))
            row.line = read_index(value);
          else if (i == schema.place("column"))
            row.column = read_index(value);
          else if (i == schema.place("category"))
            row.category = read_index(value);
          else if (i == schema.place("subcategory"))
            row.subcategory = read_index(value);
          else
            value.skip();
        },
        [&] {
          rows.push_back(row);
          row = {};
        });
    PROFD_CHECK(in.status());
    for (const Row& r : rows) {
      if (r.location >= strings.size())
        return fail(ErrorCode::malformed,
                    fmt::format("frame {} has a location that is not in the file", out.frame.size()),
                    out.place);
      const std::string& implementation =
          r.implementation < strings.size() ? strings[r.implementation] : kNothing;
      const std::optional<FrameSpec> made =
          frame(strings[r.location], r.line, r.column, r.category, r.subcategory, implementation);
      const bool is_bare = made && made->address != 0;
      out.frame.push_back(made && !is_bare ? r_.builder.frame(*made) : FrameId{});
      out.bare.push_back(is_bare ? *made : FrameSpec{});
      out.frame_category.push_back(label_of(meta_, r.category, r.subcategory));
    }
    return {};
  }

  // Nothing for the root.
  std::optional<FrameSpec> frame(const std::string& text, std::uint32_t line, std::uint32_t column,
                                 std::uint32_t category, std::uint32_t subcategory,
                                 const std::string& implementation) {
    if (text == "(root)") return std::nullopt;
    FunctionSpec function;
    FrameSpec spec;
    std::uint64_t address = 0;
    if (is_address(text) && parse_hex(text, address)) {
      std::string name = text;
      auto above = std::upper_bound(libs_.begin(), libs_.end(), address,
                                    [](std::uint64_t a, const Library& lib) { return a < lib.start; });
      if (above != libs_.begin() && address < (above - 1)->end) {
        const Library& lib = *(above - 1);
        address = address - lib.start + lib.offset;
        name = fmt::format("{}+0x{:x}", lib.name.substr(lib.name.find_last_of("/\\") + 1), address);
        spec.module = lib.module;
      }
      spec.address = address;
      function.name = r_.builder.string(name);
      function.unresolved = true;
      spec.function = r_.builder.function(function);
    } else {
      const Location at = split_location(text);
      function.name = r_.builder.string(at.name.empty() ? "(anonymous)" : at.name);
      if (at.is_js) {
        function.file = r_.builder.string(at.file);
        // The place of a script's frame is that of its function's definition; the columns tell where it was.
        function.start_line = at.line;
        function.start_column = at.column;
      }
      if (!at.library.empty()) spec.module = r_.builder.module({at.library});
      std::string_view category_name, subcategory_name;
      if (category < meta_.categories.size()) {
        category_name = meta_.categories[category].name;
        const auto& subs = meta_.categories[category].subcategories;
        if (subcategory < subs.size()) subcategory_name = subs[subcategory];
      }
      spec.kind = kind_of_category(category_name, subcategory_name, at.is_js);
      if (at.is_js && implementation == "interpreter") spec.kind = FrameKind::interpreted;
      spec.function = r_.builder.function(function);
    }
    if (line != kNone) spec.line = line;
    if (column != kNone) spec.column = column;
    return spec;
  }

  void read_samples(JsonCursor& in, Samples& samples) {
    Schema schema;
    std::uint32_t stack = kNone;
    std::int64_t time = 0, cpu = 0;
    const auto column = [&](JsonCursor& value, std::uint32_t i) {
      if (i == schema.place("stack"))
        stack = read_index(value);
      else if (i == schema.place("time"))
        time = read_scaled(value, 6, r_.roundings.n_times);
      else if (i == schema.place("threadCPUDelta"))
        cpu = read_scaled(value, 0, r_.roundings.n_weights);
      else
        value.skip();
    };
    bool has_cpu = false;
    read_table(in, schema, column, [&] {
      has_cpu = schema.place("threadCPUDelta") != kNone;
      samples.stack.push_back(stack);
      samples.time.push_back(time);
      samples.cpu.push_back(cpu);
      stack = kNone;
      cpu = 0;
    });
    if (!has_cpu) samples.cpu.clear();
  }

  void read_markers(JsonCursor& in, const std::vector<std::string>& strings, Markers& out) {
    struct Row {
      std::uint32_t name = kNone, category = kNone, phase = kNone;
      std::int64_t start = kNoTime, end = kNoTime;
      MarkerData data;
    } row;
    Schema schema;
    const auto time = [&](JsonCursor& value) {
      if (value.kind() == JsonKind::number) return read_scaled(value, 6, r_.roundings.n_times);
      value.skip();
      return kNoTime;
    };
    read_table(
        in, schema,
        [&](JsonCursor& value, std::uint32_t i) {
          if (i == schema.place("name"))
            row.name = read_index(value);
          else if (i == schema.place("startTime") || i == schema.place("time"))
            row.start = time(value);
          else if (i == schema.place("endTime"))
            row.end = time(value);
          else if (i == schema.place("phase"))
            row.phase = read_index(value);
          else if (i == schema.place("category"))
            row.category = read_index(value);
          else if (i == schema.place("data"))
            row.data = read_marker_data(value, r_.fields, r_.builder, r_.markers);
          else
            value.skip();
        },
        [&] {
          // Stacks of causes are numbers in processed files only.
          row.data.stack = kNone;
          const std::string& category =
              row.category < meta_.categories.size() ? meta_.categories[row.category].name : kNothing;
          out.add(r_.builder.string(row.name < strings.size() ? strings[row.name] : kNothing),
                  r_.builder.string(category), row.start, row.end, row.phase, row.data);
          row = {};
        });
  }

  Allocations read_allocations(JsonCursor& in) {
    Allocations a;
    Schema schema;
    std::uint32_t stack = kNone;
    std::int64_t time = 0, weight = 0, address = 0;
    std::uint64_t ignored = 0;
    const auto column = [&](JsonCursor& value, std::uint32_t i) {
      if (i == schema.place("stack"))
        stack = read_index(value);
      else if (i == schema.place("time"))
        time = read_scaled(value, 6, r_.roundings.n_times);
      else if (i == schema.place("weight") || i == schema.place("size"))
        weight = read_scaled(value, 0, r_.roundings.n_weights);
      else if (i == schema.place("memoryAddress"))
        address = read_scaled(value, 0, ignored);
      else
        value.skip();
    };
    bool addressed = false;
    read_table(in, schema, column, [&] {
      addressed = schema.place("memoryAddress") != kNone;
      a.stack.push_back(stack);
      a.time.push_back(time);
      a.weight.push_back(weight);
      a.address.push_back(address);
      stack = kNone;
      weight = address = 0;
    });
    if (!addressed) a.address.clear();
    return a;
  }

  static inline const std::string kNothing;
  const JsonCursor& text_;
  Meta& meta_;
  std::int64_t offset_;
  ReadContext& context_;
  Recording& r_;
  std::uint32_t level_;
  std::vector<Library> libs_;
};

}  // namespace

Location split_location(std::string_view text) {
  Location out;
  std::string_view body = text;
  // "[12]": index of the source.
  if (body.ends_with(']')) {
    const std::size_t open = body.rfind('[');
    std::uint32_t index = 0;
    if (open != std::string_view::npos && parse_uint(body.substr(open + 1, body.size() - open - 2), index))
      body = body.substr(0, open);
  }
  if (body.ends_with(')')) {
    const std::size_t open = body.find(" (");
    if (open != std::string_view::npos) {
      std::string_view inside = body.substr(open + 2, body.size() - open - 3);
      out.name = body.substr(0, open);
      if (inside.starts_with("in ")) {
        out.library = inside.substr(3);
        return out;
      }
      out.file = inside;
      cut_place(out.file, out.line, out.column);
      if (out.line > 0 || out.file.find("://") != std::string_view::npos ||
          out.file.find('/') != std::string_view::npos) {
        out.is_js = true;
        return out;
      }
      out = {};
    }
  } else if (const std::size_t in = body.find(" (in "); in != std::string_view::npos) {
    // "name (in library) + 12"
    const std::size_t close = body.find(')', in);
    if (close != std::string_view::npos && body.substr(close).starts_with(") + ")) {
      out.name = body.substr(0, in);
      out.library = body.substr(in + 5, close - in - 5);
      return out;
    }
  }
  // A script without a function's name: "url:line" or "url:line:column".
  std::string_view file = body;
  cut_place(file, out.line, out.column);
  if (out.line > 0 && !file.empty() && file.find(' ') == std::string_view::npos &&
      file.find('/') != std::string_view::npos) {
    out.file = file;
    out.is_js = true;
    return out;
  }
  out = {};
  out.name = text;
  return out;
}

Outline read_outline(JsonCursor& in, Meta& meta, Recording& recording) {
  Outline out;
  std::string_view key;
  out.depth = in.depth() + 1;
  for (in.begin_object(); in.next_key(key);) {
    const JsonKind kind = in.kind();
    const std::uint64_t place = in.offset();
    if (key == "meta" && kind == JsonKind::object) {
      out.meta = place;
      meta = read_meta(in, recording.roundings);
    } else {
      if (key == "counters" && kind == JsonKind::array) out.counters = place;
      if (key == "libs") out.libs = place;
      if (key == "shared" && kind == JsonKind::object) out.shared = place;
      if (key == "threads" && kind == JsonKind::array) out.threads = place;
      if (key == "profile" && kind == JsonKind::object) out.profile = place;
      if (key == "processes" && kind == JsonKind::array) out.processes = place;
      in.skip();
    }
  }
  return out;
}

Result<void> read_gecko(const JsonCursor& text, const Outline& outline, Meta& meta, std::int64_t offset,
                        ReadContext& context, Recording& recording) {
  return Gecko(text, meta, offset, context, recording, 0).read(outline);
}

}  // namespace profd::firefox
