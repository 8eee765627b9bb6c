/* profd builder, C: what a profiler links to write .profd files. C99, no dependencies, stable ABI.
 *
 *   profd_builder *b = profd_new("myprof");
 *   uint32_t cpu  = profd_metric(b, "cpu", "nanoseconds");
 *   uint32_t main = profd_frame(b, profd_function(b, "main", "main.c", 1), 10);
 *   uint32_t work = profd_frame(b, profd_function(b, "work", "main.c", 4), 5);
 *   uint32_t stack[] = {main, work};                       // root first
 *   profd_add(b, profd_stack(b, stack, 2), cpu, 1500000);
 *   if (!profd_write(b, "out.profd")) fprintf(stderr, "%s\n", profd_error(b));
 *   profd_free(b);
 *
 * Equal texts, functions, frames, threads and contexts given twice are one. Ids belong to their builder.
 * Errors stick: after the first one every call does nothing and gives PROFD_NONE, and profd_error() tells
 * what it was. A builder may be used by one thread at a time. The file is docs/profd-format.md, version 1. */
#ifndef PROFD_BUILDER_H
#define PROFD_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROFD_NONE UINT32_MAX /* no thread, no module; what a call gives after an error */
#define PROFD_ROOT 0u         /* the context above all stacks */
#define PROFD_NO_TIME INT64_MIN

typedef struct profd_builder profd_builder;

enum profd_kind {
  PROFD_NATIVE = 0,
  PROFD_JIT = 1,
  PROFD_INTERPRETED = 2,
  PROFD_KERNEL = 3,
  PROFD_GC = 4,
  PROFD_WAKER = 5,
  PROFD_DATA_OBJECT = 6
};

/* `profiler`: its name, for people. NULL only when there is no memory. */
profd_builder* profd_new(const char* profiler);
void profd_free(profd_builder* b); /* NULL is fine */

/* About the measured program; all optional. */
void profd_program(profd_builder* b, const char* path);
void profd_comment(profd_builder* b, const char* text);
void profd_time(profd_builder* b, int64_t start_unix_ns, int64_t duration_ns);
void profd_period(profd_builder* b, int64_t period, const char* type, const char* unit);

/* Declare all metrics before the first value. `unit`: "nanoseconds", "bytes", "count" or any other word. */
uint32_t profd_metric(profd_builder* b, const char* name, const char* unit);
uint32_t profd_real_metric(profd_builder* b, const char* name, const char* unit); /* values are doubles */
void profd_default_metric(profd_builder* b, uint32_t metric);

/* A binary, library or package. `build_id`: hex, or NULL. */
uint32_t profd_module(profd_builder* b, const char* name, const char* build_id);
/* `file` may be NULL and `start_line` 0: unknown. */
uint32_t profd_function(profd_builder* b, const char* name, const char* file, uint32_t start_line);
/* A function at a line (0: unknown). */
uint32_t profd_frame(profd_builder* b, uint32_t function, uint32_t line);

/* Everything a frame can have. Set `size` to sizeof(profd_frame_spec) and the rest to zero first; `module`
 * counts only with has_module. `address` is the one in memory; in a module with a range readers make of it
 * the offset in the module's file. */
typedef struct profd_frame_spec {
  size_t size;
  uint32_t function, line, column, module;
  uint64_t address;
  enum profd_kind kind;
  bool has_module, inlined; /* inlined: into the frame that calls it */
} profd_frame_spec;
uint32_t profd_frame_of(profd_builder* b, const profd_frame_spec* spec);

/* -1: unknown. Names may be NULL. */
uint32_t profd_thread(profd_builder* b, const char* name, int64_t tid, const char* process, int64_t pid);

/* The context of a frame called from `parent`, or of a whole stack of frames, root first. */
uint32_t profd_context(profd_builder* b, uint32_t parent, uint32_t frame);
uint32_t profd_stack(profd_builder* b, const uint32_t* frames, size_t n);

/* Adds to the self value of a context. A profile has sums (profd_add) or samples (profd_sample), not both. */
void profd_add(profd_builder* b, uint32_t context, uint32_t metric, int64_t value);
void profd_add_real(profd_builder* b, uint32_t context, uint32_t metric, double value);

/* One measurement: `values` has one int64_t per metric (all metrics integral). `thread` or PROFD_NONE; `time`
 * in nanoseconds since the start or PROFD_NO_TIME; `labels`: a set from profd_labels, 0 for none. */
void profd_sample(profd_builder* b, uint32_t context, const int64_t* values, uint32_t thread, int64_t time,
                  uint32_t labels);

typedef struct profd_label {
  const char* key;
  const char* text; /* NULL: a numeric label */
  int64_t number;
  const char* unit; /* of a numeric label; NULL: none */
} profd_label;
uint32_t profd_labels(profd_builder* b, const profd_label* labels, size_t n);

/* Ties contexts together: the two sides of a race, allocation and use. `contexts` has one id a role
 * (PROFD_NONE where the record lacks it); `value` counts for the metric "count". */
uint32_t profd_association(profd_builder* b, const char* name, const char* const* roles, size_t n_roles);
void profd_tie(profd_builder* b, uint32_t association, const uint32_t* contexts, int64_t value);

/* Writes the file, whole or not at all. False: see profd_error. */
bool profd_write(profd_builder* b, const char* path);
/* The same bytes in memory; valid until the next call with this builder. NULL: see profd_error. */
const unsigned char* profd_bytes(profd_builder* b, size_t* size);

/* NULL while all went well. */
const char* profd_error(const profd_builder* b);

#ifdef __cplusplus
}
#endif

#endif
