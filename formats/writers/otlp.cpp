// OTLP profiles as protocol buffers, in the layout of 1.10: opentelemetry-proto, profiles/v1development.
#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "core/model/module_address.h"
#include "formats/writers/measurements.h"
#include "formats/writers/otlp_dictionary.h"

namespace profd {
namespace {

using namespace writers;
using namespace writers::otlp;

constexpr std::array<std::string_view, 1> kOtlpExtensions{".otlp"};

// UCUM's code of a unit; what has none stays a word.
std::string_view ucum(std::string_view unit) {
  if (unit == "nanoseconds") return "ns";
  if (unit == "microseconds") return "us";
  if (unit == "milliseconds") return "ms";
  if (unit == "seconds") return "s";
  if (unit == "bytes") return "By";
  return unit;
}

// Of the attribute profile.frame.type, which allows words of one's own where the listed ones say too much.
std::string_view frame_type(FrameKind kind) {
  switch (kind) {
    case FrameKind::native:
      return "";
    case FrameKind::jit:
      return "jit";
    case FrameKind::interpreted:
      return "interpreted";
    case FrameKind::kernel:
      return "kernel";
    case FrameKind::gc:
      return "gc";
    case FrameKind::waker:
      return "waker";
    case FrameKind::data_object:
      return "data_object";
  }
  return "";
}

struct Counts {
  std::uint64_t rounded = 0, other_file = 0, times = 0, kinds = 0, unresolved = 0;
};

// One profile: a message of ResourceProfiles with as many OTLP profiles as there are metrics.
class OtlpWriting {
 public:
  OtlpWriting(const Profile& profile, Dictionary& dictionary, Counts& counts)
      : profile_(profile), d_(dictionary), counts_(counts), rows_(profile), whole_(profile) {}

  Result<Message> run(const StopToken& stop) {
    Message scope_profiles, resource_profiles;
    scope_profiles.message(schema::scope_profiles::scope, scope());
    group_rows();
    // The first one is what a reader shows: the default.
    std::vector<std::uint32_t> order(profile_.metrics().size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_partition(order.begin(), order.end(),
                          [&](std::uint32_t m) { return m == profile_.default_metric().v; });
    for (const std::uint32_t metric : order) {
      PROFD_CHECK(stop.status());
      scope_profiles.message(schema::scope_profiles::profiles, profile_of(MetricId{metric}));
    }
    if (const std::string_view url = property("scope.schema_url"); !url.empty())
      scope_profiles.text(schema::scope_profiles::schema_url, url);
    resource_profiles.message(schema::resource_profiles::resource, resource());
    resource_profiles.message(schema::resource_profiles::scope_profiles, scope_profiles);
    if (const std::string_view url = property("resource.schema_url"); !url.empty())
      resource_profiles.text(schema::resource_profiles::schema_url, url);
    counts_.rounded += whole_.n_rounded();
    return resource_profiles;
  }

 private:
  // What a sample is besides its value and time.
  struct Group {
    std::uint32_t context, thread, label_set;
    bool has_time;
    std::vector<std::uint64_t> attributes;
    std::uint64_t stack = 0, link = 0;
  };

  std::string_view property(std::string_view key) const {
    for (const auto& [name, value] : profile_.info().properties)
      if (name == key) return value;
    return {};
  }

  Message resource() {
    Message out;
    const auto add = [&](std::string_view key, const Message& value) {
      Message pair;
      pair.text(schema::key_value::key, key);
      pair.message(schema::key_value::value, value);
      out.message(schema::resource::attributes, pair);
    };
    const ProfileInfo& info = profile_.info();
    if (!info.name.empty() && property("resource.service.name").empty())
      add("service.name", text_value(info.name));
    if (!info.program.empty() && info.program != info.name &&
        property("resource.process.executable.name").empty())
      add("process.executable.name", text_value(info.program));
    for (const auto& [key, value] : info.properties) {
      if (!key.starts_with("resource.") || key == "resource.schema_url") continue;
      const std::string_view name = std::string_view(key).substr(9);
      std::int64_t number = 0;
      const char* const end = value.data() + value.size();
      const bool is_number =
          name == "process.pid" && !value.empty() && std::from_chars(value.data(), end, number).ptr == end;
      add(name, is_number ? number_value(number) : text_value(value));
    }
    return out;
  }

  Message scope() const {
    namespace field = schema::instrumentation_scope;
    Message out;
    const std::string_view name = property("scope.name");
    if (!name.empty() || !profile_.info().producer.empty())
      out.text(field::name, name.empty() ? std::string_view(profile_.info().producer) : name);
    if (const std::string_view version = property("scope.version"); !version.empty())
      out.text(field::version, version);
    for (const auto& [key, value] : profile_.info().properties) {
      if (!key.starts_with("scope.") || key == "scope.schema_url" || key == "scope.name" ||
          key == "scope.version")
        continue;
      Message pair;
      pair.text(schema::key_value::key, std::string_view(key).substr(6));
      pair.message(schema::key_value::value, text_value(value));
      out.message(field::attributes, pair);
    }
    return out;
  }

  // Rows of one context, thread and label set are one sample with several values; those with times apart.
  void group_rows() {
    std::vector<std::uint32_t> group_of(rows_.size());
    RowSet known;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Measurement row = rows_[i];
      const Group group{row.context, row.thread, row.label_set, row.time.has_value(), {}};
      const std::uint64_t hash = hash_combine(
          hash_combine(mix64(std::uint64_t{row.context} << 1 | (group.has_time ? 1 : 0)), row.thread),
          row.label_set);
      const auto next = static_cast<std::uint32_t>(groups_.size());
      group_of[i] = known.find_or_add(mix64(hash), next, [&](std::uint32_t g) {
        return groups_[g].context == group.context && groups_[g].thread == group.thread &&
               groups_[g].label_set == group.label_set && groups_[g].has_time == group.has_time;
      });
      if (group_of[i] == next) groups_.push_back(group);
    }
    first_.assign(groups_.size() + 1, 0);
    for (const std::uint32_t group : group_of) ++first_[group + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<std::size_t> fill(first_.begin(), first_.end() - 1);
    order_.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) order_[fill[group_of[i]]++] = i;
    for (Group& group : groups_) {
      group.stack = stack_of(group.context);
      add_attributes(group);
    }
  }

  Message value_type(std::string_view type, std::string_view unit) {
    Message out;
    out.varint(schema::value_type::type_strindex, d_.string(type));
    out.varint(schema::value_type::unit_strindex, d_.string(ucum(unit)));
    return out;
  }

  Message profile_of(MetricId metric) {
    namespace field = schema::profile;
    Message out, sample;
    const ProfileInfo& info = profile_.info();
    out.message(field::sample_type, value_type(profile_.metrics()[metric.v].name, whole_.unit(metric)));
    const std::int64_t start = info.time_ns.value_or(0);
    std::vector<std::int64_t> values;
    std::vector<std::uint64_t> times;
    const auto put = [&](const Group& group) {
      if (values.empty()) return;
      sample.clear();
      sample.varint(schema::sample::stack_index, group.stack);
      sample.packed(schema::sample::attribute_indices, group.attributes);
      sample.varint(schema::sample::link_index, group.link);
      sample.packed(schema::sample::values, values);
      sample.packed_fixed64(schema::sample::timestamps_unix_nano, times);
      out.message(field::samples, sample);
      values.clear();
      times.clear();
    };
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      std::vector<std::int64_t> without_time;
      for (std::size_t i = first_[g]; i < first_[g + 1]; ++i) {
        const Measurement row = rows_[order_[i]];
        const std::int64_t value = whole_.of(metric, rows_.value(row.row, metric));
        if (value == 0) continue;
        std::int64_t time = 0;
        // Unix time is unsigned there.
        if (row.time && (__builtin_add_overflow(start, *row.time, &time) || time < 0)) {
          without_time.push_back(value);
          ++counts_.times;
          continue;
        }
        values.push_back(value);
        if (row.time) times.push_back(static_cast<std::uint64_t>(time));
      }
      put(groups_[g]);
      values = std::move(without_time);
      put(groups_[g]);
    }
    if (info.time_ns && *info.time_ns > 0)
      out.fixed64(field::time_unix_nano, static_cast<std::uint64_t>(*info.time_ns));
    if (info.duration_ns && *info.duration_ns > 0) out.integer(field::duration_nano, *info.duration_ns);
    if (!info.period_type.empty())
      out.message(field::period_type, value_type(info.period_type, info.period_unit));
    if (info.period) out.integer(field::period, *info.period);
    out.packed(field::attribute_indices, profile_attributes());
    return out;
  }

  std::vector<std::uint64_t> profile_attributes() {
    std::vector<std::uint64_t> out;
    for (const auto& [key, value] : profile_.info().properties) {
      // The layout is a remark of the reader.
      if (key.starts_with("resource.") || key.starts_with("scope.") || key == "otlp_layout") continue;
      const bool of_pprof = key == "drop_frames" || key == "keep_frames" || key == "doc_url";
      out.push_back(d_.attribute(of_pprof ? "pprof.profile." + key : key, text_value(value)));
    }
    if (const auto& comments = profile_.info().comments; !comments.empty()) {
      Message list, value;
      for (const std::string& comment : comments)
        list.message(schema::array_value::values, text_value(comment));
      value.message(schema::any_value::array_value, list);
      out.push_back(d_.attribute("pprof.profile.comment", value));
    }
    return out;
  }

  static bool is_hex(std::string_view text, std::size_t size) {
    return text.size() == size && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  }
  static std::string from_hex(std::string_view hex) {
    std::string out;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
      unsigned byte = 0;
      std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
      out += static_cast<char>(byte);
    }
    return out;
  }

  void add_attributes(Group& group) {
    const LabelTable& labels = profile_.labels();
    std::string_view trace, span;
    const auto text_at = [&](std::uint32_t l) { return text_of(profile_, labels.text[l]); };
    if (group.label_set < labels.n_sets()) {
      const std::uint32_t begin = labels.first[group.label_set], end = labels.first[group.label_set + 1];
      for (std::uint32_t l = begin; l < end; ++l) {
        const std::string_view key = text_of(profile_, labels.key[l]);
        if (labels.is_number[l]) continue;
        if (key == "trace_id" && is_hex(text_at(l), 32)) trace = text_at(l);
        if (key == "span_id" && is_hex(text_at(l), 16)) span = text_at(l);
      }
      const bool linked = !trace.empty() && !span.empty();
      for (std::uint32_t l = begin; l < end; ++l) {
        const std::string_view key = text_of(profile_, labels.key[l]);
        const std::string_view unit = text_of(profile_, labels.unit[l]);
        if (labels.is_number[l])
          group.attributes.push_back(
              d_.attribute(key, number_value(labels.number[l]), unit == "bytes" ? "By" : unit));
        else if (!linked || (text_at(l) != trace && text_at(l) != span))
          group.attributes.push_back(d_.attribute(key, text_value(text_at(l))));
      }
      if (linked) {
        Message link;
        link.text(schema::link::trace_id, from_hex(trace));
        link.text(schema::link::span_id, from_hex(span));
        group.link = d_.links.row(link.bytes());
      }
    }
    if (group.thread == kNone) return;
    const ThreadTable& threads = profile_.threads();
    const std::uint32_t t = group.thread;
    if (const auto name = text_of(profile_, threads.name[t]); !name.empty())
      group.attributes.push_back(d_.attribute("thread.name", text_value(name)));
    if (threads.tid[t] >= 0)
      group.attributes.push_back(d_.attribute("thread.id", number_value(threads.tid[t])));
    if (const auto name = text_of(profile_, threads.process_name[t]); !name.empty())
      group.attributes.push_back(d_.attribute("process.executable.name", text_value(name)));
    if (threads.pid[t] >= 0)
      group.attributes.push_back(d_.attribute("process.pid", number_value(threads.pid[t])));
  }

  // Leaf first. Frames inlined into each other are the lines of one location.
  std::uint64_t stack_of(std::uint32_t context) {
    std::vector<std::uint64_t> locations;
    std::vector<std::uint32_t> group;
    if (location_of_frame_.empty()) location_of_frame_.assign(profile_.frames().size(), kNone);
    while (context != 0 && context != kNone) {
      group.clear();
      while (context != 0) {
        const std::uint32_t frame = profile_.tree().frame[context];
        group.push_back(frame);
        context = profile_.tree().parent[context];
        if (!profile_.frames().inlined[frame]) break;
      }
      if (group.size() > 1) {
        locations.push_back(location_of(group));
        continue;
      }
      std::uint32_t& known = location_of_frame_[group.front()];
      if (known == kNone) known = location_of(group);
      locations.push_back(known);
    }
    Message stack;
    stack.packed(schema::stack::location_indices, locations);
    return d_.stacks.row(stack.bytes());
  }

  std::uint32_t location_of(const std::vector<std::uint32_t>& group) {
    namespace location = schema::location;
    const FrameTable& frames = profile_.frames();
    const std::uint32_t outer = group.back();
    Message out;
    if (frames.module[outer].valid()) out.varint(location::mapping_index, mapping_of(frames.module[outer]));
    out.varint(location::address, loaded_address(profile_.modules(), frames, outer));
    if (group.size() > 1 || !is_bare(outer)) {
      for (const std::uint32_t frame : group) {
        Message line;
        line.varint(schema::line::function_index, function_of(frame));
        line.varint(schema::line::line, frames.line[frame]);
        line.varint(schema::line::column, frames.column[frame]);
        out.message(location::lines, line);
        counts_.kinds += frames.kind[frame] != frames.kind[outer];
      }
    }
    if (const std::string_view type = frame_type(frames.kind[outer]); !type.empty())
      out.packed(location::attribute_indices,
                 std::array{d_.attribute("profile.frame.type", text_value(type))});
    return d_.locations.row(out.bytes());
  }

  // Code without a symbol has an address and no line; this format's reader names it by its module.
  bool is_bare(std::uint32_t frame) {
    const FrameTable& frames = profile_.frames();
    const FunctionId function = frames.function[frame];
    if (!profile_.functions().unresolved[function.v]) return false;
    const std::string_view name = profile_.function_name(function);
    std::string expected = "[unknown]";
    if (frames.module[frame].valid()) {
      const std::string_view module = text_of(profile_, profile_.modules().name[frames.module[frame].v]);
      if (!module.empty())
        expected = module.front() == '[' ? std::string(module)
                                         : fmt::format("[{}]", module.substr(module.find_last_of("/\\") + 1));
    }
    const bool bare = frames.address[frame] != 0 && name == expected;
    counts_.unresolved += !bare;
    return bare;
  }

  std::uint64_t mapping_of(ModuleId module) {
    const ModuleTable& modules = profile_.modules();
    Message out;
    out.varint(schema::mapping::memory_start, modules.start[module.v]);
    out.varint(schema::mapping::memory_limit, modules.limit[module.v]);
    out.varint(schema::mapping::file_offset, modules.offset[module.v]);
    out.varint(schema::mapping::filename_strindex, d_.string(text_of(profile_, modules.name[module.v])));
    if (const std::string_view id = text_of(profile_, modules.build_id[module.v]); !id.empty())
      out.packed(schema::mapping::attribute_indices,
                 std::array{d_.attribute("process.executable.build_id.gnu", text_value(id))});
    return d_.mappings.row(out.bytes());
  }

  // A function keeps the file; lines from elsewhere make it another one.
  std::uint64_t function_of(std::uint32_t frame) {
    const FunctionTable& functions = profile_.functions();
    const std::uint32_t function = profile_.frames().function[frame].v;
    const StringId own = functions.file[function];
    const StringId file = profile_.frames().file[frame].v != 0 ? profile_.frames().file[frame] : own;
    Message out;
    const std::string_view name = text_of(profile_, functions.name[function]);
    out.varint(schema::function::name_strindex, d_.string(name.empty() ? "(unnamed)" : name));
    out.varint(schema::function::system_name_strindex,
               d_.string(text_of(profile_, functions.system_name[function])));
    out.varint(schema::function::filename_strindex, d_.string(text_of(profile_, file)));
    out.varint(schema::function::start_line, functions.start_line[function]);
    const std::size_t before = d_.functions.size();
    const std::uint32_t row = d_.functions.row(out.bytes());
    if (d_.functions.size() != before) counts_.other_file += file != own && own.v != 0;
    return row;
  }

  const Profile& profile_;
  Dictionary& d_;
  Counts& counts_;
  Measurements rows_;
  WholeNumbers whole_;
  std::vector<Group> groups_;
  std::vector<std::size_t> first_, order_;  // rows by group
  std::vector<std::uint32_t> location_of_frame_;
};

class OtlpWriter final : public FormatWriter {
 public:
  const WriterInfo& info() const override {
    static const WriterInfo info{"otlp",
                                 "OTLP profiles",
                                 kOtlpExtensions,
                                 "application/x-protobuf",
                                 false,
                                 "all metrics (one OTLP profile each) of all profiles; threads, times, "
                                 "labels, links, lines, columns, addresses, modules, inlining, kinds"};
    return info;
  }

  Result<void> write(std::span<const ProfilePtr> profiles, const WriteOptions& options, const ByteSink& sink,
                     LossReport& losses) const override {
    Dictionary dictionary;
    std::vector<Message> resources;
    Counts counts;
    for (const ProfilePtr& profile : profiles) {
      if (profile->metrics().empty()) return fail(ErrorCode::unsupported, "the profile has no metrics");
      PROFD_TRY(Message resource, OtlpWriting(*profile, dictionary, counts).run(options.stop));
      resources.push_back(std::move(resource));
    }
    report_losses(profiles, profiles.size(),
                  {.lines = true,
                   .addresses = true,
                   .modules = true,
                   .kinds = true,
                   .inlining = true,
                   .threads = true,
                   .labels = true,
                   .times = true,
                   .properties = true},
                  losses);
    count_loss(losses, "fractions", "Values that are no whole numbers were rounded.", counts.rounded);
    count_loss(losses, "frame-file",
               "Lines in another file than their function's make it a function of its own.",
               counts.other_file);
    count_loss(losses, "times", "Times before 1970 are not written.", counts.times);
    count_loss(losses, "unresolved",
               "Names that stand for code without a symbol are written as names of functions.",
               counts.unresolved);
    count_loss(losses, "kinds", "Inlined frames have the kind of the frame that they are part of.",
               counts.kinds);
    Output out(sink, options.stop);
    dictionary.write(out);
    Message head;
    for (const Message& resource : resources) {
      head.clear();
      head.tag(schema::profiles_data::resource_profiles);
      head.raw(resource.bytes().size());
      out.put(head.bytes());
      out.put(resource.bytes());
    }
    return out.finish();
  }
};

}  // namespace

std::unique_ptr<FormatWriter> make_otlp_writer() {
  return std::make_unique<OtlpWriter>();
}

}  // namespace profd
