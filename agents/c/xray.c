/* The handler of XRay's probes. A function without a probe is patched back to what the compiler wrote, a jump
   over a few bytes that do nothing: it costs no call. */
#define _GNU_SOURCE
#include "xray.h"

#include <pthread.h>
#include <sys/mman.h>

#include "core.h"
#include "frames.h"
#include "methods.h"

enum xray_kind { XRAY_ENTRY, XRAY_EXIT, XRAY_TAIL, XRAY_ENTRY_WITH_ARGUMENTS, XRAY_KINDS };

static struct {
  pthread_mutex_t lock; /* Of patching, which the agent's thread and the program's first one do. */
  const struct profd_live_xray* runtime;
  uint32_t count; /* Functions have numbers from 1 to this. */
  int patched;
  _Atomic uint32_t* ids;           /* By function; 0: it has not been entered yet. */
  _Atomic uint32_t* functions;     /* By id. */
  _Atomic intptr_t up[XRAY_KINDS]; /* From the handler's frame to the function's return address; 0: not
                                      known yet, -1: cannot be. */
} xray = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The function that this thread has entered last, while nothing came since. */
static __thread int32_t newest __attribute__((tls_model("initial-exec")));

/* The return address of a probe at a function's begin lies a few bytes into the function, and right above it
   on the stack is the function's own. Between it and the handler lie registers. */
static __attribute__((noinline)) intptr_t measure(int32_t function, uintptr_t frame) {
  intptr_t found = -1;
#if defined(__x86_64__)
  uintptr_t code = xray.runtime->function_address(function);
  for (uintptr_t at = frame; code && at < frame + 64 * sizeof at; at += sizeof at) {
    uintptr_t word = *(const uintptr_t*)at;
    if (word <= code || word > code + 32) continue;
    found = (intptr_t)(at + sizeof at - frame);
    break;
  }
#else
  (void)function, (void)frame;
#endif
  return found;
}

/* Where the function stands: below its own return address and above what it calls, as probes of
   -finstrument-functions would say. */
static inline uintptr_t stands(const struct live_lane* lane, int kind, uintptr_t frame) {
  intptr_t up = atomic_load_explicit(&xray.up[kind], memory_order_relaxed);
  return up <= 0 ? UINTPTR_MAX : place_of(lane, frame + (uintptr_t)up - 2 * sizeof(void*));
}

/* Ends jump to the handler by another way, with fewer registers saved. How far it is from there is seen when
   a function ends right after its begin. Where an exception came between, another one ended, higher up, and
   the way looks shorter than it is: the longest is right. */
static inline void learn(const struct live_open* top, int kind, uintptr_t frame) {
  if (top->at == UINTPTR_MAX) return;
  intptr_t up = (intptr_t)(top->at + 2 * sizeof(void*) - frame);
  if (up > atomic_load_explicit(&xray.up[kind], memory_order_relaxed))
    atomic_store_explicit(&xray.up[kind], up, memory_order_relaxed);
}

static __attribute__((noinline)) uint32_t id_anew(int32_t function) {
  uint32_t id = live_code(xray.runtime->function_address(function)), none = 0;
  if (id) atomic_store_explicit(&xray.functions[id], (uint32_t)function, memory_order_relaxed);
  /* Where another thread was first its id holds, and this one is never used. */
  return atomic_compare_exchange_strong(&xray.ids[function], &none, id) ? id : none;
}

static inline void enters(int32_t function, int kind, uintptr_t frame) {
  uint32_t id = atomic_load_explicit(&xray.ids[function], memory_order_relaxed);
  if (id && live_is_off(id)) return;
  newest = 0;
  struct live_lane* lane = live_begin();
  if (__builtin_expect(!lane, 0)) return;
  if (__builtin_expect(!id, 0)) id = id_anew(function);
  if (__builtin_expect(xray.up[kind] == 0, 0)) xray.up[kind] = measure(function, frame);
  if (__builtin_expect(id != 0 && !live_is_off(id), 1)) {
    uintptr_t at = stands(lane, kind, frame);
    /* What stands at the same place was left by an exception, or jumped here. */
    if (lane->depth && at != UINTPTR_MAX && __builtin_expect(lane->open[lane->depth - 1].at <= at, 0))
      drop_below(lane, at + 1);
    live_push(lane, id, at);
    newest = function;
  }
  live_leave(lane);
}

static inline void leaves(int32_t function, int kind, uintptr_t frame) {
  uint32_t id = atomic_load_explicit(&xray.ids[function], memory_order_relaxed);
  int directly = newest == function;
  newest = 0;
  if (!id) return; /* It began before it had a probe. */
  if (live_is_off(id)) {
    const struct live_lane* own = live_lane_of_thread;
    if (!own || own->depth == 0 || own->open[own->depth - 1].id != id) return;
  }
  struct live_lane* lane = live_begin();
  if (__builtin_expect(!lane, 0)) return;
  if (__builtin_expect(lane->depth != 0, 1)) {
    const struct live_open* top = lane->open + lane->depth - 1;
    if (directly && !lane->over && top->id == id) learn(top, kind, frame);
    uintptr_t at = stands(lane, kind, frame);
    if (__builtin_expect(!lane->over && top->id == id && top->at == at, 1))
      live_pop(lane);
    else if (lane->over && (at == UINTPTR_MAX || at < top->at))
      live_pop(lane);
    else
      exit_slow(lane, id, at);
  }
  live_leave(lane);
}

static void handler(int32_t function, int kind) {
  if (atomic_load_explicit(&live_shared.mode, memory_order_relaxed) == LIVE_OFF) return;
  if (__builtin_expect(function <= 0 || (uint32_t)function > xray.count, 0)) return;
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  if (kind == XRAY_ENTRY || kind == XRAY_ENTRY_WITH_ARGUMENTS)
    enters(function, kind, frame);
  else if (kind == XRAY_EXIT || kind == XRAY_TAIL)
    leaves(function, kind, frame);
}

static void* zeros(size_t bytes) {
  void* memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static int ready(void) {
  if (xray.functions) return 1;
  xray.count = (uint32_t)xray.runtime->max_function_id();
  if (xray.count == 0) return 0;
  xray.ids = zeros(sizeof *xray.ids * ((size_t)xray.count + 1));
  if (xray.ids) xray.functions = zeros(sizeof *xray.functions * LIVE_METHODS);
  return xray.functions != NULL;
}

/* The lock is held. */
static void patch_all(void) {
  if (!xray.runtime || xray.patched || !ready()) return;
  xray.runtime->set_handler(handler);
  xray.runtime->patch();
  xray.patched = 1;
}

__attribute__((visibility("default"))) void profd_live_use_xray(const struct profd_live_xray* runtime) {
  if (runtime->bytes < sizeof *runtime) return;
  pthread_mutex_lock(&xray.lock);
  xray.runtime = runtime;
  if (atomic_load(&live_shared.mode) != LIVE_OFF) patch_all();
  pthread_mutex_unlock(&xray.lock);
}

void xray_running(int on) {
  pthread_mutex_lock(&xray.lock);
  if (on) {
    patch_all();
  } else if (xray.patched) {
    xray.runtime->unpatch();
    xray.patched = 0;
  }
  pthread_mutex_unlock(&xray.lock);
}

void xray_patch(uint32_t id, int on) {
  pthread_mutex_lock(&xray.lock);
  uint32_t function = xray.patched ? atomic_load_explicit(&xray.functions[id], memory_order_relaxed) : 0;
  if (function && on)
    xray.runtime->patch_function((int32_t)function);
  else if (function)
    xray.runtime->unpatch_function((int32_t)function);
  pthread_mutex_unlock(&xray.lock);
}

void xray_forked(void) {
  pthread_mutex_init(&xray.lock, NULL);
  if (!xray.patched) return;
  xray.runtime->remove_handler();
  xray.patched = 0;
}
