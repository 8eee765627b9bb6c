// V8 CPU profiles: Chrome DevTools, `node --cpu-prof`, Deno, VS Code, the inspector's Profiler domain.
// docs/formats/cpuprofile.md says what is read and what is lost.
#include "formats/reader.h"

#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "formats/cpuprofile/nodes.h"
#include "formats/cpuprofile/samples.h"
#include "formats/support/json_cursor.h"
#include "formats/support/json_keys.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

using namespace cpuprofile;

constexpr std::array<std::string_view, 1> kExtensions{".cpuprofile"};
constexpr ReaderNotes kNotes{
    .versions = "nodes with children or parents; the nested head of Chrome before 58",
    .keeps = "samples, times, functions with file and line, the lines hit in leaves",
    .recording = "node --cpu-prof app.js",
    .verified =
        "sums over the JSON of two corpus files (samples, top functions); the time of one against speedscope",
};
constexpr std::size_t kSniffCap = 64 * 1024;

// Everything outside the nodes; big arrays by their place only.
struct Document {
  std::optional<std::uint64_t> nodes, head;
  TimePlaces places;
  std::string title;
  std::uint64_t n_rounded = 0;
};

// Seconds in the head layout, microseconds in the nodes layout.
std::int64_t instant(JsonCursor& in, bool seconds, std::uint64_t& n_rounded) {
  if (!seconds) return microseconds(in, n_rounded);
  const std::uint64_t at = in.offset();
  const JsonNumber number = in.number();
  std::int64_t ns = 0;
  if (!in.ok() || scaled_decimal(number.text, 9, ns)) return ns;
  const double rounded = std::round(number.value * 1e9);
  if (std::abs(rounded) < 9.2e18) {
    ++n_rounded;
    return static_cast<std::int64_t>(rounded);
  }
  in.fail_at(at, ErrorCode::malformed, "the time is out of range");
  return 0;
}

Result<Document> read_outline(JsonCursor& in) {
  Document out;
  std::optional<std::uint64_t> start, end;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    const JsonKind kind = in.kind();
    const std::uint64_t at = in.offset();
    if (key == "nodes" && kind == JsonKind::array) out.nodes = at;
    if (key == "head" && kind == JsonKind::object) out.head = at;
    if (key == "samples" && kind == JsonKind::array) out.places.samples = at;
    if (key == "timeDeltas" && kind == JsonKind::array) out.places.deltas = at;
    if (key == "timestamps" && kind == JsonKind::array) out.places.timestamps = at;
    if (key == "startTime" && kind == JsonKind::number) start = at;
    if (key == "endTime" && kind == JsonKind::number) end = at;
    if (key == "title" && kind == JsonKind::string)
      out.title = in.string();
    else
      in.skip();
  }
  PROFD_CHECK(in.finish());
  if (!out.nodes && !out.head) return fail(ErrorCode::malformed, "the profile has neither nodes nor head");
  JsonCursor times = in;
  const bool seconds = !out.nodes;
  if (start) {
    times.seek(*start, 1);
    out.places.start_ns = instant(times, seconds, out.n_rounded);
  }
  if (end) {
    times.seek(*end, 1);
    out.places.end_ns = instant(times, seconds, out.n_rounded);
  }
  PROFD_CHECK(times.status());
  return out;
}

class CpuprofileReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"cpuprofile",
                                 "V8 CPU profile",
                                 kExtensions,
                                 410,
                                 "Chrome DevTools, node --cpu-prof, Deno, VS Code",
                                 4,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    const JsonPrefix text(prefix);
    const JsonKeys keys = json_keys(text.text());
    if (keys.kind() != JsonKind::object) return Confidence::no;
    if (const JsonKey* nodes = keys.find("nodes"); nodes != nullptr && nodes->kind == JsonKind::array) {
      const JsonKeys node = json_keys(nodes->value);
      if (node.has("callFrame", JsonKind::object) && node.has("id", JsonKind::number))
        return Confidence::certain;
    }
    if (const JsonKey* head = keys.find("head"); head != nullptr && head->kind == JsonKind::object) {
      const JsonKeys node = json_keys(head->value);
      if (node.has("functionName", JsonKind::string) && !node.has("selfSize", JsonKind::number) &&
          (node.has("hitCount", JsonKind::number) || node.has("callUID", JsonKind::number) ||
           keys.has("samples", JsonKind::array)))
        return Confidence::certain;
      if (!node.complete() && node.has("functionName", JsonKind::string)) return Confidence::maybe;
    }
    const bool partly = keys.has("timeDeltas", JsonKind::array) && keys.has("samples", JsonKind::array);
    if (partly) return Confidence::maybe;
    if (!keys.complete() && !at_end && prefix.size() < kSniffCap) return Confidence::need_more;
    const bool may_follow = keys.has("startTime", JsonKind::number) || keys.has("samples", JsonKind::array) ||
                            keys.has("timeDeltas", JsonKind::array);
    return !keys.complete() && may_follow ? Confidence::need_more : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText decoded = decode_text(source);
    // Nodes of the head layout nest two levels deep each.
    const std::uint64_t depth = std::uint64_t{context.limits.stack_depth} * 2 + context.limits.nesting;
    JsonCursor in(decoded.text, static_cast<std::uint32_t>(std::min<std::uint64_t>(depth, kNone)),
                  decoded.offset);
    auto outline = read_outline(in);
    if (!outline) {
      Error error = std::move(outline).error();
      if (source.truncated()) error.code = ErrorCode::truncated;
      return tl::unexpected<Error>(std::move(error));
    }
    Document& document = *outline;
    document.places.may_be_late = !document.places.deltas;
    if (document.places.deltas) {
      const std::string_view rest = decoded.text.substr(*document.places.deltas - decoded.offset);
      document.places.may_be_late = rest.substr(0, rest.find(']')).find('-') != std::string_view::npos;
    }
    source.forget_pages();  // only the outline was looked at

    ProfileBuilder builder;
    in.seek(document.nodes ? *document.nodes : *document.head, 1);
    PROFD_TRY(const Nodes nodes,
              document.nodes ? read_node_array(in, context, builder) : read_head_tree(in, context, builder));
    const TimePlaces& places = document.places;
    const bool timed = places.samples && (places.deltas || places.timestamps);
    const MetricId samples = builder.add_metric("samples", "count");
    if (timed) builder.set_default_metric(builder.add_metric("time", "nanoseconds"));
    if (places.samples)
      PROFD_CHECK(read_samples(in, places, timed, nodes, context, builder));
    else
      add_hits(nodes.table, samples, context, builder);
    if (!timed)
      context.report.add("no-times", Severity::info,
                         "The file has no sample times; only samples are counted.");
    if (in.n_repaired() > 0)
      context.report.add("invalid-text", Severity::loss, "Names that are no valid text were repaired.",
                         std::nullopt, in.n_repaired());

    ProfileInfo& info = builder.info();
    info.format = "cpuprofile";
    info.producer = "V8";
    info.name = document.title;
    std::int64_t duration = 0;
    if (places.start_ns && places.end_ns &&
        !__builtin_sub_overflow(*places.end_ns, *places.start_ns, &duration) && duration > 0)
      info.duration_ns = duration;
    profiles.push_back(std::move(builder));
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_cpuprofile_reader() {
  return std::make_unique<CpuprofileReader>();
}

}  // namespace profd
