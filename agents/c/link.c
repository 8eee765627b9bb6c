/* The agent's own thread: dials, greets, sends what threads have written, obeys. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core.h"
#include "methods.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define WELCOME_MILLISECONDS 5000
#define FIRST_WAIT_MILLISECONDS 100
#define BACKOFF_FIRST 250
#define BACKOFF_MOST 10000
#define BUSY_BYTES (1u << 20)
#define LATE_NANOSECONDS 1000000u

__extension__ typedef unsigned __int128 wide;

enum target_kind { TO_UNIX, TO_TCP, TO_FILE };

static struct {
  struct live_agent agent;
  enum target_kind kind;
  char target[512], token_file[512], reason[128];
  uint16_t port;
  pthread_t thread;
  _Atomic int started, stopping;
  int wake, fd;
  uint64_t deadline; /* Of stopping, monotonic milliseconds. */
  pthread_mutex_t first_lock;
  pthread_cond_t first_changed;
  int first_tried;
  /* The clock: pairs of ticks and nanoseconds. */
  uint64_t first_ticks, first_monotonic, rate;
  struct wire out, in;
  size_t out_sent;
  int detached;
} link_ = {.wake = -1, .fd = -1};

static uint64_t clock_of(clockid_t which) {
  struct timespec now;
  clock_gettime(which, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static uint64_t milliseconds(void) {
  return clock_of(CLOCK_MONOTONIC) / 1000000;
}

/* ---- the clock ---- */

static int tsc_is_steady(void) {
#if defined(__x86_64__)
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
#else
  return 0;
#endif
}

static int ticks_are_nanoseconds(void) {
#if defined(__aarch64__)
  return 0;
#else
  return !live_shared.tsc;
#endif
}

/* Ticks and a clock of the system at one moment: the closest pair of a few. */
static void pair(clockid_t which, uint64_t* ticks, uint64_t* nanoseconds) {
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {
    uint64_t before = live_now(), now = clock_of(which), after = live_now();
    if (after - before >= best) continue;
    best = after - before;
    *ticks = before + best / 2;
    *nanoseconds = now;
  }
}

static void measure_rate(void) {
  link_.rate = 1000000000u;
  if (ticks_are_nanoseconds()) return;
  uint64_t ticks, now;
  pair(CLOCK_MONOTONIC, &ticks, &now);
  if (now > link_.first_monotonic)
    link_.rate = (uint64_t)((wide)(ticks - link_.first_ticks) * 1000000000u / (now - link_.first_monotonic));
  if (link_.rate == 0) link_.rate = 1;
}

/* ---- connecting ---- */

static int read_token(char* token, size_t size) {
  int file = open(link_.token_file, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t n = read(file, token, size - 1);
  close(file);
  token[n > 0 ? n : 0] = 0;
  token[strcspn(token, "\r\n")] = 0;
  return token[0] != 0;
}

static int dial_unix(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  if (strlen(link_.target) >= sizeof name.sun_path) return -1;
  strcpy(name.sun_path, link_.target);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  struct ucred peer;
  socklen_t size = sizeof peer;
  /* What the program does is told to its own user (or root) alone. */
  if (connect(fd, (struct sockaddr*)&name, sizeof name) == 0 &&
      getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0))
    return fd;
  close(fd);
  return -1;
}

static int dial_tcp(void) {
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(link_.port)};
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
  if (fd < 0) return -1;
  if (connect(fd, (struct sockaddr*)&name, sizeof name) == 0) {
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
  }
  close(fd);
  return -1;
}

static int dial(void) {
  if (link_.kind == TO_UNIX) return dial_unix();
  if (link_.kind == TO_TCP) return dial_tcp();
  return open(link_.target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* ---- messages ---- */

static void put_hello(struct wire* out) {
  char token[4096];
  if (link_.kind == TO_TCP && read_token(token, sizeof token)) {
    size_t auth = wire_begin(out, LIVE_AUTH);
    wire_string(out, token);
    wire_end(out, auth);
  }
  uint64_t ticks = 0, now = 0;
  pair(CLOCK_REALTIME, &ticks, &now);
  size_t begun = wire_begin(out, LIVE_HELLO);
  if (!wire_reserve(out, sizeof LIVE_MAGIC)) return;
  memcpy(out->bytes + out->size, LIVE_MAGIC, sizeof LIVE_MAGIC - 1);
  out->size += sizeof LIVE_MAGIC - 1;
  wire_varint(out, LIVE_OLDEST_VERSION);
  wire_varint(out, LIVE_VERSION);
  wire_varint(out, (uint64_t)getpid());
  wire_string(out, link_.agent.language);
  wire_string(out, link_.agent.program);
  wire_string(out, link_.agent.name);
  wire_varint(out, link_.rate);
  wire_varint(out, ticks);
  wire_varint(out, now);
  wire_varint(out, link_.agent.abilities);
  wire_end(out, begun);
}

static void put_clock(struct wire* out) {
  uint64_t ticks = 0, now = 0;
  measure_rate();
  pair(CLOCK_REALTIME, &ticks, &now);
  size_t begun = wire_begin(out, LIVE_CLOCK);
  wire_varint(out, ticks);
  wire_varint(out, now);
  wire_varint(out, link_.rate);
  wire_end(out, begun);
}

static void put_bye(struct wire* out, const char* reason) {
  struct live_totals totals = live_totals();
  size_t begun = wire_begin(out, LIVE_BYE);
  wire_varint(out, live_now());
  wire_varint(out, totals.sent);
  wire_varint(out, totals.lost);
  wire_string(out, reason);
  wire_end(out, begun);
}

static void put_controlled(struct wire* out, uint64_t operation, const uint32_t* ids, size_t n) {
  size_t begun = wire_begin(out, LIVE_CONTROLLED);
  wire_varint(out, operation);
  wire_varint(out, live_now());
  for (size_t i = 0; i < n; ++i) wire_varint(out, ids[i]);
  wire_end(out, begun);
}

/* Obeys; what it answers goes behind what is unsent. */
static void control(const unsigned char* at, const unsigned char* end) {
  uint64_t operation, length;
  at = wire_get_varint(at, end, &operation);
  if (at) at = wire_get_varint(at, end, &length);
  if (!at || length > (uint64_t)(end - at)) return;
  const char* pattern = (const char*)at;
  at += length;
  uint32_t* ids = NULL;
  size_t n = 0;
  switch (operation) {
    case LIVE_PAUSE:
      if (atomic_load(&live_shared.mode) == LIVE_ON) atomic_store(&live_shared.mode, LIVE_PAUSED);
      break;
    case LIVE_RESUME:
      if (atomic_load(&live_shared.mode) != LIVE_PAUSED) break;
      atomic_fetch_add(&live_shared.session, 1);
      atomic_store(&live_shared.mode, LIVE_ON);
      break;
    case LIVE_FILTER:
      if (!link_.agent.filtered) return;
      {
        char* text = strndup(pattern, length);
        if (text) link_.agent.filtered(text);
        free(text);
      }
      break;
    case LIVE_DEMOTE:
    case LIVE_PROMOTE:
      ids = malloc(sizeof *ids * ((size_t)(end - at) + 1));
      for (uint64_t id; ids && at < end && (at = wire_get_varint(at, end, &id)) != NULL;)
        if (id > 0 && id <= live_method_count()) {
          if (operation == LIVE_DEMOTE)
            atomic_fetch_or(&live_shared.off[id], LIVE_DEMOTED);
          else
            atomic_fetch_and(&live_shared.off[id], (unsigned char)~LIVE_DEMOTED);
          ids[n++] = (uint32_t)id;
        }
      if (link_.agent.demoted) link_.agent.demoted();
      break;
    case LIVE_DETACH:
      link_.detached = 1;
      break;
    default:
      return;
  }
  put_controlled(&link_.out, operation, ids, n);
  free(ids);
}

/* Takes whole messages from what was read; 0 when the daemon breaks the rules or does not want us. */
static int obey(int* welcome) {
  const unsigned char *at = link_.in.bytes, *end = at + link_.in.size;
  while (at && end - at >= 2) {
    uint64_t length;
    const unsigned char* payload = wire_get_varint(at + 1, end, &length);
    if (!payload) {
      if (end - at > 11) return 0;
      break;
    }
    if (length > LIVE_FRAME_BYTES) return 0;
    if ((uint64_t)(end - payload) < length) break;
    if (*at == LIVE_WELCOME) {
      *welcome = 1;
    } else if (*at == LIVE_REFUSE) {
      uint64_t reason = 0, size = 0;
      const unsigned char* text = wire_get_varint(payload, payload + length, &reason);
      if (text) text = wire_get_varint(text, payload + length, &size);
      if (text && size <= (uint64_t)(payload + length - text))
        fprintf(stderr, "profd-live: %.*s\n", (int)(size < 500 ? size : 500), (const char*)text);
      return -1;
    } else if (*at == LIVE_CONTROL) {
      control(payload, payload + length);
    }
    at = payload + length;
  }
  size_t left = (size_t)(end - at);
  if (left && at != link_.in.bytes) memmove(link_.in.bytes, at, left);
  link_.in.size = left;
  return 1;
}

static int receive(int* welcome) {
  if (!wire_reserve(&link_.in, 65536)) return 0;
  ssize_t n = recv(link_.fd, link_.in.bytes + link_.in.size, link_.in.room - link_.in.size, MSG_DONTWAIT);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return 0;
  if (n > 0) link_.in.size += (size_t)n;
  return obey(welcome);
}

/* Waits until the daemon says something, there is room to send, somebody wakes us, or the time is over. 1, 0
   when the connection is over, -1 when we are not wanted. */
static int wait_for(int room, int timeout, int* welcome) {
  struct pollfd who[2] = {{link_.wake, POLLIN, 0}, {link_.fd, (short)(POLLIN | (room ? POLLOUT : 0)), 0}};
  int n = poll(who, link_.kind == TO_FILE ? 1 : 2, timeout);
  if (n <= 0) return 1;
  if (who[0].revents & POLLIN) {
    uint64_t count;
    ssize_t ignored = read(link_.wake, &count, sizeof count);
    (void)ignored;
  }
  if (link_.kind != TO_FILE && (who[1].revents & (POLLIN | POLLERR | POLLHUP))) return receive(welcome);
  return 1;
}

static int give_up(void) {
  return atomic_load(&link_.stopping) && milliseconds() > link_.deadline;
}

/* Sends all of `out`. */
static int flush(void) {
  int welcome = 0;
  link_.out_sent = 0;
  while (link_.out_sent < link_.out.size) {
    const unsigned char* from = link_.out.bytes + link_.out_sent;
    size_t left = link_.out.size - link_.out_sent;
    ssize_t n = link_.kind == TO_FILE ? write(link_.fd, from, left)
                                      : send(link_.fd, from, left, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0)
      link_.out_sent += (size_t)n;
    else if (n < 0 && errno == EAGAIN) {
      if (give_up()) return 0;
      int ok = wait_for(1, 50, &welcome);
      if (ok != 1) return ok;
    } else if (n == 0 || errno != EINTR)
      return 0;
  }
  link_.out.size = link_.out_sent = 0;
  if (link_.out.room > 4 * BUSY_BYTES) wire_free(&link_.out);
  return 1;
}

static void first_try_is_over(void) {
  pthread_mutex_lock(&link_.first_lock);
  link_.first_tried = 1;
  pthread_cond_broadcast(&link_.first_changed);
  pthread_mutex_unlock(&link_.first_lock);
}

/* Sends until the connection, the program or the daemon's wish ends it. 1: may be tried again. */
static int session(void) {
  int welcome = link_.kind == TO_FILE, ok = 1;
  link_.in.size = link_.out.size = 0;
  link_.out.failed = 0;
  measure_rate();
  put_hello(&link_.out);
  if ((ok = flush()) != 1) return ok == 0;
  uint64_t asked = milliseconds();
  while (!welcome) {
    if (atomic_load(&link_.stopping) || milliseconds() - asked > WELCOME_MILLISECONDS) return 1;
    if ((ok = wait_for(0, 50, &welcome)) != 1) return ok == 0;
  }
  live_stream_begins();
  uint64_t begun = live_now(), told_clock = milliseconds(), next_tick = told_clock;
  if (link_.agent.running) link_.agent.running(1);
  first_try_is_over();
  uint64_t behind = (uint64_t)((wide)link_.rate * LATE_NANOSECONDS / 1000000000u);
  while (1) {
    int last = atomic_load(&link_.stopping) || link_.detached;
    if (last) live_switch(LIVE_OFF);
    uint64_t now = milliseconds(), tick = 0;
    if (now >= next_tick || last) {
      /* A little behind, for threads that have looked at the clock and not written yet. */
      tick = live_now() - behind;
      if (tick < begun) tick = begun;
      next_tick = now + 50;
    }
    if (tick && !ticks_are_nanoseconds() && now - told_clock >= 1000) {
      put_clock(&link_.out);
      told_clock = now;
    }
    live_round(&link_.agent, &link_.out, tick);
    if (link_.agent.round) link_.agent.round();
    if (last) put_bye(&link_.out, link_.detached ? "detach" : link_.reason);
    size_t bytes = link_.out.size;
    if (link_.out.failed) {
      ok = 0;
      break;
    }
    if ((ok = flush()) != 1 || last) break;
    now = milliseconds();
    int wait = next_tick > now ? (int)(next_tick - now) : 0;
    if ((ok = wait_for(0, bytes > BUSY_BYTES && wait > 2 ? 2 : wait, &welcome)) != 1) break;
  }
  live_switch(LIVE_OFF);
  if (link_.agent.running) link_.agent.running(0);
  for (uint32_t id = live_method_count(); id > 0; --id)
    atomic_fetch_and(&live_shared.off[id], (unsigned char)~LIVE_DEMOTED);
  return ok == 0 && !atomic_load(&link_.stopping) && link_.kind != TO_FILE;
}

static void* run(void* nothing) {
  (void)nothing;
  pthread_setname_np(pthread_self(), "profd-live");
  usleep(2000);
  unsigned backoff = BACKOFF_FIRST;
  while (!atomic_load(&link_.stopping)) {
    link_.fd = dial();
    int again = 1;
    if (link_.fd >= 0) {
      uint64_t since = milliseconds();
      again = session();
      close(link_.fd);
      link_.fd = -1;
      live_discard();
      if (milliseconds() - since > BACKOFF_MOST) backoff = BACKOFF_FIRST;
    }
    first_try_is_over();
    if (!again || atomic_load(&link_.stopping)) break;
    struct pollfd wake = {link_.wake, POLLIN, 0};
    poll(&wake, 1, (int)backoff);
    backoff = backoff * 2 < BACKOFF_MOST ? backoff * 2 : BACKOFF_MOST;
  }
  wire_free(&link_.out);
  wire_free(&link_.in);
  return NULL;
}

static int parse(const char* target) {
  if (strncmp(target, "unix:", 5) == 0)
    link_.kind = TO_UNIX;
  else if (strncmp(target, "file:", 5) == 0)
    link_.kind = TO_FILE;
  else if (strncmp(target, "tcp:127.0.0.1:", 14) == 0) {
    char* end;
    unsigned long port = strtoul(target + 14, &end, 10);
    link_.kind = TO_TCP;
    link_.port = (uint16_t)port;
    return *end == 0 && port > 0 && port < 65536;
  } else {
    return 0;
  }
  return snprintf(link_.target, sizeof link_.target, "%s", target + 5) < (int)sizeof link_.target &&
         link_.target[0] != 0;
}

int live_start(const struct live_agent* agent, const char* target, const char* token_file) {
  if (atomic_load(&link_.started)) return -1;
  if (!parse(target)) {
    fprintf(stderr, "profd-live: PROFD_LIVE is unix:PATH, tcp:127.0.0.1:PORT or file:PATH, not %s\n", target);
    return -1;
  }
  if (!live_memory()) {
    fprintf(stderr, "profd-live: no memory for events; the program runs on without them\n");
    return -1;
  }
  link_.agent = *agent;
  snprintf(link_.token_file, sizeof link_.token_file, "%s", token_file ? token_file : "");
  live_shared.tsc = tsc_is_steady();
  pair(CLOCK_MONOTONIC, &link_.first_ticks, &link_.first_monotonic);
  if (link_.wake < 0) link_.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (link_.wake < 0) return -1;
  pthread_mutex_init(&link_.first_lock, NULL);
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&link_.first_changed, &monotonic);
  atomic_store(&link_.stopping, 0);
  link_.first_tried = link_.detached = 0;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* The program's handlers never run on the agent's thread. */
  int failed = pthread_create(&link_.thread, NULL, run, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed) return -1;
  atomic_store(&link_.started, 1);
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += FIRST_WAIT_MILLISECONDS * 1000000;
  if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, ++until.tv_sec;
  pthread_mutex_lock(&link_.first_lock);
  while (!link_.first_tried && pthread_cond_timedwait(&link_.first_changed, &link_.first_lock, &until) == 0) {
  }
  pthread_mutex_unlock(&link_.first_lock);
  return 0;
}

void live_stop(const char* reason, unsigned wait) {
  if (!atomic_load(&link_.started)) return;
  snprintf(link_.reason, sizeof link_.reason, "%s", reason);
  link_.deadline = milliseconds() + wait;
  atomic_store(&link_.stopping, 1);
  uint64_t one = 1;
  ssize_t ignored = write(link_.wake, &one, sizeof one);
  (void)ignored;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += (time_t)(wait / 1000) + 1;
  if (pthread_timedjoin_np(link_.thread, NULL, &until) == 0) atomic_store(&link_.started, 0);
  live_switch(LIVE_OFF);
}

void live_forked(void) {
  live_switch(LIVE_OFF);
  atomic_store(&link_.started, 0);
  live_lane_of_thread = NULL;
  if (link_.fd >= 0) close(link_.fd);
  if (link_.wake >= 0) close(link_.wake);
  link_.fd = link_.wake = -1;
}
