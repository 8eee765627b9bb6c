#include "workers/sandbox.h"

#ifdef __linux__
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace profd::worker {

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
namespace {

#ifdef __x86_64__
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#else
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#endif

// Memory, the descriptors that are open, time, the end.
constexpr long kAllowed[] = {
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_write,
    SYS_writev,
    SYS_recvmsg,
    SYS_sendmsg,
    SYS_ppoll,
    SYS_lseek,
    SYS_fstat,
    SYS_close,
    SYS_dup,
    SYS_fcntl,
    SYS_mmap,
    SYS_munmap,
    SYS_mremap,
    SYS_mprotect,
    SYS_madvise,
    SYS_brk,
    SYS_futex,
    SYS_getrandom,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_sched_yield,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_getpid,
    SYS_gettid,
    SYS_tgkill,
    SYS_restart_syscall,
    SYS_sysinfo,
    SYS_exit,
    SYS_exit_group,
#ifdef SYS_poll
    SYS_poll,
#endif
};
// Libraries look for files beside those they are given: they are to go on without.
constexpr long kNotThere[] = {
    SYS_openat,  SYS_readlinkat, SYS_faccessat,
#ifdef SYS_open
    SYS_open,    SYS_stat,       SYS_lstat,     SYS_readlink, SYS_access,
#endif
#ifdef SYS_openat2
    SYS_openat2,
#endif
#ifdef SYS_statx
    SYS_statx,
#endif
};

sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
}
sock_filter answer(unsigned what) {
  return BPF_STMT(BPF_RET | BPF_K, what);
}
// The next instruction when it is so, else the one after.
sock_filter is(unsigned value) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
}

void add_rule(std::vector<sock_filter>& filter, long call, unsigned what) {
  filter.push_back(is(static_cast<unsigned>(call)));
  filter.push_back(answer(what));
}

std::vector<sock_filter> make_filter() {
  std::vector<sock_filter> filter;
  filter.push_back(load(offsetof(seccomp_data, arch)));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
  filter.push_back(answer(SECCOMP_RET_KILL_PROCESS));
  filter.push_back(load(offsetof(seccomp_data, nr)));
  for (const long call : kAllowed) add_rule(filter, call, SECCOMP_RET_ALLOW);
  for (const long call : kNotThere) add_rule(filter, call, SECCOMP_RET_ERRNO | EACCES);
    // fstat() of some C libraries: of a descriptor, with an empty path. What else it could ask for a path
    // would say no more than whether something is there.
#ifdef SYS_newfstatat
  add_rule(filter, SYS_newfstatat, SECCOMP_RET_ALLOW);
#endif
  filter.push_back(answer(SECCOMP_RET_ERRNO | EPERM));
  return filter;
}

}  // namespace

Result<bool> confine() {
  // EINVAL: a kernel without filters.
  if (::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0 && errno == EINVAL) return false;
  std::vector<sock_filter> filter = make_filter();
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
    return fail(ErrorCode::io, std::string("seccomp: ") + std::strerror(errno));
  return true;
}

#else

Result<bool> confine() {
  return false;
}

#endif

}  // namespace profd::worker
