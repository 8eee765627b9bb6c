// Scalene's JSON, old and new. docs/formats/scalene.md says what is read.
#include "formats/reader.h"

#include <array>
#include <cmath>
#include <memory>

#include "formats/scalene/lines.h"
#include "formats/scalene/stacks.h"
#include "formats/support/json_keys.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".scalene.json"};
constexpr ReaderNotes kNotes{
    .versions = "all JSON up to Scalene 2.4",
    .keeps =
        "shares of processor time by line (Python, native, system), allocated bytes, stacks; no peaks, no "
        "GPU",
    .recording = "scalene run -o out.json app.py",
    .verified = "sums over the JSON of two corpus files (all shares, top lines)",
};

struct Document {
  std::optional<std::uint64_t> files;
  scalene::StackPlaces stacks;
  ProfileInfo info;
  bool child = false;
};

std::optional<std::int64_t> nanoseconds(JsonCursor& in) {
  const double ns = std::round(in.number().value * 1e9);
  if (!in.ok() || !(std::abs(ns) < 9e18)) return std::nullopt;
  return static_cast<std::int64_t>(ns);
}

Document read_outline(JsonCursor& in) {
  Document out;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    const JsonKind kind = in.kind();
    const std::uint64_t at = in.offset();
    if (key == "files" && kind == JsonKind::object) out.files = at;
    if (kind == JsonKind::array) {
      if (key == "stacks") out.stacks.stacks = at;
      if (key == "combined_stacks") out.stacks.combined = at;
      if (key == "combined_stacks_timeline") out.stacks.timeline = at;
      if (key == "memory_stacks") out.stacks.memory = at;
    }
    if (key == "is_child") out.child = true;
    if (key == "elapsed_time_sec" && kind == JsonKind::number)
      out.info.duration_ns = nanoseconds(in);
    else if (key == "start_time_absolute" && kind == JsonKind::number)
      out.info.time_ns = nanoseconds(in);
    else if (key == "program" && kind == JsonKind::string)
      out.info.program = in.string();
    else if ((key == "max_footprint_mb" || key == "growth_rate" || key == "max_footprint_lineno" ||
              key == "native_allocations_mb") &&
             kind == JsonKind::number)
      out.info.properties.emplace_back(std::string(key), std::string(in.number().text));
    else if ((key == "max_footprint_fname" || key == "gpu_device") && kind == JsonKind::string) {
      std::string name(key);
      out.info.properties.emplace_back(std::move(name), std::string(in.string()));
    } else
      in.skip();
  }
  out.info.format = "scalene";
  out.info.producer = "Scalene";
  return out;
}

class ScaleneReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"scalene", "Scalene JSON", kExtensions, 451, "Scalene", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    static_cast<void>(at_end);
    const JsonPrefix text(prefix);
    const JsonKeys keys = json_keys(text.text());
    if (keys.kind() != JsonKind::object) return Confidence::no;
    if (keys.has("elapsed_time_sec", JsonKind::number) && keys.has("files", JsonKind::object))
      return Confidence::certain;
    // Long stacks may stand before the files, and before the time, too.
    if (keys.has("alloc_samples", JsonKind::number) && !keys.complete() &&
        (keys.has("elapsed_time_sec", JsonKind::number) || keys.has("combined_stacks", JsonKind::array)))
      return Confidence::certain;
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText decoded = decode_text(source);
    JsonCursor in(decoded.text, context.limits.nesting, decoded.offset);
    Document document = read_outline(in);
    PROFD_CHECK(in.finish());
    if (!document.files) {
      if (document.child)
        return fail(ErrorCode::unsupported,
                    "this is the output of a child process, which holds no measurements", 0);
      return fail(ErrorCode::malformed, "there are no files", 0);
    }
    std::vector<ProfileBuilder> found;
    in.seek(*document.files, 1);
    PROFD_CHECK(scalene::read_lines(in, context, found.emplace_back()));
    PROFD_CHECK(scalene::read_stacks(in, document.stacks, context, found));
    found.front().info().name = found.size() > 1 ? "lines" : "";
    for (ProfileBuilder& builder : found) {
      const std::string name = builder.info().name;
      builder.info() = document.info;
      builder.info().name = name;
      profiles.push_back(std::move(builder));
    }
    if (in.n_repaired() > 0)
      context.report.add("invalid-text", Severity::loss, "Names that are no valid text were repaired.",
                         std::nullopt, in.n_repaired());
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_scalene_reader() {
  return std::make_unique<ScaleneReader>();
}

}  // namespace profd
