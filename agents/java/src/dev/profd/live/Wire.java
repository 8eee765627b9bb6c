package dev.profd.live;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Messages as bytes. */
final class Wire {
    byte[] bytes = new byte[65536];
    int size;
    private int begun;

    private void reserve(int more) {
        if (bytes.length - size < more) bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, size + more));
    }

    Wire varint(long value) {
        reserve(10);
        while ((value & ~0x7fL) != 0) {
            bytes[size++] = (byte) (value | 0x80);
            value >>>= 7;
        }
        bytes[size++] = (byte) value;
        return this;
    }

    Wire raw(byte[] more, int length) {
        reserve(length);
        System.arraycopy(more, 0, bytes, size, length);
        size += length;
        return this;
    }

    Wire string(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        int length = utf8.length;
        if (length > Stream.MAX_STRING_BYTES) {
            length = Stream.MAX_STRING_BYTES;
            while ((utf8[length] & 0xc0) == 0x80) --length;
        }
        return varint(length).raw(utf8, length);
    }

    /** Opens a message; one at a time. */
    Wire begin(int type) {
        reserve(6);
        bytes[size++] = (byte) type;
        size += 4;
        begun = size;
        return this;
    }

    /** Bytes of the open message. */
    int open() {
        return size - begun;
    }

    void end() {
        int length = size - begun;
        int at = begun - 4;
        int left = length;
        while (left >= 0x80) {
            bytes[at++] = (byte) (left | 0x80);
            left >>>= 7;
        }
        bytes[at++] = (byte) left;
        System.arraycopy(bytes, begun, bytes, at, length);
        size = at + length;
    }

    void clear() {
        size = 0;
        if (bytes.length > 4 << 20) bytes = new byte[65536];
    }

    void append(Wire other) {
        raw(other.bytes, other.size);
    }
}
