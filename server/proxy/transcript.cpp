#include "server/proxy/transcript.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>

#include "server/feature/escape.h"

namespace profd {

Result<Transcript> Transcript::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(errno)));
  Transcript out;
  out.file_.reset(::fdopen(fd, "a"));
  return out;
}

void Transcript::write(std::string_view from, std::string_view to, std::string_view body) {
  if (!file_) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  const std::string who = from.empty() ? "-" : fmt::format("{} > {}", from, to);
  // Nothing in it may command a terminal that shows the file, and a message stays one line.
  const std::string line = fmt::format("{:12.6f} {:<17} {}\n", seconds, who, sanitize_text(body));
  std::fwrite(line.data(), 1, line.size(), file_.get());
  std::fflush(file_.get());
}

}  // namespace profd
