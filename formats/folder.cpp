#include "formats/folder.h"

#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include "formats/source_files.h"
#include "formats/stoppable.h"
#include "formats/support/gzip.h"
#include "formats/support/utf16.h"
#include "formats/support/zip.h"
#include "formats/support/zstd.h"

namespace profd {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Archive members are named by strangers: nothing absolute, nothing upward, nothing hidden.
bool is_safe_path(std::string_view path) {
  if (path.empty() || path.find('\\') != std::string_view::npos || path.find('\0') != std::string_view::npos)
    return false;
  std::size_t depth = 0;
  while (true) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part.front() == '.') return false;
    if (slash == std::string_view::npos) return true;
    if (++depth > kMaxFolderDepth) return false;
    path.remove_prefix(slash + 1);
  }
}

// The compressed streams around a file's content, taken off; text in UTF-8.
Result<ByteSource> expanded(ByteSource source, std::uint64_t max_bytes) {
  for (int layers = 0; layers < 2; ++layers) {
    const bool gzip = is_gzip(source.bytes()), zstd = is_zstd(source.bytes());
    if (!gzip && !zstd && !is_utf16_text(source.bytes())) break;
    ImportReport ignored;
    const ExpandOptions options{{max_bytes, "expanded_bytes"}, false, {}, nullptr};
    auto inner = gzip   ? gunzip(source.bytes(), options, ignored)
                 : zstd ? unzstd(source.bytes(), options, ignored)
                        : utf16_to_utf8(source.bytes(), options, ignored);
    if (!inner) return tl::unexpected<Error>(std::move(inner.error()).in(source.name()));
    source = ByteSource(inner->bytes, std::move(inner->owner), source.name());
    source.set_private(true);
  }
  return source;
}

// What all folders share: a sorted list of names.
class ListedFolder : public Folder {
 public:
  const std::string& name() const override { return name_; }
  const std::vector<std::string>& files() const override { return files_; }
  bool has(std::string_view file) const override { return find(file) != files_.size(); }

 protected:
  explicit ListedFolder(std::string name) : name_(std::move(name)) {}
  void set_files(std::vector<std::string> files) {
    files_ = std::move(files);
    std::sort(files_.begin(), files_.end(), natural_less);
  }
  std::size_t find(std::string_view file) const {
    const auto found = std::lower_bound(files_.begin(), files_.end(), file, natural_less);
    return found != files_.end() && *found == file ? static_cast<std::size_t>(found - files_.begin())
                                                   : files_.size();
  }
  tl::unexpected<Error> missing(std::string_view file) const {
    return fail(ErrorCode::not_found, fmt::format("there is no {} in {}", file, name_));
  }

 private:
  std::string name_;
  std::vector<std::string> files_;
};

class Directory final : public ListedFolder {
 public:
  Directory(std::string path, FilesBelow below, std::uint64_t max_bytes, StopToken stop)
      : ListedFolder(std::move(path)),
        unreadable_(std::move(below.unreadable)),
        max_bytes_(max_bytes),
        stop_(std::move(stop)) {
    set_files(std::move(below.files));
  }
  std::vector<Error> unreadable() const override { return unreadable_; }
  Result<ByteSource> open(std::string_view file) const override {
    if (!has(file)) return missing(file);
    PROFD_TRY(ByteSource source, open_file(fmt::format("{}/{}", name(), file), max_bytes_, stop_));
    return expanded(std::move(source), max_bytes_);
  }

 private:
  std::vector<Error> unreadable_;
  std::uint64_t max_bytes_;
  StopToken stop_;
};

class ArchiveFolder final : public ListedFolder {
 public:
  ArchiveFolder(ByteSource archive, std::vector<ArchiveMember> members, std::uint64_t max_bytes)
      : ListedFolder(archive.name()), archive_(std::move(archive)), max_bytes_(max_bytes) {
    std::erase_if(members, [](const ArchiveMember& member) { return !is_safe_path(member.name); });
    std::stable_sort(members.begin(), members.end(), [](const ArchiveMember& a, const ArchiveMember& b) {
      return natural_less(a.name, b.name);
    });
    // Of members with one name the last one counts, as when the archive is unpacked.
    for (std::size_t i = 0; i < members.size(); ++i)
      if (i + 1 == members.size() || members[i].name != members[i + 1].name)
        members_.push_back(std::move(members[i]));
    std::vector<std::string> names;
    for (const ArchiveMember& member : members_) names.push_back(member.name);
    set_files(std::move(names));
  }
  Result<ByteSource> open(std::string_view file) const override {
    const std::size_t at = find(file);
    if (at == files().size()) return missing(file);
    const ArchiveMember& member = members_[at];
    ImportReport ignored;
    PROFD_TRY(Expanded content,
              expand_member(member, {{max_bytes_, "expanded_bytes"}, false, {}, nullptr}, ignored));
    const bool borrowed = content.owner == nullptr;
    ByteSource source(content.bytes, borrowed ? archive_.owner() : std::move(content.owner), member.name);
    source.set_private(!borrowed || archive_.is_private());
    return expanded(std::move(source), max_bytes_);
  }

 private:
  ByteSource archive_;
  std::vector<ArchiveMember> members_;  // in the order of files()
  std::uint64_t max_bytes_;
};

// Everything below one path of another folder.
class SubFolder final : public ListedFolder {
 public:
  SubFolder(const Folder& outer, std::string_view path)
      : ListedFolder(fmt::format("{}/{}", outer.name(), path)),
        outer_(outer),
        prefix_(fmt::format("{}/", path)) {
    std::vector<std::string> names;
    for (const std::string& file : outer.files())
      if (file.starts_with(prefix_)) names.push_back(file.substr(prefix_.size()));
    set_files(std::move(names));
  }
  Result<ByteSource> open(std::string_view file) const override {
    return outer_.open(fmt::format("{}{}", prefix_, file));
  }

 private:
  const Folder& outer_;
  std::string prefix_;
};

// The folder around a file. Most readers never ask, so nothing is looked at before one does.
class Surroundings final : public Folder {
 public:
  Surroundings(std::string path, std::uint64_t max_bytes, StopToken stop)
      : path_(std::move(path)), max_bytes_(max_bytes), stop_(std::move(stop)) {}
  const std::string& name() const override { return path_; }
  const std::vector<std::string>& files() const override {
    std::call_once(listed_, [this] {
      files_ = list_files_in(path_, kMaxFolderFiles);
      std::sort(files_.begin(), files_.end(), natural_less);
    });
    return files_;
  }
  bool has(std::string_view file) const override {
    return is_entry(file) && is_regular_file(fmt::format("{}/{}", path_, file));
  }
  Result<ByteSource> open(std::string_view file) const override {
    if (!has(file)) return fail(ErrorCode::not_found, fmt::format("there is no {} in {}", file, path_));
    PROFD_TRY(ByteSource source, open_file(fmt::format("{}/{}", path_, file), max_bytes_, stop_));
    return expanded(std::move(source), max_bytes_);
  }

 private:
  static bool is_entry(std::string_view file) {
    return is_safe_path(file) && file.find('/') == std::string_view::npos;
  }
  std::string path_;
  std::uint64_t max_bytes_;
  StopToken stop_;
  mutable std::once_flag listed_;
  mutable std::vector<std::string> files_;
};

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
      continue;
    }
    const auto number = [](std::string_view text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t from = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(from, at - from);
    };
    const std::string_view x = number(a, i), y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // "01" and "1" are different names all the same
}

Result<std::shared_ptr<const Folder>> open_folder(const std::string& path, std::uint64_t max_bytes,
                                                  const StopToken& stop) {
  PROFD_TRY(FilesBelow below, list_files_below(path, kMaxFolderDepth, kMaxFolderFiles));
  return std::make_shared<Directory>(path, std::move(below), max_bytes, stop);
}

std::shared_ptr<const Folder> folder_beside(const std::string& path, std::uint64_t max_bytes,
                                            const StopToken& stop) {
  const std::size_t slash = path.rfind('/');
  return std::make_shared<Surroundings>(
      slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1)), max_bytes, stop);
}

Result<std::shared_ptr<const Folder>> open_folder(const std::string& path, std::uint64_t max_bytes) {
  return open_folder(path, max_bytes, StopToken{});
}

std::shared_ptr<const Folder> folder_beside(const std::string& path, std::uint64_t max_bytes) {
  return folder_beside(path, max_bytes, StopToken{});
}

std::shared_ptr<const Folder> archive_folder(ByteSource archive, std::vector<ArchiveMember> members,
                                             std::uint64_t max_bytes) {
  return std::make_shared<ArchiveFolder>(std::move(archive), std::move(members), max_bytes);
}

std::unique_ptr<Folder> sub_folder(const Folder& outer, std::string_view path) {
  return std::make_unique<SubFolder>(outer, path);
}

}  // namespace profd
