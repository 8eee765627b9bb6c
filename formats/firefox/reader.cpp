// Firefox Profiler JSON: processed profiles (profiler.firefox.com, samply, …) and Gecko profiles.
// docs/formats/firefox.md says what is read and what is lost.
#include "formats/reader.h"

#include <array>
#include <memory>

#include <fmt/format.h>

#include "formats/firefox/gecko.h"
#include "formats/firefox/meta.h"
#include "formats/firefox/processed.h"
#include "formats/firefox/recording.h"
#include "formats/support/json_cursor.h"
#include "formats/support/json_keys.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

using namespace firefox;

constexpr std::array<std::string_view, 3> kExtensions{".json", ".profile.json", ".sps.json"};
constexpr ReaderNotes kNotes{
    .versions =
        "processed up to version 70, Gecko, DevTools' recordings; not .jslb, not Cleopatra (before 2013)",
    .keeps =
        "samples, processor use, allocations, threads, times, lines, columns, modules, categories, markers, "
        "counters",
    .recording = "samply record --save-only -o profile.json.gz ./app",
    .verified = "counts over the JSON of eight corpus files (samples); speedscope's times of three functions",
};
constexpr std::int64_t kNewestProcessed = 70, kNewestGecko = 36;

// A processed profile's threads are tables of columns; a Gecko profile's are rows under a schema. Only old
// files do not say which they are.
bool is_processed(const JsonCursor& text, const Outline& outline, const Meta& meta) {
  if (meta.processed_version) return true;
  if (!outline.threads) return false;
  JsonCursor in = text;
  in.seek(*outline.threads, outline.depth);
  std::string_view key;
  for (in.begin_array(); in.next_element();) {
    if (in.kind() != JsonKind::object) return false;
    for (in.begin_object(); in.next_key(key);) {
      if (key == "funcTable") return true;
      in.skip();
    }
  }
  return false;
}

class FirefoxReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"firefox",
                                 "Firefox Profiler JSON",
                                 kExtensions,
                                 413,
                                 "Firefox, profiler.firefox.com, samply, importers for perf and others",
                                 3,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    static_cast<void>(at_end);
    const JsonPrefix text(prefix);
    const JsonKeys keys = json_keys(text.text());
    if (keys.kind() != JsonKind::object) return Confidence::no;
    if (const Confidence whole = sniff_profile(keys); whole != Confidence::no) return whole;
    const bool devtools = keys.has("fileType", JsonKind::string) ||
                          (keys.find("configuration") != nullptr && keys.find("ticks") != nullptr);
    const JsonKey* inner = keys.find("profile");
    if (inner != nullptr && inner->kind == JsonKind::object &&
        sniff_profile(json_keys(inner->value)) == Confidence::certain)
      return Confidence::certain;
    if (devtools && inner != nullptr && inner->kind == JsonKind::object) return Confidence::maybe;
    // Members of a DevTools recording that stand before its profile.
    return !keys.complete() && keys.find("markers") != nullptr && keys.find("frames") != nullptr &&
                   keys.find("label") != nullptr
               ? Confidence::maybe
               : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText decoded = decode_text(source);
    JsonCursor in(decoded.text, context.limits.nesting, decoded.offset);
    Recording recording;
    Meta meta;
    Outline outline = read_outline(in, meta, recording);
    PROFD_CHECK(in.finish());
    // Old DevTools recordings hold the profile as a member.
    if (outline.profile && !outline.meta && !outline.threads) {
      in.seek(*outline.profile, 1);
      outline = read_outline(in, meta, recording);
      PROFD_CHECK(in.status());
    }
    if (!outline.meta && !outline.threads)
      return fail(ErrorCode::malformed, "the object has neither meta nor threads", decoded.offset);
    source.forget_pages();  // only the outline was looked at
    add_categories(meta, recording);
    describe(meta, recording);
    const bool processed = is_processed(in, outline, meta);
    if (meta.processed_version.value_or(0) > kNewestProcessed ||
        (!processed && meta.version.value_or(0) > kNewestGecko))
      context.report.add(
          "newer-version", Severity::info,
          "The file's version is newer than those that are known; it is read as the newest known.");
    if (processed)
      PROFD_CHECK(read_processed(source, in, outline, meta, context, recording));
    else
      PROFD_CHECK(read_gecko(in, outline, meta, 0, context, recording));
    PROFD_CHECK(add_samples(recording, context));
    if (in.n_repaired() > 0)
      context.report.add("invalid-text", Severity::loss, "Names that are no valid text were repaired.",
                         std::nullopt, in.n_repaired());
    profiles.push_back(std::move(recording.builder));
    return {};
  }

 private:
  static Confidence sniff_profile(const JsonKeys& keys) {
    const JsonKey* meta = keys.find("meta");
    if (meta == nullptr || meta->kind != JsonKind::object) return Confidence::no;
    const JsonKeys inside = json_keys(meta->value);
    const bool ours = inside.find("preprocessedProfileVersion") != nullptr ||
                      (inside.find("interval") != nullptr && inside.find("version") != nullptr &&
                       (inside.find("processType") != nullptr || inside.find("stackwalk") != nullptr ||
                        inside.find("product") != nullptr));
    if (ours && keys.has("threads", JsonKind::array)) return Confidence::certain;
    if (ours && keys.find("libs") != nullptr) return Confidence::certain;
    // Categories and marker schemas can fill what is seen of the file.
    if (ours && !keys.complete()) return Confidence::certain;
    return !keys.complete() && !inside.complete() &&
                   (inside.find("categories") != nullptr || inside.find("interval") != nullptr)
               ? Confidence::maybe
               : Confidence::no;
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_firefox_reader() {
  return std::make_unique<FirefoxReader>();
}

}  // namespace profd
