#include "formats/hpctoolkit_v4/database.h"

#include <array>

#include <fmt/format.h>

namespace profd::hpctoolkit_v4 {
namespace {

constexpr std::string_view kMagic = "HPCTOOLKIT";
constexpr std::size_t kHeader = 16;

struct KindInfo {
  std::string_view mark, name, footer;
  std::uint32_t n_sections;
};
constexpr std::array<KindInfo, 4> kKinds{{{"meta", "meta.db", "_meta.db", 8},
                                          {"prof", "profile.db", "_prof.db", 2},
                                          {"ctxt", "cct.db", "__ctx.db", 1},
                                          {"trce", "trace.db", "trace.db", 1}}};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

FileKind kind_of(std::span<const std::byte> prefix) {
  const std::string_view text = text_of(prefix);
  if (!text.starts_with(kMagic)) return FileKind::none;
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (text.substr(kMagic.size()).starts_with(kKinds[i].mark)) return static_cast<FileKind>(i);
  return FileKind::none;
}

std::string_view name_of(FileKind kind) {
  return kind == FileKind::none ? "no database file" : kKinds[static_cast<std::size_t>(kind)].name;
}

Result<DatabaseFile> DatabaseFile::open(ByteSource source, FileKind kind, ReadContext& context) {
  const std::string_view name = name_of(kind);
  if (kind_of(source.bytes()) != kind)
    return fail(ErrorCode::malformed, fmt::format("{} does not begin as one", name), 0);
  DatabaseFile file;
  file.source_ = std::move(source);
  file.kind_ = kind;
  const KindInfo& info = kKinds[static_cast<std::size_t>(kind)];
  ByteCursor in = file.at(kMagic.size() + info.mark.size());
  const std::uint32_t major = in.u8(), minor = in.u8();
  if (!in.ok()) return tl::unexpected<Error>(file.early(in, "the header"));
  if (major != 4)
    return fail(
        ErrorCode::unsupported,
        fmt::format("{} has version {}.{}; only version 4 of the database is read", name, major, minor),
        kMagic.size() + info.mark.size());
  file.n_sections_ = info.n_sections;
  file.text_budget_ = file.array_budget_ = file.size() * 16 + (1u << 20);
  if (!text_of(file.source_.bytes()).ends_with(info.footer)) {
    if (!context.partial)
      return fail(ErrorCode::truncated,
                  fmt::format("{} lacks its footer: it was cut off or is still being written", name),
                  file.size());
    context.report.add("truncated", Severity::loss,
                       "A file of the database lacks its footer; what is there was read.", file.size());
  }
  return file;
}

Result<std::uint64_t> DatabaseFile::section(std::size_t i) const {
  ByteCursor in = at(kHeader + i * 16 + 8);
  const std::uint64_t offset = in.u64();
  if (i >= n_sections_ || !in.ok()) return tl::unexpected<Error>(early(in, "the header"));
  if (offset == 0 || offset >= size())
    return fail(ErrorCode::malformed,
                fmt::format("section {} of {} begins outside the file", i, name_of(kind_)),
                kHeader + i * 16 + 8);
  return offset;
}

ByteCursor DatabaseFile::at(std::uint64_t offset) const {
  ByteCursor in(source_.bytes());
  in.seek(offset);
  return in;
}

Result<void> DatabaseFile::check_array(std::uint64_t offset, std::uint64_t n, std::uint64_t stride,
                                       std::uint64_t least, std::string_view what) {
  if (n == 0) return {};
  if (stride < least)
    return fail(ErrorCode::malformed,
                fmt::format("{} have {} bytes each, at least {} are needed", what, stride, least),
                std::min(offset, size()));
  if (offset == 0 || offset > size() || n > (size() - offset) / stride)
    return fail(offset > size() ? ErrorCode::malformed : ErrorCode::truncated,
                fmt::format("{} {} of {} bytes do not fit into {}", n, what, stride, name_of(kind_)),
                std::min(offset, size()));
  if (n * stride > array_budget_)
    return fail(ErrorCode::limit, "the tables of the file overlap too much (limit 16 times the file)",
                offset);
  array_budget_ -= n * stride;
  return {};
}

Result<std::string_view> DatabaseFile::text(std::uint64_t offset) {
  if (offset == 0) return std::string_view();
  ByteCursor in = at(offset);
  const std::string_view text = in.text_to_nul();
  if (!in.ok())
    return fail(ErrorCode::malformed, "a text does not end in the file", std::min(offset, size()));
  if (text.size() > text_budget_)
    return fail(ErrorCode::limit, "the texts of the file overlap too much (limit 16 times the file)", offset);
  text_budget_ -= text.size();
  return text;
}

Error DatabaseFile::early(const ByteCursor& at, std::string_view what) const {
  return {ErrorCode::truncated, fmt::format("{} ends early in {}", what, name_of(kind_)), at.offset(), {}};
}

}  // namespace profd::hpctoolkit_v4
