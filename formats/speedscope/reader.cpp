// speedscope's own JSON, evented and sampled. docs/formats/speedscope.md says what becomes what.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/speedscope/document.h"
#include "formats/speedscope/profiles.h"
#include "formats/speedscope/sampled_stacks.h"
#include "formats/speedscope/values.h"
#include "formats/support/json_keys.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

using namespace speedscope;

constexpr std::array<std::string_view, 2> kExtensions{".speedscope.json", ".speedscope"};
constexpr ReaderNotes kNotes{
    .versions = "0.0.1 and later, sampled and evented, with or without $schema",
    .keeps = "a profile for each unit: threads, times, functions, files, lines, columns, order of samples",
    .recording = "py-spy record -f speedscope -o out.speedscope.json -- python app.py",
    .verified = "sums over the JSON of five corpus files: self times of the top functions",
};
constexpr std::string_view kSchema = "speedscope.app/file-format-schema";
constexpr std::size_t kSniffCap = 64 * 1024;

// The profiles of one unit; they become one Profile with a thread each.
struct Group {
  std::string written_unit;
  std::vector<const ProfilePlace*> members;
};

std::vector<Group> group_by_unit(const Document& document) {
  std::vector<Group> groups;
  for (const ProfilePlace& place : document.profiles) {
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return g.written_unit == place.unit; });
    if (found == groups.end()) found = groups.insert(groups.end(), Group{place.unit, {}});
    found->members.push_back(&place);
  }
  return groups;
}

std::uint32_t place_number(JsonCursor& in, std::uint64_t& n_odd) {
  if (in.kind() != JsonKind::number) {
    in.skip();
    return 0;
  }
  const JsonNumber number = in.number();
  if (number.is_integer && number.integer >= 0 && number.integer < kNone)
    return static_cast<std::uint32_t>(number.integer);
  ++n_odd;
  return 0;
}

struct Frames {
  std::vector<FrameId> ids;
  std::uint64_t n_unnamed = 0, n_odd_places = 0, n_repaired = 0;
};

// `text`: of the whole array that the cursor stands on.
Result<Frames> read_frames(JsonCursor in, std::string_view text, ProfileBuilder& builder) {
  Frames out;
  // One object a frame, and few are shorter than this. Tables that grow step by step leave twice their size
  // behind in the heap.
  constexpr std::size_t kFrameBytes = 32;
  const auto braces = static_cast<std::size_t>(std::count(text.begin(), text.end(), '{'));
  const std::size_t n = std::min(braces, text.size() / kFrameBytes);
  builder.reserve(n, text.size() / 2, n, n);
  std::string_view key;
  for (in.begin_array(); in.next_element();) {
    FunctionSpec function;
    FrameSpec frame;
    function.name = StringId{0u};
    for (in.begin_object(); in.next_key(key);) {
      if (key == "name" && in.kind() == JsonKind::string)
        function.name = builder.string(in.string());
      else if (key == "file" && in.kind() == JsonKind::string)
        function.file = builder.string(in.string());
      else if (key == "line")
        frame.line = place_number(in, out.n_odd_places);
      else if (key == "col")
        frame.column = place_number(in, out.n_odd_places);
      else
        in.skip();
    }
    if (!in.ok()) break;
    if (function.name.v == 0) {
      function.name = builder.string("(anonymous)");
      ++out.n_unnamed;
    }
    frame.function = builder.function(function);
    out.ids.push_back(builder.frame(frame));
  }
  if (!in.ok())
    return tl::unexpected<Error>(
        Error(in.status().error()).in(fmt::format("shared.frames[{}]", out.ids.size())));
  out.n_repaired = in.n_repaired();
  return out;
}

void report_frames(const Frames& frames, ReadContext& context) {
  const auto report = [&](std::string_view kind, Severity severity, std::string_view message,
                          std::uint64_t n) {
    if (n > 0) context.report.add(kind, severity, message, std::nullopt, n);
  };
  report("unnamed-frame", Severity::loss, "Frames without a name are called (anonymous).", frames.n_unnamed);
  report("odd-line", Severity::loss, "Lines or columns that are no line numbers were dropped.",
         frames.n_odd_places);
  report("invalid-text", Severity::loss, "Names that are no valid text were repaired.", frames.n_repaired);
}

// Reads a group into a fresh builder; nothing when its values need fractions and `fractional` is not set.
Result<std::optional<ProfileBuilder>> read_group(const JsonCursor& cursor, const Document& document,
                                                 const Group& group, bool fractional, bool first,
                                                 const DecodedText& decoded, ReadContext& context) {
  ProfileBuilder builder;
  const Unit unit = unit_of(group.written_unit);
  ValueReader values(unit, fractional);
  builder.add_metric(unit.metric, unit.name, fractional);
  JsonCursor in = cursor;
  in.seek(*document.frames, kFramesDepth);
  const std::string_view frames_text =
      decoded.text.substr(*document.frames - decoded.offset, document.frames_end - *document.frames);
  PROFD_TRY(const Frames frames, read_frames(in, frames_text, builder));

  Target target{builder, frames.ids, context, values, unit.is_time, {}, decoded.text.size() + decoded.offset};
  std::unique_ptr<SampledStacks> stacks;
  if (std::all_of(group.members.begin(), group.members.end(),
                  [](const ProfilePlace* place) { return place->type == "sampled"; }))
    stacks = std::make_unique<SampledStacks>(builder.n_frames());
  target.stacks = stacks.get();
  Amount end{};
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    const Amount from = values.read_at(cursor, group.members[i]->start);
    const Amount to = values.read_at(cursor, group.members[i]->end);
    if (i == 0 || values.sign(values.difference(from, target.origin)) < 0) target.origin = from;
    if (i == 0 || values.sign(values.difference(to, end)) > 0) end = to;
  }
  std::unordered_map<std::string_view, std::uint32_t> seen;
  for (const ProfilePlace* place : group.members) {
    if (values.needs_fractions()) return std::optional<ProfileBuilder>();
    // Equal names are different threads all the same.
    const std::uint32_t number = ++seen[place->name];
    const std::string name = number == 1 ? place->name : fmt::format("{} #{}", place->name, number);
    const ThreadId thread = builder.thread({.name = name});
    if (place->type == "evented")
      PROFD_CHECK(read_evented(cursor, *place, thread, target));
    else if (place->type == "sampled")
      PROFD_CHECK(read_sampled(cursor, *place, thread, target));
    else
      return tl::unexpected<Error>(
          Error{ErrorCode::unsupported, "the profile is neither evented nor sampled", place->begin, {}}.in(
              fmt::format("profiles[{}]", place->index)));
  }
  if (values.needs_fractions()) return std::optional<ProfileBuilder>();

  if (stacks) builder.set_sample_stacks(std::move(stacks));
  if (first) report_frames(frames, context);
  if (target.n_unclosed > 0)
    context.report.add(
        "unclosed-frame", Severity::loss,
        "Frames were still open after the last event; they were closed at the end of the profile.",
        std::nullopt, target.n_unclosed);
  ProfileInfo& info = builder.info();
  info.format = "speedscope";
  info.producer = document.exporter;
  info.name = !document.name.empty() || group.members.size() > 1 ? document.name : group.members[0]->name;
  if (unit.is_time) {
    const std::int64_t duration = values.nanoseconds(values.difference(end, target.origin));
    if (duration > 0) info.duration_ns = duration;
  }
  return std::optional<ProfileBuilder>(std::move(builder));
}

class SpeedscopeReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"speedscope",
                                 "speedscope JSON",
                                 kExtensions,
                                 400,
                                 "py-spy, rbspy, pyinstrument, Austin, dotnet-trace, speedscope",
                                 2,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    const JsonPrefix text(prefix);
    const JsonKeys keys = json_keys(text.text());
    if (keys.kind() != JsonKind::object) return Confidence::no;
    const JsonKey* schema = keys.find("$schema");
    if (schema != nullptr) return schema->value_contains(kSchema) ? Confidence::certain : Confidence::no;
    if (const JsonKey* profiles = keys.find("profiles");
        profiles != nullptr && profiles->kind == JsonKind::array) {
      const JsonKeys profile = json_keys(profiles->value);
      const bool known = profile.has("type", JsonKind::string) && profile.has("unit", JsonKind::string);
      return known ? Confidence::maybe : Confidence::no;
    }
    if (const JsonKey* shared = keys.find("shared"); shared != nullptr && shared->kind == JsonKind::object)
      return json_keys(shared->value).has("frames", JsonKind::array) ? Confidence::maybe : Confidence::no;
    return !keys.complete() && !at_end && prefix.size() < kSniffCap ? Confidence::need_more : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText decoded = decode_text(source);
    JsonCursor in(decoded.text, context.limits.nesting, decoded.offset);
    auto outline = read_document(in);
    if (!outline) {
      Error error = std::move(outline).error();
      if (source.truncated()) error.code = ErrorCode::truncated;
      return tl::unexpected<Error>(std::move(error));
    }
    const Document& document = *outline;
    source.forget_pages();  // only the outline was looked at
    const std::vector<Group> groups = group_by_unit(document);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      std::optional<ProfileBuilder> builder;
      for (const bool fractional : {false, true}) {
        PROFD_TRY(builder, read_group(in, document, groups[i], fractional, i == 0, decoded, context));
        if (builder) break;
      }
      if (!builder) return fail(ErrorCode::internal, "values need fractions twice");
      if (groups.size() > 1) {
        std::string& name = builder->info().name;
        const std::string unit = groups[i].written_unit.empty() ? "no unit" : groups[i].written_unit;
        name = name.empty() ? unit : fmt::format("{} ({})", name, unit);
      }
      profiles.push_back(std::move(*builder));
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_speedscope_reader() {
  return std::make_unique<SpeedscopeReader>();
}

}  // namespace profd
