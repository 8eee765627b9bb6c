/* Messages as bytes: a buffer that grows, varints, strings, frames. Private to the agents. */
#ifndef PROFD_LIVE_WIRE_H
#define PROFD_LIVE_WIRE_H

#include <stddef.h>
#include <stdint.h>

struct wire {
    unsigned char *bytes;
    size_t size, room;
    int failed; /* No memory: what was written since is missing. */
};

/* Makes room for `more` bytes; 0 when there is no memory. */
int wire_reserve(struct wire *out, size_t more);
void wire_free(struct wire *out);
void wire_varint(struct wire *out, uint64_t value);
/* At most LIVE_STRING_BYTES of a text; NULL is the empty one. Bytes that are not UTF-8 become question marks. */
void wire_string(struct wire *out, const char *text);
/* Opens a message; returns what wire_end needs. wire_end fills in the length. */
size_t wire_begin(struct wire *out, int type);
void wire_end(struct wire *out, size_t begun);

static inline unsigned char *wire_put_varint(unsigned char *at, uint64_t value) {
    while (value >= 0x80) {
        *at++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (unsigned char)value;
    return at;
}

/* Reads a varint; returns what is behind it, NULL when it is cut or too long. */
const unsigned char *wire_get_varint(const unsigned char *at, const unsigned char *end, uint64_t *value);

#endif
