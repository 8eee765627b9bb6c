/* The columns are collected as they come and written as one Profile message in the loose form of
 * formats/profd/profile.proto: readers sort, sum and check. */
#include "profd_builder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  unsigned char* data;
  size_t size, capacity;
} bytes;

/* Row numbers by hash; rows are compared in place by their owner. */
typedef struct {
  uint32_t* slots; /* row + 1, 0 = free */
  uint64_t* hashes;
  size_t capacity, used;
} rows;

typedef struct {
  char* name;
  size_t n_roles;
  bytes roles;     /* texts, each with its NUL */
  bytes* contexts; /* by role */
  bytes values;
} association;

typedef struct {
  bytes key; /* everything of the row, fixed width */
  size_t width;
  rows index;
} table;

struct profd_builder {
  char error[160];
  bool failed;
  bytes info; /* encoded Info */
  bytes text, text_ends;
  rows text_index;
  table modules, functions, frames, threads, contexts, label_sets;
  bytes label_first, label_key, label_text, label_number, label_unit, label_is_number;
  bytes metrics; /* encoded Metric messages, one after another */
  bool real[256];
  uint32_t n_metrics, default_metric;
  bytes self_context, self_values[256];
  bytes sample_context, sample_thread, sample_time, sample_labels, sample_values[256];
  association* associations;
  uint32_t n_associations;
  bytes out;
};

typedef struct {
  uint32_t name, build_id;
} module_row;
typedef struct {
  uint32_t name, file, start_line;
} function_row;
typedef struct {
  uint64_t address;
  uint32_t function, module, line, column;
  uint8_t kind, inlined, unused[6];
} frame_row;
typedef struct {
  int64_t tid, pid;
  uint32_t name, process;
} thread_row;
typedef struct {
  uint32_t parent, frame;
} context_row;

static uint32_t fail(profd_builder* b, const char* what) {
  if (!b->failed) {
    b->failed = true;
    snprintf(b->error, sizeof b->error, "%s", what);
  }
  return PROFD_NONE;
}

static bool put(profd_builder* b, bytes* to, const void* data, size_t n) {
  if (b->failed) return false;
  if (n > to->capacity - to->size) {
    size_t capacity = to->capacity ? to->capacity : 64;
    while (capacity - to->size < n) {
      if (capacity > SIZE_MAX / 2) return fail(b, "out of memory"), false;
      capacity *= 2;
    }
    unsigned char* grown = realloc(to->data, capacity);
    if (!grown) return fail(b, "out of memory"), false;
    to->data = grown;
    to->capacity = capacity;
  }
  if (n) memcpy(to->data + to->size, data, n);
  to->size += n;
  return true;
}

static void put32(profd_builder* b, bytes* to, uint32_t v) {
  const unsigned char le[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                               (unsigned char)(v >> 24)};
  put(b, to, le, 4);
}
static void put64(profd_builder* b, bytes* to, uint64_t v) {
  put32(b, to, (uint32_t)v);
  put32(b, to, (uint32_t)(v >> 32));
}
static void put_varint(profd_builder* b, bytes* to, uint64_t v) {
  unsigned char out[10];
  size_t n = 0;
  for (; v >= 0x80; v >>= 7) out[n++] = (unsigned char)(v | 0x80);
  out[n++] = (unsigned char)v;
  put(b, to, out, n);
}
static void put_number(profd_builder* b, bytes* to, uint32_t field, uint64_t v) {
  put_varint(b, to, (uint64_t)field << 3);
  put_varint(b, to, v);
}
static void put_signed(profd_builder* b, bytes* to, uint32_t field, int64_t v) { /* sint64 */
  put_number(b, to, field, ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0));
}
static void put_blob(profd_builder* b, bytes* to, uint32_t field, const void* data, size_t n) {
  put_varint(b, to, (uint64_t)field << 3 | 2);
  put_varint(b, to, n);
  put(b, to, data, n);
}
static void put_column(profd_builder* b, bytes* to, uint32_t field, const bytes* column) {
  if (column->size) put_blob(b, to, field, column->data, column->size);
}
static void put_text(profd_builder* b, bytes* to, uint32_t field, const char* text) {
  if (text && *text) put_blob(b, to, field, text, strlen(text));
}

static uint64_t hash_of(const void* data, size_t n) {
  const unsigned char* p = data;
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; ++i) h = (h ^ p[i]) * 0x100000001b3u;
  return h ^ h >> 29;
}

/* Makes room for one more row. */
static bool grow(profd_builder* b, rows* r) {
  if (b->failed) return false;
  if ((r->used + 1) * 4 <= r->capacity * 3) return true;
  const size_t capacity = r->capacity ? r->capacity * 2 : 64;
  uint32_t* slots = calloc(capacity, sizeof *slots);
  uint64_t* hashes = malloc(capacity * sizeof *hashes);
  if (!slots || !hashes) {
    free(slots), free(hashes);
    return fail(b, "out of memory"), false;
  }
  for (size_t i = 0; i < r->capacity; ++i) {
    if (!r->slots[i]) continue;
    size_t at = r->hashes[i] & (capacity - 1);
    while (slots[at]) at = (at + 1) & (capacity - 1);
    slots[at] = r->slots[i];
    hashes[at] = r->hashes[i];
  }
  free(r->slots), free(r->hashes);
  r->slots = slots, r->hashes = hashes, r->capacity = capacity;
  return true;
}

static size_t text_begin(const profd_builder* b, uint32_t row) {
  uint64_t end = 0;
  if (row > 0) memcpy(&end, b->text_ends.data + (size_t)(row - 1) * 8, 8);
  return (size_t)end;
}

static uint32_t intern_text(profd_builder* b, const char* text) {
  const size_t n = text ? strlen(text) : 0;
  if (!grow(b, &b->text_index)) return PROFD_NONE;
  rows* r = &b->text_index;
  const uint64_t hash = hash_of(text, n);
  size_t at = hash & (r->capacity - 1);
  for (; r->slots[at]; at = (at + 1) & (r->capacity - 1)) {
    const uint32_t row = r->slots[at] - 1;
    const size_t begin = text_begin(b, row), size = text_begin(b, row + 1) - begin;
    if (r->hashes[at] == hash && size == n && (n == 0 || memcmp(b->text.data + begin, text, n) == 0))
      return row;
  }
  if (r->used >= PROFD_NONE - 1) return fail(b, "more than 4294967294 texts");
  put(b, &b->text, text, n);
  const uint64_t end = b->text.size;
  put(b, &b->text_ends, &end, 8);
  if (b->failed) return PROFD_NONE;
  r->slots[at] = (uint32_t)++r->used;
  r->hashes[at] = hash;
  return r->slots[at] - 1;
}

static uint32_t n_rows(const table* t) {
  return (uint32_t)t->index.used;
}

static uint32_t intern_row(profd_builder* b, table* t, const void* row, size_t width) {
  if (!grow(b, &t->index)) return PROFD_NONE;
  rows* r = &t->index;
  t->width = width;
  const uint64_t hash = hash_of(row, width);
  size_t at = hash & (r->capacity - 1);
  for (; r->slots[at]; at = (at + 1) & (r->capacity - 1)) {
    if (r->hashes[at] == hash && memcmp(t->key.data + (size_t)(r->slots[at] - 1) * width, row, width) == 0)
      return r->slots[at] - 1;
  }
  if (r->used >= PROFD_NONE - 2) return fail(b, "a table has more than 4294967293 rows");
  if (!put(b, &t->key, row, width)) return PROFD_NONE;
  r->slots[at] = (uint32_t)++r->used;
  r->hashes[at] = hash;
  return r->slots[at] - 1;
}

profd_builder* profd_new(const char* profiler) {
  profd_builder* b = calloc(1, sizeof *b);
  if (!b) return NULL;
  intern_text(b, ""); /* text 0 is the empty one */
  put32(b, &b->label_first, 0), put32(b, &b->label_first, 0);
  put_text(b, &b->info, 3, profiler);
  return b;
}

static void release(bytes* x) {
  free(x->data);
}
static void release_table(table* t) {
  release(&t->key), free(t->index.slots), free(t->index.hashes);
}

void profd_free(profd_builder* b) {
  if (!b) return;
  free(b->text_index.slots), free(b->text_index.hashes);
  table* tables[] = {&b->modules, &b->functions, &b->frames, &b->threads, &b->contexts, &b->label_sets};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i) release_table(tables[i]);
  bytes* columns[] = {
      &b->info,         &b->text,           &b->text_ends,     &b->label_first,     &b->label_key,
      &b->label_text,   &b->label_number,   &b->label_unit,    &b->label_is_number, &b->metrics,
      &b->self_context, &b->sample_context, &b->sample_thread, &b->sample_time,     &b->sample_labels,
      &b->out};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; ++i) release(columns[i]);
  for (size_t i = 0; i < 256; ++i) release(&b->self_values[i]), release(&b->sample_values[i]);
  for (uint32_t i = 0; i < b->n_associations; ++i) {
    association* a = &b->associations[i];
    for (size_t r = 0; r < a->n_roles; ++r) release(&a->contexts[r]);
    free(a->contexts), free(a->name), release(&a->roles), release(&a->values);
  }
  free(b->associations);
  free(b);
}

void profd_program(profd_builder* b, const char* path) {
  put_text(b, &b->info, 4, path);
}
void profd_comment(profd_builder* b, const char* text) {
  put_text(b, &b->info, 10, text);
}
void profd_time(profd_builder* b, int64_t start_unix_ns, int64_t duration_ns) {
  put_signed(b, &b->info, 5, start_unix_ns);
  put_signed(b, &b->info, 6, duration_ns);
}
void profd_period(profd_builder* b, int64_t period, const char* type, const char* unit) {
  put_signed(b, &b->info, 7, period);
  put_text(b, &b->info, 8, type);
  put_text(b, &b->info, 9, unit);
}

static uint32_t add_metric(profd_builder* b, const char* name, const char* unit, bool real) {
  if (b->failed) return PROFD_NONE;
  if (b->self_context.size || b->sample_context.size)
    return fail(b, "a metric was declared after the first value");
  if (b->n_metrics == 256) return fail(b, "more than 256 metrics");
  bytes metric = {0};
  put_text(b, &metric, 1, name);
  put_text(b, &metric, 2, unit);
  if (real) put_number(b, &metric, 3, 1);
  put_blob(b, &b->metrics, 8, metric.data, metric.size);
  release(&metric);
  b->real[b->n_metrics] = real;
  return b->failed ? PROFD_NONE : b->n_metrics++;
}
uint32_t profd_metric(profd_builder* b, const char* name, const char* unit) {
  return add_metric(b, name, unit, false);
}
uint32_t profd_real_metric(profd_builder* b, const char* name, const char* unit) {
  return add_metric(b, name, unit, true);
}
void profd_default_metric(profd_builder* b, uint32_t metric) {
  if (metric >= b->n_metrics) fail(b, "there is no such metric");
  b->default_metric = metric;
}

uint32_t profd_module(profd_builder* b, const char* name, const char* build_id) {
  const module_row row = {intern_text(b, name), intern_text(b, build_id)};
  return intern_row(b, &b->modules, &row, sizeof row);
}
uint32_t profd_function(profd_builder* b, const char* name, const char* file, uint32_t start_line) {
  const function_row row = {intern_text(b, name), intern_text(b, file), start_line};
  return intern_row(b, &b->functions, &row, sizeof row);
}
uint32_t profd_frame(profd_builder* b, uint32_t function, uint32_t line) {
  profd_frame_spec spec;
  memset(&spec, 0, sizeof spec);
  spec.size = sizeof spec;
  spec.function = function;
  spec.line = line;
  return profd_frame_of(b, &spec);
}
uint32_t profd_frame_of(profd_builder* b, const profd_frame_spec* given) {
  /* A caller built against an older header has a shorter struct. */
  profd_frame_spec spec;
  memset(&spec, 0, sizeof spec);
  if (given->size > sizeof spec) return fail(b, "the frame is of a newer version of this library");
  memcpy(&spec, given, given->size);
  if (spec.function >= n_rows(&b->functions)) return fail(b, "a frame has no function of this builder");
  if (spec.has_module && spec.module >= n_rows(&b->modules))
    return fail(b, "a frame has no module of this builder");
  if ((unsigned)spec.kind > PROFD_DATA_OBJECT) return fail(b, "a frame is of no known kind");
  frame_row row;
  memset(&row, 0, sizeof row);
  row.address = spec.address, row.function = spec.function, row.line = spec.line, row.column = spec.column;
  row.module = spec.has_module ? spec.module : PROFD_NONE;
  row.kind = (uint8_t)spec.kind, row.inlined = spec.inlined;
  return intern_row(b, &b->frames, &row, sizeof row);
}
uint32_t profd_thread(profd_builder* b, const char* name, int64_t tid, const char* process, int64_t pid) {
  thread_row row;
  memset(&row, 0, sizeof row);
  row.tid = tid, row.pid = pid, row.name = intern_text(b, name), row.process = intern_text(b, process);
  return intern_row(b, &b->threads, &row, sizeof row);
}

uint32_t profd_context(profd_builder* b, uint32_t parent, uint32_t frame) {
  if (b->failed) return PROFD_NONE;
  if (parent > n_rows(&b->contexts)) return fail(b, "a context has no parent of this builder");
  if (frame >= n_rows(&b->frames)) return fail(b, "a context has no frame of this builder");
  const context_row row = {parent, frame};
  const uint32_t at = intern_row(b, &b->contexts, &row, sizeof row);
  return at == PROFD_NONE ? at : at + 1;
}
uint32_t profd_stack(profd_builder* b, const uint32_t* frames, size_t n) {
  uint32_t context = PROFD_ROOT;
  for (size_t i = 0; i < n && context != PROFD_NONE; ++i) context = profd_context(b, context, frames[i]);
  return context;
}

/* Opens a row of `self` and fills it with zeros but for one metric. */
static bool self_row(profd_builder* b, uint32_t context, uint32_t metric, bool real) {
  if (b->failed) return false;
  if (context > n_rows(&b->contexts)) return fail(b, "a value has no context of this builder"), false;
  if (metric >= b->n_metrics || b->real[metric] != real)
    return fail(b, "a value is for no metric, or for one of the other kind"), false;
  if (b->sample_context.size) return fail(b, "a profile has sums or samples, not both"), false;
  put32(b, &b->self_context, context);
  for (uint32_t m = 0; m < b->n_metrics; ++m)
    if (m != metric) put64(b, &b->self_values[m], 0);
  return true;
}
void profd_add(profd_builder* b, uint32_t context, uint32_t metric, int64_t value) {
  if (self_row(b, context, metric, false)) put64(b, &b->self_values[metric], (uint64_t)value);
}
void profd_add_real(profd_builder* b, uint32_t context, uint32_t metric, double value) {
  uint64_t bits;
  memcpy(&bits, &value, 8);
  if (self_row(b, context, metric, true)) put64(b, &b->self_values[metric], bits);
}

void profd_sample(profd_builder* b, uint32_t context, const int64_t* values, uint32_t thread, int64_t time,
                  uint32_t labels) {
  if (b->failed) return;
  if (b->self_context.size) {
    fail(b, "a profile has sums or samples, not both");
    return;
  }
  if (context > n_rows(&b->contexts)) {
    fail(b, "a sample has no context of this builder");
    return;
  }
  if (thread != PROFD_NONE && thread >= n_rows(&b->threads)) {
    fail(b, "a sample has no thread of this builder");
    return;
  }
  if (labels >= b->label_first.size / 4 - 1) {
    fail(b, "a sample has no labels of this builder");
    return;
  }
  put32(b, &b->sample_context, context);
  put32(b, &b->sample_thread, thread);
  put64(b, &b->sample_time, (uint64_t)time);
  put32(b, &b->sample_labels, labels);
  for (uint32_t m = 0; m < b->n_metrics; ++m) {
    if (b->real[m]) {
      fail(b, "samples need integral metrics");
      return;
    }
    put64(b, &b->sample_values[m], (uint64_t)values[m]);
  }
}

uint32_t profd_labels(profd_builder* b, const profd_label* labels, size_t n) {
  if (n == 0) return 0;
  bytes row = {0};
  for (size_t i = 0; i < n; ++i) {
    const bool number = labels[i].text == NULL;
    put32(b, &row, intern_text(b, labels[i].key));
    put32(b, &row, intern_text(b, labels[i].text));
    put32(b, &row, intern_text(b, number ? labels[i].unit : NULL));
    put64(b, &row, number ? (uint64_t)labels[i].number : 0);
    put32(b, &row, number);
  }
  uint32_t set = PROFD_NONE;
  rows* r = &b->label_sets.index;
  if (grow(b, r)) {
    const uint64_t hash = hash_of(row.data, row.size);
    size_t at = hash & (r->capacity - 1);
    for (; r->slots[at] && set == PROFD_NONE; at = (at + 1) & (r->capacity - 1)) {
      uint32_t begin, end;
      memcpy(&begin, b->label_first.data + (size_t)r->slots[at] * 4, 4);
      memcpy(&end, b->label_first.data + ((size_t)r->slots[at] + 1) * 4, 4);
      if (r->hashes[at] == hash && end - begin == n &&
          memcmp(b->label_sets.key.data + (size_t)begin * 24, row.data, row.size) == 0)
        set = r->slots[at];
    }
    if (set == PROFD_NONE && put(b, &b->label_sets.key, row.data, row.size)) {
      for (size_t i = 0; i < n; ++i) {
        const unsigned char* label = row.data + i * 24;
        put(b, &b->label_key, label, 4), put(b, &b->label_text, label + 4, 4),
            put(b, &b->label_unit, label + 8, 4);
        put(b, &b->label_number, label + 12, 8), put(b, &b->label_is_number, label + 20, 1);
      }
      put32(b, &b->label_first, (uint32_t)(b->label_key.size / 4));
      set = (uint32_t)++r->used;
      r->slots[at] = set;
      r->hashes[at] = hash;
    }
  }
  release(&row);
  return b->failed ? PROFD_NONE : set;
}

uint32_t profd_association(profd_builder* b, const char* name, const char* const* roles, size_t n_roles) {
  if (b->failed) return PROFD_NONE;
  if (n_roles == 0 || n_roles > 64) return fail(b, "an association has 1 to 64 roles");
  association* grown = realloc(b->associations, (b->n_associations + 1) * sizeof *grown);
  if (!grown) return fail(b, "out of memory");
  b->associations = grown;
  association* a = &grown[b->n_associations];
  memset(a, 0, sizeof *a);
  a->name = malloc(strlen(name) + 1);
  a->contexts = calloc(n_roles, sizeof *a->contexts);
  b->n_associations++;
  if (!a->name || !a->contexts) return fail(b, "out of memory");
  memcpy(a->name, name, strlen(name) + 1);
  a->n_roles = n_roles;
  for (size_t r = 0; r < n_roles; ++r) put(b, &a->roles, roles[r], strlen(roles[r]) + 1);
  return b->n_associations - 1;
}
void profd_tie(profd_builder* b, uint32_t id, const uint32_t* contexts, int64_t value) {
  if (b->failed) return;
  if (id >= b->n_associations) {
    fail(b, "there is no such association");
    return;
  }
  association* a = &b->associations[id];
  for (size_t r = 0; r < a->n_roles; ++r) {
    if (contexts[r] != PROFD_NONE && contexts[r] > n_rows(&b->contexts)) {
      fail(b, "an association has no context of this builder");
      return;
    }
    put32(b, &a->contexts[r], contexts[r]);
  }
  put64(b, &a->values, (uint64_t)value);
}

/* A column out of the rows of a table: `width` bytes at `at` in each, little-endian. */
static void put_cut(profd_builder* b, bytes* to, uint32_t field, const table* t, size_t at, size_t width) {
  bytes column = {0};
  for (uint32_t i = 0; i < n_rows(t); ++i) {
    const unsigned char* from = t->key.data + (size_t)i * t->width + at;
    uint64_t v8;
    uint32_t v4;
    if (width == 8)
      memcpy(&v8, from, 8), put64(b, &column, v8);
    else if (width == 4)
      memcpy(&v4, from, 4), put32(b, &column, v4);
    else
      put(b, &column, from, 1);
  }
  put_column(b, to, field, &column);
  release(&column);
}

static void put_message(profd_builder* b, bytes* to, uint32_t field, bytes* message) {
  if (message->size) put_blob(b, to, field, message->data, message->size);
  message->size = 0;
}

static void encode_profile(profd_builder* b, bytes* p) {
  bytes m = {0};
  put_blob(b, p, 1, b->info.data, b->info.size);
  put_column(b, &m, 1, &b->text);
  bytes offsets = {0};
  for (size_t i = 0; i <= b->text_index.used; ++i) put64(b, &offsets, text_begin(b, (uint32_t)i));
  put_column(b, &m, 2, &offsets);
  release(&offsets);
  put_message(b, p, 2, &m);
  put_cut(b, &m, 1, &b->modules, offsetof(module_row, name), 4);
  put_cut(b, &m, 2, &b->modules, offsetof(module_row, build_id), 4);
  put_message(b, p, 3, &m);
  put_cut(b, &m, 1, &b->functions, offsetof(function_row, name), 4);
  put_cut(b, &m, 3, &b->functions, offsetof(function_row, file), 4);
  put_cut(b, &m, 4, &b->functions, offsetof(function_row, start_line), 4);
  put_message(b, p, 4, &m);
  put_cut(b, &m, 1, &b->frames, offsetof(frame_row, function), 4);
  put_cut(b, &m, 2, &b->frames, offsetof(frame_row, module), 4);
  put_cut(b, &m, 4, &b->frames, offsetof(frame_row, line), 4);
  put_cut(b, &m, 5, &b->frames, offsetof(frame_row, column), 4);
  put_cut(b, &m, 6, &b->frames, offsetof(frame_row, address), 8);
  put_cut(b, &m, 7, &b->frames, offsetof(frame_row, kind), 1);
  put_cut(b, &m, 8, &b->frames, offsetof(frame_row, inlined), 1);
  put_message(b, p, 5, &m);
  put_cut(b, &m, 1, &b->threads, offsetof(thread_row, name), 4);
  put_cut(b, &m, 2, &b->threads, offsetof(thread_row, process), 4);
  put_cut(b, &m, 3, &b->threads, offsetof(thread_row, tid), 8);
  put_cut(b, &m, 4, &b->threads, offsetof(thread_row, pid), 8);
  put_message(b, p, 6, &m);
  if (b->label_key.size) {
    put_column(b, &m, 1, &b->label_first);
    put_column(b, &m, 2, &b->label_key);
    put_column(b, &m, 3, &b->label_text);
    put_column(b, &m, 4, &b->label_number);
    put_column(b, &m, 5, &b->label_unit);
    put_column(b, &m, 6, &b->label_is_number);
    put_message(b, p, 7, &m);
  }
  put(b, p, b->metrics.data, b->metrics.size);
  if (b->default_metric) put_number(b, p, 9, b->default_metric);
  put_cut(b, &m, 1, &b->contexts, offsetof(context_row, parent), 4);
  put_cut(b, &m, 2, &b->contexts, offsetof(context_row, frame), 4);
  put_message(b, p, 12, &m);
  bytes values = {0};
  if (b->sample_context.size) {
    put_column(b, &m, 1, &b->sample_context);
    for (uint32_t i = 0; i < b->n_metrics; ++i) {
      put_column(b, &values, 1, &b->sample_values[i]);
      put_message(b, &m, 2, &values);
    }
    if (b->label_key.size) put_column(b, &m, 3, &b->sample_labels);
    if (n_rows(&b->threads)) put_column(b, &m, 4, &b->sample_thread);
    put_column(b, &m, 5, &b->sample_time);
    put_message(b, p, 14, &m);
  } else {
    put_column(b, &m, 2, &b->self_context);
    for (uint32_t i = 0; i < b->n_metrics; ++i) {
      put_column(b, &values, b->real[i] ? 2 : 1, &b->self_values[i]);
      put_message(b, &m, 3, &values);
    }
    put_message(b, p, 13, &m);
  }
  static const char kCount[] = {0x0A, 5, 'c', 'o', 'u', 'n', 't', 0x12, 5, 'c', 'o', 'u', 'n', 't'};
  for (uint32_t i = 0; i < b->n_associations; ++i) {
    const association* a = &b->associations[i];
    put_text(b, &m, 1, a->name);
    for (size_t at = 0; at < a->roles.size; at += strlen((const char*)a->roles.data + at) + 1)
      put_text(b, &m, 2, (const char*)a->roles.data + at);
    for (size_t r = 0; r < a->n_roles; ++r) {
      put_column(b, &values, 1, &a->contexts[r]);
      put_blob(b, &m, 3, values.data, values.size);
      values.size = 0;
    }
    put_blob(b, &m, 4, kCount, sizeof kCount);
    put_column(b, &values, 1, &a->values);
    put_blob(b, &m, 5, values.data, values.size);
    values.size = 0;
    put_message(b, p, 16, &m);
  }
  release(&values);
  release(&m);
}

const unsigned char* profd_bytes(profd_builder* b, size_t* size) {
  if (!b->failed && b->n_metrics == 0) fail(b, "a profile needs a metric");
  b->out.size = 0;
  bytes profile = {0};
  encode_profile(b, &profile);
  put_text(b, &b->out, 1, "profd profile");
  put_varint(b, &b->out, 2 << 3 | 5), put32(b, &b->out, 1);
  put_text(b, &b->out, 3, "profd builder for C");
  put_varint(b, &b->out, 4 << 3 | 5), put32(b, &b->out, 1);
  put_blob(b, &b->out, 7, profile.data, profile.size);
  release(&profile);
  if (b->failed) return NULL;
  *size = b->out.size;
  return b->out.data;
}

bool profd_write(profd_builder* b, const char* path) {
  size_t size = 0;
  const unsigned char* data = profd_bytes(b, &size);
  if (!data) return false;
  /* A reader that watches the path never sees half a file. */
  const size_t n = strlen(path);
  char* part = malloc(n + 6);
  if (!part) return fail(b, "out of memory"), false;
  memcpy(part, path, n), memcpy(part + n, ".part", 6);
  FILE* file = fopen(part, "wb");
  bool ok = file && fwrite(data, 1, size, file) == size;
  if (file && fclose(file) != 0) ok = false;
  if (ok && rename(part, path) != 0) ok = false;
  if (!ok) {
    char message[sizeof b->error];
    snprintf(message, sizeof message, "%s: %s", path, strerror(errno));
    remove(part);
    fail(b, message);
  }
  free(part);
  return ok;
}

const char* profd_error(const profd_builder* b) {
  return b->failed ? b->error : NULL;
}
