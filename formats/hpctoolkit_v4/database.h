// A file of an HPCToolkit v4 database: little-endian sections whose pointers are offsets in the file.
#pragma once

#include <string_view>

#include "formats/reader.h"
#include "formats/support/byte_cursor.h"

namespace profd::hpctoolkit_v4 {

enum class FileKind : std::uint8_t { meta, profile, cct, trace, none };

FileKind kind_of(std::span<const std::byte> prefix);
std::string_view name_of(FileKind kind);  // "meta.db"

class DatabaseFile {
 public:
  // Checks header, version and footer. Without the footer the file was cut off or is still being written.
  static Result<DatabaseFile> open(ByteSource source, FileKind kind, ReadContext& context);

  // Offset of section i of the header. `unsupported` when the file has fewer.
  Result<std::uint64_t> section(std::size_t i) const;
  ByteCursor at(std::uint64_t offset) const;
  // `n` items of `stride` bytes at `offset`, checked against the end of the file and the least stride that
  // this reader needs. To be asked each time before a table is read: tables may overlap, so all of them
  // together are bounded.
  Result<void> check_array(std::uint64_t offset, std::uint64_t n, std::uint64_t stride, std::uint64_t least,
                           std::string_view what);
  // The text at `offset`; "" for offset 0. Texts may overlap, so all of them together are bounded.
  Result<std::string_view> text(std::uint64_t offset);
  std::uint64_t size() const { return source_.bytes().size(); }
  Error early(const ByteCursor& at, std::string_view what) const;

 private:
  ByteSource source_;
  FileKind kind_ = FileKind::none;
  std::uint32_t n_sections_ = 0;
  std::uint64_t text_budget_ = 0, array_budget_ = 0;  // bytes
};

}  // namespace profd::hpctoolkit_v4
