#include "native/lines/line_program.h"

#include <utility>

namespace profd::native {
namespace {

constexpr unsigned kPath = 1, kFolderIndex = 2;  // DW_LNCT_path, DW_LNCT_directory_index
constexpr std::size_t kMaxPath = 4096;

void append(std::string& path, std::string_view part) {
  if (part.empty()) return;
  if (part.front() == '/') path.clear();
  if (!path.empty() && path.back() != '/') path += '/';
  path += part;
}

}  // namespace

std::optional<LineProgram> LineProgram::read(const Unit& unit, std::uint64_t stmt_list) {
  LineProgram program;
  program.unit_ = &unit;
  const Bytes section = unit.file->sections.line;
  ByteReader in = unit.file->reader(section, stmt_list);
  std::uint64_t length = in.u32();
  UnitShape shape = unit.shape;
  shape.offset_size = 4;
  if (length == 0xffffffff) {
    length = in.u64();
    shape.offset_size = 8;
  }
  if (in.failed() || length > in.left()) return std::nullopt;
  const std::uint64_t end = in.at() + length;
  in = unit.file->reader(section.first(end), in.at());
  shape.version = in.u16();
  if (shape.version < 2 || shape.version > 5) return std::nullopt;
  if (shape.version >= 5) {
    shape.address_size = in.u8();
    in.u8();  // size of segment selectors
  }
  const std::uint64_t header_length = in.number(shape.offset_size);
  if (in.failed() || header_length > in.left()) return std::nullopt;
  const std::uint64_t program_at = in.at() + header_length;
  program.shape_ = shape;
  program.min_length_ = in.u8();
  if (shape.version >= 4) in.u8();  // operations of an instruction, where that is a bundle
  in.u8();                          // is_stmt
  program.line_base_ = static_cast<std::int8_t>(in.u8());
  program.line_range_ = in.u8();
  program.opcode_base_ = in.u8();
  if (in.failed() || program.line_range_ == 0 || program.opcode_base_ == 0) return std::nullopt;
  for (unsigned op = 1; op < program.opcode_base_; ++op) program.operands_[op] = in.u8();
  if (shape.version >= 5) {
    if (!program.read_new_files(in)) return std::nullopt;
  } else {
    program.read_old_files(in);
  }
  program.program_ = section.subspan(program_at, end - program_at);
  return program;
}

void LineProgram::read_old_files(ByteReader& in) {
  folders_.push_back(unit_->folder);
  for (std::string_view folder = in.text(); !folder.empty(); folder = in.text()) folders_.push_back(folder);
  files_.push_back({});
  for (std::string_view name = in.text(); !name.empty(); name = in.text()) {
    const std::uint64_t folder = in.uleb();
    in.skip_leb();
    in.skip_leb();
    files_.push_back({name, folder});
  }
}

template <class Entry>
bool LineProgram::read_entries(ByteReader& in, Entry entry) {
  std::vector<std::pair<std::uint64_t, AttributeSpec>> format(in.u8());
  for (auto& [content, spec] : format) {
    content = in.uleb();
    const std::uint64_t form = in.uleb();
    spec.form = static_cast<std::uint16_t>(form <= 0xffff ? form : 0);
  }
  const std::uint64_t count = in.uleb();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t before = in.at();
    File file;
    for (const auto& [content, spec] : format) {
      const std::uint64_t at = in.at();
      Value value = read_value(in, spec, shape_);
      // Texts within the entry lie in this section, not in .debug_info.
      if (content == kPath)
        file.name = value.form == dwarf::string ? unit_->file->reader(unit_->file->sections.line, at).text()
                                                : text_of(*unit_, value);
      if (content == kFolderIndex) file.folder = value.number;
    }
    if (in.failed()) return false;
    // Entries without bytes could be any number.
    if (in.at() == before) break;
    entry(file);
  }
  return !in.failed();
}

bool LineProgram::read_new_files(ByteReader& in) {
  return read_entries(in, [&](const File& folder) { folders_.push_back(folder.name); }) &&
         read_entries(in, [&](const File& file) { files_.push_back(file); });
}

std::string LineProgram::path(std::uint64_t file) const {
  if (file >= files_.size() || files_[file].name.empty()) return {};
  const Unit& owner = unit_->folder.empty() && unit_->skeleton != nullptr ? *unit_->skeleton : *unit_;
  std::string path(owner.folder.substr(0, kMaxPath));
  // Folder 0 is the unit's; before DWARF 5 it is not in the table.
  const std::uint64_t folder = files_[file].folder;
  if (shape_.version >= 5 && !folders_.empty()) append(path, folders_[0].substr(0, kMaxPath));
  if (folder != 0 && folder < folders_.size()) append(path, folders_[folder].substr(0, kMaxPath));
  append(path, files_[file].name.substr(0, kMaxPath));
  return path;
}

}  // namespace profd::native
