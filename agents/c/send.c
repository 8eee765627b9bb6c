/* What threads have written, as messages. All of it runs on the agent's thread. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core.h"
#include "methods.h"

/* A thread is looked at for what it does at most this often, and so many of them in a round. */
#define STATE_NANOSECONDS 100000000u
#define STATES_A_ROUND 32

static uint32_t first_session; /* Words of earlier ones belong to streams that are no more. */
static uint64_t sent;
static uint64_t lost_of_ended;
static uint64_t inside_before;
static uint32_t next_state;

struct events {
  size_t begun; /* 0: no message is open. */
  uint64_t ticks;
};

static void events_end(struct wire* out, struct events* events) {
  if (events->begun) wire_end(out, events->begun);
  events->begun = 0;
}

static uint64_t number_of(const struct live_lane* lane) {
  return (uint64_t)(lane - live_lanes) + 1;
}

/* Room for one record of the lane, its time written. */
static unsigned char* record(struct wire* out, struct live_lane* lane, struct events* events, uint64_t ticks,
                             unsigned kind, size_t more) {
  if (events->begun && out->size - events->begun + 32 + more > LIVE_EVENTS_BYTES) events_end(out, events);
  if (!events->begun) {
    events->begun = wire_begin(out, LIVE_EVENTS);
    wire_varint(out, number_of(lane));
    wire_varint(out, ticks);
    events->ticks = ticks;
  }
  if (!wire_reserve(out, 32 + more)) return NULL;
  unsigned char* at = wire_put_varint(out->bytes + out->size, (ticks - events->ticks) * 4 + kind);
  events->ticks = ticks;
  ++sent;
  return at;
}

static void tell_gap(struct wire* out, const struct live_lane* lane, uint64_t from, uint64_t to,
                     uint64_t count) {
  size_t begun = wire_begin(out, LIVE_GAP);
  wire_varint(out, number_of(lane));
  wire_varint(out, from);
  wire_varint(out, to);
  wire_varint(out, count);
  wire_end(out, begun);
}

static void tell_stack(struct wire* out, const struct live_lane* lane, uint64_t ticks, const uint32_t* ids,
                       uint32_t n) {
  size_t begun = wire_begin(out, LIVE_STACK);
  wire_varint(out, number_of(lane));
  wire_varint(out, ticks);
  for (uint32_t i = 0; i < n; ++i) wire_varint(out, ids[i]);
  wire_end(out, begun);
}

static int read_file(const char* path, char* text, size_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t n = read(file, text, size - 1);
  close(file);
  if (n <= 0) return 0;
  text[n] = 0;
  return 1;
}

/* Names the thread, if it has not been named in this stream or has another name now. */
static void tell_thread(struct wire* out, struct live_lane* lane) {
  char path[64], name[sizeof lane->name] = "";
  long os_id = atomic_load_explicit(&lane->os_id, memory_order_relaxed);
  uint32_t stream = atomic_load_explicit(&live_shared.stream, memory_order_relaxed);
  snprintf(path, sizeof path, "/proc/self/task/%ld/comm", os_id);
  if (atomic_load_explicit(&lane->named, memory_order_acquire))
    memcpy(name, lane->first_name, sizeof name);
  else if (read_file(path, name, sizeof name))
    name[strcspn(name, "\n")] = 0;
  else
    memcpy(name, lane->first_name, sizeof lane->first_name); /* It has ended already. */
  if (lane->told_stream == stream && (name[0] == 0 || strcmp(name, lane->name) == 0)) return;
  lane->told_stream = stream;
  memcpy(lane->name, name, sizeof name);
  size_t begun = wire_begin(out, LIVE_THREAD);
  wire_varint(out, number_of(lane));
  wire_varint(out, (uint64_t)os_id);
  wire_string(out, name);
  wire_varint(out, os_id == (long)getpid() ? LIVE_FIRST_THREAD : 0);
  wire_end(out, begun);
}

/* One word that is no event, and those behind it; returns how many words it has. */
static uint32_t special(struct wire* out, struct live_lane* lane, struct events* events,
                        const uint64_t* words) {
  uint64_t argument = words[0] >> LIVE_TICKS_SHIFT;
  uint32_t n;
  int told = lane->reading_session >= first_session;
  switch (words[0] >> LIVE_ID_SHIFT & (LIVE_METHODS - 1)) {
    case LIVE_WORD_SESSION:
      lane->reading_session = (uint32_t)argument;
      return 1;
    case LIVE_WORD_GAP:
      events_end(out, events);
      if (told) tell_gap(out, lane, words[1], words[2], argument);
      return 3;
    case LIVE_WORD_STACK:
      events_end(out, events);
      lane->stack_wanted = (uint32_t)argument;
      lane->stack_ticks = words[1];
      lane->stack_size = 0;
      if (!lane->stack) lane->stack = malloc(sizeof *lane->stack * LIVE_OPEN_MOST);
      return 2;
    case LIVE_WORD_PART:
      n = (uint32_t)argument;
      for (uint32_t i = 0; i < n && lane->stack && lane->stack_size < LIVE_OPEN_MOST; ++i)
        lane->stack[lane->stack_size++] = (uint32_t)(words[1 + i / 2] >> (i % 2 ? 32 : 0));
      if (lane->stack_size >= lane->stack_wanted && told)
        tell_stack(out, lane, lane->stack_ticks, lane->stack, lane->stack_size);
      return 1 + (n + 1) / 2;
    default: /* A mark. */
      if (told) {
        unsigned char* at = record(out, lane, events, words[1], LIVE_OTHER, argument + 8);
        if (at) {
          struct wire text = {0};
          char copy[1025] = "";
          memcpy(copy, words + 2, argument < 1024 ? argument : 1024);
          wire_string(&text, copy);
          at = wire_put_varint(at, LIVE_MARK);
          memcpy(at, text.bytes, text.size);
          out->size = (size_t)(at - out->bytes) + text.size;
          wire_free(&text);
        }
      }
      return 2 + (uint32_t)((argument + 7) / 8);
  }
}

static void read_words(struct wire* out, struct live_lane* lane, struct events* events,
                       struct live_chunk* chunk, uint32_t used) {
  while (chunk->taken < used) {
    uint64_t word = chunk->words[chunk->taken];
    unsigned kind = word & 3;
    if (kind == LIVE_OTHER) {
      chunk->taken += special(out, lane, events, chunk->words + chunk->taken);
      continue;
    }
    ++chunk->taken;
    if (lane->reading_session < first_session) continue;
    unsigned char* at = record(out, lane, events, chunk->base + (word >> LIVE_TICKS_SHIFT), kind, 0);
    if (!at) return;
    if (kind != LIVE_EXIT) at = wire_put_varint(at, word >> LIVE_ID_SHIFT & (LIVE_METHODS - 1));
    out->size = (size_t)(at - out->bytes);
  }
}

/* Reads what the lane's thread has published, chunks begun after `until` left for the next time (a thread may
   be as fast as its reader); frees what both are done with. Returns 1 when there was something. */
static int read_lane(struct wire* out, struct live_lane* lane, uint64_t until) {
  struct events events = {0};
  int some = 0;
  for (struct live_chunk* chunk = atomic_load_explicit(&lane->first, memory_order_acquire); chunk;) {
    struct live_chunk* next = atomic_load_explicit(&chunk->next, memory_order_acquire);
    uint32_t used = atomic_load_explicit(&chunk->used, memory_order_acquire);
    some |= chunk->taken < used;
    read_words(out, lane, &events, chunk, used);
    if (!next || next->base > until) break;
    atomic_store_explicit(&lane->first, next, memory_order_relaxed);
    live_chunk_free(chunk);
    chunk = next;
  }
  events_end(out, &events);
  return some;
}

/* The words of a thread that has not spoken since its stack was asked for, or since it lost events: what it
   holds is told for it. Nothing is told of a thread that is busy, or was while its stack was copied: it tells
   that itself. */
static void tell_for(struct wire* out, struct live_lane* lane, uint64_t now) {
  uint32_t session = atomic_load_explicit(&live_shared.session, memory_order_relaxed);
  uint32_t silent = atomic_load_explicit(&lane->silent, memory_order_acquire);
  struct live_chunk* first = atomic_load_explicit(&lane->first, memory_order_acquire);
  uint32_t used = first ? atomic_load_explicit(&first->used, memory_order_acquire) : 0;
  int quiet = silent == lane->silent_before && used == lane->used_before;
  lane->silent_before = silent;
  lane->used_before = used;
  uint64_t lost = atomic_load_explicit(&lane->lost, memory_order_acquire);
  uint64_t said = lane->lost_said, copied = atomic_load_explicit(&lane->lost_copied, memory_order_relaxed);
  int of_stream =
      atomic_load_explicit(&lane->stream, memory_order_acquire) == atomic_load(&live_shared.stream);
  int asked = lane->reading_session < session && lane->copied_session < session &&
              lane->reading_session >= first_session;
  uint64_t untold = lost > (copied > said ? copied : said) ? lost - (copied > said ? copied : said) : 0;
  if (!quiet || !of_stream || lane->busy || (!asked && !untold) || lane->reading_session < first_session)
    return;
  if (!lane->stack && !(lane->stack = malloc(sizeof *lane->stack * LIVE_OPEN_MOST))) return;
  uint32_t depth = lane->depth;
  uint64_t from = copied > said ? atomic_load(&lane->copied_to) : lane->lost_from, to = lane->lost_to;
  for (uint32_t i = 0; i < depth; ++i) lane->stack[i] = lane->open[i].id;
  atomic_thread_fence(memory_order_seq_cst);
  if (lane->busy || silent != atomic_load(&lane->silent) || first != atomic_load(&lane->first) ||
      (first && used != atomic_load(&first->used)))
    return;
  if (untold) {
    atomic_store_explicit(&lane->copied_to, to, memory_order_relaxed);
    atomic_store_explicit(&lane->lost_copied, lost, memory_order_release);
    tell_gap(out, lane, from, to, untold);
  }
  tell_stack(out, lane, untold ? to : now, lane->stack, depth);
  lane->copied_session = session;
}

static void tell_state(struct wire* out, struct live_lane* lane, uint64_t now) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%ld/stat",
           atomic_load_explicit(&lane->os_id, memory_order_relaxed));
  if (!read_file(path, text, sizeof text)) return;
  const char* at = strrchr(text, ')');
  if (!at || at[1] == 0) return;
  char state = at[2];
  unsigned long user = 0, kernel = 0;
  if (sscanf(at + 3, " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu %lu", &user, &kernel) != 2) return;
  uint64_t cpu = (uint64_t)(user + kernel) * (1000000000u / (unsigned long)sysconf(_SC_CLK_TCK));
  int waits = state == 'S' || state == 'D' ? LIVE_WAITS : LIVE_RUNS;
  if (waits == lane->last_state && cpu == lane->last_cpu) return;
  lane->last_state = waits;
  lane->last_cpu = cpu;
  size_t begun = wire_begin(out, LIVE_STATE);
  wire_varint(out, number_of(lane));
  wire_varint(out, now);
  wire_varint(out, (uint64_t)waits);
  wire_varint(out, cpu);
  wire_end(out, begun);
}

static uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void tell_states(struct wire* out) {
  uint32_t count = atomic_load_explicit(&live_lane_count, memory_order_acquire);
  uint64_t now = nanoseconds();
  for (uint32_t i = 0, looked = 0; i < count && looked < STATES_A_ROUND; ++i) {
    struct live_lane* lane = live_lanes + (next_state + i) % count;
    if (atomic_load_explicit(&lane->state, memory_order_acquire) != LANE_OPEN) continue;
    if (lane->told_stream != atomic_load(&live_shared.stream) || now - lane->looked < STATE_NANOSECONDS)
      continue;
    lane->looked = now;
    tell_thread(out, lane);
    tell_state(out, lane, live_now());
    if (++looked == STATES_A_ROUND) next_state = (next_state + i + 1) % count;
  }
}

static void lane_close(struct wire* out, struct live_lane* lane) {
  uint64_t lost = atomic_load_explicit(&lane->lost, memory_order_relaxed);
  uint64_t said = lane->lost_said, copied = atomic_load_explicit(&lane->lost_copied, memory_order_relaxed);
  int of_stream =
      atomic_load_explicit(&lane->stream, memory_order_relaxed) == atomic_load(&live_shared.stream);
  if (copied > said) said = copied;
  if (out && of_stream && lost > said) tell_gap(out, lane, lane->lost_from, lane->lost_to, lost - said);
  if (of_stream) lost_of_ended += lost;
  if (out && lane->told_stream == atomic_load(&live_shared.stream)) {
    size_t begun = wire_begin(out, LIVE_THREAD_END);
    uint64_t ended = atomic_load_explicit(&lane->end_ticks, memory_order_relaxed);
    wire_varint(out, number_of(lane));
    wire_varint(out, ended > lane->last ? ended : lane->last);
    wire_end(out, begun);
  }
  struct live_chunk* chunk = atomic_exchange(&lane->first, NULL);
  if (chunk) live_chunk_free(chunk); /* The last one: those before it were freed as they were read. */
  free(lane->stack);
  lane->stack = NULL;
  lane->reading_session = lane->copied_session = lane->told_stream = 0;
  lane->last_state = -1;
  lane->looked = lane->last_cpu = 0;
  atomic_store_explicit(&lane->lost, 0, memory_order_relaxed);
  atomic_store_explicit(&lane->stream, 0, memory_order_relaxed);
  atomic_store_explicit(&lane->state, LANE_FREE, memory_order_release);
}

void live_stream_begins(void) {
  sent = lost_of_ended = 0;
  inside_before = atomic_load(&live_shared.inside);
  live_methods_anew();
  atomic_fetch_add(&live_shared.stream, 1);
  first_session = atomic_fetch_add(&live_shared.session, 1) + 1;
  live_switch(LIVE_ON);
}

struct live_totals live_totals(void) {
  struct live_totals totals = {sent, lost_of_ended + atomic_load(&live_shared.inside) - inside_before};
  uint32_t stream = atomic_load(&live_shared.stream),
           count = atomic_load_explicit(&live_lane_count, memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i)
    if (atomic_load_explicit(&live_lanes[i].stream, memory_order_acquire) == stream)
      totals.lost += atomic_load_explicit(&live_lanes[i].lost, memory_order_relaxed);
  return totals;
}

void live_round(const struct live_agent* agent, struct wire* out, uint64_t tick) {
  static struct wire body;
  body.size = 0;
  uint64_t until = live_now();
  uint32_t count = atomic_load_explicit(&live_lane_count, memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    struct live_lane* lane = live_lanes + i;
    uint32_t state = atomic_load_explicit(&lane->state, memory_order_acquire);
    if (state == LANE_FREE || state == LANE_CLAIMED) continue;
    if (lane->told_stream != atomic_load(&live_shared.stream) &&
        atomic_load_explicit(&lane->stream, memory_order_acquire) == atomic_load(&live_shared.stream))
      tell_thread(&body, lane);
    int some = read_lane(&body, lane, state == LANE_ENDED ? UINT64_MAX : until);
    if (state == LANE_ENDED)
      lane_close(&body, lane);
    else if (!some && tick)
      tell_for(&body, lane, live_now());
  }
  if (tick) tell_states(&body);
  /* Methods are known before the first word that names them is published: what is read now has all of them.
   */
  live_methods_tell(agent, out);
  if (wire_reserve(out, body.size)) {
    if (body.size) memcpy(out->bytes + out->size, body.bytes, body.size);
    out->size += body.size;
  }
  out->failed |= body.failed;
  if (tick) {
    struct live_totals totals = live_totals();
    size_t begun = wire_begin(out, LIVE_TICK);
    wire_varint(out, tick);
    wire_varint(out, totals.sent);
    wire_varint(out, totals.lost);
    wire_end(out, begun);
  }
}

void live_discard(void) {
  first_session = UINT32_MAX;
  struct wire none = {0};
  uint32_t count = atomic_load_explicit(&live_lane_count, memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t state = atomic_load_explicit(&live_lanes[i].state, memory_order_acquire);
    if (state == LANE_FREE || state == LANE_CLAIMED) continue;
    read_lane(&none, live_lanes + i, UINT64_MAX);
    if (state == LANE_ENDED) lane_close(NULL, live_lanes + i);
  }
  wire_free(&none);
}
