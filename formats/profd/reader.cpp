// The native format: profd's own files, and what profilers write through the builders.
#include "formats/reader.h"

#include <array>
#include <memory>

#include <fmt/format.h>

#include "core/model/timeline_order.h"
#include "formats/profd/checksum.h"
#include "formats/profd/decode.h"
#include "formats/profd/loose.h"
#include "formats/profd/place_addresses.h"
#include "formats/profd/profd_file.h"
#include "formats/profd/schema.h"
#include "formats/profd/validate.h"

namespace profd {
namespace {

using namespace profd_format;

constexpr std::array<std::string_view, 1> kExtensions{".profd"};
constexpr ReaderNotes kNotes{
    .versions = "version 1; as the builders write it and as profd itself does",
    .keeps = "everything a profile can hold, and the report of the file it came from",
    .recording = "profd convert big.pb.gz big.profd",
    .verified = "round trips of random profiles; protoc and protobuf's own classes read and write the same",
};

class ProfdReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static constexpr ReaderInfo kInfo{.id = "profd",
                                      .title = "profd native",
                                      .extensions = kExtensions,
                                      .sniff_rank = 10,
                                      .producer = "profd convert, the profd builders",
                                      .version = 2,
                                      .notes = kNotes};
    return kInfo;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
    if (text.starts_with(kFileStart)) return Confidence::certain;
    return !at_end && kFileStart.starts_with(text) ? Confidence::need_more : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    // Columns are copied unless nobody else can reach the bytes: a file that is mapped may be written to
    // after it was checked, or cut short, and then the profile would be wrong or the process gone.
    const Storage storage = source.is_private() ? Storage::borrowed : Storage::copied;
    PROFD_TRY(DecodedFile file, decode_file(source.bytes(), source.owner(), storage, context.executor));
    if (file.checksum) PROFD_CHECK(verify_checksum(source.bytes(), *file.checksum, context.executor));
    if (file.profiles.empty())
      return fail(ErrorCode::malformed, "the file holds no profile", source.bytes().size());
    std::uint64_t n_repaired = file.n_repaired;
    for (std::size_t i = 0; i < file.profiles.size(); ++i) {
      auto built = build(std::move(file.profiles[i]), context, n_repaired);
      if (!built) return tl::unexpected<Error>(std::move(built).error().in(fmt::format("profile {}", i + 1)));
      profiles.push_back(std::move(*built));
    }
    for (const ReportRow& row : file.report.rows())
      context.report.add(row.kind, row.severity, row.message, row.first_offset, row.count);
    if (n_repaired > 0)
      context.report.add("text-not-utf8", Severity::loss,
                         "names that are not UTF-8 were repaired; U+FFFD stands for what was not readable",
                         std::nullopt, n_repaired);
    return {};
  }

 private:
  static Result<ProfileBuilder> build(DecodedProfile profile, ReadContext& context,
                                      std::uint64_t& n_repaired) {
    if (auto valid = validate(profile, context.executor, context.stop); !valid) {
      Error error = std::move(valid).error();
      if (!error.offset) error.offset = profile.offset;
      return tl::unexpected<Error>(std::move(error));
    }
    if (!profile.in_modules) place_addresses(profile.data);
    if (profile.loose) return build_loose(profile, context.stop, n_repaired);
    PROFD_CHECK(order_old_samples(profile.data, context.stop));
    ProfileBuilder builder;
    builder.adopt(std::move(profile.data));
    return builder;
  }

  // Files from before there was a timeline have times of samples, and not their order.
  static Result<void> order_old_samples(ProfileData& data, const StopToken& stop) {
    if (data.timeline || !data.samples || data.samples->time.empty()) return {};
    PROFD_TRY(data.timeline.emplace().samples.row, order_samples(*data.samples, data.threads.size(), stop));
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_profd_reader() {
  return std::make_unique<ProfdReader>();
}

Result<OpenedFile> read_cached_profd(std::span<const std::byte> bytes,
                                     const std::shared_ptr<const void>& owner,
                                     std::span<const std::byte> cache_key, Executor& executor) {
  PROFD_TRY(DecodedFile file, decode_file(bytes, owner, Storage::borrowed, executor));
  if (!file.checksum || !file.has_import || file.profiles.empty() ||
      !std::equal(file.cache_key.begin(), file.cache_key.end(), cache_key.begin(), cache_key.end()))
    return fail(ErrorCode::malformed, "this is not the cache entry that was asked for");
  PROFD_CHECK(verify_checksum(bytes, *file.checksum, executor));
  OpenedFile opened;
  opened.decision = std::move(file.decision);
  opened.report = std::move(file.report);
  for (DecodedProfile& profile : file.profiles) {
    if (profile.loose) return fail(ErrorCode::malformed, "a cache entry holds a frozen profile");
    opened.profiles.push_back(std::make_shared<const Profile>(std::move(profile.data)));
  }
  return opened;
}

}  // namespace profd
