/* The probes of -finstrument-functions. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core.h"
#include "frames.h"
#include "methods.h"
#include "modules.h"
#include "profd_live.h"
#include "quiet.h"
#include "xray.h"

#define PLACES (1u << 18)
#define PLACES_MOST (PLACES / 4 * 3)

/* Functions by address, in places near that of the address: what runs together lies together. A place is
   taken by its id, then its address is written. */
struct place {
  _Atomic uintptr_t address;
  _Atomic uint32_t id;
};
static struct place* places;
static _Atomic uint32_t taken;

static uint32_t id_slow(uintptr_t address) {
  for (uint32_t at = (uint32_t)(address >> 4), i = 0; i < PLACES; ++i, ++at) {
    struct place* place = places + (at & (PLACES - 1));
    uint32_t id = atomic_load_explicit(&place->id, memory_order_acquire);
    if (id == 0) {
      if (atomic_load_explicit(&taken, memory_order_relaxed) >= PLACES_MOST) return 0;
      if (atomic_compare_exchange_strong(&place->id, &id, LIVE_METHODS)) {
        atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
        uint32_t made = live_code(address);
        atomic_store_explicit(&place->id, made ? made : LIVE_METHODS, memory_order_relaxed);
        atomic_store_explicit(&place->address, made ? address : UINTPTR_MAX, memory_order_release);
        return made;
      }
    }
    /* Another thread takes this place at the moment, for this function perhaps. It needs a few instructions.
     */
    for (int spin = 0; spin < 1000 && atomic_load_explicit(&place->address, memory_order_acquire) == 0;
         ++spin) {
    }
    uintptr_t there = atomic_load_explicit(&place->address, memory_order_acquire);
    if (there == address) return atomic_load_explicit(&place->id, memory_order_relaxed);
    if (there == 0) return 0;
  }
  return 0;
}

/* 0 of one that has not been seen, or is not at the first place that it might be. */
static inline uint32_t id_known(uintptr_t address) {
  struct place* place = places + (address >> 4 & (PLACES - 1));
  if (__builtin_expect(atomic_load_explicit(&place->address, memory_order_acquire) != address, 0)) return 0;
  return atomic_load_explicit(&place->id, memory_order_relaxed);
}

/* Forgets functions of code that is no longer loaded: what is loaded at their addresses later are others. */
struct ranges {
  uint32_t n;
  uintptr_t low[256], high[256];
};
static int range_of(struct dl_phdr_info* info, size_t size, void* pointer) {
  (void)size;
  struct ranges* ranges = pointer;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = info->dlpi_phdr + i;
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    if (ranges->n == sizeof ranges->low / sizeof ranges->low[0]) return 1;
    ranges->low[ranges->n] = info->dlpi_addr + part->p_vaddr;
    ranges->high[ranges->n++] = info->dlpi_addr + part->p_vaddr + part->p_memsz;
  }
  return 0;
}
static void forget(void) {
  struct ranges ranges = {0};
  if (dl_iterate_phdr(range_of, &ranges) != 0) return; /* More than are looked at: nothing is forgotten. */
  for (uint32_t i = 0; i < PLACES; ++i) {
    uintptr_t address = atomic_load_explicit(&places[i].address, memory_order_acquire);
    if (address == 0 || address == UINTPTR_MAX) continue;
    uint32_t at = 0;
    while (at < ranges.n && (address < ranges.low[at] || address >= ranges.high[at])) ++at;
    if (at < ranges.n) continue;
    quiet_forget(atomic_load_explicit(&places[i].id, memory_order_relaxed), address);
    atomic_store(&places[i].address, UINTPTR_MAX);
  }
}

__attribute__((visibility("default"))) int dlclose(void* library);
int dlclose(void* library) {
  static int (*closes)(void*);
  if (!closes) {
    void* found = dlsym(RTLD_NEXT, "dlclose");
    memcpy(&closes, &found, sizeof found);
    if (!closes) return -1;
  }
  int failed = closes(library);
  if (places && atomic_load_explicit(&live_shared.mode, memory_order_relaxed) != LIVE_OFF) forget();
  return failed;
}

#define PROBE __attribute__((visibility("default"), noinline))
PROBE void __cyg_profile_func_enter(void* function, void* site);
PROBE void __cyg_profile_func_exit(void* function, void* site);
/* What profd_live_probes.h, which is part of the program, looks at and calls. */
extern __attribute__((visibility("default"))) int profd_live_on;
int profd_live_on;
PROBE void profd_live_enters(void* function);
PROBE void profd_live_exits(void* function, void* site);

/* What follows is called as the last thing of the probes: a probe that is off has no frame of its own. */
static __attribute__((noinline)) void enters(void* function) {
  uint32_t id = id_known((uintptr_t)function);
  if (id && live_is_off(id)) return;
  uintptr_t at = (uintptr_t)__builtin_frame_address(0);
  struct live_lane* lane = live_begin();
  if (__builtin_expect(!lane, 0)) return;
  if (__builtin_expect(!id, 0)) {
    id = id_slow((uintptr_t)function);
    if (live_is_off(id)) id = 0;
  }
  if (__builtin_expect(id != 0, 1)) {
    at = place_of(lane, at);
    if (lane->depth && at != UINTPTR_MAX && __builtin_expect(lane->open[lane->depth - 1].at < at, 0))
      drop_below(lane, at);
    live_push(lane, id, at);
  }
  live_leave(lane);
}

static __attribute__((noinline)) void exits(void* function, void* site) {
  uintptr_t at = (uintptr_t)__builtin_frame_address(0);
  /* Jumped to as the function's last thing: its frame is no more, and where its probe stands is where that of
     its caller did. */
  int jumped = __builtin_extract_return_addr(__builtin_return_address(0)) == site;
  uint32_t id = id_known((uintptr_t)function);
  if (id && live_is_off(id)) {
    /* It may have begun when it still had one. */
    const struct live_lane* own = live_lane_of_thread;
    if (!own || own->depth == 0) return;
    const struct live_open* top = own->open + own->depth - 1;
    if (top->at != UINTPTR_MAX && (jumped ? top->at >= at : top->id != id || top->at != at)) return;
  }
  struct live_lane* lane = live_begin();
  if (__builtin_expect(!lane, 0)) return;
  if (__builtin_expect(!id, 0)) id = id_slow((uintptr_t)function);
  if (__builtin_expect(id != 0 && lane->depth != 0, 1)) {
    const struct live_open* top = lane->open + lane->depth - 1;
    if (jumped && !lane->over && place_of(lane, at) != UINTPTR_MAX)
      drop_below(lane, at);
    else if (__builtin_expect(top->id == id && (top->at == at || top->at == UINTPTR_MAX), 1))
      live_pop(lane);
    else if (lane->over)
      live_pop(lane);
    else
      exit_slow(lane, id, place_of(lane, at));
  }
  live_leave(lane);
}

PROBE void __cyg_profile_func_enter(void* function, void* site) {
  (void)site;
  if (__builtin_expect(atomic_load_explicit(&live_shared.mode, memory_order_relaxed) != LIVE_OFF, 0))
    enters(function);
}

PROBE void __cyg_profile_func_exit(void* function, void* site) {
  (void)site;
  if (__builtin_expect(atomic_load_explicit(&live_shared.mode, memory_order_relaxed) != LIVE_OFF, 0))
    exits(function, site);
}

PROBE void profd_live_enters(void* function) {
  enters(function);
}
PROBE void profd_live_exits(void* function, void* site) {
  exits(function, site);
}

/* longjmp runs no exits. Where it goes tells which functions it ends: those whose frames lie below. Elsewhere
   they end when a function outside of them calls or returns. */
static void jumps(jmp_buf where) {
  struct live_lane* lane = live_lane_of_thread;
  if (!lane || atomic_load_explicit(&live_shared.mode, memory_order_relaxed) == LIVE_OFF) return;
  lane->busy = 0; /* Whatever probe a signal's handler jumps out of. */
  lane = live_begin();
  if (!lane) return;
#if defined(__x86_64__) && defined(__GLIBC__)
  uintptr_t target = (uintptr_t)where[0].__jmpbuf[6];
  __asm__("ror $0x11, %0\n\txor %%fs:0x30, %0" : "+r"(target));
  if (place_of(lane, target) != UINTPTR_MAX) drop_below(lane, target - 2 * sizeof(void*));
#else
  (void)where;
#endif
  live_leave(lane);
}

typedef void (*jump)(jmp_buf, int);
static jump real[4];
static const char* const kJumps[4] = {"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"};

static _Noreturn void leap(int which, jmp_buf where, int value) {
  if (!real[which]) {
    void* found = dlsym(RTLD_NEXT, kJumps[which]);
    memcpy(&real[which], &found, sizeof found);
    if (!real[which]) abort();
  }
  jumps(where);
  real[which](where, value);
  __builtin_unreachable();
}
#define JUMP(name, which)                                                   \
  __attribute__((visibility("default"))) _Noreturn void name(jmp_buf, int); \
  _Noreturn void name(jmp_buf where, int value) {                           \
    leap(which, where, value);                                              \
  }
#undef longjmp
#undef _longjmp
#undef siglongjmp
JUMP(longjmp, 0)
JUMP(_longjmp, 1)
JUMP(siglongjmp, 2)
JUMP(__longjmp_chk, 3)

extern void __cxa_throw(void) __attribute__((weak));

static void forked(void) {
  live_forked();
  quiet_forked();
  xray_forked();
}

static void running(int on) {
  quiet_none();
  xray_running(on);
}

PROBE void profd_live_mark(const char* text) {
  live_mark(text);
}

PROBE int profd_live_start(const char* target, const char* token_file) {
  if (!places) {
    void* memory = mmap(NULL, sizeof *places * PLACES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return -1;
    places = memory;
    for (int i = 0; i < 4; ++i) {
      void* found = dlsym(RTLD_NEXT, kJumps[i]);
      memcpy(&real[i], &found, sizeof found);
    }
    pthread_atfork(NULL, NULL, forked);
    live_shared.on = &profd_live_on;
  }
  struct live_agent agent = {.language = __cxa_throw ? "cpp" : "c",
                             .name = "profd-live-c " PROFD_LIVE_VERSION,
                             .program = modules_program(),
                             .abilities = LIVE_CAN_PAUSE | LIVE_CAN_DEMOTE | LIVE_CAN_DETACH,
                             .demoted = quiet_demoted,
                             .running = running,
                             .round = quiet_round,
                             .modules = modules_tell,
                             .module_of = modules_find};
  return live_start(&agent, target, token_file);
}

PROBE void profd_live_stop(void) {
  live_stop("stop", 1000);
}

__attribute__((constructor)) static void begin(void) {
  const char* target = getenv("PROFD_LIVE");
  if (target && *target) profd_live_start(target, getenv("PROFD_LIVE_TOKEN_FILE"));
}
__attribute__((destructor)) static void end(void) {
  live_stop("exit", 1000);
}
