// pyinstrument: JSON output, session files, and the data of its HTML page. docs/formats/pyinstrument.md.
#include "formats/reader.h"

#include <array>
#include <cmath>
#include <memory>

#include "formats/pyinstrument/session.h"
#include "formats/pyinstrument/tree.h"
#include "formats/support/json_keys.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".pyisession", ".pyinstrument.json"};
constexpr ReaderNotes kNotes{
    .versions = "session files, -r json, the data of HTML pages, as of pyinstrument 5.1",
    .keeps =
        "sessions: samples in order with times and lines; JSON: the tidied tree with self times; threads",
    .recording = "pyinstrument -r pyisession -o out.pyisession app.py",
    .verified = "sums over the JSON of five corpus files; a session against the JSON made of it",
};

struct Outline {
  std::optional<std::uint64_t> root_frame, records, tree;
  bool empty = false;  // root_frame is null: nothing was sampled
  std::uint32_t depth = 1;
};

std::optional<std::int64_t> nanoseconds(JsonCursor& in) {
  const double ns = std::round(in.number().value * 1e9);
  if (!in.ok() || !(std::abs(ns) < 9e18)) return std::nullopt;
  return static_cast<std::int64_t>(ns);
}

// Members of the outermost object or of "session", which the HTML page wraps them in.
Result<void> read_members(JsonCursor& in, Outline& out, ProfileBuilder& builder, bool nested) {
  ProfileInfo& info = builder.info();
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    const JsonKind kind = in.kind();
    if (key == "root_frame" && kind == JsonKind::object && !nested) {
      out.root_frame = in.offset();
      in.skip();
    } else if (key == "root_frame" && kind == JsonKind::null) {
      out.empty = true;
      in.skip();
    } else if (key == "frame_records" && kind == JsonKind::array && !nested) {
      out.records = in.offset();
      in.skip();
    } else if (key == "frame_tree" && !nested) {
      out.empty = kind == JsonKind::null;
      if (kind == JsonKind::object) out.tree = in.offset();
      in.skip();
    } else if (key == "session" && kind == JsonKind::object && !nested) {
      PROFD_CHECK(read_members(in, out, builder, true));
    } else if (key == "start_time" && kind == JsonKind::number) {
      info.time_ns = nanoseconds(in);
    } else if (key == "duration" && kind == JsonKind::number) {
      info.duration_ns = nanoseconds(in);
    } else if (key == "min_interval" && kind == JsonKind::number) {
      info.period = nanoseconds(in);
      info.period_type = "time";
      info.period_unit = "nanoseconds";
    } else if (key == "sample_count" && kind == JsonKind::number) {
      const std::int64_t n = in.integer();
      if (n >= 0) builder.set_n_samples(static_cast<std::uint64_t>(n));
    } else if ((key == "target_description" || key == "program") && kind == JsonKind::string) {
      info.program = in.string();
    } else if (key == "cpu_time" && kind == JsonKind::number) {
      info.properties.emplace_back("cpu_time", std::string(in.number().text) + " s");
    } else {
      in.skip();
    }
  }
  return in.status();
}

class PyinstrumentReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "pyinstrument", "pyinstrument JSON and sessions", kExtensions, 450, "pyinstrument", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    static_cast<void>(at_end);
    const JsonPrefix text(prefix);
    const JsonKeys keys = json_keys(text.text());
    if (keys.kind() != JsonKind::object) return Confidence::no;
    const bool timed = keys.has("start_time", JsonKind::number) && keys.has("duration", JsonKind::number) &&
                       keys.has("sample_count", JsonKind::number);
    if (timed && (keys.find("root_frame") != nullptr || keys.has("frame_records", JsonKind::array) ||
                  keys.has("start_call_stack", JsonKind::array)))
      return Confidence::certain;
    if (const JsonKey* session = keys.find("session"); session != nullptr) {
      const JsonKeys inner = json_keys(session->value);
      if (inner.has("sample_count", JsonKind::number) &&
          (keys.find("frame_tree") != nullptr || inner.has("start_call_stack", JsonKind::array)))
        return Confidence::certain;
    }
    // Version 4.1 writes the records before all else: texts of name, file and line around NUL.
    const JsonKey* records = keys.find("frame_records");
    if (records != nullptr && records->kind == JsonKind::array && !keys.complete() &&
        records->value.substr(0, 4096).find("\\u0000") != std::string_view::npos)
      return Confidence::certain;
    return timed ? Confidence::maybe : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText decoded = decode_text(source);
    // Frames nest two levels each: the object and its children.
    const std::uint64_t depth = std::uint64_t{context.limits.stack_depth} * 2 + context.limits.nesting;
    JsonCursor in(decoded.text, static_cast<std::uint32_t>(std::min<std::uint64_t>(depth, kNone)),
                  decoded.offset);
    ProfileBuilder builder;
    Outline outline;
    PROFD_CHECK(read_members(in, outline, builder, false));
    PROFD_CHECK(in.finish());
    builder.info().format = "pyinstrument";
    builder.info().producer = "pyinstrument";
    if (outline.records) {
      in.seek(*outline.records, 1);
      PROFD_CHECK(pyinstrument::read_records(in, context, builder));
    } else if (outline.root_frame || outline.tree) {
      in.seek(outline.root_frame ? *outline.root_frame : *outline.tree, 1);
      PROFD_CHECK(pyinstrument::read_tree(in, context, builder));
    } else if (outline.empty) {
      builder.add_metric("time", "nanoseconds");
      context.report.add("no-samples", Severity::info, "Nothing was sampled.");
    } else {
      return fail(ErrorCode::malformed, "there is no root_frame, frame_records or frame_tree", 0);
    }
    if (in.n_repaired() > 0)
      context.report.add("invalid-text", Severity::loss, "Names that are no valid text were repaired.",
                         std::nullopt, in.n_repaired());
    profiles.push_back(std::move(builder));
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_pyinstrument_reader() {
  return std::make_unique<PyinstrumentReader>();
}

}  // namespace profd
