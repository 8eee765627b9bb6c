#define _GNU_SOURCE
#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNKS (LIVE_POOL_BYTES / LIVE_CHUNK_BYTES)
#define PART_IDS 4000u

struct live_shared live_shared;
void live_switch(enum live_mode mode) {
  atomic_store(&live_shared.mode, mode);
  if (live_shared.on) __atomic_store_n(live_shared.on, mode != LIVE_OFF, __ATOMIC_SEQ_CST);
}

__thread struct live_lane* live_lane_of_thread __attribute__((tls_model("initial-exec")));
struct live_lane* live_lanes;
_Atomic uint32_t live_lane_count;

/* Free chunks are a stack: index + 1 in the lowest 16 bits, the rest counts changes, so that a chunk that
   went and came back is told from one that stayed. Those at and above `fresh` have never been taken, and have
   no memory yet. */
static struct {
  unsigned char* memory;
  _Atomic uint64_t top;
  _Atomic uint32_t fresh;
  _Atomic uint16_t below[CHUNKS];
} pool;
static pthread_key_t end_of_thread;

static void* map(size_t bytes) {
  void* memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static struct live_chunk* chunk_at(uint32_t index) {
  return (struct live_chunk*)(void*)(pool.memory + (size_t)index * LIVE_CHUNK_BYTES);
}

static struct live_chunk* chunk_take(void) {
  _Static_assert(sizeof(struct live_chunk) == LIVE_CHUNK_BYTES, "a chunk is as large as its place");
  uint64_t top = atomic_load_explicit(&pool.top, memory_order_acquire);
  while (top & 0xffff) {
    uint32_t index = (uint32_t)(top & 0xffff) - 1;
    uint64_t next = ((top >> 16) + 1) << 16 | atomic_load_explicit(&pool.below[index], memory_order_relaxed);
    if (atomic_compare_exchange_weak_explicit(&pool.top, &top, next, memory_order_acquire,
                                              memory_order_acquire))
      return chunk_at(index);
  }
  uint32_t fresh = atomic_load_explicit(&pool.fresh, memory_order_relaxed);
  while (fresh < CHUNKS)
    if (atomic_compare_exchange_weak_explicit(&pool.fresh, &fresh, fresh + 1, memory_order_relaxed,
                                              memory_order_relaxed))
      return chunk_at(fresh);
  return NULL;
}

void live_chunk_free(struct live_chunk* chunk) {
  uint32_t index = (uint32_t)((size_t)((unsigned char*)chunk - pool.memory) / LIVE_CHUNK_BYTES);
  uint64_t top = atomic_load_explicit(&pool.top, memory_order_relaxed), next;
  do {
    atomic_store_explicit(&pool.below[index], (uint16_t)(top & 0xffff), memory_order_relaxed);
    next = ((top >> 16) + 1) << 16 | (index + 1);
  } while (!atomic_compare_exchange_weak_explicit(&pool.top, &top, next, memory_order_release,
                                                  memory_order_relaxed));
}

void live_lose(struct live_lane* lane, uint64_t now) {
  uint64_t lost = atomic_load_explicit(&lane->lost, memory_order_relaxed);
  if (lost == lane->lost_said) lane->lost_from = lane->last;
  lane->lost_to = lane->last = now > lane->last ? now : lane->last;
  live_silent(lane);
  atomic_store_explicit(&lane->lost, lost + 1, memory_order_release);
}

/* Hangs a chunk behind those of the lane and begins to write it. */
static void chunk_begin(struct live_lane* lane, struct live_chunk* chunk, uint64_t now) {
  atomic_store_explicit(&chunk->next, NULL, memory_order_relaxed);
  atomic_store_explicit(&chunk->used, 0, memory_order_relaxed);
  chunk->taken = 0;
  chunk->base = now;
  struct live_chunk* old = lane->chunk;
  lane->chunk = chunk;
  lane->used = 0;
  atomic_store_explicit(old ? &old->next : &lane->first, chunk, memory_order_release);
}

static uint64_t* word(struct live_lane* lane, unsigned what, uint64_t argument) {
  uint64_t* at = lane->chunk->words + lane->used++;
  *at = argument << LIVE_TICKS_SHIFT | (uint64_t)what << LIVE_ID_SHIFT | LIVE_OTHER;
  return at;
}

static void publish(struct live_lane* lane) {
  atomic_store_explicit(&lane->chunk->used, lane->used, memory_order_release);
}

/* Tells what was lost (if anything) and what is open now, in chunks of its own. Returns 0 when there are too
 * few. */
static int tell_stack(struct live_lane* lane, uint64_t now, int session) {
  struct live_chunk* chunks[LIVE_OPEN_MOST / PART_IDS + 2];
  uint32_t parts = lane->depth / PART_IDS + 1, have = 0;
  while (have < parts && (chunks[have] = chunk_take()) != NULL) ++have;
  if (have < parts) {
    while (have > 0) live_chunk_free(chunks[--have]);
    return 0;
  }
  chunk_begin(lane, chunks[0], now);
  if (session) word(lane, LIVE_WORD_SESSION, lane->session);
  uint64_t lost = atomic_load_explicit(&lane->lost, memory_order_relaxed);
  uint64_t said = lane->lost_said, copied = atomic_load_explicit(&lane->lost_copied, memory_order_acquire);
  if (copied > said) {
    said = copied;
    lane->lost_from = atomic_load_explicit(&lane->copied_to, memory_order_relaxed);
  }
  if (lost > said) {
    word(lane, LIVE_WORD_GAP, lost - said);
    lane->chunk->words[lane->used++] = lane->lost_from;
    lane->chunk->words[lane->used++] = lane->lost_to;
  }
  lane->lost_said = lost;
  word(lane, LIVE_WORD_STACK, lane->depth);
  lane->chunk->words[lane->used++] = now;
  for (uint32_t part = 0, done = 0; part < parts; ++part) {
    if (part > 0) chunk_begin(lane, chunks[part], now);
    uint32_t n = lane->depth - done < PART_IDS ? lane->depth - done : PART_IDS;
    word(lane, LIVE_WORD_PART, n);
    for (uint32_t i = 0; i < n; i += 2, lane->used++)
      lane->chunk->words[lane->used] =
          lane->open[done + i].id | (i + 1 < n ? (uint64_t)lane->open[done + i + 1].id << 32 : 0);
    done += n;
    publish(lane);
  }
  lane->last = now > lane->last ? now : lane->last;
  return 1;
}

int live_room(struct live_lane* lane, uint64_t now) {
  if (atomic_load_explicit(&lane->lost, memory_order_relaxed) != lane->lost_said) {
    /* The event at hand is among what the stack tells, and counts as lost. */
    live_lose(lane, now);
    tell_stack(lane, lane->last, 0);
    return 0;
  }
  struct live_chunk* chunk = chunk_take();
  if (!chunk) {
    live_lose(lane, now);
    return 0;
  }
  chunk_begin(lane, chunk, now);
  return 1;
}

static void lane_ends(void* pointer) {
  struct live_lane* lane = pointer;
  lane->busy = 1;
  live_lane_of_thread = NULL;
  atomic_store_explicit(&lane->end_ticks, live_now(), memory_order_relaxed);
  atomic_store_explicit(&lane->state, LANE_ENDED, memory_order_release);
}

static struct live_lane* lane_open(void) {
  for (uint32_t i = 0; i < LIVE_THREADS; ++i) {
    struct live_lane* lane = live_lanes + i;
    uint32_t free = LANE_FREE;
    if (atomic_load_explicit(&lane->state, memory_order_relaxed) != LANE_FREE) continue;
    if (!atomic_compare_exchange_strong(&lane->state, &free, LANE_CLAIMED)) continue;
    /* What it had of a thread before is gone: the agent's thread has read it to its end. */
    lane->busy = 1;
    lane->depth = lane->over = lane->session = lane->used = 0;
    lane->last = 0;
    lane->chunk = NULL;
    atomic_store_explicit(&lane->stream, 0, memory_order_relaxed);
    memset(lane->first_name, 0, sizeof lane->first_name);
    atomic_store_explicit(&lane->named, 0, memory_order_relaxed);
    prctl(PR_GET_NAME, lane->first_name);
    atomic_store_explicit(&lane->os_id, (long)syscall(SYS_gettid), memory_order_relaxed);
    if (!lane->open) lane->open = map(sizeof *lane->open * LIVE_OPEN_MOST);
    if (!lane->open) {
      atomic_store(&lane->state, LANE_FREE);
      return NULL;
    }
    uint32_t count = atomic_load(&live_lane_count);
    while (count <= i && !atomic_compare_exchange_weak(&live_lane_count, &count, i + 1)) {
    }
    live_lane_of_thread = lane;
    pthread_attr_t attributes;
    lane->stack_low = lane->stack_high = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      void* low;
      size_t size;
      if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
        lane->stack_low = (uintptr_t)low;
        lane->stack_high = lane->stack_low + size;
      }
      pthread_attr_destroy(&attributes);
    }
    pthread_setspecific(end_of_thread, lane);
    atomic_store_explicit(&lane->state, LANE_OPEN, memory_order_release);
    return lane;
  }
  return NULL;
}

struct live_lane* live_enter_slow(void) {
  struct live_lane* lane = live_lane_of_thread;
  if (lane && lane->busy) {
    /* A signal came in the middle of a probe, or a probe called code with probes. */
    if (atomic_load_explicit(&live_shared.mode, memory_order_relaxed) == LIVE_ON)
      atomic_fetch_add_explicit(&live_shared.inside, 1, memory_order_relaxed);
    return NULL;
  }
  if (!lane)
    lane = lane_open();
  else
    lane->busy = 1;
  if (!lane) return NULL;
  uint32_t stream = atomic_load(&live_shared.stream), session = atomic_load(&live_shared.session);
  if (atomic_load_explicit(&lane->stream, memory_order_relaxed) != stream) {
    lane->depth = lane->over = 0;
    lane->lost_said = 0;
    atomic_store_explicit(&lane->lost, 0, memory_order_relaxed);
    atomic_store_explicit(&lane->lost_copied, 0, memory_order_relaxed);
    atomic_store_explicit(&lane->stream, stream, memory_order_release);
    if (live_shared.refill) live_shared.refill(lane);
  }
  if (lane->session != session) {
    lane->session = session;
    if (!tell_stack(lane, live_now(), 1)) {
      /* Tried again with the next event. */
      lane->session = 0;
      if (atomic_load_explicit(&live_shared.mode, memory_order_relaxed) == LIVE_ON)
        atomic_fetch_add_explicit(&live_shared.inside, 1, memory_order_relaxed);
      live_leave(lane);
      return NULL;
    }
  }
  return lane;
}

void live_pop_many(struct live_lane* lane, uint32_t n) {
  if (n == 0) return;
  lane->over = 0;
  uint32_t top = lane->depth > n ? lane->open[lane->depth - n - 1].id : 0;
  int again = 0;
  for (uint32_t i = 1; i <= n; ++i) again |= lane->open[lane->depth - i].id == top;
  if (!again && n > 1) {
    lane->depth -= n;
    live_tell(lane, LIVE_EXIT_TO, top);
    return;
  }
  for (; n > 0; --n) live_pop(lane);
}

void live_mark(const char* text) {
  if (atomic_load_explicit(&live_shared.mode, memory_order_relaxed) != LIVE_ON) return;
  struct live_lane* lane = live_begin();
  if (!lane) return;
  size_t length = strnlen(text, 1024);
  uint32_t words = (uint32_t)(2 + (length + 7) / 8);
  uint64_t now = live_now();
  if (now < lane->last) now = lane->last;
  if ((lane->chunk && lane->used + words <= LIVE_CHUNK_WORDS) || live_room(lane, now)) {
    word(lane, LIVE_WORD_MARK, length);
    lane->chunk->words[lane->used] = now;
    memcpy(lane->chunk->words + lane->used + 1, text, length);
    lane->used += words - 1;
    lane->last = now;
    publish(lane);
  }
  live_leave(lane);
}

int live_memory(void) {
  if (live_lanes) return 1;
  pool.memory = map(LIVE_POOL_BYTES);
  live_shared.off = map(LIVE_METHODS);
  struct live_lane* lanes = map(sizeof *lanes * LIVE_THREADS);
  if (!pool.memory || !live_shared.off || !lanes || pthread_key_create(&end_of_thread, lane_ends) != 0)
    return 0;
  live_lanes = lanes;
  return 1;
}
