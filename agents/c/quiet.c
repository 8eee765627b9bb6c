#define _GNU_SOURCE
#include "quiet.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "core.h"
#include "methods.h"
#include "xray.h"

/* Where probes that are a part of the program look (profd_live_probes.h): addresses of quiet functions, each
   at the one place that its address gives. Where two want the same, the first has it. */
#define QUIET_PLACES 4096u
extern __attribute__((visibility("default"))) _Atomic uintptr_t profd_live_quiet[QUIET_PLACES];
_Atomic uintptr_t profd_live_quiet[QUIET_PLACES];

enum { QUIET_NOT, QUIET_SOON, QUIET_YES, QUIET_GONE, QUIET_IS_OPEN = 0x80 };
static struct {
  pthread_mutex_t lock;
  unsigned char* methods; /* By id. */
  uint32_t soon;          /* How many are QUIET_SOON. */
} quiet = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic uintptr_t* place(uintptr_t address) {
  return profd_live_quiet + (address >> 4 & (QUIET_PLACES - 1));
}

static void silence(uint32_t id) {
  uintptr_t address = live_address_of(id), none = 0;
  atomic_compare_exchange_strong(place(address), &none, address);
  xray_patch(id, 0);
}

static void speak(uint32_t id) {
  uintptr_t address = live_address_of(id);
  atomic_compare_exchange_strong(place(address), &address, 0);
  xray_patch(id, 1);
}

void quiet_none(void) {
  pthread_mutex_lock(&quiet.lock);
  for (uint32_t i = 0; i < QUIET_PLACES; ++i)
    atomic_store_explicit(profd_live_quiet + i, 0, memory_order_relaxed);
  if (quiet.methods) memset(quiet.methods, QUIET_NOT, live_method_count() + 1);
  quiet.soon = 0;
  pthread_mutex_unlock(&quiet.lock);
}

void quiet_demoted(void) {
  pthread_mutex_lock(&quiet.lock);
  if (!quiet.methods) {
    void* memory =
        mmap(NULL, LIVE_METHODS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) quiet.methods = memory;
  }
  uint32_t count = quiet.methods ? live_method_count() : 0;
  for (uint32_t id = 1; id <= count; ++id) {
    unsigned char* method = quiet.methods + id;
    if (live_is_off(id)) {
      if (*method != QUIET_NOT) continue;
      *method = QUIET_SOON;
      ++quiet.soon;
    } else if (*method == QUIET_SOON) {
      *method = QUIET_NOT;
      --quiet.soon;
    } else if (*method == QUIET_YES) {
      *method = QUIET_NOT;
      speak(id);
    }
  }
  pthread_mutex_unlock(&quiet.lock);
}

/* Threads go on meanwhile. A method that is open when this begins, and not left, is seen: its place does not
   change. */
static void mark_open(void) {
  uint32_t lanes = atomic_load(&live_lane_count), stream = atomic_load(&live_shared.stream);
  for (uint32_t i = 0; i < lanes; ++i) {
    const struct live_lane* lane = live_lanes + i;
    if (atomic_load(&lane->state) != LANE_OPEN || atomic_load(&lane->stream) != stream) continue;
    uint32_t depth = *(const volatile uint32_t*)&lane->depth;
    for (uint32_t n = 0; n < depth && n < LIVE_OPEN_MOST; ++n) {
      uint32_t id = *(const volatile uint32_t*)&lane->open[n].id;
      if (id < LIVE_METHODS) quiet.methods[id] |= QUIET_IS_OPEN;
    }
  }
}

void quiet_round(void) {
  pthread_mutex_lock(&quiet.lock);
  if (quiet.soon) {
    mark_open();
    for (uint32_t id = 0, count = live_method_count(); id <= count; ++id) {
      int open = quiet.methods[id] & QUIET_IS_OPEN;
      quiet.methods[id] &= (unsigned char)~QUIET_IS_OPEN;
      if (open || quiet.methods[id] != QUIET_SOON) continue;
      quiet.methods[id] = QUIET_YES;
      --quiet.soon;
      silence(id);
    }
  }
  pthread_mutex_unlock(&quiet.lock);
}

void quiet_forget(uint32_t id, uintptr_t address) {
  pthread_mutex_lock(&quiet.lock);
  atomic_compare_exchange_strong(place(address), &address, 0);
  if (quiet.methods && id < LIVE_METHODS) {
    quiet.soon -= quiet.methods[id] == QUIET_SOON;
    quiet.methods[id] = QUIET_GONE;
  }
  pthread_mutex_unlock(&quiet.lock);
}

void quiet_forked(void) {
  pthread_mutex_init(&quiet.lock, NULL);
}
