// Caliper profiles: .cali files and the JSON that cali-query and the hatchet services write.
// docs/formats/caliper.md says what is read and what is lost.
#include "formats/reader.h"

#include <array>
#include <memory>

#include "formats/caliper/cali.h"
#include "formats/caliper/json.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

using namespace caliper;

constexpr std::array<std::string_view, 3> kExtensions{".cali", ".caliper.json", ".cali.json"};
constexpr ReaderNotes kNotes{
    .versions = ".cali; json-split, json and json(object) of cali-query",
    .keeps = "sums by region or sampled stack, rank, thread and attribute; no minima, maxima or averages",
    .recording = "CALI_CONFIG=hatchet-region-profile,output=app.json ./app",
    .verified = "caliper-reader (inclusive sums) and hatchet (exclusive sums, top functions)",
};

class CaliperReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"caliper", "Caliper profile", kExtensions, 470, "Caliper, cali-query", 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    const JsonPrefix text(prefix);
    if (is_cali(text.text())) return Confidence::certain;
    return sniff_json(json_keys(text.text()), at_end);
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText decoded = decode_text(source);
    ProfileBuilder builder;
    Table table(context, builder);
    if (is_cali(decoded.text)) {
      PROFD_CHECK(read_cali(decoded.text, context, builder, table));
    } else {
      auto read = read_json(JsonCursor(decoded.text, context.limits.nesting, decoded.offset), context,
                            builder, table);
      if (!read) {
        Error error = std::move(read).error();
        if (source.truncated()) error.code = ErrorCode::truncated;
        return tl::unexpected<Error>(std::move(error));
      }
    }
    PROFD_CHECK(table.finish());
    builder.info().format = "caliper";
    builder.info().producer = "Caliper";
    profiles.push_back(std::move(builder));
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_caliper_reader() {
  return std::make_unique<CaliperReader>();
}

}  // namespace profd
