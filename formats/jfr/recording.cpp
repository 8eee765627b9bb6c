#include "formats/jfr/recording.h"

#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "core/support/id.h"
#include "formats/support/text_number.h"

namespace profd::jfr {
namespace {

constexpr std::size_t kMaxEventName = 1024;  // it is copied for each of its settings

// All plain fields of an event as text, by name.
class EventTexts {
 public:
  EventTexts(const LoadedChunk& in, std::uint32_t cls) : in_(in) {
    reader_ = RowReader(in.metadata, in.layouts, cls, [&](const Field& field) -> std::uint8_t {
      const std::uint32_t type = in.metadata.index_of(field.type);
      if (field.pooled || type == kNone || slots_.size() == kMaxSlots) return kNoSlot;
      const std::string& name = in.metadata.classes()[type].name;
      if (name != "java.lang.String" && name != "long" && name != "int") return kNoSlot;
      slots_.push_back({field.name, name == "java.lang.String"});
      return static_cast<std::uint8_t>(slots_.size() - 1);
    });
  }
  void read(Wire body, std::map<std::string, std::string>& out) const {
    Row row;
    reader_.read(body, in_.layouts, row);
    if (!body.ok()) return;
    for (std::size_t i = 0; i < slots_.size(); ++i)
      out[slots_[i].name] = slots_[i].is_text ? in_.pools.text(row.texts[i])
                                              : std::to_string(static_cast<std::int64_t>(row.numbers[i]));
  }

 private:
  struct Slot {
    std::string name;
    bool is_text;
  };
  const LoadedChunk& in_;
  RowReader reader_;
  std::vector<Slot> slots_;
};

void read_settings(LoadedChunk& in, std::map<std::string, std::string>& machine) {
  const std::uint32_t setting = in.metadata.index_of("jdk.ActiveSetting"),
                      machine_class = in.metadata.index_of("jdk.JVMInformation");
  const auto id_of = [&](std::uint32_t cls) { return cls == kNone ? 0 : in.metadata.classes()[cls].id; };
  const std::uint64_t setting_id = id_of(setting), machine_id = id_of(machine_class);
  std::optional<EventTexts> settings, about;
  if (setting != kNone) settings.emplace(in, setting);
  if (machine_class != kNone) about.emplace(in, machine_class);
  std::map<std::string, std::string> fields;
  Record record;
  for (std::size_t at = kHeaderBytes; at < in.chunk.records_end; at = record.end) {
    if (!read_record(in.chunk, at, record)) return;
    if (about && record.type == machine_id) about->read(record.body, machine);
    if (!settings || record.type != setting_id) continue;
    settings->read(record.body, fields);
    std::uint64_t id = 0;
    if (parse_uint(fields["id"], id)) {
      const std::uint32_t cls = in.metadata.index_of(id);
      if (cls != kNone && in.metadata.classes()[cls].name.size() <= kMaxEventName)
        in.settings.by_event[{in.metadata.classes()[cls].name, fields["name"]}] = fields["value"];
    }
    in.settings.by_name[fields["name"]] = fields["value"];
  }
}

}  // namespace

std::optional<std::int64_t> parse_timespan(std::string_view text) {
  const std::size_t blank = text.find(' ');
  std::int64_t value = 0, scale = 0, ns = 0;
  if (blank == std::string_view::npos || !parse_int(text.substr(0, blank), value) || value <= 0)
    return std::nullopt;
  const std::string_view unit = text.substr(blank + 1);
  if (unit == "ns") scale = 1;
  if (unit == "us") scale = 1000;
  if (unit == "ms") scale = 1'000'000;
  if (unit == "s") scale = 1'000'000'000;
  if (unit == "m") scale = 60'000'000'000;
  if (unit == "h") scale = 3'600'000'000'000;
  if (scale == 0 || mul_overflows(value, scale, ns)) return std::nullopt;
  return ns;
}

std::optional<std::int64_t> sampling_interval(const Settings& settings, std::string_view event) {
  const auto setting = [&](const char* name) -> std::string_view {
    const auto found = settings.by_name.find(name);
    return found == settings.by_name.end() ? std::string_view() : found->second;
  };
  const auto positive = [](std::string_view text) -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    if (!parse_int(text, value) || value <= 0) return std::nullopt;
    return value;
  };
  const auto period = settings.by_event.find({std::string(event), "period"});
  if (period != settings.by_event.end()) return parse_timespan(period->second);
  if (event == "profiler.WallClockSample") {
    if (const auto wall = positive(setting("wall"))) return wall;
    if (setting("event") != "wall") return std::nullopt;
  }
  if (event == "jdk.ExecutionSample" || event == "profiler.WallClockSample")
    return positive(setting("interval"));
  return std::nullopt;
}

Result<Recording> load_recording(const ByteSource& source, ReadContext& context) {
  Recording recording;
  const std::span<const std::byte> file = source.bytes();
  for (std::uint64_t at = 0; at < file.size();) {
    PROFD_CHECK(context.stop.status());
    auto chunk = read_chunk(file, at);
    if (!chunk && at > 0 && context.partial) {
      context.report.add("not-a-chunk", Severity::loss, "the rest of the file is no chunk and was not read",
                         at);
      break;
    }
    PROFD_TRY(auto header, std::move(chunk));
    auto loaded = std::make_unique<LoadedChunk>();
    loaded->chunk = std::move(header);
    PROFD_CHECK(find_records(loaded->chunk));
    at += loaded->chunk.bytes.size();
    const bool complete = loaded->chunk.complete;
    if (!complete && !context.partial)
      return fail(ErrorCode::truncated,
                  fmt::format("chunk {} was still being written or is cut off", recording.chunks.size() + 1),
                  loaded->chunk.at + loaded->chunk.records_end);
    if (!complete && loaded->chunk.metadata == 0) {
      context.report.add("unfinished-chunk", Severity::loss,
                         "a chunk is cut off before the description of its events; it was not read",
                         loaded->chunk.at);
      continue;
    }
    if (!complete)
      context.report.add("unfinished-chunk", Severity::loss,
                         "a chunk is cut off; its last events, and the names of some, are missing",
                         loaded->chunk.at);
    PROFD_TRY(loaded->metadata, Metadata::parse(loaded->chunk, context.limits.nesting));
    PROFD_TRY(loaded->layouts, Layouts::compile(loaded->metadata));
    PROFD_TRY(loaded->pools, Pools::index(loaded->chunk, loaded->metadata, loaded->layouts, context.stop));
    read_settings(*loaded, recording.machine);
    // async-profiler tells them once, and begins chunks as often as it is asked for a dump.
    if (!recording.chunks.empty() && loaded->settings.by_event.empty() && loaded->settings.by_name.empty())
      loaded->settings = recording.chunks.back()->settings;
    PROFD_CHECK(loaded->pools.status());
    recording.chunks.push_back(std::move(loaded));
  }
  return recording;
}

}  // namespace profd::jfr
