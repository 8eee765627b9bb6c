#include "formats/otlp/profile.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "formats/support/loaded_modules.h"

namespace profd::otlp {
namespace {

constexpr std::uint64_t kMaxFramesPerByte = 64;

std::uint32_t small(std::uint64_t value) {
  return value < kNone ? static_cast<std::uint32_t>(value) : 0;
}

FrameKind kind_of(std::string_view type) {
  if (type == "kernel") return FrameKind::kernel;
  for (std::string_view jit : {"jvm", "v8js", "dotnet", "beam", "luajit", "jit"})
    if (type == jit) return FrameKind::jit;
  for (std::string_view interpreted : {"cpython", "ruby", "php", "perl", "interpreted"})
    if (type == interpreted) return FrameKind::interpreted;
  if (type == "gc") return FrameKind::gc;
  if (type == "waker") return FrameKind::waker;
  if (type == "data_object") return FrameKind::data_object;
  return FrameKind::native;
}

// UCUM, where it is not what normalize_unit() knows.
std::string_view plain_unit(std::string_view unit) {
  if (unit == "By") return "bytes";
  if (unit.empty() || unit == "1" || unit.front() == '{') return "count";
  return unit;
}

std::uint64_t fixed64(const std::uint8_t* p) {
  std::uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | p[i];
  return value;
}

class Reading {
 public:
  Reading(const std::byte* file, const Dictionary& dictionary, Layout layout, const Surroundings& around,
          ReadContext& context, ProfileBuilder& builder)
      : file_(file),
        d_(dictionary),
        around_(around),
        context_(context),
        builder_(builder),
        modules_(builder),
        sample_(layout == Layout::v1_8 ? kLayout18 : kLayout110) {}

  Result<void> run(Cursor bytes) {
    std::vector<Cursor> samples;
    PROFD_CHECK(read_fields(bytes, samples));
    ProfileInfo& info = builder_.info();
    info.properties.insert(info.properties.end(), around_.properties.begin(), around_.properties.end());
    for (const Attribute& a : around_.resource) {
      info.properties.emplace_back("resource." + a.key, a.text);
      if (a.key == "process.executable.name" || a.key == "service.name") {
        if (info.program.empty() || a.key.starts_with("process")) info.program = a.text;
      }
      if (a.key == "process.pid" && a.is_number) pid_ = a.number;
      if (a.key == "process.executable.name") process_ = a.text;
      if (a.key == "service.name" ||
          (info.name.empty() && (a.key == "container.id" || a.key == "process.executable.name")))
        if (!a.text.empty()) info.name = a.text;
    }
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (i % 65536 == 0) PROFD_CHECK(context_.stop.status());
      PROFD_CHECK(read_sample(samples[i]));
    }
    builder_.set_n_samples(n_samples_);
    if (samples.empty()) context_.report.add("no-samples", Severity::info, "A profile has no samples.");
    return {};
  }

 private:
  Result<std::pair<std::string_view, std::string_view>> value_type(Cursor bytes) {
    std::pair<std::string_view, std::string_view> out;
    Field field;
    while (!bytes.done() && read_field(bytes, field)) {
      if (field.wire != Wire::varint) continue;
      namespace type = schema::value_type;
      if (field.number == type::type_strindex) out.first = d_.string(field.value);
      if (field.number == type::unit_strindex) out.second = d_.string(field.value);
      if (field.number < std::size(type::wires) && field.value >= d_.strings.size())
        return fail(ErrorCode::malformed, "a sample type names a string past the table",
                    offset_of(bytes.p, file_));
    }
    return out;
  }

  Result<void> read_fields(Cursor bytes, std::vector<Cursor>& samples) {
    namespace profile = schema::profile;
    ProfileInfo& info = builder_.info();
    std::vector<Field> fields;
    std::pair<std::string_view, std::string_view> type;
    bool has_type = false, old = false;
    while (!bytes.done()) {
      const std::uint8_t* at = bytes.p;
      Field field;
      if (!read_field(bytes, field))
        return fail(ErrorCode::malformed, "broken field in a profile", offset_of(at, file_));
      switch (field.number) {
        case profile::sample_type: {
          if (field.wire != Wire::length)
            return fail(ErrorCode::malformed, "sample_type has the wrong wire type", offset_of(at, file_));
          if (has_type)
            return fail(ErrorCode::unsupported,
                        "the profile has several sample types, as OTLP profiles had before 1.8; that form is "
                        "not read",
                        offset_of(at, file_));
          has_type = true;
          PROFD_TRY(type, value_type(field.bytes));
          break;
        }
        case profile::samples:
          if (field.wire != Wire::length)
            return fail(ErrorCode::malformed, "a sample has the wrong wire type", offset_of(at, file_));
          samples.push_back(field.bytes);
          break;
        case profile::time_unix_nano:
          if (field.wire != Wire::fixed64)
            return fail(ErrorCode::unsupported,
                        "the profile has the layout OTLP profiles had before 1.8; that form is not read",
                        offset_of(at, file_));
          if (field.value != 0) info.time_ns = static_cast<std::int64_t>(field.value);
          break;
        case profile::duration_nano:
          if (field.value != 0) info.duration_ns = static_cast<std::int64_t>(field.value);
          break;
        case profile::period_type: {
          if (field.wire != Wire::length) break;
          PROFD_TRY(const auto period, value_type(field.bytes));
          info.period_type = period.first;
          info.period_unit = period.second;
          break;
        }
        case profile::period:
          if (field.value != 0) info.period = static_cast<std::int64_t>(field.value);
          break;
        default:
          // 1.8 still had comments, so that all that follows stands one further.
          old |= (field.number == schema::profile18::profile_id && field.wire == Wire::length) ||
                 field.number == schema::profile18::attribute_indices ||
                 (field.number == profile::profile_id &&
                  (field.wire != Wire::length || (field.bytes.left() != 16 && field.bytes.left() != 0)));
          fields.push_back(field);
      }
    }
    start_ = info.time_ns.value_or(0);
    builder_.add_metric(type.first.empty() ? "samples" : type.first, plain_unit(type.second));
    for (const Field& field : fields) read_rest(field, old);
    return {};
  }

  void read_rest(const Field& field, bool old) {
    namespace profile = schema::profile;
    ProfileInfo& info = builder_.info();
    if (old && field.number == schema::profile18::comment_strindices) {
      std::vector<std::uint64_t> comments;
      append_integers(field, comments);
      for (const std::uint64_t c : comments) info.comments.emplace_back(d_.string(c));
      return;
    }
    static_assert(schema::profile18::attribute_indices == profile::attribute_indices + 1);
    switch (field.number - (old ? 1 : 0)) {
      case profile::profile_id:
        if (field.wire == Wire::length && field.bytes.left() > 0)
          info.properties.emplace_back("profile_id", to_hex(field.bytes));
        break;
      case profile::dropped_attributes_count:
        if (field.wire == Wire::varint && field.value > 0)
          context_.report.add("dropped-attributes", Severity::loss,
                              "attributes were dropped before the file was written", std::nullopt,
                              field.value);
        break;
      case profile::original_payload_format:
        if (field.wire == Wire::length && field.bytes.left() > 0)
          info.properties.emplace_back("original_payload_format", to_text(field.bytes));
        break;
      case profile::original_payload:
        if (field.wire == Wire::length && field.bytes.left() > 0)
          context_.report.add(
              "original-payload", Severity::info,
              "the original profile that lies in the file is not opened; its converted form is");
        break;
      case profile::attribute_indices: {
        std::vector<std::uint64_t> indices;
        append_integers(field, indices);
        for (const std::uint64_t index : indices) {
          Attribute a = d_.attribute(index);
          for (std::string_view of_pprof : {"drop_frames", "keep_frames", "doc_url"})
            if (a.key == fmt::format("pprof.profile.{}", of_pprof)) a.key = of_pprof;
          if (!a.key.empty()) info.properties.emplace_back(std::move(a.key), std::move(a.text));
        }
        break;
      }
      default:
        break;
    }
  }

  Result<void> read_sample(Cursor bytes) {
    std::uint64_t stack = 0, link = 0;
    attributes_.clear(), values_.clear(), times_.clear();
    const std::uint64_t offset = offset_of(bytes.p, file_);
    Field field;
    while (!bytes.done()) {
      if (!read_field(bytes, field))
        return fail(ErrorCode::malformed, "broken field in a sample", offset_of(bytes.p, file_));
      if (field.number == schema::sample::stack_index) stack = field.value;
      if (field.number == sample_.values) append_integers(field, values_);
      if (field.number == sample_.attributes) append_integers(field, attributes_);
      if (field.number == sample_.link) link = field.value;
      if (field.number != schema::sample::timestamps_unix_nano) continue;
      if (field.wire == Wire::fixed64) times_.push_back(field.value);
      if (field.wire == Wire::length) {
        if (field.bytes.left() % 8 != 0)
          return fail(ErrorCode::malformed, "the timestamps of a sample are cut",
                      offset_of(field.bytes.p, file_));
        for (const std::uint8_t* p = field.bytes.p; p != field.bytes.end; p += 8)
          times_.push_back(fixed64(p));
      }
    }
    if (!values_.empty() && !times_.empty() && values_.size() != times_.size())
      return fail(ErrorCode::malformed,
                  fmt::format("a sample has {} values and {} timestamps", values_.size(), times_.size()),
                  offset);
    PROFD_TRY(const ContextId at, context_of(stack, offset));
    SampleContext where;
    PROFD_CHECK(read_attributes(link, where, offset));
    const std::size_t n = std::max(values_.size(), times_.size());
    for (std::size_t i = 0; i < n; ++i) {
      const std::int64_t value = values_.empty() ? 1 : static_cast<std::int64_t>(values_[i]);
      where.time = std::nullopt;
      if (!times_.empty())
        where.time = static_cast<std::int64_t>(times_[i] - static_cast<std::uint64_t>(start_));
      builder_.add_sample(at, std::span(&value, 1), where);
    }
    n_samples_ += n;
    if (n == 0)
      context_.report.add("sample-without-value", Severity::loss,
                          "samples with neither values nor timestamps count nothing", offset);
    return {};
  }

  Result<void> read_attributes(std::uint64_t link, SampleContext& where, std::uint64_t offset) {
    std::string thread_name, process = process_;
    std::int64_t tid = -1, pid = pid_;
    std::vector<Label> labels;
    for (const std::uint64_t index : attributes_) {
      if (index >= d_.attributes.size())
        return fail(ErrorCode::malformed,
                    fmt::format("a sample names attribute {}, which is not in the table", index), offset);
      const Attribute& a = attribute(index);
      if (a.key.empty()) continue;
      if (a.key == "thread.name") {
        thread_name = a.text;
      } else if (a.key == "thread.id" && a.is_number) {
        tid = a.number;
      } else if (a.key == "process.pid" && a.is_number) {
        pid = a.number;
      } else {
        if (a.key == "process.executable.name") process = a.text;
        labels.push_back({.key = builder_.string(a.key), .is_number = a.is_number});
        if (a.is_number) {
          labels.back().number = a.number;
          labels.back().unit = builder_.string(a.unit == "By" ? "bytes" : a.unit);
        } else {
          labels.back().text = builder_.string(a.text);
        }
      }
    }
    if (!thread_name.empty() || tid >= 0) {
      // The process is the thread's then, and no label besides.
      std::erase_if(labels,
                    [&](const Label& l) { return builder_.text(l.key) == "process.executable.name"; });
      where.thread = builder_.thread({.name = thread_name, .process_name = process, .tid = tid, .pid = pid});
    }
    if (link != 0) {
      if (link >= d_.links.size())
        return fail(ErrorCode::malformed,
                    fmt::format("a sample names link {}, which is not in the table", link), offset);
      Cursor bytes = d_.links[static_cast<std::size_t>(link)];
      Field field;
      while (!bytes.done() && read_field(bytes, field)) {
        if (field.wire != Wire::length || field.number >= std::size(schema::link::wires)) continue;
        labels.push_back(
            {.key = builder_.string(field.number == schema::link::trace_id ? "trace_id" : "span_id"),
             .text = builder_.string(to_hex(field.bytes))});
      }
    }
    where.labels = builder_.label_set(labels);
    return {};
  }

  const Attribute& attribute(std::uint64_t index) {
    const auto [found, is_new] = attribute_cache_.try_emplace(index);
    if (is_new) found->second = d_.attribute(index);
    return found->second;
  }

  Result<ContextId> context_of(std::uint64_t stack, std::uint64_t offset) {
    const auto known = contexts_.find(stack);
    if (known != contexts_.end()) return known->second;
    std::vector<FrameId> frames;
    if (stack != 0 || !d_.stacks.empty()) {
      if (stack >= d_.stacks.size())
        return fail(ErrorCode::malformed,
                    fmt::format("a sample names stack {}, which is not in the table", stack), offset);
      Cursor bytes = d_.stacks[static_cast<std::size_t>(stack)];
      std::vector<std::uint64_t> locations;
      Field field;
      while (!bytes.done() && read_field(bytes, field))
        if (field.number == schema::stack::location_indices) append_integers(field, locations);
      for (std::size_t l = locations.size(); l-- > 0;) {
        PROFD_CHECK(append_frames(locations[l], frames, offset));
        if (frames.size() > context_.limits.stack_depth)
          return fail(ErrorCode::limit, "a stack has too many frames (limit stack_depth)", offset);
      }
      // A location of many lines is named by a byte.
      n_frames_ += frames.size();
      if (n_frames_ > kMaxFramesPerByte * d_.n_bytes + (1u << 24))
        return fail(ErrorCode::limit,
                    fmt::format("stacks have more than {} frames for a byte of the file", kMaxFramesPerByte),
                    offset);
    }
    const ContextId at = builder_.context_of(frames);
    contexts_.emplace(stack, at);
    return at;
  }

  struct Mapping {
    std::uint32_t module = kNone;  // of modules_
    FunctionId unknown;
    bool kernel = false;
  };

  Mapping mapping(std::uint64_t index) {
    const auto [found, is_new] = mappings_.try_emplace(index);
    if (!is_new) return found->second;
    ModuleSpec spec;
    std::string build_id;
    int rank = 0;
    if (index != 0) {
      Cursor bytes = d_.mappings[static_cast<std::size_t>(index)];
      Field field;
      std::vector<std::uint64_t> attributes;
      while (!bytes.done() && read_field(bytes, field)) {
        if (field.number == schema::mapping::attribute_indices) append_integers(field, attributes);
        if (field.wire != Wire::varint) continue;
        if (field.number == schema::mapping::memory_start) spec.start = field.value;
        if (field.number == schema::mapping::memory_limit) spec.limit = field.value;
        if (field.number == schema::mapping::file_offset) spec.offset = field.value;
        if (field.number == schema::mapping::filename_strindex) spec.name = d_.string(field.value);
      }
      for (const std::uint64_t a : attributes) {
        const Attribute& id = attribute(a);
        const int better = id.key == "process.executable.build_id.gnu"       ? 3
                           : id.key == "process.executable.build_id.go"      ? 2
                           : id.key == "process.executable.build_id.htlhash" ? 1
                                                                             : 0;
        if (better > rank) {
          rank = better;
          build_id = id.text;
        }
      }
      spec.build_id = build_id;
      found->second.module = modules_.add(spec);
      found->second.kernel = spec.name.starts_with("[kernel");
    }
    FunctionSpec unknown;
    unknown.name = builder_.string(spec.name.empty()          ? "[unknown]"
                                   : spec.name.front() == '[' ? std::string(spec.name)
                                                              : fmt::format("[{}]", base_name(spec.name)));
    unknown.unresolved = true;
    found->second.unknown = builder_.function(unknown);
    return found->second;
  }

  // Invalid for "none".
  Result<FunctionId> function(std::uint64_t index, std::uint64_t offset) {
    if (index == 0) return FunctionId{};
    if (index >= d_.functions.size())
      return fail(ErrorCode::malformed,
                  fmt::format("a location names function {}, which is not in the table", index), offset);
    const auto [found, is_new] = functions_.try_emplace(index);
    if (!is_new) return found->second;
    Cursor bytes = d_.functions[static_cast<std::size_t>(index)];
    std::string_view name, system_name, file;
    FunctionSpec spec;
    Field field;
    while (!bytes.done() && read_field(bytes, field)) {
      if (field.wire != Wire::varint) continue;
      if (field.number == schema::function::name_strindex) name = d_.string(field.value);
      if (field.number == schema::function::system_name_strindex) system_name = d_.string(field.value);
      if (field.number == schema::function::filename_strindex) file = d_.string(field.value);
      if (field.number == schema::function::start_line) spec.start_line = small(field.value);
    }
    if (name.empty()) name = system_name;
    if (name.empty()) return FunctionId{};
    spec.name = builder_.string(name);
    if (system_name != name) spec.system_name = builder_.string(system_name);
    spec.file = builder_.string(file);
    found->second = builder_.function(spec);
    return found->second;
  }

  Result<void> append_frames(std::uint64_t location, std::vector<FrameId>& out, std::uint64_t offset) {
    if (location >= d_.locations.size())
      return fail(ErrorCode::malformed,
                  fmt::format("a stack names location {}, which is not in the table", location), offset);
    const auto [found, is_new] = locations_.try_emplace(location);
    if (is_new) {
      auto frames = frames_of(d_.locations[static_cast<std::size_t>(location)], offset);
      if (!frames) return tl::unexpected<Error>(std::move(frames).error());
      found->second = std::move(*frames);
    }
    out.insert(out.end(), found->second.begin(), found->second.end());
    return {};
  }

  Result<std::vector<FrameId>> frames_of(Cursor bytes, std::uint64_t offset) {
    struct Line {
      std::uint64_t function = 0;
      std::uint32_t line = 0, column = 0;
    };
    std::vector<Line> lines;
    std::vector<std::uint64_t> attributes;
    std::uint64_t mapping_index = 0;
    FrameSpec spec;
    Field field;
    while (!bytes.done() && read_field(bytes, field)) {
      if (field.number == schema::location::mapping_index) mapping_index = field.value;
      if (field.number == schema::location::address) spec.address = field.value;
      if (field.number == schema::location::attribute_indices) append_integers(field, attributes);
      if (field.number != schema::location::lines || field.wire != Wire::length) continue;
      Line& line = lines.emplace_back();
      Field part;
      while (!field.bytes.done() && read_field(field.bytes, part)) {
        if (part.number == schema::line::function_index) line.function = part.value;
        if (part.number == schema::line::line) line.line = small(part.value);
        if (part.number == schema::line::column) line.column = small(part.value);
      }
    }
    if (mapping_index >= d_.mappings.size() && mapping_index != 0)
      return fail(ErrorCode::malformed,
                  fmt::format("a location names mapping {}, which is not in the table", mapping_index),
                  offset);
    const Mapping from = mapping(mapping_index);
    if (from.module != kNone) {
      const LoadedModules::Place place = modules_.at(from.module, spec.address);
      spec.module = place.module;
      spec.address = place.address;
    }
    if (from.kernel) spec.kind = FrameKind::kernel;
    for (const std::uint64_t index : attributes) {
      const Attribute& a = attribute(index);
      if (a.key == "profile.frame.type") {
        spec.kind = kind_of(a.text);
      } else if (!a.key.empty()) {
        context_.report.add(
            "location-attribute", Severity::loss,
            fmt::format("attributes of locations other than the frame type have no place, the first is {}",
                        a.key));
      }
    }
    std::vector<FrameId> frames;
    for (std::size_t l = lines.size(); l-- > 0;) {
      PROFD_TRY(spec.function, function(lines[l].function, offset));
      if (!spec.function.valid()) spec.function = from.unknown;
      spec.line = lines[l].line;
      spec.column = lines[l].column;
      spec.inlined = l + 1 < lines.size();
      frames.push_back(builder_.frame(spec));
    }
    if (lines.empty()) {
      spec.function = from.unknown;
      frames.push_back(builder_.frame(spec));
    }
    return frames;
  }

  const std::byte* file_;
  const Dictionary& d_;
  const Surroundings& around_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  LoadedModules modules_;
  SampleLayout sample_;
  std::int64_t start_ = 0, pid_ = -1;
  std::string process_;
  std::uint64_t n_samples_ = 0, n_frames_ = 0;
  std::vector<std::uint64_t> attributes_, values_, times_;
  std::unordered_map<std::uint64_t, Attribute> attribute_cache_;
  std::unordered_map<std::uint64_t, ContextId> contexts_;
  std::unordered_map<std::uint64_t, Mapping> mappings_;
  std::unordered_map<std::uint64_t, FunctionId> functions_;
  std::unordered_map<std::uint64_t, std::vector<FrameId>> locations_;
};

}  // namespace

Result<void> read_profile(Cursor bytes, const std::byte* file, const Dictionary& dictionary, Layout layout,
                          const Surroundings& around, ReadContext& context, ProfileBuilder& builder) {
  return Reading(file, dictionary, layout, around, context, builder).run(bytes);
}

}  // namespace profd::otlp
