#include "workers/frames.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

namespace profd {
namespace {

// Length and number of files, both little-endian.
constexpr std::size_t kHeader = 8;
#ifdef MSG_NOSIGNAL
constexpr int kSendFlags = MSG_NOSIGNAL;
#else
constexpr int kSendFlags = 0;
#endif
#ifdef MSG_CMSG_CLOEXEC
constexpr int kReceiveFlags = MSG_CMSG_CLOEXEC;
#else
constexpr int kReceiveFlags = 0;
#endif

void put32(char* to, std::size_t value) {
  for (unsigned i = 0; i < 4; ++i) to[i] = static_cast<char>(value >> (8 * i));
}
std::size_t get32(const char* from) {
  std::size_t value = 0;
  for (unsigned i = 0; i < 4; ++i)
    value |= static_cast<std::size_t>(static_cast<unsigned char>(from[i])) << (8 * i);
  return value;
}

tl::unexpected<Error> system_error(const char* what) {
  return fail(ErrorCode::io, std::string(what) + ": " + std::strerror(errno));
}

// Until the socket can be read from or written to.
Result<void> wait_for(int socket, short events, FrameDeadline deadline) {
  while (true) {
    int left = -1;
    if (deadline != kNoFrameDeadline) {
      const auto rest =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (rest.count() <= 0) return fail(ErrorCode::limit, "the other end took too long");
      left = static_cast<int>(std::min<std::int64_t>(rest.count(), 1 << 30));
    }
    pollfd one{socket, events, 0};
    const int n = ::poll(&one, 1, left);
    if (n > 0) return {};
    if (n < 0 && errno != EINTR) return system_error("poll");
  }
}

// A message header for one buffer, with room for the files of a frame.
struct Parcel {
  explicit Parcel(void* data, std::size_t size) {
    part.iov_base = data;
    part.iov_len = size;
    head.msg_iov = &part;
    head.msg_iovlen = 1;
  }
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;

  iovec part{};
  msghdr head{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxFrameFiles)> control{};
};

Result<std::size_t> send_some(int socket, const char* data, std::size_t size, const std::vector<int>& files,
                              FrameDeadline deadline) {
  while (true) {
    PROFD_CHECK(wait_for(socket, POLLOUT, deadline));
    Parcel parcel(const_cast<char*>(data), size);
    if (!files.empty()) {
      parcel.head.msg_control = parcel.control.data();
      parcel.head.msg_controllen = CMSG_SPACE(sizeof(int) * files.size());
      cmsghdr* control = CMSG_FIRSTHDR(&parcel.head);
      control->cmsg_level = SOL_SOCKET;
      control->cmsg_type = SCM_RIGHTS;
      control->cmsg_len = CMSG_LEN(sizeof(int) * files.size());
      std::memcpy(CMSG_DATA(control), files.data(), sizeof(int) * files.size());
    }
    const ssize_t sent = ::sendmsg(socket, &parcel.head, kSendFlags | MSG_DONTWAIT);
    if (sent > 0) return static_cast<std::size_t>(sent);
    if (sent < 0 && errno != EINTR && errno != EAGAIN) return system_error("a worker's socket");
  }
}

Result<void> take_files(const msghdr& head, std::vector<UniqueFd>& files) {
  for (const cmsghdr* control = CMSG_FIRSTHDR(&head); control != nullptr;
       control = CMSG_NXTHDR(const_cast<msghdr*>(&head), const_cast<cmsghdr*>(control))) {
    if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t n = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < n; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(control) + i * sizeof(int), sizeof fd);
      files.emplace_back(fd);
    }
  }
  if ((head.msg_flags & MSG_CTRUNC) != 0 || files.size() > kMaxFrameFiles)
    return fail(ErrorCode::malformed, "more files than a frame may have");
  return {};
}

Result<std::size_t> receive_some(int socket, char* data, std::size_t size, std::vector<UniqueFd>& files,
                                 FrameDeadline deadline) {
  while (true) {
    PROFD_CHECK(wait_for(socket, POLLIN, deadline));
    Parcel parcel(data, size);
    parcel.head.msg_control = parcel.control.data();
    parcel.head.msg_controllen = parcel.control.size();
    const ssize_t got = ::recvmsg(socket, &parcel.head, kReceiveFlags | MSG_DONTWAIT);
    if (got == 0) return fail(ErrorCode::io, "the other end is gone");
    if (got < 0 && errno != EINTR && errno != EAGAIN) return system_error("a worker's socket");
    if (got < 0) continue;
    PROFD_CHECK(take_files(parcel.head, files));
    return static_cast<std::size_t>(got);
  }
}

}  // namespace

Result<std::pair<UniqueFd, UniqueFd>> make_frame_sockets() {
  int ends[2];
#ifdef SOCK_CLOEXEC
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return system_error("socketpair");
#else
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return system_error("socketpair");
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
#endif
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

Result<void> send_frame(int socket, std::string_view bytes, const std::vector<int>& files,
                        FrameDeadline deadline) {
  if (bytes.size() > kMaxFrame || files.size() > kMaxFrameFiles)
    return fail(ErrorCode::limit, "longer than a frame may be");
  std::array<char, kHeader> header;
  put32(header.data(), bytes.size());
  put32(header.data() + 4, files.size());
  std::size_t done = 0;
  while (done < kHeader) {
    PROFD_TRY(const std::size_t sent, send_some(socket, header.data() + done, kHeader - done,
                                                done == 0 ? files : std::vector<int>(), deadline));
    done += sent;
  }
  for (done = 0; done < bytes.size();) {
    PROFD_TRY(const std::size_t sent,
              send_some(socket, bytes.data() + done, bytes.size() - done, {}, deadline));
    done += sent;
  }
  return {};
}

Result<Frame> receive_frame(int socket, FrameDeadline deadline) {
  Frame frame;
  std::array<char, kHeader> header;
  for (std::size_t done = 0; done < kHeader;) {
    PROFD_TRY(const std::size_t got,
              receive_some(socket, header.data() + done, kHeader - done, frame.files, deadline));
    done += got;
  }
  const std::size_t size = get32(header.data());
  if (size > kMaxFrame) return fail(ErrorCode::limit, "longer than a frame may be");
  if (get32(header.data() + 4) != frame.files.size())
    return fail(ErrorCode::malformed, "not the files that were announced");
  // Grows with what comes: a length is a claim.
  constexpr std::size_t kStep = std::size_t{1} << 20;
  for (std::size_t done = 0; done < size;) {
    const std::size_t step = std::min(kStep, size - done);
    frame.bytes.resize(done + step);
    PROFD_TRY(const std::size_t got,
              receive_some(socket, frame.bytes.data() + done, step, frame.files, deadline));
    done += got;
    frame.bytes.resize(done);
  }
  if (get32(header.data() + 4) != frame.files.size())
    return fail(ErrorCode::malformed, "not the files that were announced");
  return frame;
}

}  // namespace profd
