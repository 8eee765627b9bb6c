/* What the agents of C, C++ and Python share: lanes of events a thread, chunks from one pool, the agent's own
   thread that sends them. Private to the agents.

   A program's thread never waits and never allocates here once its lane is open. Its events are words of 64
   bits in chunks that only it writes; the agent's thread reads them behind it. Where no chunk is free, events
   are counted and dropped. */
#ifndef PROFD_LIVE_CORE_H
#define PROFD_LIVE_CORE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "live_stream.h"
#include "wire.h"
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define LIVE_CHUNK_BYTES 16384
#define LIVE_CHUNK_WORDS ((LIVE_CHUNK_BYTES - 24) / 8)
#define LIVE_POOL_BYTES (64u << 20)
#define LIVE_OPEN_MOST 16384

/* A word: kind in the lowest two bits, 20 bits of id, 42 bits of ticks since the chunk's base. Of kind
   LIVE_OTHER the id is one of these and the rest its argument. */
#define LIVE_ID_SHIFT 2
#define LIVE_TICKS_SHIFT 22
#define LIVE_ARGUMENT_BITS 42
enum live_word {
  LIVE_WORD_SESSION = 1, /* argument: session; what follows belongs to it */
  LIVE_WORD_GAP,         /* argument: number; then two words: from, to */
  LIVE_WORD_STACK,       /* argument: depth; then a word: ticks; then parts */
  LIVE_WORD_PART,        /* argument: n; then n ids, two a word */
  LIVE_WORD_MARK         /* argument: bytes; then a word: ticks; then the text */
};

struct live_chunk {
  _Atomic(struct live_chunk*) next;
  _Atomic uint32_t used; /* Words that the reader may read. */
  uint32_t taken;        /* Words that the reader has read. */
  uint64_t base;
  uint64_t words[LIVE_CHUNK_WORDS];
};

struct live_open {
  uintptr_t at; /* Where its frame is on the thread's stack; UINTPTR_MAX where that says nothing. */
  uint32_t id;
};

/* What one thread writes. */
struct live_lane {
  /* Of the thread itself. */
  struct live_chunk* chunk;
  uint64_t last;    /* Ticks of the newest event. */
  uint32_t used;    /* Words written to the chunk. */
  uint32_t depth;   /* Open methods. */
  uint32_t session; /* Of live_shared, in which it has told its stack; 0: none. */
  uint32_t over;    /* Calls that are deeper than LIVE_OPEN_MOST. */
  volatile uint32_t busy;
  uint64_t lost_from, lost_to, lost_said; /* Of `lost`, what the thread itself has told. */
  uintptr_t stack_low, stack_high;        /* The thread's own stack. */
  struct live_open* open;
  char first_name[32]; /* Of the thread, when the lane was opened; with `named` what the language calls it. */
  _Atomic int named;

  /* Of both. */
  _Atomic uint32_t silent;      /* Changes of `open` that left no word. */
  _Atomic uint64_t lost;        /* In stream `stream`. */
  _Atomic uint32_t stream;      /* Of live_shared, when `open` was begun. */
  _Atomic uint64_t lost_copied; /* Of `lost`, what the agent's thread has told, up to `copied_to`. */
  _Atomic uint64_t copied_to;
  _Atomic uint32_t state; /* enum lane_state */
  _Atomic(struct live_chunk*) first;
  _Atomic uint64_t end_ticks;
  _Atomic long os_id;

  /* Of the agent's thread. */
  uint32_t told_stream;     /* In which the thread has been named. */
  uint32_t reading_session; /* Of the words that are read. */
  uint32_t copied_session;  /* In which its stack was told for it. */
  uint32_t silent_before, used_before;
  uint32_t stack_wanted, stack_size;
  uint64_t stack_ticks;
  uint32_t* stack;
  int last_state;
  uint64_t last_cpu, looked;
  char name[32];
};

enum lane_state { LANE_FREE, LANE_CLAIMED, LANE_OPEN, LANE_ENDED };
enum live_off { LIVE_DEMOTED = 1, LIVE_FILTERED = 2 };
enum live_mode { LIVE_OFF = 0, LIVE_ON = 1, LIVE_PAUSED = 2 };

struct live_shared {
  _Atomic uint32_t mode; /* enum live_mode */
  _Atomic uint32_t
      session; /* Changes whenever threads are to tell their stacks: a new stream, a pause that ended. */
  _Atomic uint32_t stream; /* Changes with every connection. */
  _Atomic uint64_t
      inside; /* Events within a probe, or before a thread could tell its stack: lost without a thread. */
  int tsc;    /* The clock is the processor's. */
  int* on;    /* Where probes that are part of the program look: 0 as mode is LIVE_OFF. May be NULL. */
  _Atomic unsigned char* off; /* For each id enum live_off. */
  /* Fills `open` of the calling thread as a stream begins, where the language can tell; may be NULL. */
  void (*refill)(struct live_lane* lane);
};
extern struct live_shared live_shared;
/* LIVE_OFF, or LIVE_ON after it. */
void live_switch(enum live_mode mode);
extern __thread struct live_lane* live_lane_of_thread __attribute__((tls_model("initial-exec")));

static inline uint64_t live_now(void) {
#if defined(__x86_64__)
  if (__builtin_expect(live_shared.tsc, 1)) return __rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The lane of this thread, opened if need be and brought up to the session; NULL when nothing is to be
   written (off, no lane left, inside of another probe: that is counted). Between it and live_leave the thread
   is busy. */
struct live_lane* live_enter_slow(void);
/* Makes room for a word at `now`, or counts a loss and returns 0. */
int live_room(struct live_lane* lane, uint64_t now);
void live_lose(struct live_lane* lane, uint64_t now);

static inline struct live_lane* live_begin(void) {
  struct live_lane* lane = live_lane_of_thread;
  if (__builtin_expect(!lane || lane->busy ||
                           lane->session != atomic_load_explicit(&live_shared.session, memory_order_relaxed),
                       0))
    return live_enter_slow();
  lane->busy = 1;
#if defined(__x86_64__)
  atomic_signal_fence(memory_order_seq_cst);
#else
  atomic_thread_fence(memory_order_seq_cst);
#endif
  return lane;
}

static inline void live_leave(struct live_lane* lane) {
#if defined(__x86_64__)
  atomic_signal_fence(memory_order_seq_cst); /* Stores are seen in their order. */
#else
  atomic_thread_fence(memory_order_release);
#endif
  lane->busy = 0;
}

/* Writes one event. The caller has changed `open` and `depth` already. */
static inline void live_write(struct live_lane* lane, uint64_t now, unsigned kind, uint32_t id) {
  if (__builtin_expect(now < lane->last, 0)) now = lane->last; /* Clocks of processors may differ a little. */
  struct live_chunk* chunk = lane->chunk;
  if (__builtin_expect(!chunk || lane->used >= LIVE_CHUNK_WORDS || (now - chunk->base) >> LIVE_ARGUMENT_BITS,
                       0)) {
    if (!live_room(lane, now)) return;
    chunk = lane->chunk;
  }
  lane->last = now;
  chunk->words[lane->used] = (now - chunk->base) << LIVE_TICKS_SHIFT | (uint64_t)id << LIVE_ID_SHIFT | kind;
  atomic_store_explicit(&chunk->used, ++lane->used, memory_order_release);
}

static inline int live_is_off(uint32_t id) {
  return atomic_load_explicit(&live_shared.off[id], memory_order_relaxed);
}

static inline void live_silent(struct live_lane* lane) {
  atomic_store_explicit(&lane->silent, atomic_load_explicit(&lane->silent, memory_order_relaxed) + 1,
                        memory_order_release);
}

static inline void live_tell(struct live_lane* lane, unsigned kind, uint32_t id) {
  if (__builtin_expect(atomic_load_explicit(&live_shared.mode, memory_order_relaxed) == LIVE_ON, 1))
    live_write(lane, live_now(), kind, id);
  else
    live_silent(lane);
}

static inline void live_push(struct live_lane* lane, uint32_t id, uintptr_t at) {
  if (__builtin_expect(lane->depth >= LIVE_OPEN_MOST, 0)) {
    ++lane->over;
    return;
  }
  lane->open[lane->depth] = (struct live_open){at, id};
  ++lane->depth;
  live_tell(lane, LIVE_ENTER, id);
}

static inline void live_pop(struct live_lane* lane) {
  if (__builtin_expect(lane->over, 0)) {
    --lane->over;
    return;
  }
  --lane->depth;
  live_tell(lane, LIVE_EXIT, 0);
}

/* Ends `n` methods at once: what longjmp leaves. */
void live_pop_many(struct live_lane* lane, uint32_t n);

/* What an agent says of itself. What is called is called on the agent's thread. */
struct live_agent {
  const char *language, *name, *program;
  unsigned abilities;
  /* Which methods are demoted has changed; may be NULL. */
  void (*demoted)(void);
  /* A filter's pattern; may be NULL. */
  void (*filtered)(const char* pattern);
  /* A stream begins (1) or has ended (0); may be NULL. */
  void (*running)(int on);
  /* A round of sending is over; may be NULL. */
  void (*round)(void);
  /* Before methods are told: messages on modules, and where an address of live_code is; may be NULL where
   * there are none. */
  void (*modules)(struct wire* out, int anew);
  int (*module_of)(uintptr_t address, uint32_t* module, uint64_t* within);
};

/* Starts the agent's thread, which dials as `target` says (the form of PROFD_LIVE). 0, or -1 with a sentence
 * on stderr. */
int live_start(const struct live_agent* agent, const char* target, const char* token_file);
/* Ends the session, waiting at most `milliseconds` for what is unsent. */
void live_stop(const char* reason, unsigned milliseconds);
/* In a child that fork made: there is no agent's thread, and nothing is told. */
void live_forked(void);

/* A mark of the program, at the time of the call. */
void live_mark(const char* text);

/* Of the sender (send.c), for the agent's thread. `live_round` appends what threads have written to `out`,
   and a tick when `tick` is set. */
struct live_totals {
  uint64_t sent, lost;
};
int live_memory(void);
void live_stream_begins(void);
void live_round(const struct live_agent* agent, struct wire* out, uint64_t tick);
/* Throws away what threads have written, of streams that are no more. */
void live_discard(void);
struct live_totals live_totals(void);

extern struct live_lane* live_lanes;
extern _Atomic uint32_t live_lane_count;
void live_chunk_free(struct live_chunk* chunk);

#endif
