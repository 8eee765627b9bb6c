#define _GNU_SOURCE
#include "methods.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core.h"

/* A method with texts is a pointer to them, one of code its address times two plus one. */
static _Atomic(_Atomic uintptr_t*) table;
static _Atomic uint32_t last;
static unsigned char* told;
static uint32_t all_told_below = 1;

struct texts {
  uint32_t line;
  char bytes[]; /* package, class, method, signature, file, each with its zero */
};

static _Atomic uintptr_t* table_of(void) {
  _Atomic uintptr_t* have = atomic_load_explicit(&table, memory_order_acquire);
  if (have) return have;
  void* memory = mmap(NULL, sizeof *have * LIVE_METHODS, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  if (atomic_compare_exchange_strong(&table, &have, memory)) return memory;
  munmap(memory, sizeof *have * LIVE_METHODS);
  return have;
}

static uint32_t add(uintptr_t what) {
  _Atomic uintptr_t* methods = table_of();
  if (!methods || atomic_load_explicit(&last, memory_order_relaxed) >= LIVE_METHODS - 1) return 0;
  uint32_t id = atomic_fetch_add(&last, 1) + 1;
  if (id >= LIVE_METHODS) {
    atomic_store(&last, LIVE_METHODS - 1);
    return 0;
  }
  atomic_store_explicit(&methods[id], what, memory_order_release);
  return id;
}

uint32_t live_code(uintptr_t address) {
  return add(address << 1 | 1);
}

uint32_t live_method(const char* package, const char* class_name, const char* method, const char* signature,
                     const char* file, uint32_t line) {
  const char* parts[] = {package, class_name, method, signature, file};
  size_t lengths[5], bytes = 0;
  for (int i = 0; i < 5; ++i) bytes += (lengths[i] = parts[i] ? strnlen(parts[i], LIVE_STRING_BYTES) : 0) + 1;
  struct texts* texts = malloc(sizeof *texts + bytes);
  if (!texts) return 0;
  texts->line = line;
  char* at = texts->bytes;
  for (int i = 0; i < 5; ++i) {
    if (lengths[i]) memcpy(at, parts[i], lengths[i]);
    at[lengths[i]] = 0;
    at += lengths[i] + 1;
  }
  uint32_t id = add((uintptr_t)texts);
  if (!id) free(texts);
  return id;
}

uint32_t live_method_count(void) {
  return atomic_load_explicit(&last, memory_order_acquire);
}

const char* live_package_of(uint32_t id) {
  uintptr_t what = table_of() ? atomic_load_explicit(&table_of()[id], memory_order_acquire) : 0;
  return what == 0 || (what & 1) ? NULL : ((const struct texts*)what)->bytes;
}

uintptr_t live_address_of(uint32_t id) {
  uintptr_t what = table_of() ? atomic_load_explicit(&table_of()[id], memory_order_acquire) : 0;
  return what & 1 ? what >> 1 : 0;
}

void live_methods_anew(void) {
  if (!told)
    told = calloc(LIVE_METHODS, 1);
  else
    memset(told, 0, live_method_count() + 1);
  all_told_below = 1;
}

static void tell_one(const struct live_agent* agent, struct wire* out, uint32_t id, uintptr_t what) {
  wire_varint(out, id);
  if (what & 1) {
    uint32_t module = 0;
    uint64_t within = 0;
    int known = agent->module_of && agent->module_of(what >> 1, &module, &within);
    wire_string(out, "");
    wire_string(out, "");
    wire_string(out, known ? "" : "(unloaded code)");
    wire_string(out, "");
    wire_string(out, "");
    wire_varint(out, 0);
    wire_varint(out, module);
    wire_varint(out, within);
    return;
  }
  const struct texts* texts = (const struct texts*)what;
  const char* at = texts->bytes;
  for (int i = 0; i < 5; ++i, at += strlen(at) + 1) wire_string(out, at);
  wire_varint(out, texts->line);
  wire_varint(out, 0);
  wire_varint(out, 0);
}

void live_methods_tell(const struct live_agent* agent, struct wire* out) {
  uint32_t count = live_method_count();
  if (!told) return;
  /* Also without new methods: of what is unloaded they want to know before other code is loaded there. */
  if (agent->modules) agent->modules(out, all_told_below == 1);
  if (all_told_below > count) return;
  _Atomic uintptr_t* methods = table_of();
  size_t begun = 0;
  for (uint32_t id = all_told_below; id <= count; ++id) {
    uintptr_t what = told[id] ? 0 : atomic_load_explicit(&methods[id], memory_order_acquire);
    if (!what) continue; /* Told, or being made: nothing names it yet. */
    if (!begun) begun = wire_begin(out, LIVE_DICT);
    tell_one(agent, out, id, what);
    told[id] = 1;
    if (out->size - begun > LIVE_FRAME_BYTES / 2) {
      wire_end(out, begun);
      begun = 0;
    }
  }
  if (begun) wire_end(out, begun);
  while (all_told_below <= count && told[all_told_below]) ++all_told_below;
}
