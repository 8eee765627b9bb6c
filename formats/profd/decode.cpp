#include "formats/profd/decode.h"

#include "core/support/text.h"
#include "formats/profd/column_reader.h"
#include "formats/profd/decode_profile.h"
#include "formats/profd/schema.h"

namespace profd::profd_format {
namespace {

constexpr std::size_t kMaxProfiles = 1u << 16;

Result<void> decode_report_row(const Field& field, DecodedFile& file, TextReader& texts) {
  ReportRow row;
  for (FieldCursor cursor(field); !cursor.at_end();) {
    PROFD_TRY(const Field f, cursor.next());
    switch (f.number) {
      case report_row::kind: {
        PROFD_TRY(row.kind, texts.read(f));
        break;
      }
      case report_row::severity:
        PROFD_CHECK(expect(f, WireType::varint));
        if (f.value > 2)
          return fail(ErrorCode::malformed, fmt::format("there is no severity {}", f.value), f.offset);
        row.severity = static_cast<Severity>(f.value);
        break;
      case report_row::count:
        PROFD_CHECK(expect(f, WireType::varint));
        row.count = f.value;
        break;
      case report_row::first_offset:
        PROFD_CHECK(expect(f, WireType::varint));
        row.first_offset = f.value;
        break;
      case report_row::message: {
        PROFD_TRY(row.message, texts.read(f));
        break;
      }
      default:
        break;
    }
  }
  file.report.add(row.kind, row.severity, row.message, row.first_offset, row.count);
  return {};
}

Result<void> decode_import(const Field& field, DecodedFile& file, TextReader& texts) {
  file.has_import = true;
  for (FieldCursor cursor(field); !cursor.at_end();) {
    PROFD_TRY(const Field f, cursor.next());
    switch (f.number) {
      case import::format: {
        PROFD_TRY(file.decision.format, texts.read(f));
        break;
      }
      case import::certain:
        PROFD_CHECK(expect(f, WireType::varint));
        file.decision.certain = f.value != 0;
        break;
      case import::also_plausible: {
        PROFD_TRY(std::string text, texts.read(f));
        file.decision.also_plausible.push_back(std::move(text));
        break;
      }
      case import::containers: {
        PROFD_TRY(std::string text, texts.read(f));
        file.decision.containers.push_back(std::move(text));
        break;
      }
      case import::report:
        PROFD_CHECK(expect(f, WireType::bytes));
        PROFD_CHECK(decode_report_row(f, file, texts));
        break;
      default:
        break;
    }
  }
  return {};
}

Result<void> check_version(std::uint64_t version, std::uint64_t offset) {
  if (version == kVersion) return {};
  if (version == 0) return fail(ErrorCode::malformed, "version 0 of the profd format does not exist", offset);
  return fail(ErrorCode::unsupported,
              fmt::format("the file has version {} of the profd format; this profd reads version {}. A newer "
                          "profd reads it, or the writer can be told to write the older version",
                          version, kVersion),
              offset);
}

}  // namespace

Result<std::string> TextReader::read(const Field& field) {
  PROFD_CHECK(expect(field, WireType::bytes));
  if (is_valid_utf8(field.text())) return std::string(field.text());
  ++n_repaired;
  return repair_utf8(field.text());
}

Result<DecodedFile> decode_file(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                                Storage storage, Executor& executor) {
  DecodedFile file;
  TextReader texts;
  CopyList copies;
  const ColumnBytes::Sink sink{storage, owner, copies};
  std::uint64_t n_profiles = 0;
  bool has_magic = false, has_version = false, checksummed = false;
  for (FieldCursor cursor(bytes, 0); !cursor.at_end();) {
    PROFD_TRY(const Field field, cursor.next());
    if (file.checksum)
      return fail(ErrorCode::malformed, "something follows the checksum, which ends a file",
                  field.tag_offset);
    if (field.number == file::magic) {
      PROFD_CHECK(expect(field, WireType::bytes));
      if (field.text() != kMagic || field.tag_offset != 0)
        return fail(ErrorCode::malformed, "this is not a profd file, or several were put together",
                    field.tag_offset);
      has_magic = true;
      continue;
    }
    if (field.number == file::version) {
      PROFD_CHECK(expect(field, WireType::fixed32));
      PROFD_CHECK(check_version(field.value, field.offset));
      has_version = true;
      continue;
    }
    if (!has_magic || !has_version)
      return fail(ErrorCode::malformed, "a profd file starts with its magic and version", field.tag_offset);
    switch (field.number) {
      case file::n_profiles:
        PROFD_CHECK(expect(field, WireType::fixed32));
        n_profiles = field.value;
        break;
      case file::checksummed:
        PROFD_CHECK(expect(field, WireType::varint));
        checksummed = field.value != 0;
        break;
      case file::imported:
        PROFD_CHECK(expect(field, WireType::bytes));
        PROFD_CHECK(decode_import(field, file, texts));
        break;
      case file::profiles: {
        PROFD_CHECK(expect(field, WireType::bytes));
        if (file.profiles.size() == kMaxProfiles)
          return fail(ErrorCode::limit, fmt::format("the file has more than {} profiles", kMaxProfiles),
                      field.tag_offset);
        auto decoded = decode_profile(field, sink, texts);
        if (!decoded)
          return tl::unexpected<Error>(
              std::move(decoded).error().in(fmt::format("profile {}", file.profiles.size() + 1)));
        file.profiles.push_back(std::move(*decoded));
        break;
      }
      case file::cache_key:
        PROFD_CHECK(expect(field, WireType::bytes));
        file.cache_key = field.payload;
        break;
      case file::checksum:
        PROFD_CHECK(expect(field, WireType::bytes));
        file.checksum = field;
        break;
      default:
        break;
    }
  }
  if (!has_version) return fail(ErrorCode::truncated, "the file ends before its version", bytes.size());
  if (n_profiles != 0 && n_profiles != file.profiles.size())
    return fail(file.profiles.size() < n_profiles ? ErrorCode::truncated : ErrorCode::malformed,
                fmt::format("the file says it has {} profiles and has {}", n_profiles, file.profiles.size()),
                bytes.size());
  if (checksummed && !file.checksum)
    return fail(ErrorCode::truncated, "the file ends before its checksum", bytes.size());
  copies.run(executor);
  for (std::size_t i = 0; i < file.profiles.size(); ++i) {
    if (auto done = complete_profile(file.profiles[i]); !done) {
      Error error = std::move(done).error();
      if (!error.offset) error.offset = file.profiles[i].offset;
      return tl::unexpected<Error>(std::move(error).in(fmt::format("profile {}", i + 1)));
    }
  }
  file.n_repaired = texts.n_repaired;
  return file;
}

}  // namespace profd::profd_format
