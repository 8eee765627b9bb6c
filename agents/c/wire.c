#include "wire.h"

#include "live_stream.h"

#include <stdlib.h>
#include <string.h>

int wire_reserve(struct wire *out, size_t more) {
    if (out->room - out->size >= more) return 1;
    size_t room = out->room ? out->room : 4096;
    while (room - out->size < more) room *= 2;
    unsigned char *bytes = realloc(out->bytes, room);
    if (!bytes) {
        out->failed = 1;
        return 0;
    }
    out->bytes = bytes;
    out->room = room;
    return 1;
}

void wire_free(struct wire *out) {
    free(out->bytes);
    memset(out, 0, sizeof *out);
}

void wire_varint(struct wire *out, uint64_t value) {
    if (!wire_reserve(out, 10)) return;
    out->size = (size_t)(wire_put_varint(out->bytes + out->size, value) - out->bytes);
}

/* The length of the UTF-8 sequence at `text`, 0 when it is none. */
static size_t sequence(const unsigned char *text, size_t left) {
    unsigned char first = text[0];
    size_t n = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : first >= 0xf0 && first < 0xf5 ? 4 : 0;
    if (n == 0 || n > left) return 0;
    for (size_t i = 1; i < n; ++i)
        if ((text[i] & 0xc0) != 0x80) return 0;
    if ((first == 0xe0 && text[1] < 0xa0) || (first == 0xed && text[1] >= 0xa0)) return 0;
    if ((first == 0xf0 && text[1] < 0x90) || (first == 0xf4 && text[1] >= 0x90)) return 0;
    return n;
}

void wire_string(struct wire *out, const char *text) {
    size_t length = text ? strlen(text) : 0;
    if (length > LIVE_STRING_BYTES) length = LIVE_STRING_BYTES;
    /* A sequence that the limit would cut goes as a whole. */
    while (length > 0 && text[length] != 0 && ((unsigned char)text[length] & 0xc0) == 0x80) --length;
    wire_varint(out, length);
    if (!wire_reserve(out, length)) return;
    for (size_t i = 0; i < length;) {
        size_t n = sequence((const unsigned char *)text + i, length - i);
        if (n) memcpy(out->bytes + out->size, text + i, n);
        else out->bytes[out->size] = '?';
        out->size += n ? n : 1;
        i += n ? n : 1;
    }
}

size_t wire_begin(struct wire *out, int type) {
    if (!wire_reserve(out, 5)) return out->size;
    out->bytes[out->size] = (unsigned char)type;
    out->size += 5;
    return out->size;
}

void wire_end(struct wire *out, size_t begun) {
    if (out->failed) return;
    /* The shortest form of the length, as everybody else writes it: what follows moves up. */
    size_t length = out->size - begun;
    unsigned char varint[10];
    size_t bytes = (size_t)(wire_put_varint(varint, length) - varint);
    memcpy(out->bytes + begun - 4, varint, bytes);
    if (bytes < 4) memmove(out->bytes + begun - 4 + bytes, out->bytes + begun, length);
    out->size = begun - 4 + bytes + length;
}

const unsigned char *wire_get_varint(const unsigned char *at, const unsigned char *end, uint64_t *value) {
    uint64_t sum = 0;
    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
        unsigned char byte = *at++;
        if (shift == 63 && byte > 1) return NULL;
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *value = sum;
            return at;
        }
    }
    return NULL;
}
