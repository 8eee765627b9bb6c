#include "server/engine/uploads.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/support/text.h"
#include "server/platform/runtime_dir.h"
#include "server/runtime/secret.h"

namespace profd {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxUploadName = 200;

tl::unexpected<Error> system_error(const std::string& path) {
  return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(errno)));
}

Result<void> make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error(path);
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return system_error(path);
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0)
    return fail(ErrorCode::io, path + ": is not a folder that only this user may enter");
  return {};
}

std::string mebibytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

// The folder, locked; nothing when another one has the lock, or it is no folder of ours.
UniqueFd lock_folder(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.get() < 0 || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return {};
  struct stat locked {
  }, there{};
  const bool same = ::fstat(fd.get(), &locked) == 0 && ::lstat(path.c_str(), &there) == 0 &&
                    locked.st_ino == there.st_ino && locked.st_dev == there.st_dev &&
                    locked.st_uid == ::geteuid();
  return same ? std::move(fd) : UniqueFd();
}

}  // namespace

struct Uploads::Piece::File {
  std::string folder, path, name;
  std::uint64_t size = 0;
  UniqueFd fd;
  std::atomic<std::uint64_t> received{0};
  std::weak_ptr<void> writing;
};

UploadRoom::~UploadRoom() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

Result<std::string> UploadRoom::uploads() const {
  std::string parent = parent_;
  if (parent.empty()) {
    PROFD_TRY(parent, runtime_dir());
  }
  return parent + "/uploads";
}

bool UploadRoom::is_of_uploads(const std::string& path) const {
  const auto folder = uploads();
  return folder && path.compare(0, folder->size() + 1, *folder + "/") == 0;
}

Result<std::string> UploadRoom::folder() {
  if (!folder_.empty()) return folder_;
  PROFD_TRY(const std::string uploads, this->uploads());
  PROFD_CHECK(make_private_folder(uploads));
  // Somebody who tidies up may come between the two steps.
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    const std::string own = fmt::format("{}/{}-{}", uploads, ::getpid(), make_secret(6));
    PROFD_CHECK(make_private_folder(own));
    lock_ = lock_folder(own);
    if (lock_.get() < 0) continue;
    folder_ = own;
    return folder_;
  }
  return fail(ErrorCode::io, uploads + ": no folder there can be locked");
}

void UploadRoom::remove_leftovers() const {
  const auto folder = uploads();
  struct stat status {};
  if (!folder || ::lstat(folder->c_str(), &status) != 0) return;
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 077) != 0) return;
  std::error_code error;
  for (fs::directory_iterator it(*folder, error), end; !error && it != end; it.increment(error)) {
    const UniqueFd lock = lock_folder(it->path().string());
    std::error_code ignored;
    if (lock.get() >= 0) fs::remove_all(it->path(), ignored);
  }
}

bool UploadRoom::take(std::uint64_t bytes) {
  if (bytes > limits_.bytes - taken_) return false;
  taken_ += bytes;
  return true;
}

std::string upload_name(std::string_view name) {
  const std::size_t folder = name.find_last_of("/\\");
  if (folder != name.npos) name.remove_prefix(folder + 1);
  std::string out;
  for (const char c : repair_utf8(name)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '_' : c;
  if (out.size() > kMaxUploadName) {  // the ending says what it is
    const std::size_t dot = out.rfind('.');
    const std::string ending = dot != out.npos && out.size() - dot <= 20 ? out.substr(dot) : "";
    out = repair_utf8(out.substr(0, kMaxUploadName - 4 - ending.size())) + ending;
  }
  return out.empty() || out == "." || out == ".." ? "profile" : out;
}

Uploads::~Uploads() {
  while (!files_.empty()) static_cast<void>(cancel(std::string(files_.begin()->first)));
}

Result<std::string> Uploads::begin(std::string_view name, std::uint64_t size) {
  const UploadLimits& limits = room_.limits();
  if (files_.size() >= limits.files)
    return fail(ErrorCode::limit,
                fmt::format("{} uploaded files are here; cancel one of them first", files_.size()));
  PROFD_TRY(const std::string folder, room_.folder());
  auto file = std::make_shared<Piece::File>();
  file->name = upload_name(name);
  file->size = size;
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  const std::uint64_t room = limits.bytes - room_.taken();
  if (size > room || (!error && size > space.available))
    return fail(
        ErrorCode::limit,
        fmt::format("{} has {}, and there is room for {} of uploaded files; open it by its path: profd "
                    "view FILE",
                    file->name, mebibytes(size),
                    mebibytes(error ? room : std::min<std::uint64_t>(room, space.available))));
  const std::string id = fmt::format("u{}", room_.next_number());
  file->folder = folder + "/" + id;
  file->path = file->folder + "/" + file->name;
  PROFD_CHECK(make_private_folder(file->folder));
  file->fd = UniqueFd(::open(file->path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file->fd.valid()) {
    const auto failed = system_error(file->path);
    ::rmdir(file->folder.c_str());
    return failed;
  }
  room_.take(size);
  files_.emplace(id, std::move(file));
  return id;
}

Result<std::shared_ptr<Uploads::Piece::File>> Uploads::find(const std::string& id) const {
  const auto found = files_.find(id);
  if (found == files_.end()) return fail(ErrorCode::not_found, fmt::format("there is no upload {}", id));
  return found->second;
}

Result<Uploads::Piece> Uploads::piece(const std::string& id, std::uint64_t offset, std::uint64_t n_bytes) {
  PROFD_TRY(const auto file, find(id));
  if (!file->fd.valid()) return fail(ErrorCode::invalid, fmt::format("the upload {} has ended", id));
  if (file->writing.lock())
    return fail(ErrorCode::invalid, "a piece is being written; send the next one when it is answered");
  const std::uint64_t received = file->received;
  if (offset != received)
    return fail(ErrorCode::invalid, fmt::format("the next piece begins at {}, not at {}", received, offset));
  if (n_bytes > room_.limits().piece_bytes)
    return fail(ErrorCode::limit, fmt::format("a piece has at most {} bytes", room_.limits().piece_bytes));
  if (n_bytes > file->size - received)
    return fail(ErrorCode::limit,
                fmt::format("there are more than the {} bytes that the upload began with", file->size));
  Piece piece;
  piece.turn_ = std::make_shared<int>(0);
  file->writing = piece.turn_;
  piece.file_ = file;
  piece.offset_ = offset;
  return piece;
}

Result<std::uint64_t> Uploads::Piece::write(std::string_view bytes) {
  std::uint64_t at = offset_;
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(file_->fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const auto failed = system_error(file_->name);
      turn_.reset();
      return failed;
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
    at += static_cast<std::uint64_t>(n);
  }
  file_->received = at;
  turn_.reset();
  return at;
}

Result<Uploads::Whole> Uploads::end(const std::string& id) {
  PROFD_TRY(const auto file, find(id));
  if (file->writing.lock() || file->received != file->size)
    return fail(ErrorCode::truncated,
                fmt::format("{} of {} bytes of {} are here", file->received.load(), file->size, file->name));
  file->fd.reset();
  return Whole{file->path, file->name};
}

Result<void> Uploads::cancel(const std::string& id) {
  PROFD_TRY(const auto file, find(id));
  ::unlink(file->path.c_str());
  ::rmdir(file->folder.c_str());
  room_.give_back(file->size);
  files_.erase(id);
  return {};
}

}  // namespace profd
