#include "server/cli/write_file.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/cli/terminal.h"
#include "server/engine/atomic_file.h"

namespace profd {
namespace {

tl::unexpected<Error> cannot_write(const std::string& path, int error) {
  return fail(ErrorCode::io,
              fmt::format("{}: cannot be written: {}", path, std::generic_category().message(error)));
}

Result<void> write_through(int fd, const std::string& name,
                           const std::function<Result<void>(const FileSink&)>& produce) {
  return produce([&](std::span<const std::byte> bytes) -> Result<void> {
    const int error = write_all(fd, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (error != 0) return cannot_write(name, error);
    return {};
  });
}

struct SameFile {
  dev_t device;
  ino_t number;
  bool operator==(const SameFile&) const = default;
};

std::optional<SameFile> identity(const std::string& path) {
  struct stat info {};
  if ((path == "-" ? ::fstat(STDIN_FILENO, &info) : ::stat(path.c_str(), &info)) != 0) return std::nullopt;
  return SameFile{info.st_dev, info.st_ino};
}

bool lies_below(const std::string& path, const std::string& folder) {
  std::error_code unknown;
  const auto file = std::filesystem::canonical(path, unknown);
  if (unknown) return false;
  const auto root = std::filesystem::canonical(folder, unknown);
  if (unknown) return false;
  const auto [end, rest] = std::mismatch(root.begin(), root.end(), file.begin(), file.end());
  return end == root.end();
}

}  // namespace

void add_force(CLI::App& app, OutputFile& output) {
  app.add_flag("--force", output.force, "Replace the file to write when it is there");
}

bool is_written_through(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

Result<void> check_output(const OutputFile& output, const std::string& input) {
  if (output.path.empty() || output.path == "-") return {};
  struct stat info {};
  if (::lstat(output.path.c_str(), &info) != 0 || is_written_through(output.path)) return {};
  const auto there = identity(output.path);
  if (there && there == identity(input))
    return fail(ErrorCode::invalid,
                fmt::format("{}: is the file that is read; name another one to write", output.path));
  if (input != "-" && lies_below(output.path, input))
    return fail(ErrorCode::invalid,
                fmt::format("{}: is one of the files that are read; name another one to write", output.path));
  if (!output.force)
    return fail(ErrorCode::invalid, fmt::format("{}: is there already; --force replaces it", output.path));
  return {};
}

Result<void> write_file(const OutputFile& output,
                        const std::function<Result<void>(const FileSink&)>& produce) {
  const std::string& path = output.path;
  if (path == "-") return write_through(STDOUT_FILENO, "stdout", produce);
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return cannot_write(path, EISDIR);
  // A pipe or a device cannot be renamed over.
  if (exists && !S_ISREG(info.st_mode)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return cannot_write(path, errno);
    auto written = write_through(fd, path, produce);
    if (::close(fd) != 0 && written) written = cannot_write(path, errno);
    return written;
  }
  PROFD_TRY(AtomicFile file, AtomicFile::create_named(path, output.force));
  PROFD_CHECK(produce([&](std::span<const std::byte> bytes) { return file.write(bytes); }));
  return file.commit();
}

Result<void> write_file(const OutputFile& output, std::string_view content) {
  return write_file(output, [&](const FileSink& sink) {
    return sink(std::as_bytes(std::span<const char>(content.data(), content.size())));
  });
}

}  // namespace profd
